"""Private logistic regression: close to the exact one, and what it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression as Exact

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.releases.least_noise import SumPlan
from tests.learners import trial
from tests.learners.audited_sum import check_sum
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    LogisticRegression(bounds=trial.BOUNDS, classes=[0, 1, 2], max_iter=2),
    exemptions={
        "check_decision_proba_consistency": "it is about two classes, and these are three",
        "check_class_weight_classifiers": "at epsilon 1, noise of a thousand steps hides 50 records",
        "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
        "check_classifiers_classes": "classes are public: those of the check are others",
        "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show it",
    },
)
BOUNDS = (-6.0, 6.0)


def people(n: int, classes: int) -> tuple[Array, Array]:
    X, y = make_classification(
        n, 6, n_informative=4, n_redundant=1, n_classes=classes, n_clusters_per_class=1, random_state=5
    )
    return np.clip(X, *BOUNDS), y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("price", [1e-6, 0.0], ids=["approximate", "pure"])
def test_it_is_close_to_the_exact_one(classes: int, price: float) -> None:
    X, y = people(12_000, classes)
    model = LogisticRegression(bounds=BOUNDS, classes=range(classes), epsilon=2.0, delta=price).fit(X[:9000], y[:9000])
    exact = Exact().fit(X[:9000], y[:9000])
    assert model.score(X[9000:], y[9000:]) > exact.score(X[9000:], y[9000:]) - 0.03
    assert model.coef_.shape == exact.coef_.shape
    assert model.intercept_.shape == exact.intercept_.shape
    assert model.decision_function(X[:5]).shape == exact.decision_function(X[:5]).shape


@pytest.mark.parametrize("residual", [None, math.sqrt(2)], ids=["shrunk", "plain"])
def test_probabilities_are_calibrated_whatever_residuals_are_shrunk_to(residual: float | None) -> None:
    """Of a model that holds: scores are normal, and so little noise that the link alone decides."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60_000, 2)).clip(*BOUNDS)
    y = rng.uniform(size=60_000) < 1 / (1 + np.exp(-2 * X[:, 0] - 0.5))
    model = LogisticRegression(
        bounds=BOUNDS, classes=[False, True], residual=residual, epsilon=50.0, delta=1e-6, max_iter=25
    ).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    for low in np.arange(0.1, 0.9, 0.2):
        some = (p >= low) & (p < low + 0.2)
        assert y[some].mean() == pytest.approx(p[some].mean(), abs=0.04)


def test_the_greatest_probability_is_that_of_the_greatest_score() -> None:
    X, y = people(3000, 4)
    model = LogisticRegression(bounds=BOUNDS, classes=range(4), epsilon=5.0).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(100, 2)
    model = LogisticRegression(bounds=BOUNDS, classes=[0, 1], epsilon=0.7, delta=1e-6).fit(X, y)
    assert 0.99e-6 < delta(model.event_, 0.7) <= 1e-6
    pure = LogisticRegression(bounds=BOUNDS, classes=[0, 1], epsilon=0.7, delta=0.0).fit(X, y)
    assert pure_epsilon(pure.event_) == pytest.approx(0.7)


def test_with_a_delta_all_noise_is_gaussian() -> None:
    """Counts with Laplace noise would take a tenth more noise of all steps: the two kinds compose badly."""
    X, y = people(50, 2)
    model = LogisticRegression(bounds=BOUNDS, classes=[0, 1], epsilon=1.0)
    parts = model.plan(model._task(X, y, Budget(1.0, 1e-6))).mechanisms
    assert {type(part).__name__ for part in parts} == {"Gaussian"}


