"""Models, modules and functions as targets: one shape, counted questions, errors as findings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from discreet.attacks import LabelOnly, MembershipData, ModelTarget, ThresholdAttack
from discreet.core.errors import ParameterError
from tests.attacks.membership.made import records

DATA = records(150)


def _fragile(rows: Any) -> Any:
    """Probabilities, and an error where the first feature is large."""
    if (rows[:, 0] > 1.5).any():
        raise ZeroDivisionError
    return np.tile([0.5, 0.5], (len(rows), 1))


def test_a_model_learnt_by_heart_gives_its_members_away() -> None:
    overfitted = KNeighborsClassifier(1).fit(DATA.members_X, DATA.members_y)
    for attack in (ThresholdAttack(DATA), LabelOnly(DATA)):
        result = attack.run(overfitted)
        assert result.scores is not None
        assert result.scores.area > 0.7
        assert result.beats_chance
        assert result.warnings == ()


def test_targets_without_information_give_nothing_away() -> None:
    rng = np.random.default_rng(5)
    constant = DummyClassifier(strategy="prior").fit(DATA.members_X, DATA.members_y)
    for target in (constant, lambda rows: rng.dirichlet([1, 1], len(rows))):
        for attack in (ThresholdAttack(DATA), LabelOnly(DATA, draws=3)):
            assert not attack.run(target).beats_chance


def test_a_label_alone_is_enough_for_one_attack_and_refused_by_the_others() -> None:
    ridge = RidgeClassifier().fit(DATA.members_X, DATA.members_y)
    assert LabelOnly(DATA, draws=0).run(ridge).questions == 300
    with pytest.raises(ParameterError, match="LabelOnly needs labels alone"):
        ThresholdAttack(DATA).run(ridge)


def test_rows_that_raise_are_counted_and_have_the_lowest_score() -> None:
    result = ThresholdAttack(DATA).run(_fragile)
    large = np.concatenate([DATA.members_X, DATA.others_X])[:, 0] > 1.5
    assert result.details["questions on which the target raised"] == large.sum() > 0
    assert result.scores is not None
    assert ((result.scores.members == -np.inf) == large[:150]).all()
    with pytest.raises(ParameterError, match="on every one of 2 rows"):
        ModelTarget.of(_fragile).confidences(np.full((2, 6), 9.0), np.zeros(2))


def test_answers_that_change_shape_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.attacks.membership.model_target.MOST", 100)
    calls = iter(range(9))
    for changing in (
        lambda rows: np.full((len(rows), 2 + next(calls)), 0.1),
        lambda rows: np.full(len(rows), 0) if next(calls) % 2 else np.full((len(rows), 2), 0.5),
    ):
        with pytest.raises(ParameterError, match=r"different shapes.*Nothing was released.*in the same form"):
            ThresholdAttack(DATA).run(changing)
    with pytest.raises(ParameterError, match=r"to 100 rows.*shape \(99, 2\)"):
        ThresholdAttack(DATA).run(lambda rows: np.full((len(rows[1:]), 2), 0.5))


def test_labels_are_found_by_name_and_unknown_ones_have_no_probability() -> None:
    target = ModelTarget(lambda rows: np.tile([0.2, 0.3, 0.5], (len(rows), 1)), np.array(["c", "a", "b"]))
    labels = np.array(["a", "b", "c", "z"])
    assert target.confidences(np.zeros((4, 1)), labels).tolist() == [0.3, 0.5, 0.2, 0.0]
    assert target.right(np.zeros((4, 1)), labels).tolist() == [0, 1, 0, 0]


def test_large_odds_keep_their_digits() -> None:
    target = ModelTarget.of(lambda rows: np.array([[1.0, 1e-30], [1.0, 1e-40]]))
    assert np.diff(target.margins(np.zeros((2, 1)), np.zeros(2, int)))[0] == pytest.approx(10 * np.log(10))


def test_a_torch_module_answers_with_its_softmax_and_keeps_its_mode() -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(6, 2), torch.nn.Dropout(0.5)).train()
    target = ModelTarget.of(module)
    once, again = (target.probabilities(DATA.others_X) for _ in range(2))
    assert (once == again).all()
    assert once.sum(axis=1) == pytest.approx(1.0)
    assert module.training


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ParameterError, match="neither `predict_proba` nor `predict`"):
        ModelTarget.of(3)
    with pytest.raises(ParameterError, match="answers each row"):
        ModelTarget.of(lambda rows: np.zeros((1, 2))).probabilities(np.zeros((3, 1)))


def test_labels_that_are_no_columns_of_a_model_without_names_are_refused() -> None:
    """Taken for labels that were never seen, they would make a model that knows its members by heart look safe."""
    data = records(150)
    model = KNeighborsClassifier(1).fit(data.members_X, data.members_y)
    for labels in (np.array(["no", "yes"]), np.array([1, 2]), np.array([-1, 1]), np.array([0.5, 1.0])):
        told = MembershipData.of(data.members_X, labels[data.members_y], data.others_X, labels[data.others_y])
        with pytest.raises(ParameterError, match=r"without the names of classes.*`classes_`"):
            ThresholdAttack(told).run(model.predict_proba)
    texts = MembershipData.of(data.members_X, data.members_y.astype(str), data.others_X, data.others_y.astype(str))
    with pytest.raises(ParameterError, match="labels of another kind"):
        LabelOnly(texts, draws=0).run(model.predict)
