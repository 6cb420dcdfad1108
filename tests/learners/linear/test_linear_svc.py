"""Private support vector machine: close to the exact one, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC as Exact

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.errors import DiscreetError
from discreet.learners.linear.linear_svc import LinearSVC
from tests.learners import trial
from tests.learners.linear.test_logistic_regression import BOUNDS, people
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    LinearSVC(bounds=trial.BOUNDS, classes=[0, 1, 2], max_iter=2),
    exemptions={
        "check_class_weight_classifiers": "at epsilon 1, noise of a thousand steps hides 50 records",
        "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
        "check_classifiers_classes": "classes are public: those of the check are others",
        "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show it",
    },
)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("price", [1e-6, 0.0], ids=["approximate", "pure"])
def test_it_is_close_to_the_exact_one(classes: int, price: float) -> None:
    X, y = people(12_000, classes)
    model = LinearSVC(bounds=BOUNDS, classes=range(classes), epsilon=2.0, delta=price).fit(X[:9000], y[:9000])
    exact = Exact().fit(X[:9000], y[:9000])
    assert model.score(X[9000:], y[9000:]) > exact.score(X[9000:], y[9000:]) - 0.03
    assert model.coef_.shape == exact.coef_.shape
    assert model.decision_function(X[:5]).shape == exact.decision_function(X[:5]).shape


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(100, 2)
    model = LinearSVC(bounds=BOUNDS, classes=[0, 1], epsilon=0.7, delta=1e-6).fit(X, y)
    assert 0.99e-6 < delta(model.event_, 0.7) <= 1e-6
    pure = LinearSVC(bounds=BOUNDS, classes=[0, 1], epsilon=0.7, delta=0.0).fit(X, y)
    assert pure_epsilon(pure.event_) == pytest.approx(0.7)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10, 2)
    for fields in ({"max_iter": 0}, {"epsilon": 0.0}, {"classes": [0]}, {"bounds": (1.0, 0.0)}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            LinearSVC(**{"bounds": BOUNDS, "classes": np.array([0, 1]), **fields}).fit(X, y)  # type: ignore[arg-type]
