"""The tables behind the constants of trees, on made-up data that no benchmark uses.

python -m benchmarks.tuning_trees chosen
"""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.special import expit
from sklearn import datasets

from benchmarks.learning_data import Split
from discreet.core.neighbors import Neighbors
from discreet.learners.trees import (
    additive_classifier,
    additive_model,
    boosted_stumps,
    boosted_trees,
    boosted_trees_regressor,
    forest_plan,
    growth_plan,
    random_forest,
    random_trees,
)
from discreet.learners.trees.additive_classifier import AdditiveClassifier
from discreet.learners.trees.boosted_stumps import BoostedStumps
from discreet.learners.trees.boosted_trees_classifier import BoostedTreesClassifier
from discreet.learners.trees.boosted_trees_regressor import BoostedTreesRegressor
from discreet.learners.trees.decision_tree import DecisionTreeClassifier
from discreet.learners.trees.random_forest import RandomForestClassifier

SETS = 20


def small(seed: int) -> Split:
    """120 to 1500 records of one of four kinds, between the ends of their own values, and 1000 others."""
    rng = np.random.default_rng(1000 + seed)
    n, classes, d = (
        int(rng.choice([120, 200, 300, 600, 1500])),
        int(rng.choice([2, 2, 3, 8])),
        int(rng.choice([5, 13, 30])),
    )
    size, kind = n + 1000, seed % 4
    y = rng.choice(classes, size, p=rng.dirichlet(np.full(classes, 5)))
    if kind == 0:
        X, y = datasets.make_classification(
            size, d, n_informative=5, n_redundant=0, n_classes=classes, n_clusters_per_class=1, random_state=2000 + seed
        )
    elif kind == 1:
        X, y = datasets.make_blobs(size, d, centers=classes, cluster_std=7.0, random_state=2000 + seed)
    elif kind == 2:  # measurements of size: skewed, and driven by one cause
        cause = 2.0 * y + rng.normal(size=size)
        X = np.exp(0.5 * (cause[:, None] * rng.uniform(-0.2, 1, d) + rng.normal(size=(size, d))))
    else:
        X = (rng.normal(size=(classes, d)) * rng.exponential(1.0, d))[y] + rng.normal(size=(size, d))
    X = 2 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1
    return Split(X[:n], y[:n], X[n:], y[n:], classes)


def chosen() -> None:
    """Mean accuracies of chosen and random trees, by the number of records times epsilon."""
    shapes = ((1, 2, 512), (1, 3, 64), (1, 3, 512), (1, 4, 512), (4, 3, 512), (4, 4, 512))
    names = ("n_estimators", "max_depth", "n_candidates")
    models: dict[str, dict[str, Any]] = {
        f"{shape[0]} of depth {shape[1]}, each of {shape[2]}": dict(zip(names, shape, strict=True)) for shape in shapes
    }
    models |= {"random": {"n_candidates": 1}, "default": {}}
    table: dict[tuple[int, str], list[float]] = defaultdict(list)
    for seed in range(SETS):
        data = small(seed)
        for epsilon in (0.1, 0.3, 1.0, 3.0, 10.0):
            size = int(10 * 3 ** np.floor(np.log(len(data.y) * epsilon / 10) / np.log(3)))
            for name, fields in models.items():
                for delta in (0.0, 1e-6) if name in ("random", "default") else (0.0,):
                    found = data.score(RandomForestClassifier(**fields, random_state=seed), epsilon, delta)
                    table[size, f"{name}, delta {delta:g}"].append(found)
    for size, name in sorted(table):
        print(f"n epsilon from {size:>6}  {name:<40} {np.mean(table[size, name]):.3f}")


