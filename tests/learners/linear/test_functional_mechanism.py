"""The functional mechanism: it learns, it is repaired, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import LaplaceLoss
from discreet.learners.linear.functional_mechanism import FunctionalLinearRegression, FunctionalLogisticRegression
from tests.learners import trial
from tests.learners.audited_sum import check_sum
from tests.learners.linear.test_logistic_regression import BOUNDS, people
from tests.learners.trial import LearnerTrial

TRIALS = {
    "FunctionalLinearRegression": LearnerTrial(
        FunctionalLinearRegression(bounds=trial.BOUNDS, target_bounds=(-10.0, 10.0)),
        exemptions={
            "check_regressors_train": "its target is not between the bounds of this trial, and 200 records are few",
        },
    ),
    "FunctionalLogisticRegression": LearnerTrial(
        FunctionalLogisticRegression(bounds=trial.BOUNDS, classes=[0, 1, 2]),
        exemptions={
            "check_decision_proba_consistency": "it is about two classes, and these are three",
            "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
            "check_classifiers_classes": "classes are public: those of the check are others",
            "check_classifiers_regression_target": "a target that is no class counts for nothing: errors show it",
        },
    ),
}


def test_it_finds_the_coefficients() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform([0, -4], [10, 4], (60_000, 2))
    y = X @ [0.3, -1.0] + 2 + rng.normal(size=60_000) / 4
    model = FunctionalLinearRegression(bounds=([0, -4], [10, 4]), target_bounds=(-5, 10), epsilon=4.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, [0.3, -1.0], atol=0.05)
    assert model.intercept_ == pytest.approx(2.0, abs=0.2)


def test_a_polynomial_without_a_minimum_is_repaired() -> None:
    """Of no records there is nothing but noise; a matrix of noise has directions that fall."""
    for _ in range(20):
        model = FunctionalLinearRegression(bounds=(-1, 1), target_bounds=(-1, 1), epsilon=0.1)
        model.fit(np.zeros((0, 8)), np.zeros(0))
        assert np.isfinite(model.coef_).all()


def test_the_fit_costs_what_it_says() -> None:
    model = FunctionalLinearRegression(bounds=(-1, 1), target_bounds=(-1, 1), epsilon=0.7).fit(
        np.zeros((5, 2)), np.zeros(5)
    )
    assert isinstance(model.event_, LaplaceLoss)
    assert pure_epsilon(model.event_) == pytest.approx(0.7)


def test_no_audit_of_its_sum_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """A record in a corner, which reaches the bound."""
    model = FunctionalLinearRegression(bounds=(-1, 1), target_bounds=(-1, 1), epsilon=3.0)
    plan = model.plan(model._task(np.ones((1, 2)), np.ones(1), Budget(3.0)))
    check_sum(plan, np.ones(3))


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    for fields in ({"epsilon": 0.0}, {"bounds": (1.0, 0.0)}, {"target_bounds": (1.0, 1.0)}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            FunctionalLinearRegression(**{"bounds": (-1, 1), "target_bounds": (-1, 1), **fields}).fit(  # type: ignore[arg-type]
                np.zeros((5, 2)), np.zeros(5)
            )


@pytest.mark.parametrize("classes", [2, 3])
def test_it_separates_classes(classes: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20_000, 2))
    y = np.argmax(X @ [[1.0, -0.5, -0.5], [0.0, 0.9, -0.9]], axis=1) if classes == 3 else (X @ [2, -1] > 0.3)
    model = FunctionalLogisticRegression(bounds=(-1, 1), classes=range(classes), epsilon=8.0).fit(X, y)
    assert model.score(X, y) > 0.9
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


def test_a_fit_of_classes_costs_what_it_says() -> None:
    model = FunctionalLogisticRegression(bounds=BOUNDS, classes=[0, 1], epsilon=0.7).fit(*people(100, 2))
    assert pure_epsilon(model.event_) == pytest.approx(0.7)


def test_no_audit_refutes_a_sum_over_classes_and_one_does_with_two_thirds_of_the_noise() -> None:
    """A record in a corner, which reaches the bound."""
    model = FunctionalLogisticRegression(bounds=(-1, 1), classes=[0, 1], epsilon=3.0)
    plan = model.plan(model._task(np.ones((1, 2)), np.ones(1), Budget(3.0)))
    check_sum(plan, np.ones(3))


def test_a_mistake_with_classes_is_refused_before_anything_is_spent() -> None:
    X, y = people(10, 2)
    for fields in ({"epsilon": 0.0}, {"classes": [0]}, {"bounds": (1.0, 0.0)}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            FunctionalLogisticRegression(**{"bounds": BOUNDS, "classes": [0, 1], **fields}).fit(X, y)  # type: ignore[arg-type]
