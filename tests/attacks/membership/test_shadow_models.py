"""Shadow models: a classifier that has learnt what members look like, and has nothing to say of other targets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from discreet.attacks import MembershipData, References, ShadowModels
from discreet.core.errors import ParameterError
from tests.attacks.membership.made import alarms, networks_and_target, records

TREE = DecisionTreeClassifier(min_samples_leaf=2, random_state=0)


def test_members_of_a_model_like_the_shadows_are_found() -> None:
    data, references, target = networks_and_target()
    result = ShadowModels(data, references).run(target)
    assert result.scores is not None
    assert result.scores.area > 0.55
    assert result.beats_chance
    assert result.questions == len(data.members_X) + len(data.others_X)


def test_shadows_of_other_records_serve_as_well() -> None:
    data, elsewhere = records(200), records(200, seed=9)
    references = References.fitted(TREE, *elsewhere.rows, number=8)
    target = DecisionTreeClassifier(min_samples_leaf=2, random_state=5).fit(data.members_X, data.members_y)
    assert ShadowModels(data, references).run(target).beats_chance


def test_targets_without_information_raise_no_alarm() -> None:
    assert alarms(ShadowModels) <= 6


def test_labels_that_are_rare_or_unknown_are_judged_with_all_others() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 3)), np.array(["a", "b"])[rng.integers(0, 2, 300)]
    y[::60] = "rare"
    references = References.fitted(TREE, X, y, number=4)
    assert {*ShadowModels(records(100), references)._classifiers} == {None, "a", "b"}
    y[0] = "new"
    data = MembershipData.of(X[:150], y[:150], X[150:], y[150:])
    scores = ShadowModels(data, references).run(TREE.fit(X[:150], y[:150])).scores
    assert scores is not None
    assert np.isfinite(scores.members).all()


def test_settings_without_meaning_are_refused() -> None:
    data, references, _ = networks_and_target()
    for wrong in ({"number": 0}, {"random_state": -1}):
        with pytest.raises(ParameterError):
            ShadowModels(data, references, **wrong)