def sharper() -> None:
    """Mean accuracies of forests of random trees, by constants: 10,000 records, then a few, at two epsilons each."""
    many, few = [large(seed) for seed in range(5)], [small(seed) for seed in range(12)]
    for sharper, more, full in (
        *((sharper, 3.0, 2.5) for sharper in (1.0, 2.0, 4.0, 8.0)),
        *((4.0, more, 2.5) for more in (1.0, 9.0)),
        *((4.0, 3.0, full) for full in (1.5, 3.5)),
    ):
        forest = RandomForestClassifier(n_candidates=1, random_state=0)
        with (
            patch.object(forest_plan, "SHARPER", sharper),
            patch.object(forest_plan, "MORE", more),
            patch.object(random_forest, "FULL", full),
        ):
            means = [
                np.mean([data.score(forest, epsilon, 1e-6) for data in sets])
                for sets, epsilons in ((many, (0.3, 1.0)), (few, (3.0, 10.0)))
                for epsilon in epsilons
            ]
        words = f"sharper {sharper:g}, more {more:g}, full {full:g}"
        print(f"{words:<40} " + "  ".join(f"{mean:.3f}" for mean in means), flush=True)


def levels() -> None:
    """Mean accuracies of decision trees by their levels, pure, by the number of records times epsilon over two."""
    table: dict[tuple[int, int], list[float]] = defaultdict(list)
    for seed in range(24):
        data = small(seed)
        for epsilon, depth in itertools.product((0.2, 0.6, 2.0, 6.0), (1, 2, 3, 4)):
            size = int(10 * 3 ** np.floor(np.log(len(data.y) * epsilon / 20) / np.log(3)))
            table[size, depth] += [data.score(DecisionTreeClassifier(depth), epsilon, 0.0) for _ in range(2)]
    for size, depth in sorted(table):
        print(f"n epsilon / 2 from {size:>6}  {depth} levels  {np.mean(table[size, depth]):.3f}")


def lots() -> None:
    """Mean accuracies of chosen and of random trees, pure, by records times epsilon for each class but one."""
    models: dict[str, tuple[float, dict[str, Any]]] = {
        f"chosen, {depth} levels": (0.3, {"max_depth": depth, "method": "exponential"}) for depth in (1, 2)
    }
    for middle in (0.15, 0.3, 0.5, 0.7):
        models |= {
            f"{method}, {depth} levels, middle {middle:g}": (middle, {"max_depth": depth, "method": method})
            for method, depth in (("labelled", 1), ("labelled", 2), *(("random", depth) for depth in (2, 3, 4, 5)))
        }
    weights, sets = (3.0, 6.0, 12.0, 24.0, 48.0), [small(seed) for seed in range(60)]
    for name, (middle, fields) in models.items():
        means = []
        with patch.object(growth_plan, "MIDDLE", middle):
            for weight in weights:
                scores = [
                    data.score(
                        DecisionTreeClassifier(**fields, random_state=seed),
                        weight * (data.classes - 1) / len(data.y),
                        0.0,
                        Neighbors.ADD_REMOVE,
                    )
                    for seed, data in enumerate(sets)
                ]
                means.append(np.mean(scores))
        print(f"{name:<32} " + "  ".join(f"{mean:.3f}" for mean in means), flush=True)


def curved(seed: int) -> Split:
    """3000 records of classes that no line separates: scores are sums of functions of ten features, some correlated."""
    rng = np.random.default_rng(3000 + seed)
    X = np.clip(rng.normal(size=(4000, 10)) * 0.4 + (seed % 2) * rng.normal(size=(4000, 1)) * 0.4, -1, 1)
    scores = 4 * np.cos(3 * X[:, 0]) + 3 * np.abs(X[:, 1]) + 2 * X[:, 2] + 3 * (X[:, 3] > 0.3) - 2 * X[:, 4] ** 2
    y = (rng.random(4000) < expit(1.5 * (scores - np.median(scores)))).astype(np.int64)
    return Split(X[:3000], y[:3000], X[3000:], y[3000:], 2)


def additive() -> None:
    """Mean accuracies of additive classifiers, by constants."""
    sets = [curved(0), curved(1), small(2), small(10), small(7)]
    for prior, smooth, rounds, bins in (
        *((8.0, 1.0, rounds, 16) for rounds in (3, 6, 10)),
        *((prior, 1.0, 6, 16) for prior in (2.0, 24.0)),
        *((8.0, smooth, 6, 16) for smooth in (0.3, 3.0)),
        *((8.0, 1.0, 6, bins) for bins in (8, 32)),
    ):
        means = []
        with patch.object(additive_classifier, "PRIOR", prior), patch.object(additive_model, "SMOOTH", smooth):
            for epsilon in (0.3, 1.0, 3.0):
                models = [AdditiveClassifier(bins=bins, max_iter=rounds) for _ in sets]
                pairs = zip(sets, models, strict=True)
                means.append(np.mean([data.score(model, epsilon, 1e-6) for data, model in pairs]))
        words = f"prior {prior:g}, smooth {smooth:g}, rounds {rounds}, bins {bins}"
        print(f"{words:<44} " + "  ".join(f"{mean:.3f}" for mean in means), flush=True)


