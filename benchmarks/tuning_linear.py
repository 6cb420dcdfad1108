"""The tables behind the constants of linear models, from made-up data that no benchmark has.

    python -m benchmarks.tuning_linear [constant ...]

A column for each value of a constant, a row for each size and price, the mean accuracy over data sets and noise; last
the mean over all rows. Constants were chosen by the last row.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.learners import linear_classifier, risk_minimizer
from discreet.learners.erm_classifier import ERMClassifier
from discreet.learners.logistic_regression import LogisticRegression

SIZES = (500, 5_000, 50_000)
SHAPES = ((8, 2), (30, 2), (15, 4))  # features, classes
EPSILONS = (0.3, 1.0, 3.0)
SEEDS = (101, 102, 103)


def made_up(n: int, features: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated normal features of many scales, inside [-1, 1], and classes of a softmax model; half to predict."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(features, features)) / np.sqrt(features)
    Z = rng.normal(size=(2 * n, features)) @ (mixed + np.eye(features))
    scores = Z @ rng.normal(size=(features, classes)) * 4 / np.sqrt(features) + rng.normal(size=classes)
    scales = 0.35 * rng.uniform(0.3, 1.0, features) / Z.std(axis=0)
    return np.clip(Z * scales + rng.uniform(-0.2, 0.2, features), -1, 1), np.argmax(
        scores + rng.gumbel(size=scores.shape), axis=1
    )


@dataclass(frozen=True)
class Constant:
    """A constant, the values that are tried, and a learner that has it."""

    values: tuple[Any, ...]
    put: Callable[[Any], None]
    learner: Callable[..., Any]
    delta: float


def stiffness(perturbed: str) -> Callable[[Any], None]:
    return lambda value: risk_minimizer.STIFFNESS.update({perturbed: value})


CONSTANTS = {
    "stiffness": Constant((0.02, 0.05, 0.1, 0.2, 0.5), stiffness("objective"), ERMClassifier, 1e-6),
    "stiffness_pure": Constant((0.02, 0.05, 0.1, 0.2, 0.5), stiffness("objective"), ERMClassifier, 0.0),
    "stiffness_output": Constant(
        (0.2, 0.5, 1.0, 2.0, 5.0), stiffness("output"), lambda **more: ERMClassifier(perturbed="output", **more), 1e-6
    ),
    "still": Constant(
        (0.003, 0.01, 0.03, 0.1), lambda value: setattr(linear_classifier, "STILL", value), LogisticRegression, 1e-6
    ),
    "rounds": Constant(
        (4, 5, 6, 8, 10), lambda value: setattr(linear_classifier, "ROUNDS", value), LogisticRegression, 1e-6
    ),
    "pure_rounds": Constant(
        (2, 3, 4, 6, 8, 10), lambda value: setattr(linear_classifier, "PURE_ROUNDS", value), LogisticRegression, 0.0
    ),
}


def table(constant: Constant) -> None:
    """Print it."""
    print("            n  epsilon" + "".join(f"{value:>8}" for value in constant.values))
    means = []
    for n in SIZES:
        for epsilon in EPSILONS:
            found = np.zeros((len(SHAPES) * len(SEEDS), len(constant.values)))
            for row, (shape, seed) in enumerate((shape, seed) for shape in SHAPES for seed in SEEDS):
                X, y = made_up(n, *shape, seed)
                for column, value in enumerate(constant.values):
                    constant.put(value)
                    model = constant.learner(
                        bounds=(-1, 1), classes=range(shape[1]), epsilon=epsilon, delta=constant.delta
                    )
                    found[row, column] = model.fit(X[:n], y[:n]).score(X[n:], y[n:])
            means.append(found.mean(axis=0))
            print(f"{n:>13}  {epsilon:>7}" + "".join(f"{value:8.4f}" for value in means[-1]), flush=True)
    print(f"{'all':>13}  {'all':>7}" + "".join(f"{value:8.4f}" for value in np.mean(means, axis=0)))


if __name__ == "__main__":
    for name in sys.argv[1:] or CONSTANTS:
        print(name)
        table(CONSTANTS[name])
