"""Learners that ask for sums alone read a Parquet file batch by batch: their memory does not grow with the records."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks.cells import Cell
from benchmarks.rows import Row, at_most
from discreet.core.budget import Budget
from discreet.learners import (
    PCA,
    AdditiveClassifier,
    AdditiveRegressor,
    AnovaClassifier,
    AnovaRegressor,
    BoostedStumps,
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    CategoricalNB,
    DecisionTreeClassifier,
    FunctionalLinearRegression,
    FunctionalLogisticRegression,
    GaussianMixture,
    GaussianNB,
    KMeans,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    MinMaxScaler,
    OnlinePCA,
    OnlineRidge,
    Perceptron,
    RandomDecisionTrees,
    RandomForestClassifier,
    Ridge,
    StandardScaler,
    TruncatedSVD,
)
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData

FEATURES, MORE, FEW, MANY = 8, 20, 100_000, 1_000_000
GROWTH = 0.2  # of the bytes that the added records hold
RUNS = 2
TOGETHER = 20_000  # rows that are written at a time
MIB = 2**20
WIDE = ("AnovaClassifier", "AnovaRegressor")  # also with more features: of these and of their pairs there are many sums
LEARNERS: dict[str, Callable[[], Any]] = {
    **{
        kind.__name__: partial(kind, target="kind")
        for kind in (
            CategoricalNB,
            DecisionTreeClassifier,
            FunctionalLogisticRegression,
            GaussianNB,
            LinearSVC,
            LogisticRegression,
            RandomDecisionTrees,
            RandomForestClassifier,
        )
    },
    **{kind.__name__: partial(kind, target="value") for kind in (FunctionalLinearRegression, LinearRegression, Ridge)},
    "AdditiveClassifier": partial(AdditiveClassifier, target="kind", max_iter=1),
    "AdditiveRegressor": partial(AdditiveRegressor, target="value", max_iter=1),
    "AnovaClassifier": partial(AnovaClassifier, target="kind", max_iter=1),
    "AnovaRegressor": partial(AnovaRegressor, target="value", max_iter=1),
    "BoostedStumps": partial(BoostedStumps, target="kind", n_estimators=2),
    "BoostedTreesClassifier": partial(BoostedTreesClassifier, 8, target="kind", max_iter=1),
    "BoostedTreesRegressor": partial(BoostedTreesRegressor, 8, target="value", max_iter=1),
    "Perceptron": partial(Perceptron, target="kind", max_iter=2),
    "OnlineRidge": partial(OnlineRidge, target="value", time="x0"),
    "OnlinePCA": partial(OnlinePCA, 2, time="x0"),
    **{kind.__name__: partial(kind, 3) for kind in (GaussianMixture, KMeans, PCA, TruncatedSVD)},
    **{kind.__name__: kind for kind in (MinMaxScaler, StandardScaler)},
}
"""All that ask sums alone and take numbers; a few rounds of those that take many."""


def schema_of(features: int) -> Schema:
    """So many numbers, a number and a class to predict."""
    numbers = {f"x{i}": Number(-1, 1) for i in range(features)}
    return Schema({**numbers, "value": Number(-1, 1), "kind": Category(("a", "b"))})


def write(path: Path, n: int, features: int) -> None:
    """Records, a few at a time, so that what writes them is no larger than what reads them."""
    rng, writer = np.random.default_rng(0), None
    for _ in range(0, n, TOGETHER):
        X = rng.uniform(-1, 1, (TOGETHER, features))
        columns: dict[str, Any] = {f"x{i}": X[:, i] for i in range(features)}
        table = pa.table({**columns, "value": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")})
        writer = pyarrow.parquet.ParquetWriter(path, table.schema) if writer is None else writer
        writer.write_table(table)
    if writer is not None:
        writer.close()


def fit(learner: str, features: str, path: str) -> None:
    """Fit in this process, and print the most memory that it had, in bytes."""
    LEARNERS[learner]().fit(PrivateData.of(path, schema_of(int(features)), Budget(1.0, 1e-6)))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def peak(learner: str, features: int, path: Path) -> float:
    """The most memory of a process of its own: the least of a few, since threads allocate in no fixed order."""
    place = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    asked = [sys.executable, "-m", "benchmarks.learners_memory", learner, str(features), str(path)]
    runs = [subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True, env=place) for _ in range(RUNS)]
    return min(float(done.stdout.split()[-1]) for done in runs)


def cells() -> list[Cell]:
    """None: memory is no score."""
    return []


def rows() -> list[Row]:
    """How much of the added records stays in memory."""
    return [*grown(tuple(LEARNERS), FEATURES), *grown(WIDE, MORE)]


def grown(learners: tuple[str, ...], features: int) -> list[Row]:
    """A row for each of these learners, fitted to records of so many features."""
    found = []
    with tempfile.TemporaryDirectory() as place:
        few, many = Path(place, "few.parquet"), Path(place, "many.parquet")
        write(few, FEW, features)
        write(many, MANY, features)
        added = 8.0 * (MANY - FEW) * (features + 2)
        for learner in learners:
            low, high = (peak(learner, features, path) for path in (few, many))
            claim = f"{learner} from Parquet, {features} features, n {FEW:g} to {MANY:g}"
            claim = f"{claim}, {low / MIB:.0f} to {high / MIB:.0f} MiB at most"
            found.append(at_most(f"{claim}: growth over the bytes added", (high - low) / added, GROWTH))
    return found


if __name__ == "__main__":
    fit(*sys.argv[1:])
