"""The tables behind the constants of linear models, from made-up data that no benchmark has.

    python -m benchmarks.tuning_linear [constant ...]

A column for each value of a constant, a row for each size and price, the mean accuracy over data sets and noise; last
the mean over all rows. Constants were chosen by the last row.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.datasets import make_classification

from discreet.learners.linear import averaged_steps, erm_classifier, kernel_svc, linear_classifier, risk_minimizer
from discreet.learners.linear.erm_classifier import ERMClassifier
from discreet.learners.linear.kernel_svc import KernelSVC
from discreet.learners.linear.logistic_regression import LogisticRegression

SIZES = (500, 5_000, 50_000)
# features, classes; of 27, most are marks of categories, 31 have four causes, and 64 are the cells of images
SHAPES = ((8, 2), (30, 2), (15, 4), (27, 2), (31, 2), (64, 10))
EPSILONS = (0.3, 1.0, 3.0)
SEEDS = (101, 102, 103)


def made_up(n: int, features: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated normal features of many scales, inside [-1, 1], and classes of a softmax model; half to predict."""
    if features == 27:
        return marked(n, seed)
    if features == 31:
        return caused(n, seed)
    if features == 64:
        return drawn(n, classes, seed)
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(features, features)) / np.sqrt(features)
    Z = rng.normal(size=(2 * n, features)) @ (mixed + np.eye(features))
    scores = Z @ rng.normal(size=(features, classes)) * 4 / np.sqrt(features) + rng.normal(size=classes)
    scales = 0.35 * rng.uniform(0.3, 1.0, features) / Z.std(axis=0)
    return np.clip(Z * scales + rng.uniform(-0.2, 0.2, features), -1, 1), np.argmax(
        scores + rng.gumbel(size=scores.shape), axis=1
    )


