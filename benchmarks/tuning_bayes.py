"""The tables behind the constants of Gaussian naive Bayes, on made-up data that no benchmark uses.

python -m benchmarks.tuning_bayes lengths
"""

from __future__ import annotations

import itertools
import math
import sys
from collections import defaultdict
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
from sklearn import datasets

from benchmarks.learning_data import Split
from benchmarks.tuning_trees import FRESH, against, large, small
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.learners.bayes import gaussian_nb
from discreet.learners.bayes.categorical_nb import CategoricalNB
from discreet.learners.bayes.gaussian_nb import GaussianNB


def mixed(seed: int) -> Split:
    """1000 to 30,000 records as tables of people have them, between public bounds, and 3000 others.

    Numbers are normal, skewed, zero for most, or whole; categories have marks. A cause that all share makes them
    dependent within classes.
    """
    rng = np.random.default_rng(5000 + seed)
    n, classes = int(rng.choice([1000, 10_000, 30_000])), int(rng.choice([2, 2, 3, 8]))
    size = n + 3000
    y = rng.choice(classes, size, p=rng.dirichlet(np.full(classes, 4.0)))
    cause = rng.normal(size=size) + 0.7 * rng.normal(size=classes)[y]

    def latent() -> Array:
        shift = rng.exponential(0.5) * rng.normal(size=classes)[y]
        return np.asarray(0.5 * rng.normal() * cause + shift + rng.normal(size=size))

    columns = [latent() / rng.choice([3, 5, 8]) for _ in range(rng.integers(0, 6))]
    columns += [2 * np.exp(latent()) / rng.choice([15, 60]) - 1 for _ in range(rng.integers(0, 4))]
    for _ in range(rng.integers(0, 4)):
        amount = np.where(latent() > rng.uniform(0.5, 1.8), np.exp(0.8 * latent()) * rng.choice([3, 10]), 0.0)
        columns.append(2 * amount / rng.choice([30, 100]) - 1)
    for _ in range(rng.integers(0, 3)):
        steps = int(rng.choice([4, 10, 16]))
        columns.append(np.rint((latent() + 3) / 6 * steps) / steps * 2 - 1)
    for _ in range(rng.integers(0, 5)):
        values = int(rng.choice([2, 5, 9, 14]))
        scores = np.stack([latent() for _ in range(values)], axis=1) + 1.2 * rng.normal(size=values)
        value = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
        columns += [2.0 * (value == place) - 1 for place in range(values)]
    while len(columns) < 4:
        columns.append(latent() / 4)
    X = np.clip(np.stack(columns, axis=1), -1, 1)
    return Split(X[:n], y[:n], X[n:], y[n:], classes)


def saturated(seed: int) -> Split:
    """1000 to 10,000 records of many classes, whose values are often at their bounds, and 1000 others."""
    rng = np.random.default_rng(9000 + seed)
    n, classes, d = (int(rng.choice(some)) for some in ([1000, 3000, 10_000], [5, 8, 10], [16, 40, 64]))
    y, size = rng.integers(0, classes, n + 1000), n + 1000
    shared = 0.25 * rng.normal(size=(size, 5)) @ rng.normal(size=(5, d))
    centers = rng.choice([0.6, 1.2]) * rng.normal(size=(classes, d)) - 0.3
    X = np.clip(centers[y] + shared + 0.8 * rng.normal(size=(size, d)), -1, 1)
    return Split(X[:n], y[:n], X[n:], y[n:], classes)


def bayes() -> None:
    """Mean accuracies, by constants: of all three kinds of data, with delta 1e-6 and without."""
    kinds = [[kind(seed) for seed in range(count)] for kind, count in ((large, 6), (small, 24), (mixed, 12))]
    for shorter, square, typical in (
        *((shorter, 0.6, 0.024) for shorter in (0.05, 0.1, 0.2, 0.36)),
        *((0.1, square, 0.024) for square in (0.3, 1.2)),
        *((0.1, 0.6, typical) for typical in (0.012, 0.05)),
    ):
        with (
            patch.object(gaussian_nb, "SHORTER", shorter),
            patch.object(gaussian_nb, "SQUARE", square),
            patch.object(gaussian_nb, "SQUARE", square),
            patch.object(gaussian_nb, "TYPICAL", typical),
        ):
            means = [
                np.mean([data.score(GaussianNB(), epsilon, delta) for data in sets])
                for sets in kinds
                for delta in (1e-6, 0.0)
                for epsilon in (0.3, 1.0, 3.0)
            ]
        words = f"shorter {shorter:g}, square {square:g}, typical {typical:g}"
        print(f"{words:<40} " + "  ".join(f"{mean:.3f}" for mean in means), flush=True)


