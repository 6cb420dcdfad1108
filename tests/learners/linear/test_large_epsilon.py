"""At large epsilon every classifier of this room is as accurate as its exact twin, on three made-up sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_classification, make_moons
from sklearn.linear_model import LogisticRegression as ExactLogistic
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as ExactSVC

from discreet.core.grid import Array
from discreet.learners.linear.erm_classifier import ERMClassifier
from discreet.learners.linear.kernel_svc import KernelSVC
from discreet.learners.linear.linear_svc import LinearSVC
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.learners.linear.perceptron import Perceptron

N = 3000
Made = tuple[Array, Array]


def plain() -> Made:
    X, y = make_classification(2 * N, 10, n_informative=5, n_redundant=2, random_state=3)
    return np.clip(X / 8, -1, 1), y


def unequal() -> Made:
    """A quarter is of the second class, and a mark on a twentieth means nothing."""
    rng = np.random.default_rng(4)
    X = rng.standard_t(4, (2 * N, 4)).clip(-5, 5)
    y = rng.random(2 * N) < 1 / (1 + np.exp(1.5 - X @ [1.0, -1.0, 0.5, 0.0]))
    return np.column_stack([X / 5, 2.0 * (rng.random(2 * N) < 0.05) - 1]), y.astype(int)


def moons() -> Made:
    X, y = make_moons(2 * N, noise=0.3, random_state=5)
    return np.clip((X - [0.5, 0.25]) / 2.5, -1, 1), y


def circles() -> Made:
    X, y = make_circles(2 * N, noise=0.15, factor=0.5, random_state=6)
    return np.clip(X / 1.6, -1, 1), y


def waves() -> Made:
    rng = np.random.default_rng(7)
    X = rng.uniform(-1, 1, (2 * N, 2))
    return X, (np.sin(4 * X[:, 0]) + 0.3 * rng.normal(size=2 * N) > X[:, 1]).astype(int)


LINEAR, BENT = (plain, unequal, moons), (moons, circles, waves)
TWINS: list[tuple[Any, Any, tuple[Any, ...]]] = [
    (LogisticRegression(), ExactLogistic(), LINEAR),
    (LogisticRegression(method="objective"), ExactLogistic(), LINEAR),
    (LinearSVC(), ExactSVC(), LINEAR),
    (ERMClassifier(loss="huber_hinge"), ExactSVC(), LINEAR),
    (ERMClassifier(perturbed="output"), ExactLogistic(), LINEAR),
    (Perceptron(), ExactSVC(), LINEAR),
    (KernelSVC(random_state=1), SVC(gamma=9 / 2), BENT),
]


@pytest.mark.parametrize(("model", "exact", "sets"), TWINS, ids=lambda one: type(one).__name__)
def test_at_epsilon_a_thousand_it_is_as_accurate_as_its_exact_twin(
    model: Any, exact: Any, sets: tuple[Any, ...]
) -> None:
    for price in (1e-6, 0.0):
        for made in sets if price else sets[:1]:
            X, y = made()
            model.set_params(bounds=(-1, 1), classes=[0, 1], epsilon=1000.0, delta=price).fit(X[:N], y[:N])
            assert model.score(X[N:], y[N:]) >= exact.fit(X[:N], y[:N]).score(X[N:], y[N:]) - 0.01, made.__name__
