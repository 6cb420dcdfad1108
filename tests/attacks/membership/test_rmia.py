"""The robust attack: its formula, its strength with four references, and no false alarm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from sklearn.neighbors import KNeighborsClassifier

from discreet.attacks import RMIA, LiRA, MembershipData, ModelTarget, References, ThresholdAttack
from discreet.attacks.membership.expected_margins import log_ratios
from discreet.attacks.membership.near_records import NearRecords
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from tests.attacks.membership.made import NETWORKS, alarms, networks_and_target, patterned, records


def test_scores_are_shares_of_the_population_as_the_paper_has_them() -> None:
    """Counted by hand: p(x | target) / p(x) against the same of every z, times gamma.

    Of two models one has seen a record, so that nothing is known of their errors, and means are as they are.
    """
    data = records(100)
    X, y = data.rows
    rng = np.random.default_rng(0)
    inside = np.tile([[True], [False]], (1, 200)) ^ (rng.random(200) < 0.5)
    margins = rng.normal(0, 2, (2, 200)).astype(np.float32)
    references = References(X, y, inside, margins, (None,) * 2)
    own = rng.uniform(0.05, 0.95, 200)
    target = ModelTarget.of(lambda rows: np.where((y == 1)[:, None], np.c_[1 - own, own], np.c_[own, 1 - own]))
    chances = expit(margins)
    for method, a, prior in (
        ("online", 0.3, chances.mean(axis=0)),
        ("offline", 0.3, 0.65 * np.where(inside, 0, chances).sum(axis=0) + 0.35),
    ):
        attack = RMIA(data, references, method, gamma=2.0, a=a, temperature=1.0, near=0)  # type: ignore[arg-type]
        found = attack.scores(target, X, y)
        ratios = own / prior
        shares = (ratios[:, None] / ratios >= 2.0).mean(axis=1)
        assert np.abs(found - shares).max() < 0.01
        assert (np.argsort(found) == np.argsort(ratios)).all()


def test_means_by_few_models_are_predicted_as_a_regression_on_the_truth_would() -> None:
    """Models with errors around means that are known: the weights, found without them, are those of least squares."""
    data, rng = records(2000), np.random.default_rng(1)
    X, y = data.rows
    hard = rng.normal(0, 1, len(y))
    truth = np.stack([hard + 1 + rng.normal(0, 0.3, len(y)), hard])
    for models, least in ((4, 0.02), (200, 0.0)):
        half = rng.random((models // 2, len(y))) < 0.5
        inside = np.concatenate([half, ~half])
        margins = np.where(inside, truth[0], truth[1]) + rng.normal(0, 2, inside.shape)
        chances = expit(margins)
        found = RMIA(data, References(X, y, inside, margins.astype(np.float32), (None,) * models))._means(
            chances, inside
        )
        means = np.stack([np.where(side, chances, 0).sum(axis=0) / (models // 2) for side in (inside, ~inside)])
        draws = stats.norm.ppf((np.arange(200) + 0.5) / 200)[:, None] * 2
        exact = np.mean([expit(side + draws).mean(axis=0) for side in truth], axis=0)
        columns = np.c_[means.T, np.ones(len(y))]
        fitted = columns @ np.linalg.lstsq(columns, exact, rcond=None)[0]
        assert np.corrcoef(found, fitted)[0, 1] > 0.99
        errors = [np.sqrt(((guess - exact) ** 2).mean()) for guess in (found, means.mean(axis=0))]
        assert errors[0] < errors[1] - least


def answering(X: Array, y: Array, margins: Array) -> Any:
    """A target that gives each row of the pool these log-odds of its own label."""
    ones = {row.tobytes(): expit(value) for row, value in zip(X, np.where(y == 1, margins, -margins), strict=True)}

    def target(rows: Array) -> Array:
        chances = np.array([ones[row.tobytes()] for row in rows])
        return np.c_[1 - chances, chances]

    return target


def area(attack: RMIA, target: Any) -> float:
    scores = attack.run(target).scores
    assert scores is not None
    return scores.area


def test_a_target_that_is_surer_of_one_place_than_of_another_hides_no_members_there() -> None:
    """As references are, each of another place: that tells how much less of a record is said by a target that is."""
    data, rng = records(500), np.random.default_rng(4)
    X, y = data.rows
    inside = np.tile([[True], [False]], (2, 1000)) ^ np.repeat(rng.random((2, 1000)) < 0.5, 2, axis=0)
    hard, sides = rng.normal(0, 1, 1000), np.where(X[:, 0] > 0, 1.0, -1.0)
    places = np.array([1.0, -0.5, 0.5, -1.0])[:, None] * sides
    margins = (hard + inside + places + rng.normal(0, 0.3, inside.shape)).astype(np.float32)
    references = References(X, y, inside, margins, (None,) * 4)
    own = hard + (np.arange(1000) < 500) + rng.normal(0, 0.3, 1000) + sides
    areas = [area(RMIA(data, references, near=near), answering(X, y, own)) for near in (0, 60)]
    assert areas[1] > areas[0] + 0.03


def test_a_target_that_is_unlike_all_references_hides_no_members() -> None:
    """Trained longer, it is surer of everything; or of one place, or class: no reference showed that this may be."""
    data, rng = records(500), np.random.default_rng(5)
    X, y = data.rows
    inside = np.tile([[True], [False]], (2, 1000)) ^ np.repeat(rng.random((2, 1000)) < 0.5, 2, axis=0)
    hard = rng.normal(0, 1, 1000)
    margins = (hard + inside + rng.normal(0, 0.3, inside.shape)).astype(np.float32)
    references = References(X, y, inside, margins, (None,) * 4)
    own = hard + (np.arange(1000) < 500) + rng.normal(0, 0.3, 1000)
    for way, gain in ((2.0, 0.1), (np.where(X[:, 0] > 0, 1.0, -1.0), 0.05), (3 * (y - 0.5), 0.1)):
        plain, both = (area(RMIA(data, references, near=near), answering(X, y, own + way)) for near in (0, 20))
        assert both > plain + gain


def test_models_of_few_numbers_are_told_by_the_ratio_and_ties_by_the_rest() -> None:
    """Shares of five neighbors are six numbers, and one is right of all that it has seen: no law is like that."""
    data = patterned(300, 0.2)
    for neighbors in (1, 5):
        model = KNeighborsClassifier(neighbors)
        references = References.fitted(model, *data.rows, number=4)
        target = model.fit(data.members_X, data.members_y)
        plain, both = (RMIA(data, references, near=near).run(target).scores for near in (0, 20))
        assert plain is not None
        assert both is not None
        assert both.area > plain.area - 0.01
        assert len(np.unique(both.members)) > 1.2 * len(np.unique(plain.members))


def test_the_score_joins_both_ratios_in_one_unit_and_keeps_the_first_where_there_is_no_second() -> None:
    data, references, target = networks_and_target()
    four = references.some(range(4))
    X, y = data.rows
    margins = np.vstack([four.margins, four.own_margins(ModelTarget.of(target), X, y)]).astype(np.float64)
    plain, second = (
        RMIA(data, four, near=60)._ratios(margins, four.inside),
        log_ratios(margins, four.inside, NearRecords(X, y, 60), 2)[0],
    )
    both = np.log(plain) / np.log(plain).std() + second / second.std()
    found = RMIA(data, four, near=60).scores(ModelTarget.of(target), X, y)
    assert (np.argsort(found) == np.argsort(both)).mean() > 0.99
    two = references.some(range(2))
    alone = [RMIA(data, two, near=near).scores(ModelTarget.of(target), X, y) for near in (0, 60)]
    assert (alone[0] == alone[1]).all()


def test_offline_nothing_is_read_of_models_that_have_seen_a_record() -> None:
    data, references, target = networks_and_target()
    four, asked = references.some(range(4)), ModelTarget.of(target)
    other = replace(four, margins=np.where(four.inside, np.float32(7), four.margins))
    scores = [RMIA(data, own, "offline").scores(asked, *data.rows) for own in (four, other)]
    assert (scores[0] == scores[1]).all()


def test_four_references_do_what_takes_others_many_more() -> None:
    data, references, target = networks_and_target()
    four = references.some(range(4))
    for method, least in (("online", 0.06), ("offline", 0.03)):
        scores = RMIA(data, four, method).run(target).scores  # type: ignore[arg-type]
        threshold = ThresholdAttack(data).run(target).scores
        assert scores is not None
        assert threshold is not None
        assert scores.area > threshold.area + least
    few = LiRA(data, four).run(target).scores
    robust = RMIA(data, four).run(target).scores
    assert few is not None
    assert robust is not None
    assert robust.area > few.area


def test_targets_without_information_raise_no_alarm() -> None:
    assert alarms(RMIA) <= 6
    assert alarms(lambda data, references: RMIA(data, references, "offline")) <= 6


def test_mislabelled_members_are_the_worst_off() -> None:
    """Ten members have the wrong label, which a model can only learn by heart: four references are enough to tell."""
    data = patterned(200, 0.0)
    wrong = data.members_y.copy()
    wrong[:10] = 1 - wrong[:10]
    data = MembershipData.of(data.members_X, wrong, data.others_X, data.others_y)
    attack = RMIA(data, References.fitted(NETWORKS, *data.rows, number=4))
    worst = attack.run(NETWORKS.trained(data.members_X, data.members_y)).worst
    assert len({*worst} & {*range(10)}) >= 5


def test_settings_without_meaning_are_refused() -> None:
    data, references, _ = networks_and_target()
    for wrong in ({"method": "both"}, {"gamma": 0.0}, {"a": 1.5}, {"a": -0.1}, {"temperature": 0}, {"near": -1}):
        with pytest.raises(ParameterError):
            RMIA(data, references, **wrong)
    with pytest.raises(ParameterError, match="in every reference model"):
        RMIA(data, references.some([0]), "offline")
    assert RMIA(data, references, "offline", a=0.0)