def boosted() -> None:
    """Mean accuracies of boosted stumps, by constants: at epsilons 0.3, 1 and 3, with delta and without."""
    sets = [*(curved(seed) for seed in range(4)), small(2), small(7)]
    for doubt, bins, rounds, delta in (
        *((doubt, 8, 8, 1e-6) for doubt in (1.0, 2.0, 3.0)),
        *((2.0, bins, 8, 1e-6) for bins in (4, 16)),
        *((2.0, 8, rounds, 1e-6) for rounds in (4, 16)),
        *((2.0, 8, rounds, 0.0) for rounds in (2, 4, 8)),
    ):
        means = []
        with patch.object(boosted_stumps, "DOUBT", doubt):
            for epsilon in (0.3, 1.0, 3.0):
                models = [BoostedStumps(rounds, bins=bins) for _ in range(2)]
                means.append(np.mean([data.score(one, epsilon, delta) for data in sets for one in models]))
        words = f"doubt {doubt:g}, bins {bins}, rounds {rounds}, delta {delta:g}"
        print(f"{words:<44} " + "  ".join(f"{mean:.3f}" for mean in means), flush=True)


def large(seed: int) -> Split:
    """10,000 records of 8 to 40 features, in a box of four to nine deviations, and 2500 others."""
    rng = np.random.default_rng(seed)
    d, classes, box = (int(rng.choice(some)) for some in ([8, 20, 40], [2, 2, 4], [4, 6, 9]))
    X, y = datasets.make_classification(
        12_500, d, n_informative=6, n_redundant=d // 5, n_classes=classes, flip_y=0.03, random_state=700 + seed
    )
    X = np.clip(X / box, -1, 1)
    return Split(X[:10_000], y[:10_000], X[10_000:], y[10_000:], classes)


def incomes(seed: int) -> Split:
    """6000 or 20,000 records of which one in twelve is positive: marks, amounts with heavy tails, and 10,000 others."""
    rng = np.random.default_rng(8000 + seed)
    n = (6000, 20_000)[seed % 2]
    size = n + 10_000
    age, hours, school = 18 + rng.gamma(2, 8, size), np.clip(rng.normal(40, 10, size), 1, 99), rng.integers(0, 16, size)
    amount = np.where(rng.random(size) < 0.1, np.exp(7 + 1.2 * rng.normal(size=size)), 0.0)
    marks = rng.random((size, 6)) < [0.5, 0.3, 0.1, 0.05, 0.05, 0.02]
    odds = 0.25 * school + 0.03 * (hours - 40) + 1.5 * (amount > 3000) - 0.0012 * (age - 48) ** 2 - 5.0
    y = (rng.random(size) < expit(odds + 0.8 * marks[:, 0] + 0.5 * marks[:, 2])).astype(np.int64)
    X = np.column_stack([(age - 57) / 39, amount / 25_000 - 1, (hours - 50) / 49, school / 7.5 - 1, 2.0 * marks - 1])
    X = np.clip(X, -1, 1)
    return Split(X[:n], y[:n], X[n:], y[n:], 2)


def deep() -> None:
    """Accuracies of decision trees by levels, cells and criterion: of unequal classes, of 10,000 records, of curves."""
    sets = [incomes(0), incomes(1), large(1), curved(0)]
    shapes = ((3, 8, "max"), (3, 8, "gini"), (4, 16, "gini"), (5, 16, "gini"), (6, 32, "gini"), (8, 128, "gini"))
    for epsilon, (depth, bins, criterion) in itertools.product((0.3, 1.0, 10.0, 1000.0), shapes):
        model = DecisionTreeClassifier(depth, bins=bins, criterion=criterion)  # type: ignore[arg-type]
        found = [data.score(model, epsilon, 1e-6, Neighbors.ADD_REMOVE) for data in sets]
        print(f"epsilon {epsilon:g}, {depth} levels, {bins} cells, {criterion:<5}", *(f"{one:.3f}" for one in found))


