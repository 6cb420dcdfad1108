"""The tables behind the constants of smooth ANOVA models, on made-up data that no benchmark uses.

    python -m benchmarks.tuning_anova [constant ...] [set ...]
    python -m benchmarks.tuning_anova short

Each row is one constant at one value, and the means of R2 or of the AUC over five seeds, for each set and epsilon.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.special import expit
from sklearn.metrics import r2_score, roc_auc_score

from discreet.core.grid import Array
from discreet.learners.anova import (
    anova_classifier,
    anova_model,
    anova_posterior,
    anova_regressor,
    constant_search,
    smooth_bases,
)
from discreet.learners.anova.anova_classifier import AnovaClassifier
from discreet.learners.anova.anova_regressor import AnovaRegressor

SEEDS, EPSILONS, OTHERS = 5, (0.1, 0.3, 1.0, 10.0), 3000


@dataclass(frozen=True)
class Made:
    """Features, a target, and the bounds that are public."""

    X: Array
    y: Any
    bounds: tuple[Any, Any]
    target: tuple[float, float] | None = None

    def score(self, epsilon: float) -> float:
        """R2, or the AUC, of a fit to all but the last records, on these."""
        mine, theirs = slice(None, -OTHERS), slice(-OTHERS, None)
        fields: dict[str, Any] = {"bounds": self.bounds, "epsilon": epsilon}
        if self.target is None:
            model = AnovaClassifier(classes=[0, 1], **fields).fit(self.X[mine], self.y[mine])
            return float(roc_auc_score(self.y[theirs], model.predict_proba(self.X[theirs])[:, 1]))
        found = AnovaRegressor(target_bounds=self.target, **fields).fit(self.X[mine], self.y[mine])
        return float(r2_score(self.y[theirs], found.predict(self.X[theirs])))


def waves(seed: int) -> Made:
    """8000 records of eight correlated features; waves, a kink, a product, and noise with heavy tails."""
    rng = np.random.default_rng(5000 + seed)
    X = 0.8 * rng.normal(size=(11_000, 8)) + 0.4 * rng.normal(size=(11_000, 1))
    y = np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) + X[:, 2] * X[:, 3] + 0.5 * X[:, 4] + 0.4 * rng.standard_t(3, 11_000)
    return Made(X, np.clip(y, -10, 10), (-5, 5), (-10, 10))


def skewed(seed: int) -> Made:
    """5000 records of five features of size; the target is near one end of its bounds."""
    rng = np.random.default_rng(6000 + seed)
    X = np.exp(rng.normal(size=(8000, 5)))
    y = 3 * np.log1p(X[:, 0]) + 2 * (X[:, 1] > 1) * np.log1p(X[:, 2]) + rng.normal(size=8000)
    return Made(np.clip(X, 0, 60), np.clip(y, -5, 100), (0, 60), (-5, 100))


def marked(seed: int) -> Made:
    """12,000 records; one class of about a tenth, six numbers and six rare marks, of which two tell."""
    rng = np.random.default_rng(7000 + seed)
    X = np.column_stack([rng.normal(size=(15_000, 6)).clip(-4, 4), rng.random((15_000, 6)) < 0.06])
    score = X[:, 0] ** 2 - X[:, 1] + 0.8 * X[:, 2] * X[:, 3] + 1.5 * X[:, 6] - X[:, 7] - 3.5
    return Made(X, (rng.random(15_000) < expit(score)).astype(int), (-4, 4))


def many(seed: int) -> Made:
    """10,000 records of sixty features that have six causes in common."""
    rng = np.random.default_rng(8000 + seed)
    causes = rng.normal(size=(13_000, 6))
    X = causes @ rng.normal(size=(6, 60)) * 0.5 + rng.normal(size=(13_000, 60))
    score = causes @ np.array([1.5, -1.0, 0.8, 0.0, 0.0, 0.5]) + np.abs(causes[:, 3]) - 0.8
    return Made(X.clip(-10, 10), (rng.random(13_000) < expit(score)).astype(int), (-10, 10))


def few(seed: int) -> Made:
    """200 records of five features; a line, a wave, and a target that is off the middle of its bounds."""
    rng = np.random.default_rng(9000 + seed)
    X = rng.uniform(-1, 1, (3200, 5))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=3200) + 1
    return Made(X, np.clip(y, -5, 5), (-1, 1), (-5, 5))


def unrelated(seed: int) -> Made:
    """500 records of six features that say nothing, and bounds of the target that are twenty deviations wide."""
    rng = np.random.default_rng(10_000 + seed)
    return Made(rng.normal(size=(3500, 6)).clip(-4, 4), rng.normal(size=3500).clip(-10, 10), (-4, 4), (-20, 20))


def low(seed: int) -> Made:
    """500 records like those of `skewed`, of which one feature tells."""
    rng = np.random.default_rng(11_000 + seed)
    X = np.exp(rng.normal(size=(3500, 5)))
    y = 3 * np.log1p(X[:, 0]) + rng.normal(size=3500)
    return Made(np.clip(X, 0, 60), np.clip(y, -5, 100), (0, 60), (-5, 100))


def short(seed: int, n: int) -> list[Made]:
    """The first n records of all sets of numbers, with the same others."""
    found = [made(seed) for made in (few, unrelated, low, waves, skewed)]
    rows = [np.r_[:n, len(one.y) - OTHERS : len(one.y)] for one in found]
    return [Made(one.X[own], one.y[own], one.bounds, one.target) for one, own in zip(found, rows, strict=True)]


def shortened() -> None:
    """Means of R2 of so few records at epsilon 0.3, none below -5, by what decides whether a constant is looked for."""
    for name in ("HIDDEN", "CLOSE", "CLOSEST"):
        place, values = TRIED[name]
        for value in values:
            with patch.object(place, name, value):
                means = [
                    np.mean([max(one.score(0.3), -5.0) for seed in range(2 * SEEDS) for one in short(seed, n)])
                    for n in (100, 200, 400, 800)
                ]
            print(f"{name + ' ' + str(value):<28}" + " ".join(f"{mean:6.3f}" for mean in means), flush=True)


SETS: dict[str, Callable[[int], Made]] = {
    "few": few,
    "unrelated": unrelated,
    "low": low,
    "waves": waves,
    "skewed": skewed,
    "marked": marked,
    "many": many,
}
TRIED: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "REACH": (anova_model, (0.7, 0.9, 1.1)),
    "ROUNDS": (anova_model, (4, 6, 8, 12)),
    "PRODUCTS": (anova_model, (0.03, 0.06, 0.12)),
    "COUNTS": (anova_model, (0.05, 0.1, 0.2)),
    "HIDDEN": (anova_model, (0.0, 8.0, 12.0, 16.0, 24.0)),
    "CLOSE": (constant_search, (1.5, 2.5)),
    "CLOSEST": (constant_search, (0.1, 0.2, 0.4)),
    "DIM": (anova_model, (0.0, 24.0, 48.0)),
    "DECAY": (smooth_bases, (1.0, 1.5, 2.0)),
    "LINE": (smooth_bases, (0.0, 0.3, 0.5, 0.8)),
    "TAILS": (smooth_bases, (0, 6, 10)),
    "SHARES": (smooth_bases, ((0.05, 0.75, 0.2), (0.1, 0.6, 0.3), (0.05, 0.85, 0.1))),
    "INFLATED": (anova_posterior, (1.0, 2.0, 3.0)),
    "CAUTION": (anova_posterior, (0.25, 0.5, 1.0)),
    "SURE": (anova_posterior, (0.5, 1.0, 2.0)),
    "MOST": (anova_posterior, (0.25, 0.5, 1.0)),
    "START": (anova_regressor, (0.02, 0.04, 0.08)),
    "ANYWHERE": (anova_regressor, (4.0, 16.0, 64.0)),
    "DOUBT": (anova_regressor, (0.25, 0.5, 1.0)),
    "PRIOR": (anova_classifier, (2.0, 4.0, 8.0)),
    "INSIDE": (anova_regressor, (0.75, 0.85, 0.95)),
}


def means(sets: list[str]) -> str:
    """Of these sets, at all epsilons."""
    rows = [
        " ".join(f"{np.mean([made(seed).score(epsilon) for seed in range(SEEDS)]):6.3f}" for epsilon in EPSILONS)
        for made in (SETS[name] for name in sets)
    ]
    return "   ".join(rows)


def main() -> None:
    """The table of the constants that are named, or of all, on the sets that are named, or on all."""
    sets = [name for name in sys.argv[1:] if name in SETS] or list(SETS)
    print(f"{'':<28}" + "   ".join(f"{name:<{7 * len(EPSILONS) - 1}}" for name in sets))
    for name in [name for name in sys.argv[1:] if name in TRIED] or TRIED:
        place, values = TRIED[name]
        for value in values:
            with ExitStack() as stack:
                stack.enter_context(patch.object(place, name, value))
                print(f"{name + ' ' + str(value):<28}" + means(sets), flush=True)


if __name__ == "__main__":
    shortened() if sys.argv[1:] == ["short"] else main()