def lengths() -> None:
    """Mean accuracies of sets of long records by what these are shrunk to, and by the noise on a mean of whole ones."""
    table: dict[tuple[str, int, float], list[float]] = defaultdict(list)
    for kind, seed in itertools.product((mixed, saturated), range(20)):
        data = kind(seed)
        n, d = data.X.shape
        if np.mean(np.square(data.X).mean(axis=1) > gaussian_nb.LONG) < 0.5:
            continue
        for delta, epsilon in itertools.product((1e-6, 0.0), (0.1, 0.3, 1.0, 3.0, 10.0)):
            whole = GaussianNB(target="target", radius=math.sqrt(d), max_features=d)
            task = whole._task(data.private(epsilon, delta), None, Budget(epsilon, delta))
            noise = math.floor(math.log2(whole.plan(task).moments.stddev * data.classes / n))
            for share in (0.1, 0.4, 1.0):
                score = data.score(GaussianNB(radius=math.sqrt(share * d)), epsilon, delta)
                table[kind.__name__, noise, share].append(score)
    for name, noise, share in sorted(table):
        found = table[name, noise, share]
        print(f"{name:<10} noise from {2.0**noise:.4f}  shrunk to {share:g} d  {np.mean(found):.3f} ({len(found)})")


def covered() -> None:
    """Accuracies of two classes whose variances alone differ, by the bounds in deviations and by the radius."""
    for end, epsilon in itertools.product((2.0, 3.0, 5.0), (10.0, 1000.0)):
        X, y = datasets.make_hastie_10_2(14_000, random_state=9)
        X, y = np.clip(X / end, -1, 1), (y > 0).astype(np.int64)
        data = Split(X[:4000], y[:4000], X[4000:], y[4000:], 2)
        found = [data.score(GaussianNB(radius=math.sqrt(share * 10)), epsilon, 1e-6) for share in (0.1, 0.2, 1 / 3, 1)]
        print(f"bounds of {end:g}, epsilon {epsilon:g}", *(f"{one:.3f}" for one in found), flush=True)


def cells() -> None:
    """Mean accuracies of naive Bayes on cells, by their number."""
    sets = [*(large(seed) for seed in range(3)), *(mixed(seed) for seed in range(3))]
    for epsilon, bins in itertools.product((0.3, 1.0, 10.0), (8, 16, 32, 64)):
        mean = np.mean([data.score(CategoricalNB(bins=bins), epsilon, 1e-6) for data in sets])
        print(f"epsilon {epsilon:g}, {bins} cells {mean:.3f}", flush=True)


def afresh() -> None:
    """Constants that were settled after scores of the benchmark had been seen, on sets that nothing was chosen on."""
    kinds = ((mixed, 10), (saturated, 10), (large, 3), (small, 6))
    sets = [kind(FRESH + seed) for kind, count in kinds for seed in range(count)]
    X, y = datasets.make_hastie_10_2(14_000, random_state=FRESH)
    X, y = np.clip(X / 4, -1, 1), (y > 0).astype(np.int64)
    sets.append(Split(X[:4000], y[:4000], X[4000:], y[4000:], 2))
    cases = list(itertools.product((0.3, 1.0, 3.0, 10.0, 1000.0), sets))
    for name, now, factors in (("QUIET", 0.03, (0.5, 2)), ("LOUD", 0.1, (0.5, 2)), ("CALM", 5e-5, (0.2, 5, 60))):
        rights: dict[float, list[float]] = defaultdict(list)
        for value in (now, *(now * factor for factor in factors)):
            with patch.object(gaussian_nb, name, value):
                rights[value] = [data.score(GaussianNB(), epsilon, 1e-6) for epsilon, data in cases]
        against(f"naive Bayes, {name}", now, rights)
    shares: dict[float, list[float]] = {}
    for value in (0.75, 0.5, 0.9, 0.98):
        with patch.object(gaussian_nb, "COVERED", value):
            shares[value] = [data.score(GaussianNB(), epsilon, 1e-6) for epsilon, data in cases]
    against("naive Bayes, COVERED", 0.75, shares)


TABLES: dict[str, Callable[[], None]] = {
    "afresh": afresh,
    "covered": covered,
    "cells": cells,
    "bayes": bayes,
    "lengths": lengths,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()