def forests() -> None:
    """Accuracies of forests of random trees, and of trees whose splits are chosen, by the number of trees."""
    sets = [incomes(0), large(0), large(1), curved(0), curved(1)]
    for epsilon, (enough, trees) in itertools.product((1.0, 10.0, 100.0), ((1e12, 48), (0.0, 16), (0.0, 48))):
        with patch.object(random_forest, "ENOUGH", enough), patch.object(random_forest, "GROWN", trees):
            found = [data.score(RandomForestClassifier(random_state=0), epsilon, 1e-6) for data in sets]
        words = f"epsilon {epsilon:g}, {'random' if enough else f'{trees} grown'}"
        print(f"{words:<28}", *(f"{one:.3f}" for one in found), flush=True)


def pure_forests() -> None:
    """The same without a delta, where choices are dearer: by records times epsilon."""
    sets = [large(0), large(1), curved(0)]
    for epsilon, enough in itertools.product((10.0, 30.0, 100.0, 300.0), (1e12, 0.0)):
        with patch.object(random_forest, "PURELY_ENOUGH", enough):
            found = [data.score(RandomForestClassifier(random_state=0), epsilon, 0.0) for data in sets]
        words = f"epsilon {epsilon:g}, {'random' if enough else 'grown'}"
        print(f"{words:<28}", *(f"{one:.3f}" for one in found), flush=True)


def ample() -> None:
    """Accuracies of 4000 records at large epsilons, by the number of trees and of splits that each is chosen from."""
    every = [large(0), large(1), large(2), curved(0)]
    sets = [Split(one.X[:4000], one.y[:4000], one.others, one.theirs, one.classes) for one in every]
    for epsilon, (trees, splits) in itertools.product((100.0, 1000.0), ((48, 4), (96, 4), (48, 6), (48, 8))):
        with patch.multiple(random_forest, ENOUGH=0.0, GROWN=trees, SPLITS=splits):
            found = [data.score(RandomForestClassifier(random_state=0), epsilon, 1e-6) for data in sets]
        words = f"epsilon {epsilon:g}, {trees} trees, {splits} splits"
        print(f"{words:<34}", *(f"{one:.3f}" for one in found), flush=True)


FRESH = 100  # the first seed of sets that nothing was chosen on


def against(title: str, now: Any, rights: dict[Any, list[float]]) -> None:
    """How much more than with the constant as it is each other value tells right, with the standard error of that."""
    for value, found in rights.items():
        more = np.subtract(found, rights[now])
        error = float(more.std(ddof=1)) / len(more) ** 0.5
        print(f"{title} {value}: {np.mean(found):.4f}, {more.mean():+.4f} +- {error:.4f}", flush=True)


def afresh() -> None:
    """Constants that were settled after scores of the benchmark had been seen, on sets that nothing was chosen on."""
    few = [small(FRESH + seed) for seed in range(24)]
    some = [*(large(FRESH + seed) for seed in range(3)), *(incomes(FRESH + seed) for seed in range(2)), curved(FRESH)]
    heard, varied, shallow = (defaultdict[float, list[float]](list) for _ in range(3))
    for epsilon, data in itertools.product((0.3, 1.0, 3.0, 10.0), [*few[:12], *some]):
        for value in (0.05, 0.1, 0.2):
            with patch.object(forest_plan, "HEARD", value):
                heard[value].append(data.score(RandomForestClassifier(random_state=0), epsilon, 1e-6))
        for value in (0.5, 1.0, 2.0, 4.0):
            with patch.object(growth_plan, "VARIED", value):
                scores = [data.score(DecisionTreeClassifier(), epsilon, 1e-6) for _ in range(3)]
                varied[value].append(float(np.mean(scores)))
    for epsilon, (seed, data) in itertools.product((0.1, 0.3, 1.0, 3.0), enumerate(few)):
        for value in (140.0, 200.0, 300.0, 400.0):
            with patch.object(random_trees, "FEW", value):
                models = [RandomForestClassifier(random_state=10 * seed + one) for one in range(4)]
                shallow[value].append(float(np.mean([data.score(model, epsilon, 0.0) for model in models])))
    against("forests, HEARD", 0.1, heard)
    against("trees, VARIED", 2.0, varied)
    against("chosen trees, FEW", 300.0, shallow)