def marked(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four numbers, and marks of -1 and 1 for the values of three categories; one class is rare."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(2 * n, 4)) * rng.uniform(0.1, 0.6, 4) + rng.uniform(-0.8, 0.2, 4)
    columns, scores = [np.clip(numbers, -1, 1)], numbers @ rng.normal(size=4) * 2
    for size in (3, 8, 12):
        places = rng.choice(size, 2 * n, p=rng.dirichlet(np.ones(size)))
        columns.append(2 * np.eye(size)[places] - 1)
        scores = scores + rng.normal(size=size)[places]
    classes = scores - np.median(scores) - 1 + rng.logistic(size=2 * n) > 0
    return np.column_stack(columns), classes.astype(np.int64)


def caused(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """31 skewed measurements of size, which four causes determine but for a little; classes are alike in number."""
    rng = np.random.default_rng(5000 + seed)
    causes, loads = rng.normal(size=(2 * n, 4)), rng.normal(size=(4, 31)) * np.array([[1.0], [0.6], [0.4], [0.3]])
    loads[0] = np.abs(loads[0])
    sizes = np.exp(0.5 * causes @ loads + 0.15 * rng.normal(size=(2 * n, 31)))
    low, high = sizes.min(axis=0), sizes.max(axis=0)
    score = causes @ np.array([6.0, 2.0, 2.0, 0.0]) + rng.logistic(size=2 * n)
    return 2 * (sizes - low) / (high - low) - 1, (score > 0).astype(np.int64)


def drawn(n: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images of eight times eight cells: five bright spots for each class, which move a little."""
    rng = np.random.default_rng(seed)
    cells, y = np.array(list(np.ndindex(8, 8)), dtype=np.float64), rng.integers(classes, size=2 * n)
    spots = (
        rng.uniform(1, 6, (classes, 5, 2))[y] + rng.normal(0, 0.7, (2 * n, 1, 2)) + rng.normal(0, 0.5, (2 * n, 5, 2))
    )
    away = np.square(cells[None, :, None, :] - spots[:, None, :, :]).sum(axis=-1)
    bright = np.exp(-away / 2.2).max(axis=-1) * rng.uniform(0.8, 1.1, (2 * n, 1))
    return np.clip(2 * bright + rng.normal(0, 0.16, bright.shape) - 1, -1, 1), y


@dataclass(frozen=True)
class Constant:
    """A constant, the values that are tried, and a learner that has it."""

    values: tuple[Any, ...]
    put: Callable[[Any], None]
    learner: Callable[..., Any]
    delta: float


def stiffness(perturbed: str) -> Callable[[Any], None]:
    return lambda value: risk_minimizer.STIFFNESS.update({perturbed: value})


def set_in(module: ModuleType, name: str) -> Callable[[Any], None]:
    return lambda value: setattr(module, name, value)


CHOSEN: dict[str, Any] = {"method": "gradients"}


def logistic(**more: Any) -> LogisticRegression:
    return LogisticRegression(**CHOSEN, **more)


def method(value: str) -> None:
    CHOSEN["method"] = value


CONSTANTS = {
    "stiffness": Constant((0.02, 0.05, 0.1, 0.2, 0.5), stiffness("objective"), ERMClassifier, 1e-6),
    "stiffness_pure": Constant((0.02, 0.05, 0.1, 0.2, 0.5), stiffness("objective"), ERMClassifier, 0.0),
    "stiffness_output": Constant(
        (0.2, 0.5, 1.0, 2.0, 5.0), stiffness("output"), lambda **more: ERMClassifier(perturbed="output", **more), 1e-6
    ),
    "reach": Constant((0.5, 0.7, 1.0, 1.4), set_in(erm_classifier, "REACH"), ERMClassifier, 0.0),
    "constant": Constant((0.12, 0.25, 0.5, 1.0), set_in(erm_classifier, "CONSTANT"), ERMClassifier, 0.0),
    "share": Constant((0.05, 0.1, 0.2), set_in(erm_classifier, "SHARE"), ERMClassifier, 0.0),
    "flat": Constant((0.0, 0.002, 0.005, 0.02), set_in(risk_minimizer, "FLAT"), ERMClassifier, 0.0),
    "method": Constant(("gradients", "objective"), method, logistic, 1e-6),
    "method_pure": Constant(("gradients", "objective"), method, logistic, 0.0),
    "shares": Constant(
        ((0.1, 0.2, 0.02, 0.68), (0.05, 0.1, 0.05, 0.8), (0.05, 0.1, 0.02, 0.83), (0.05, 0.05, 0.02, 0.88)),
        set_in(linear_classifier, "SHARES"),
        logistic,
        1e-6,
    ),
    "still": Constant((0.003, 0.01, 0.03, 0.1), set_in(linear_classifier, "STILL"), logistic, 1e-6),
    "growth": Constant((0.25, 0.5, 1.0), set_in(linear_classifier, "GROWTH"), logistic, 1e-6),
    "rounds": Constant((4, 5, 6, 8, 10), set_in(linear_classifier, "ROUNDS"), logistic, 1e-6),
    "lost": Constant((0.05, 0.2, 0.5, 1.0), set_in(linear_classifier, "LOST"), logistic, 1e-6),
    "drowned": Constant((1.0, 3.0, 8.0, 20.0), set_in(linear_classifier, "DROWNED"), logistic, 1e-6),
    "wider": Constant((1.0, 2.0, 4.0), set_in(averaged_steps, "WIDER"), logistic, 1e-6),
    "pure_rounds": Constant((2, 3, 4, 6, 8, 10), set_in(linear_classifier, "PURE_ROUNDS"), logistic, 0.0),
}


def table(constant: Constant) -> None:
    """Print it."""
    print("            n  epsilon" + "".join(f"{value!s:>10}" for value in constant.values))
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
            print(f"{n:>13}  {epsilon:>7}" + "".join(f"{value:10.4f}" for value in means[-1]), flush=True)
    print(f"{'all':>13}  {'all':>7}" + "".join(f"{value:10.4f}" for value in np.mean(means, axis=0)))


def bent(features: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes that no plane separates: by waves of 4 features, products of 8, twelve clusters, and a sphere in 16."""
    rng = np.random.default_rng(107)
    if features == 12:
        return make_classification(n, 12, n_informative=8, n_redundant=0, n_clusters_per_class=4, random_state=7)
    X = rng.normal(size=(n, features))
    noise = 0.3 * rng.normal(size=n)
    scores = {
        4: np.sin(2 * X[:, 0]) + np.cos(2 * X[:, 1]) * X[:, 2] + noise,
        8: X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + noise,
        16: np.square(X).sum(axis=1) - features,
    }
    return X, (scores[features] > 0).astype(np.int64)


def kernel() -> None:
    """Accuracies of kernels by their width, and by the penalty in units of noise, where records times epsilon are many.

    The width was chosen by the sets of 4, 8 and 12 features and by the sphere of `tests/learners/twins.py`, of 10.
    """
    print("       n  epsilon   width   stiff" + "".join(f"{d:>10}" for d in (4, 8, 12, 16)))
    for (n, epsilon), width, stiff in product(
        ((4_000, 1000.0), (4_000, 100.0), (10_000, 10.0)), (0.4, 0.8, 1.6), (0.003, 0.01, 0.1)
    ):
        found = []
        for features in (4, 8, 12, 16):
            X, y = bent(features, n + 4000)
            bounds = (X.min(axis=0) - 0.5, X.max(axis=0) + 0.5)
            model = KernelSVC(bounds=bounds, classes=[0, 1], random_state=0, expected_size=n, epsilon=epsilon)
            with patch.multiple(kernel_svc, WIDTH=width, STIFF=stiff):
                found.append(model.fit(X[:n], y[:n]).score(X[n:], y[n:]))
        print(f"{n:>8} {epsilon:>8} {width:>7} {stiff:>7}" + "".join(f"{one:10.4f}" for one in found), flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or [*CONSTANTS, "kernel"]:
        print(name)
        kernel() if name == "kernel" else table(CONSTANTS[name])
