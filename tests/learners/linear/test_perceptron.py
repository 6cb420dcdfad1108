"""The private perceptron: it learns, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.errors import DiscreetError
from discreet.learners.linear.perceptron import Perceptron
from tests.learners import trial
from tests.learners.linear.test_logistic_regression import BOUNDS, people
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    Perceptron(bounds=trial.BOUNDS, classes=[0, 1, 2], max_iter=2),
    exemptions={
        "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
        "check_classifiers_classes": "classes are public: those of the check are others",
        "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show it",
    },
)


@pytest.mark.parametrize("price", [1e-6, 0.0], ids=["approximate", "pure"])
def test_it_finds_a_plane_between_classes(price: float) -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (12_000, 3))
    y = X @ [1.0, -2.0, 0.5] > 0.2
    model = Perceptron(bounds=(-1, 1), classes=[False, True], epsilon=4.0, delta=price).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.coef_.shape == (1, 3)


def test_of_three_classes_the_one_with_the_greatest_score_wins() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (12_000, 2))
    y = np.argmax(X @ [[1.0, -0.5, -0.5], [0.0, 0.9, -0.9]], axis=1)
    model = Perceptron(bounds=(-1, 1), classes=range(3), epsilon=8.0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.decision_function(X[:5]).shape == (5, 3)


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(100, 2)
    model = Perceptron(bounds=BOUNDS, classes=[0, 1], epsilon=0.7, delta=1e-6).fit(X, y)
    assert 0.99e-6 < delta(model.event_, 0.7) <= 1e-6
    pure = Perceptron(bounds=BOUNDS, classes=[0, 1], epsilon=0.7, delta=0.0).fit(X, y)
    assert pure_epsilon(pure.event_) == pytest.approx(0.7)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10, 2)
    for fields in ({"max_iter": 0}, {"epsilon": 0.0}, {"classes": [0]}, {"bounds": (1.0, 0.0)}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            Perceptron(**{"bounds": BOUNDS, "classes": np.array([0, 1]), **fields}).fit(X, y)  # type: ignore[arg-type]
