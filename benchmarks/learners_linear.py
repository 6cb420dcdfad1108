"""Linear models beside their goals: logistic regression, support vector machines, linear regression.

Goals at epsilon 1 and delta 1e-6 are those that were promised; all others are what diffprivlib reaches at the same
epsilon, with C = 1 or 0.01, whichever is better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import datasets, linear_model

from benchmarks.cells import EPSILONS, Cell, peer
from benchmarks.learning_data import ADULT, classified, measured
from benchmarks.rows import Row, at_most, cpu_seconds
from discreet.learners.linear.erm_classifier import ERMClassifier
from discreet.learners.linear.kernel_svc import KernelSVC
from discreet.learners.linear.linear_regression import LinearRegression
from discreet.learners.linear.linear_svc import LinearSVC
from discreet.learners.linear.logistic_regression import LogisticRegression

DELTA = 1e-6
SETS = ("breast_cancer", "wine", "digits", "1e4", "1e5", *(["adult"] if ADULT.exists() else []))
PROMISED = {"logistic digits": 0.75, "logistic 1e4": 0.847, "logistic 1e5": 0.902, "linear 1e4": 0.82}


def accuracy(kind: Callable[..., Any], name: str, epsilon: float, delta: float, seed: int) -> float:
    """Of one fit."""
    return classified(name, seed).score(kind(), epsilon, delta)


def explained(kind: Callable[..., Any], name: str, epsilon: float, delta: float, seed: int) -> float:
    """R2 of one fit."""
    return measured(name, seed).score(kind(), epsilon, delta)


def cells() -> list[Cell]:
    """Both kinds of price, every data set and epsilon."""
    found = []
    for delta in (DELTA, 0.0):
        for name in SETS:
            found += _beside_peer("logistic", name, partial(accuracy, LogisticRegression, name), delta)
        for name in ("diabetes", "1e4", "1e5"):
            found += _beside_peer("linear", name, partial(explained, LinearRegression, name), delta)
    for name in SETS:  # pure, as the peer's
        found += _beside_peer("logistic", name, partial(accuracy, ERMClassifier, name), 0.0, "objective perturbation")
    for name in SETS:
        one = partial(accuracy, LinearSVC, name, 1.0, DELTA)
        found.append(Cell(f"support vectors {name}, epsilon 1, delta {DELTA:g}", one, peer("logistic", name, 1.0)))
    plane = linear_model.LogisticRegression().fit(*moons()[:2]).score(*moons()[2:])
    return [*found, Cell("kernel support vectors, two moons, epsilon 1; a plane without noise", kernel, plane)]


def _beside_peer(
    learner: str, data: str, score: Callable[[float, float, int], float], delta: float, name: str = ""
) -> list[Cell]:
    """A cell for each epsilon."""
    promised = {1.0: PROMISED.get(f"{learner} {data}")} if delta > 0 else {}
    return [
        Cell(
            f"{name or learner} {data}, epsilon {epsilon:g}, delta {delta:g}",
            partial(score, epsilon, delta),
            promised.get(epsilon) or peer(learner, data, epsilon),
        )
        for epsilon in EPSILONS
    ]


def moons() -> tuple[Any, ...]:
    """Two half circles, to learn from and to predict, which no plane separates."""
    X, y = datasets.make_moons(12_500, noise=0.2, random_state=7)
    X = np.clip((X - [0.5, 0.25]) / 2, -1, 1)
    return X[:10_000], y[:10_000], X[10_000:], y[10_000:]


def kernel(seed: int) -> float:
    """The accuracy of a kernel."""
    X, y, others, theirs = moons()
    return KernelSVC(bounds=(-1, 1), classes=[0, 1], random_state=seed).fit(X, y).score(others, theirs)


def rows() -> list[Row]:
    """The times of fits of 100,000 records, beside scikit-learn's."""
    data, numbers = classified("1e5"), measured("1e5")
    ours, exact, ours_linear, exact_linear, minimised = cpu_seconds(
        lambda: LogisticRegression(target="target").fit(data.private(1.0, DELTA)),
        lambda: linear_model.LogisticRegression().fit(data.X, data.y),
        lambda: LinearRegression(target="target").fit(numbers.private(1.0, DELTA)),
        lambda: linear_model.LinearRegression().fit(numbers.X, numbers.y),
        lambda: ERMClassifier(target="target").fit(data.private(1.0, DELTA)),
        rounds=5,
    )
    return [
        at_most("logistic 1e5, CPU time of scikit-learn's", ours / exact, 2.0),
        at_most("objective perturbation 1e5, CPU time of scikit-learn's", minimised / exact, 2.0),
        at_most("linear 1e5, CPU time of scikit-learn's", ours_linear / exact_linear, 2.0),
    ]
