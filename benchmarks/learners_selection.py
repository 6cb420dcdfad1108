"""Pipelines, searches and evaluations: what a scaler saves, what looking costs, how wide the intervals are.

Made-up records whose bounds are ten times too wide; delta 1e-6, epsilon 1.
"""

from __future__ import annotations

import runpy
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.naive_bayes import GaussianNB as ExactNB

from benchmarks.cells import Cell
from benchmarks.rows import Row
from discreet.core.budget import Budget
from discreet.learners.bayes.gaussian_nb import GaussianNB
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.learners.preprocessing.category_encoder import OneHotEncoder
from discreet.learners.preprocessing.scalers import StandardScaler
from discreet.learners.selection.evaluate import evaluate
from discreet.learners.selection.private_pipeline import PrivatePipeline
from discreet.learners.selection.private_search_cv import PrivateSearchCV
from discreet.trust.private_data import PrivateData

N, OTHERS, WIDE = 10_000, 5000, 10.0
EXAMPLE = Path(__file__).parents[1] / "examples" / "adult.py"


@cache
def made() -> tuple[Any, ...]:
    """Records of two classes, others, and bounds that are ten times too wide."""
    X, y = datasets.make_classification(N + OTHERS, 10, n_informative=4, n_redundant=0, random_state=11)
    middle, half = (X.max(axis=0) + X.min(axis=0)) / 2, np.ptp(X, axis=0) / 2
    return X[:N], y[:N], X[N:], y[N:], (middle - WIDE * half, middle + WIDE * half)


def models() -> dict[str, Any]:
    """Naive Bayes as it is, after a scaler, and after a scaler with the best of five radii."""
    public: dict[str, Any] = {"bounds": made()[4], "classes": [0, 1], "epsilon": 1.0}
    steps, grid = [("scale", StandardScaler()), ("fit", GaussianNB())], {"fit__radius": [0.1, 0.3, 1.0, 2.0, 3.0]}
    return {
        "plain": GaussianNB(**public),
        "scaled": PrivatePipeline(steps, **public),
        "searched": PrivateSearchCV(PrivatePipeline(steps), grid, n_iter=20, release_after=0.0, **public),
    }


def lost(name: str, seed: int) -> float:
    """Accuracy, less than that of the exact fit."""
    X, y, others, theirs, _ = made()
    return float(ExactNB().fit(X, y).score(others, theirs) - models()[name].fit(X, y).score(others, theirs))


def gained(seed: int) -> float:
    """Accuracy that a scaler brings."""
    return lost("plain", seed) - lost("scaled", seed)


def width(seed: int) -> float:
    """Half of that of the interval of an accuracy."""
    X, y, others, theirs, _ = made()
    return float(evaluate(models()["scaled"].fit(X, y), others, theirs, epsilon=0.1).accuracy.half_width)


def census(seed: int) -> float:
    """The accuracy of the pipeline of the manual."""
    example = runpy.run_path(str(EXAMPLE))
    schema = example["read_schema"](example["SCHEMA"]).schema
    steps = [("encode", OneHotEncoder()), ("fit", LogisticRegression())]
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder, "train.csv"), Path(folder, "test.csv")
        example["stand_in"](train, N, seed=2 * seed)
        example["stand_in"](test, OTHERS, seed=2 * seed + 1)
        model = PrivatePipeline(steps, target="salary").fit(PrivateData.of(train, schema, Budget(1.0, 1e-6)))
        found = evaluate(model, PrivateData.of(test, schema, Budget(1e4)), target="salary", epsilon=1e4)
    return float(found.accuracy.value)


def cells() -> list[Cell]:
    """Each claim."""
    return [
        Cell("naive Bayes, wide bounds: accuracy gained by a scaler", gained, 0.05),
        Cell("the same: accuracy lost to noise", partial(lost, "scaled"), 0.02, less=True),
        Cell("a search of five radii: accuracy lost to noise and looking", partial(lost, "searched"), 0.03, less=True),
        Cell("evaluation of 5000 records at epsilon 0.1: half width of accuracy", width, 0.03, less=True),
        Cell("invented census table, encoder and logistic regression: accuracy", census, 0.85),
    ]


def rows() -> list[Row]:
    """None besides these."""
    return []
