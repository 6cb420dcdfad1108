"""Private boosting of stumps: it finds them, what it promises, and what weights that are normalised would give away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.audit.trial import judged
from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors
from discreet.learners.trees.boosted_stumps import SUREST, BoostedStumps
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.gradients.shape_gradients import STEEPEST, boosting_weights_of
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import spread
from discreet.schema.schema import Category, Number, Schema
from tests.learners import trial
from tests.learners.audited_sum import check_sum, worst
from tests.learners.audited_transcript import check_fit
from tests.learners.trees.test_random_forest import CLASSIFIER
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(BoostedStumps(2, bins=4, bounds=trial.BOUNDS, classes=[0, 1]), exemptions=CLASSIFIER)
FIELDS: dict[str, Any] = {"classes": ["in", "out"], "bounds": (-1.0, 1.0)}


def TWIN(model: Any) -> Any:
    """Scikit-learn's with half as many rounds: weights that are never above 1 learn half as fast."""
    return AdaBoostClassifier(n_estimators=len(model.cuts_) // 2, random_state=0)


SCHEMA = Schema({"x": Number(-1.0, 1.0), "target": Category(("in", "out"))})


def people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-1, 1, (n, 3))
    return X, np.where(np.abs(X[:, 1]) < 0.5, "in", "out")


def test_it_finds_stumps_that_are_right_together() -> None:
    """One stump is right about three quarters of the records, two and a constant about all."""
    X, y = people()
    for price in (1e-6, 0.0):
        model = BoostedStumps(**FIELDS, epsilon=2.0, delta=price).fit(X, y)
        assert model.score(X, y) > 0.97
        assert {-0.5, 0.5} <= set(model.cuts_[model.features_ == 1])
    assert BoostedStumps(1, **FIELDS, epsilon=2.0).fit(X, y).score(X, y) < 0.8


def test_its_scores_are_the_sums_of_its_stumps() -> None:
    X, y = people(3000)
    X[:50, 0] = np.nan
    model = BoostedStumps(6, **FIELDS, epsilon=5.0).fit(X, y)
    scores = np.zeros(len(X))
    for feature, cut, vote in zip(
        model.features_[:, 0], model.cuts_[:, 0], model.estimator_weights_[:, 0], strict=True
    ):
        said = 1.0 if feature < 0 else np.nan_to_num(np.sign(X[:, feature] - cut))
        scores += vote * said
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)


def test_each_of_three_classes_is_set_against_the_rest() -> None:
    X, _ = people()
    y = np.where(X[:, 0] < -0.25, "a", np.where(X[:, 0] < 0.25, "b", "c"))
    model = BoostedStumps(classes=["a", "b", "c"], bounds=(-1, 1), epsilon=3.0).fit(X, y)
    assert model.heights_.shape == (3, 1 + 3 * model.bins_)
    assert model.score(X, y) > 0.95


def test_categories_are_told_apart_by_their_values_and_unknown_ones_get_no_vote() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"ward": rng.choice(["a", "b", "c"], 5000), "age": rng.uniform(0, 90, 5000)})
    y = np.where(X["ward"] == "b", "out", "in")
    schema = Schema({"ward": Category(("a", "b", "c")), "age": Number(0.0, 90.0)})
    model = BoostedStumps(classes=["in", "out"], bounds=schema, epsilon=2.0).fit(X, y)
    assert model.score(X, y) > 0.99
    assert (model.features_[0, 0], model.cuts_[0, 0]) == (0, 1.0)
    stranger = model.decision_function(pd.DataFrame({"ward": ["z"], "age": [np.nan]}))
    np.testing.assert_allclose(stranger, model.heights_[:, 0])


def test_there_are_more_rounds_and_finer_cells_where_there_is_less_noise() -> None:
    X, y = people(10)
    for price, rounds in ((1e-6, [8, 32, 256]), (0.0, [4, 4, 64])):
        models = [
            BoostedStumps(**FIELDS, epsilon=epsilon, delta=price, expected_size=1000).fit(X, y)
            for epsilon in (1.0, 10.0, 1000.0)
        ]
        assert [len(model.cuts_) for model in models] == rounds
        assert models[0].bins_ < models[-1].bins_


