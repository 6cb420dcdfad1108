"""The data sets that learners are compared on: features between -1 and 1, and a class or a number.

Bounds are those of the data, which are taken to be public for all learners alike.
"""

from __future__ import annotations

import csv
import gzip
import os
import warnings
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.query.schema_file import read_schema
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix

ADULT = Path(os.environ.get("DISCREET_DATA", "shared/data")) / "adult.csv.gz"
ADULT_SCHEMA = Path(__file__).parents[1] / "examples" / "adult.toml"
warnings.filterwarnings("ignore", message="X does not have valid feature names")  # predictions are for arrays


@dataclass(frozen=True)
class Split:
    """Records to learn from and others to predict, whose target is one of so many classes or, for 0, a number."""

    X: Array
    y: Any
    others: Array
    theirs: Any
    classes: int

    def private(self, epsilon: float, delta: float, neighbors: Neighbors = Neighbors.REPLACE) -> PrivateData:
        """The records to learn from, for one fit; their number is public where they are replaced."""
        target = Category(tuple(range(self.classes))) if self.classes else Number(-1.0, 1.0)
        schema = Schema({**Schema.numeric(-1.0, 1.0, self.X.shape[1]).columns, "target": target})
        source = Matrix(np.column_stack([self.X, self.y]).astype(np.float64), schema)
        return PrivateData.of(source, schema, Budget(epsilon, delta), neighbors=neighbors)

    def score(self, model: Any, epsilon: float, delta: float, neighbors: Neighbors = Neighbors.REPLACE) -> float:
        """Of a fit of this model: accuracy, or R2."""
        model.set_params(target="target", epsilon=epsilon, delta=delta)
        return self.scored(model.fit(self.private(epsilon, delta, neighbors)).predict(self.others))

    def scored(self, found: Any) -> float:
        """Of these predictions."""
        if self.classes:
            return float(np.mean(found.astype(np.float64) == self.theirs))
        return float(1 - np.mean(np.square(self.theirs - found)) / np.var(self.theirs))


def boxed(X: Array) -> Array:
    """Scaled to [-1, 1] by the ends of all records, which stand for what is public."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray(2 * (X - low) / np.where(high > low, high - low, 1) - 1)


@lru_cache(4)
def classified(name: str, seed: int = 0) -> Split:
    """A data set of scikit-learn or "adult" with a fresh split, or a made-up one of 1e4 or 1e5 records."""
    if name in ("1e4", "1e5"):
        return _made(int(float(name)))
    X, y = _adult() if name == "adult" else getattr(datasets, f"load_{name}")(return_X_y=True)
    if name != "adult":
        X = X / 8 - 1 if name == "digits" else boxed(X)
    mine, others, y_mine, theirs = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
    return Split(mine, y_mine, others, theirs, int(y.max()) + 1)


@lru_cache(2)
def _made(n: int) -> Split:
    """Twenty features, of which some are informative, within six units."""
    X, y = datasets.make_classification(
        n + n // 4, 20, n_informative=8, n_redundant=4, class_sep=1.0, flip_y=0.03, random_state=7
    )
    X = np.clip(X / 6, -1, 1)
    return Split(X[:n], y[:n], X[n:], y[n:], 2)


@lru_cache(4)
def measured(name: str, seed: int = 0) -> Split:
    """Features and a number: diabetes with a fresh split, or a made-up set of 1e4 or 1e5 records."""
    if name == "diabetes":
        X, y = datasets.load_diabetes(return_X_y=True)
        mine, others, y_mine, theirs = train_test_split(
            boxed(X), boxed(y[:, None])[:, 0], test_size=0.25, random_state=seed
        )
        return Split(mine, y_mine, others, theirs, 0)
    n, rng = int(float(name)), np.random.default_rng(7)
    X = np.clip(rng.normal(size=(n + n // 4, 10)) / 4, -1, 1)
    y = np.clip((X @ rng.normal(size=10) + 0.3 * rng.normal(size=len(X))) / 4, -1, 1)
    return Split(X[:n], y[:n], X[n:], y[n:], 0)


@lru_cache(2)
def blobs(n: int) -> Array:
    """Five round clusters in eight features."""
    X, _ = datasets.make_blobs(n, 8, centers=5, cluster_std=1.0, center_box=(-6, 6), random_state=3)
    return np.clip(X / 10, -1, 1)


@cache
def _adult() -> tuple[Array, Any]:
    """The census table "Adult": its numbers, and a mark of -1 or 1 for each value of a category.

    Values and bounds are those of a public schema. It is read from the folder that DISCREET_DATA names.
    """
    schema = read_schema(ADULT_SCHEMA).schema
    with gzip.open(ADULT, "rt", newline="") as file:
        table = [[cell.strip() for cell in row] for row in csv.reader(file)]
    columns = dict(zip(table[0], zip(*table[1:], strict=True), strict=True))
    features: list[Array] = []
    for name, column in schema.columns.items():
        if isinstance(column, Number):
            middle, half = (column.upper + column.lower) / 2, (column.upper - column.lower) / 2
            features.append(np.clip((np.array(columns[name], dtype=np.float64) - middle) / half, -1, 1))
        elif name != "salary":
            features += [2.0 * (np.array(columns[name]) == value) - 1 for value in schema.category(name).values]
    y = (np.array(columns["salary"]) == schema.category("salary").values[1]).astype(np.int64)
    return np.column_stack(features), y
