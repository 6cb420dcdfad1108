"""Boosted trees with random splits beside ANOVA models and a forest: where three features act together, and elsewhere.

10,000 records and 5000 others, delta 1e-6, neighbors that join or leave. Goals are what the others reach in this run,
by the same seeds. Sets on which ANOVA models are ahead are printed: nothing was promised there.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks.cells import Cell
from benchmarks.learners_anova import COMPAS, DELTA, GOALS, Table, mean_of
from benchmarks.learners_anova import table as anova_table
from benchmarks.rows import Row, at_least, printed
from discreet.core.grid import Array
from discreet.learners.anova.anova_classifier import AnovaClassifier
from discreet.learners.anova.anova_regressor import AnovaRegressor
from discreet.learners.trees.boosted_trees_classifier import BoostedTreesClassifier
from discreet.learners.trees.boosted_trees_regressor import BoostedTreesRegressor
from discreet.learners.trees.random_forest import RandomForestClassifier

SIZE = 15_000
THREE = ("corners", "loads", "shifted")
EPSILONS = (0.3, 1.0, 10.0)


@lru_cache(4)
def table(name: str, seed: int) -> Table:
    """A set by its name; those in which three features act together, which no table of constants has, are made here."""
    if name not in THREE:
        return anova_table(name, seed)
    rng = np.random.default_rng(50_000 + seed)
    X = rng.normal(size=(SIZE, 5)).clip(-3, 3)
    if name == "corners":  # classes by which corner a record is in
        score = 4 * np.where((X[:, :3] > [0.2, -0.1, 0.0]).sum(axis=1) % 2 == 1, 1.0, -1.0)
        return Table.of(X, (rng.random(SIZE) < 1 / (1 + np.exp(-score))).astype(int), (-3, 3), None, True)
    if name == "loads":  # one of two effects, by two marks, in opposite directions
        X[:, :2] = np.where(X[:, :2] > 0.3, 3.0, -3.0)
        y = np.sign(X[:, 0] * X[:, 1]) * np.tanh(2 * X[:, 2]) + 0.4 * rng.normal(size=SIZE)
        return Table.of(X, y, (-3, 3), (-4, 4), False)
    y = (X[:, 0] > 0.3) * (X[:, 1] > -0.2) * (X[:, 2] < 0.4) * 2.0 + 0.5 * rng.normal(size=SIZE)
    return Table.of(X, y, (-3, 3), (-3, 5), False)


@cache
def score(name: str, kind: str, epsilon: float, seed: int) -> float:
    """R2 or the AUC of one fit."""
    data = table(name, seed)
    low, high = (np.asarray(end, dtype=np.float64) * np.ones(data.X.shape[1]) for end in data.bounds)
    fields: dict[str, Any] = {"bounds": (low, high), "epsilon": epsilon, "delta": DELTA}
    if data.target is not None:
        found = _regressor(kind, seed, data.target, fields).fit(data.X, data.y).predict(data.others)
        return float(r2_score(data.theirs, found))
    model = _classifier(kind, seed, fields).fit(data.X, data.y)
    return float(roc_auc_score(data.theirs, _second(model, data.others)))


def _regressor(kind: str, seed: int, ends: tuple[float, float], fields: dict[str, Any]) -> Any:
    if kind == "anova":
        return AnovaRegressor(target_bounds=ends, **fields)
    return BoostedTreesRegressor(random_state=seed, target_bounds=ends, **fields)


def _classifier(kind: str, seed: int, fields: dict[str, Any]) -> Any:
    if kind == "anova":
        return AnovaClassifier(classes=[0, 1], **fields)
    return {"boosted": BoostedTreesClassifier, "forest": RandomForestClassifier}[kind](
        classes=[0, 1], random_state=seed, **fields
    )


def _second(model: Any, others: Array) -> Array:
    return np.asarray(model.predict_proba(others)[:, 1])


def cells() -> list[Cell]:
    """None: all are beside others of the same run."""
    return []


def rows() -> list[Row]:
    """Where three features act together, by epsilon; then at epsilon 1 on the sets of ANOVA models."""
    found = []
    for name in THREE:
        for epsilon in EPSILONS:
            ours = mean_of(partial(score, name, "boosted", epsilon))
            for kind in ("anova",) if table(name, 0).target is not None else ("anova", "forest"):
                other = mean_of(partial(score, name, kind, epsilon))
                found.append(
                    at_least(f"boosted trees, {name}, epsilon {epsilon:g}: beside {kind}", ours, round(other, 4))
                )
    for name in GOALS:
        if name != "compas" or COMPAS.exists():
            ours, other = (mean_of(partial(score, name, kind, 1.0)) for kind in ("boosted", "anova"))
            found.append(printed(f"boosted trees, {name}, epsilon 1: beside anova {other:.4f}", ours))
    return found
