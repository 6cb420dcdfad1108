"""Additive models beside the figures of interpret's DP-EBM, and beside a private line where classes are curved.

    python -m benchmarks.learners_additive

Neighbors that join or leave, as those of DP-EBM; delta 1e-6; the data sets and seeds of `learners_linear`.
"""

from __future__ import annotations

import numpy as np

from benchmarks.learners_linear import EPSILONS, SEEDS, classified, measured
from benchmarks.rows import Row, at_least, report
from benchmarks.tuning_trees import accuracy, curved
from discreet.learners.additive_classifier import AdditiveClassifier
from discreet.learners.additive_regressor import AdditiveRegressor
from discreet.learners.logistic_regression import LogisticRegression

DELTA = 1e-6
PEER = {  # accuracy of DP-EBM at these epsilons
    "breast_cancer": (0.588, 0.657, 0.834, 0.936, 0.955),
    "1e4": (0.758, 0.823, 0.844, 0.852, 0.854),
}
PEER_REGRESSION = {  # R2 of DP-EBM
    "diabetes": (-90.0, -3.8, -3.0, -0.03, 0.26),
    "1e4": (-1.15, 0.04, 0.61, 0.77, 0.79),
}


def accuracies(name: str, epsilon: float) -> float:
    """The mean over all seeds."""
    model = AdditiveClassifier(classes=[0, 1], bounds=(-1, 1), epsilon=epsilon, delta=DELTA)
    splits = (classified(name, seed) for seed in range(SEEDS))
    return float(np.mean([model.fit(X, y).score(others, theirs) for X, others, y, theirs in splits]))


def explained(name: str, epsilon: float) -> float:
    """The mean R2 over all seeds."""
    model = AdditiveRegressor(target_bounds=(-1, 1), bounds=(-1, 1), epsilon=epsilon, delta=DELTA)
    splits = (measured(name, seed) for seed in range(SEEDS))
    return float(np.mean([model.fit(X, y).score(others, theirs) for X, others, y, theirs in splits]))


def beside_a_line() -> list[Row]:
    """Accuracy where no line separates the classes, and that of a private line."""
    found = []
    for epsilon in (0.3, 1.0, 3.0):
        sets = [curved(100 + seed) for seed in range(4)]
        line, ours = (
            float(np.mean([accuracy(data, kind(), epsilon, DELTA) for data in sets]))
            for kind in (LogisticRegression, AdditiveClassifier)
        )
        found.append(at_least(f"additive, curved, epsilon {epsilon:g}: accuracy, and that of a line", ours, line))
    return found


def rows() -> list[Row]:
    """All rows of this family."""
    found = beside_a_line()
    for name, peers in PEER.items():
        for epsilon, peer in zip(EPSILONS, peers, strict=True):
            value = accuracies(name, epsilon)
            found.append(at_least(f"additive {name}, epsilon {epsilon:g}: accuracy", value, peer))
    for name, peers in PEER_REGRESSION.items():
        for epsilon, peer in zip(EPSILONS, peers, strict=True):
            value = explained(name, epsilon)
            found.append(at_least(f"additive {name}, epsilon {epsilon:g}: R2", value, peer))
    return found


if __name__ == "__main__":
    report("learners_additive", rows())