def together(name: str, seed: int) -> Split:
    """10,000 records, and 5000 others, whose target depends on two or three features at once."""
    rng, size = np.random.default_rng(1000 + seed), 15_000
    X = rng.uniform(-1, 1, (size, 6))
    noise = 0.5 * rng.normal(size=size)
    match name:
        case "product":
            y = (rng.random(size) < expit(12 * X[:, 0] * X[:, 1] * X[:, 2])).astype(np.int64)
        case "signs":
            y = np.sign(X[:, 0] * X[:, 1] * X[:, 2]) + noise
        case "steps":
            y = np.floor(3 * X[:, 0]) * (X[:, 1] > 0.2) + (X[:, 2] > 0) + noise
        case _:
            Z = rng.normal(size=(size, 6))
            Z[:, 1], Z[:, 3], Z[:, 4] = Z[:, 1] + 1.5 * Z[:, 0], Z[:, 3] + 1.5 * Z[:, 0], Z[:, 2] + 0.2 * Z[:, 4]
            X, y = np.clip(Z / 8, -1, 1), np.tanh(Z[:, 0] * Z[:, 2]) + (Z[:, 1] > 0) * Z[:, 5] + noise
    y = y if name == "product" else np.clip(y / 8, -1, 1)
    return Split(X[:10_000], y[:10_000], X[10_000:], y[10_000:], 2 if name == "product" else 0)


def random_boosting() -> None:
    """Accuracies and R2 of boosted trees with random splits, by constants: two seeds each."""
    names, usual = ("product", "signs", "steps", "correlated"), {"FAR": 1.0, "ROUNDS": 10, "TREES": 32, "DEPTH": 4}
    tried: list[tuple[float, float, dict[str, Any]]] = [
        *((1.0, 1e-6, {"FAR": far}) for far in (0.7, 1.0, 1.5)),
        *((1.0, 1e-6, {"ROUNDS": rounds}) for rounds in (6, 10, 16)),
        *((10.0, 1e-6, {"STILL": still}) for still in (1e-9, 0.003, 0.01, 0.03)),
        *((epsilon, 1e-6, {"TREES": t, "DEPTH": d}) for epsilon in (0.3, 3.0) for t, d in ((16, 4), (32, 3), (32, 4))),
        *((3.0, 0.0, {"PURE_TREES": t, "DEPTH": d}) for t, d in ((4, 4), (8, 3), (8, 4), (16, 4))),
        *((3.0, 0.0, {"PURE_ROUNDS": rounds}) for rounds in (2, 3, 5)),
    ]
    for epsilon, price, constants in tried:
        found = {**usual, **constants}
        far = found.pop("FAR")
        with patch.multiple(boosted_trees, **found), patch.object(boosted_trees_regressor, "FAR", far):
            scores = [
                np.mean(
                    [
                        together(name, seed).score(
                            BoostedTreesClassifier(random_state=seed)
                            if name == "product"
                            else BoostedTreesRegressor(random_state=seed),
                            epsilon,
                            price,
                        )
                        for seed in range(2)
                    ]
                )
                for name in names
            ]
        print(f"epsilon {epsilon:g}, delta {price:g}, {constants!s:<32}", *(f"{one:.3f}" for one in scores), flush=True)


TABLES: dict[str, Callable[[], None]] = {
    "afresh": afresh,
    "deep": deep,
    "forests": forests,
    "pure_forests": pure_forests,
    "ample": ample,
    "chosen": chosen,
    "sharper": sharper,
    "levels": levels,
    "lots": lots,
    "additive": additive,
    "boosted": boosted,
    "random_boosting": random_boosting,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()
