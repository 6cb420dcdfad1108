"""Constants of sparse and of quantile models, held against fresh made-up data: not that of their tests or figures.

python -m benchmarks.tuning_sparse [sparse] [quantiles]
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.tuning_trees import FRESH, against
from discreet.core.grid import Array
from discreet.learners.linear import quantile_regressor, sparse_regression, stepped_regressor
from discreet.learners.linear.quantile_regressor import QuantileRegressor
from discreet.learners.linear.sparse_regression import SparseLinearRegression

SEEDS, OTHERS, EPSILONS = 4, 4000, (0.5, 2.0)


@dataclass(frozen=True)
class Made:
    """Records, others, and a learner for them with public bounds."""

    X: Array
    y: Array
    model: Any

    def score(self, epsilon: float) -> float:
        """Of one fit, on the last records."""
        mine, others = slice(None, -OTHERS), slice(-OTHERS, None)
        return float(
            self.model.set_params(epsilon=epsilon).fit(self.X[mine], self.y[mine]).score(self.X[others], self.y[others])
        )


def wide(seed: int) -> Made:
    """5000 or 15,000 records of 60 or 120 columns with some causes in common, skewed ones among them; a few matter."""
    rng = np.random.default_rng(12_000 + seed)
    n, p, active = int(rng.choice([5000, 15_000])), int(rng.choice([60, 120])), int(rng.integers(3, 9))
    X = (
        rng.normal(size=(n + OTHERS, p))
        + rng.choice([0.0, 0.7]) * rng.normal(size=(n + OTHERS, 4)) @ rng.normal(size=(4, p)) / 2
    )
    skewed = rng.random(p) < 0.3
    X[:, skewed] = np.exp(0.7 * X[:, skewed])
    slopes = np.zeros(p)
    slopes[rng.choice(p, active, replace=False)] = rng.normal(size=active) * 1.5
    target = X @ slopes + rng.standard_t(4, len(X)) * rng.choice([1.0, 2.0])
    model = SparseLinearRegression(active, bounds=(-12, 12), target_bounds=(-40, 40))
    return Made(X.clip(-12, 12), target.clip(-40, 40), model)


def spread(seed: int) -> Made:
    """4000 or 12,000 records of 3 to 12 numbers and marks; the target's width depends on some, and one tail is long."""
    rng = np.random.default_rng(13_000 + seed)
    n, p = int(rng.choice([4000, 12_000])), int(rng.integers(3, 12))
    X = np.column_stack([rng.gamma(2.0, 0.5, (n + OTHERS, p)).clip(0, 6), rng.random((n + OTHERS, 2)) < [0.3, 0.05]])
    wide = 0.5 + X @ rng.gamma(0.5, 0.2, p + 2)
    target = X @ rng.normal(size=p + 2) + wide * (
        rng.gamma(1.5, 1.0, len(X)) if seed % 2 else rng.standard_t(3, len(X))
    )
    model = QuantileRegressor(quantile=(0.25, 0.5, 0.8)[seed % 3], bounds=(0, 6), target_bounds=(-40, 60))
    return Made(X, target.clip(-40, 60), model)


def held(title: str, made: Callable[[int], Made], tried: Sequence[tuple[ModuleType, str, tuple[Any, ...]]]) -> None:
    """Each constant as it is, which is the first value, beside others."""
    cases = list(itertools.product(EPSILONS, [made(FRESH + seed) for seed in range(SEEDS)]))
    for place, name, values in tried:
        found: dict[Any, list[float]] = {}
        for value in values:
            with patch.object(place, name, value):
                found[value] = [data.score(epsilon) for epsilon, data in cases]
        against(f"{title}, {name}", values[0], found)


def sparse() -> None:
    """R2 of sparse models."""
    held(
        "sparse",
        wide,
        [
            (sparse_regression, "STEP", (0.4, 0.2, 0.8)),
            (sparse_regression, "SIZE", (2.0, 1.0, 4.0)),
            (sparse_regression, "SPARE", (2, 1, 4)),
            (sparse_regression, "ROUNDS", (4, 2, 8)),
        ],
    )


def quantiles() -> None:
    """Shares of the pinball loss that quantile models explain."""
    held(
        "quantiles",
        spread,
        [
            (stepped_regressor, "SHARES", ((0.05, 0.1, 0.1, 0.75), (0.05, 0.1, 0.05, 0.8), (0.05, 0.2, 0.1, 0.65))),
            (quantile_regressor, "NARROWEST", (0.1, 0.05, 0.2)),
        ],
    )


TABLES: dict[str, Callable[[], None]] = {"sparse": sparse, "quantiles": quantiles}

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()