def test_noise_alone_gets_no_vote() -> None:
    """Of no records, an edge is beyond two deviations once in 20 fits, and one of two edges once in ten."""
    X, y = np.zeros((0, 1)), np.array([], dtype=str)
    votes = [BoostedStumps(1, bins=2, **FIELDS).fit(X, y).estimator_weights_ for _ in range(20)]
    assert np.mean(np.equal(votes, 0.0)) > 0.5


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    assert 0.9e-6 < delta(BoostedStumps(**FIELDS, epsilon=0.5).fit(X, y).event_, 0.5) <= 1e-6
    assert pure_epsilon(BoostedStumps(**FIELDS, epsilon=0.5, delta=0.0).fit(X, y).event_) == pytest.approx(0.5)


def test_the_audit_does_not_refute_it_and_would_see_two_thirds_of_the_noise() -> None:
    """All that a fit releases, on the worst record of a grid; and one sum without delta."""
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, 200)
    records = np.column_stack([x, x > 0]).astype(np.float64)
    canaries = [np.array([value, kind]) for value in (-0.5, 0.5, np.nan) for kind in (0.0, 1.0)]
    model = BoostedStumps(4, bins=2, target="target", epsilon=4.0)
    check_fit(model, records, SCHEMA, canaries)
    pure = BoostedStumps(4, bins=2, **FIELDS, delta=0.0)
    task = pure._task(np.zeros((1, 1)), np.array(["in"]), Budget(1.0))
    question = pure._weights(task, pure.plan(task).domain, np.array([[0.0, 3.0, -3.0]]))
    plan = SumPlan(question, spread(task.data, question, Laplace(0.4)))
    record = worst(question, (-0.5, 0.5, np.nan), (0.0, 1.0))
    check_sum(plan, record)


@pytest.mark.partial_audit("shows one fault, by evidence for it alone")
def test_weights_that_are_normalised_give_the_one_away_that_is_wrong() -> None:
    """One of 101, with the noise that hides one of 101 equal weights: as AdaBoost weights records, and as this does.

    A stump of height 3 was released that is right about 100 records. Without the other, all weight is on them; with it,
    weights of 100 exp(-3) and exp(3) are divided by their sum, so that the edge falls from 1 to -0.6.
    """
    right, other = np.tile([0.5, 1.0], (100, 1)), np.array([[0.5, 0.0]])
    heights = np.array([[0.0, -3.0, 3.0]])

    def published(records: np.ndarray) -> np.ndarray:
        signs = 2 * records[:, 1] - 1
        weights = np.exp(-signs * 3.0)
        return np.array([signs @ weights / weights.sum()])

    def repaired(records: np.ndarray) -> np.ndarray:
        question = boosting_weights_of(SCHEMA, ("x",), (2,), "target", heights, "l1")
        return question.grid.values(question.steps(records).sum(axis=0))

    grid, noise, both = Grid(-20), Laplace(1.0), np.vstack([right, other])
    for sums, bound, holds in ((published, 2 / 101, False), (repaired, 2.0, True)):
        released = []
        for seed, records in enumerate((right, both)):
            many = np.tile(grid.cut(sums(records)).astype(np.int64), (5000, 1))
            answer = Answer(many, grid, Bound("l1", bound), Neighbors.ADD_REMOVE)
            released.append(
                noise.release(answer, DeterministicBits(seed)) @ (sums(np.vstack([right, other])) - sums(right))
            )
        assert judged(noise.event, *released).holds is holds


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    assert 2**9 * np.arctanh(SUREST) < STEEPEST  # heights that no question refuses, whatever was released
    mistakes: dict[str, list[Any]] = {
        "bins": [1],
        "n_estimators": [0, 513],
        "epsilon": [0.0],
        "classes": [["in"], None],
    }
    for fields in ({name: value} for name, values in mistakes.items() for value in values):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            BoostedStumps(**{**FIELDS, **fields}).fit(X, y)
