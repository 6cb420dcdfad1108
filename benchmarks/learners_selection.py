"""Pipelines, searches and evaluations: what a scaler saves, what looking costs, how wide the intervals are.

    python -m benchmarks.learners_selection

Made-up records whose bounds are ten times too wide; delta 1e-6, epsilon 1, means over ten seeds of noise.
"""

from __future__ import annotations

import runpy
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.naive_bayes import GaussianNB as ExactNB

from benchmarks.rows import Row, at_least, at_most, report
from discreet.core.budget import Budget
from discreet.learners.evaluate import evaluate
from discreet.learners.gaussian_nb import GaussianNB
from discreet.learners.logistic_regression import LogisticRegression
from discreet.learners.one_hot_encoder import OneHotEncoder
from discreet.learners.private_pipeline import PrivatePipeline
from discreet.learners.private_search_cv import PrivateSearchCV
from discreet.learners.standard_scaler import StandardScaler
from discreet.trust.private_data import PrivateData

SEEDS, N, OTHERS, WIDE = 10, 10_000, 5000, 10.0
EXAMPLE = Path(__file__).parents[1] / "examples" / "adult.py"


def made() -> tuple[Any, ...]:
    """Records of two classes, others, and bounds that are ten times too wide."""
    X, y = datasets.make_classification(N + OTHERS, 10, n_informative=4, n_redundant=0, random_state=11)
    middle, half = (X.max(axis=0) + X.min(axis=0)) / 2, np.ptp(X, axis=0) / 2
    return X[:N], y[:N], X[N:], y[N:], (middle - WIDE * half, middle + WIDE * half)


def rows() -> list[Row]:
    """Each claim, and what was measured."""
    X, y, others, theirs, bounds = made()
    public: dict[str, Any] = {"bounds": bounds, "classes": [0, 1], "epsilon": 1.0}
    exact = ExactNB().fit(X, y).score(others, theirs)
    steps = [("scale", StandardScaler()), ("fit", GaussianNB())]
    grid = {"fit__radius": [0.1, 0.3, 1.0, 2.0, 3.0]}
    models: dict[str, Callable[[], Any]] = {
        "plain": lambda: GaussianNB(**public),
        "scaled": lambda: PrivatePipeline(steps, **public),
        "searched": lambda: PrivateSearchCV(PrivatePipeline(steps), grid, n_iter=20, **public),
    }
    found = {
        name: float(np.mean([make().fit(X, y).score(others, theirs) for _ in range(SEEDS)]))
        for name, make in models.items()
    }
    model = models["scaled"]().fit(X, y)
    widths = [evaluate(model, others, theirs, epsilon=0.1).accuracy.half_width for _ in range(SEEDS)]
    return [
        at_least("naive Bayes, wide bounds: accuracy gained by a scaler", found["scaled"] - found["plain"], 0.05),
        at_most("the same: accuracy lost to noise", exact - found["scaled"], 0.02),
        at_most("a search among five radii: accuracy lost to noise and looking", exact - found["searched"], 0.03),
        at_most("evaluation of 5000 records at epsilon 0.1: half width of accuracy", float(np.mean(widths)), 0.03),
        at_least("invented census table, encoder and logistic regression: accuracy", census(), 0.85),
    ]


def census() -> float:
    """Of the pipeline of the manual."""
    example = runpy.run_path(str(EXAMPLE))
    schema = example["read_schema"](example["SCHEMA"]).schema
    steps = [("encode", OneHotEncoder()), ("fit", LogisticRegression())]
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder, "train.csv"), Path(folder, "test.csv")
        example["stand_in"](train, N, seed=0)
        example["stand_in"](test, OTHERS, seed=1)
        data = [PrivateData.of(train, schema, Budget(1.0, 1e-6)) for _ in range(3)]
        models = [PrivatePipeline(steps, target="salary").fit(one) for one in data]
        found = [
            evaluate(one, PrivateData.of(test, schema, Budget(1e4)), target="salary", epsilon=1e4) for one in models
        ]
    return float(np.mean([one.accuracy.value for one in found]))


if __name__ == "__main__":
    report("learners_selection", rows())
