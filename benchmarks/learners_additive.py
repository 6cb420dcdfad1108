"""Additive models beside the figures of interpret's DP-EBM, and beside a private line where classes are curved.

Neighbors that join or leave, as those of DP-EBM; delta 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cells import EPSILONS, Cell, peer
from benchmarks.learning_data import classified, measured
from benchmarks.rows import Row, at_least
from benchmarks.tuning_trees import curved
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.learners.trees.additive_classifier import AdditiveClassifier
from discreet.learners.trees.additive_regressor import AdditiveRegressor

DELTA = 1e-6


def accuracy(name: str, epsilon: float, seed: int) -> float:
    """Of one fit."""
    data = classified(name, seed)
    model = AdditiveClassifier(classes=[0, 1], bounds=(-1, 1), epsilon=epsilon, delta=DELTA)
    return model.fit(data.X, data.y).score(data.others, data.theirs)


def explained(name: str, epsilon: float, seed: int) -> float:
    """R2 of one fit."""
    data = measured(name, seed)
    model = AdditiveRegressor(target_bounds=(-1, 1), bounds=(-1, 1), epsilon=epsilon, delta=DELTA)
    return model.fit(data.X, data.y).score(data.others, data.theirs)


def cells() -> list[Cell]:
    """Both kinds of target."""
    found = []
    tables: tuple[tuple[str, Callable[..., float], tuple[str, ...]], ...] = (
        ("additive", accuracy, ("breast_cancer", "1e4", "1e5")),
        ("additive R2", explained, ("diabetes", "1e4", "1e5")),
    )
    for learner, score, names in tables:
        for name in names:
            for epsilon in EPSILONS:
                goal = peer(learner, name, epsilon)
                found.append(Cell(f"{learner} {name}, epsilon {epsilon:g}", partial(score, name, epsilon), goal))
    return found


def rows() -> list[Row]:
    """Accuracy where no line separates the classes, and that of a private line."""
    found = []
    for epsilon in (0.3, 1.0, 3.0):
        sets = [curved(100 + seed) for seed in range(4)]
        kinds: tuple[Callable[..., Any], ...] = (LogisticRegression, AdditiveClassifier)
        line, ours = (float(np.mean([data.score(kind(), epsilon, DELTA) for data in sets])) for kind in kinds)
        found.append(at_least(f"additive, curved, epsilon {epsilon:g}: accuracy, and that of a line", ours, line))
    return found