def test_several_classes_are_as_far_apart_as_they_are() -> None:
    """Steps along the scores are as long as the loss bends: where they were not, scores were too small by a half."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(20_000, 4)).clip(*BOUNDS)
    scores = X @ rng.normal(size=(4, 4)) * 2.5
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    model = LogisticRegression(bounds=BOUNDS, classes=range(4), epsilon=3.0).fit(X, y)
    exact = Exact(C=100.0).fit(X, y)
    loss = [-np.mean(np.log(one.predict_proba(X)[np.arange(len(y)), y])) for one in (model, exact)]
    assert loss[0] < loss[1] + 0.02


def test_no_audit_of_a_gradient_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """A record at the end of its bound, before anything is learned: then all residuals have their full length."""
    model = LogisticRegression(bounds=(-1, 1), classes=[0, 1], max_iter=1, epsilon=3.0)
    task = model._task(np.ones((1, 1)), np.array([1]), Budget(3.0, 1e-6))
    longest = model.pull(2, math.inf).longest
    gradient = model.gradients(task, np.array([[0.0, 1.0]]), np.zeros((2, 1)), longest, np.ones(2))
    plan = SumPlan(gradient, model.plan(task).spreads[-1])
    check_sum(plan, np.array([1.0, 1.0]))


def test_classes_that_are_not_listed_count_for_nothing() -> None:
    X, y = people(20_000, 3)
    model = LogisticRegression(bounds=BOUNDS, classes=[0, 1], epsilon=5.0).fit(X, y)
    some = y < 2
    assert set(model.predict(X)) <= {0, 1}
    assert model.score(X[some], y[some]) > Exact().fit(X[some], y[some]).score(X[some], y[some]) - 0.05


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10, 2)
    for fields in (
        {"max_iter": 0},
        {"residual": 0.0},
        {"method": "best"},
        {"method": "objective", "class_weight": "balanced"},
        {"class_weight": "equal"},
        {"class_weight": {0: -1.0}},
        {"class_weight": {"nobody": 1.0}},
        {"epsilon": 0.0},
        {"classes": [0]},
        {"bounds": (1.0, 0.0)},
    ):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            LogisticRegression(**{"bounds": BOUNDS, "classes": [0, 1], **fields}).fit(X, y)  # type: ignore[arg-type]


def test_at_pure_epsilon_a_perturbed_minimiser_is_the_default_and_learns_more() -> None:
    """Records are centred elsewhere than their bounds, and steps share the budget by their number."""
    rng = np.random.default_rng(4)
    X = np.clip(0.2 * rng.normal(size=(3000, 20)) + rng.uniform(-0.4, 0.4, 20), -1, 1)
    y = (X - X.mean(axis=0)) @ rng.normal(size=20) * 8 + rng.logistic(size=3000) > 0
    model = LogisticRegression(bounds=(-1, 1), classes=[False, True], epsilon=0.5, delta=0.0, expected_size=1500)

    def scores() -> list[float]:
        return [model.fit(X[:1500], y[:1500]).score(X[1500:], y[1500:]) for _ in range(5)]

    own = np.median(scores())
    assert model.n_iter_ == 0
    assert pure_epsilon(model.event_) == pytest.approx(0.5)
    model.set_params(method="gradients")
    assert own > np.median(scores()) + 0.03


def test_which_method_is_taken_follows_from_public_numbers() -> None:
    """Steps with a delta, or where they are asked for; without one, by records times epsilon for each coefficient."""
    X, y = people(50, 2)
    for price, size, classes, steps in (
        (0.0, 10**6, 2, 0),
        (0.0, 100, 3, 0),
        (0.0, 10**6, 3, 4),
        (1e-6, 100, 2, 8),
        (1e-6, 10**6, 2, 8),
        (1e-6, 10**6, 3, 8),
    ):
        model = LogisticRegression(bounds=BOUNDS, classes=range(classes), delta=price, expected_size=size)
        assert model.fit(X, y).n_iter_ == steps
    assert LogisticRegression(bounds=BOUNDS, classes=[0, 1], delta=0.0, max_iter=3).fit(X, y).n_iter_ == 3


def test_residuals_grow_and_steps_are_more_where_noise_is_small() -> None:
    X, y = people(3000, 2)
    few = LogisticRegression(bounds=BOUNDS, classes=[0, 1], epsilon=0.1).fit(X, y)
    many = LogisticRegression(bounds=BOUNDS, classes=[0, 1], epsilon=100.0).fit(X, y)
    assert few.residual_ == pytest.approx(math.sqrt(0.5))
    assert many.residual_ == pytest.approx(math.sqrt(2))
    assert (few.n_iter_, many.n_iter_) == (8, 16)


def test_probabilities_of_a_minimiser_are_those_of_its_scores() -> None:
    X, y = people(2000, 2)
    model = LogisticRegression(bounds=BOUNDS, classes=[0, 1], method="objective").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))
