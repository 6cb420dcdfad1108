"""The tables behind the parts of a budget that scalers and scores get, on made-up data that no benchmark uses.

python -m benchmarks.tuning_selection before scoring
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets

from discreet.learners.bayes.gaussian_nb import GaussianNB
from discreet.learners.preprocessing.scalers import MinMaxScaler, StandardScaler
from discreet.learners.selection import search_plan
from discreet.learners.selection.private_pipeline import PrivatePipeline
from discreet.learners.selection.private_search_cv import PrivateSearchCV

SETS, OTHERS = 12, 2000
PARTS = (0.01, 0.03, 0.1, 0.3, 1.0)


def made(seed: int, wide: float) -> tuple[Any, ...]:
    """Records of two classes, their bounds (so many times too wide, and not around their middle), and others."""
    rng = np.random.default_rng(3000 + seed)
    n, d = int(rng.choice([1000, 3000, 10_000])), int(rng.choice([4, 10, 20]))
    X, y = datasets.make_classification(n + OTHERS, d, n_informative=4, n_redundant=0, random_state=4000 + seed)
    width = np.ptp(X, axis=0)
    lower = X.min(axis=0) - rng.uniform(0, wide - 1, d) * width
    return X[:n], y[:n], X[n:], y[n:], (lower, lower + wide * width)


def before() -> None:
    """Mean accuracies of naive Bayes, whose part is 1, by the part of a scaler before it; at epsilon 1."""
    for wide in (2.0, 10.0):
        for scaler in (StandardScaler(), MinMaxScaler()):
            found = {part: _mean(scaler, part, wide) for part in PARTS}
            cells = "  ".join(f"{part:g}: {score:.3f}" for part, score in found.items())
            print(f"{type(scaler).__name__:15} {wide:4g} {cells}  none: {_mean(None, 1.0, wide):.3f}", flush=True)


def _mean(scaler: Any, part: float, wide: float) -> float:
    """Over all data sets."""
    return float(np.mean([scored(scaler, part, seed, wide) for seed in range(SETS)]))


def scored(scaler: Any, part: float, seed: int, wide: float) -> float:
    """The accuracy of one fit on other records."""
    X, y, others, theirs, bounds = made(seed, wide)
    steps = [*([] if scaler is None else [("scale", scaler)]), ("fit", GaussianNB())]
    parts = None if scaler is None else {"scale": part}
    model = PrivatePipeline(steps, parts=parts, bounds=bounds, classes=[0, 1], epsilon=1.0)
    return model.fit(X, y).score(others, theirs)


def scoring() -> None:
    """Mean accuracies by the part of a score in a trial, for five candidates of which one is good, at epsilon 1."""
    grid = {"radius": [0.05, 0.1, 0.2, 0.5, 2.0]}
    for method in ("random_stopping", "every"):
        found = {}
        for part in (0.01, 0.03, 0.1, 0.3):
            search_plan.SCORING = part
            found[part] = np.mean([_searched(grid, method, seed) for seed in range(2 * SETS)])
        print(f"{method:16} " + "  ".join(f"{part:g}: {score:.3f}" for part, score in found.items()))


def _searched(grid: dict[str, list[float]], method: str, seed: int) -> float:
    X, y, others, theirs, bounds = made(seed, 1.0)
    search = PrivateSearchCV(
        GaussianNB(), grid, method=method, release_after=0.0, bounds=bounds, classes=[0, 1], epsilon=1.0
    )
    return search.fit(X, y).score(others, theirs)


TABLES: dict[str, Callable[[], None]] = {"before": before, "scoring": scoring}


if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()
