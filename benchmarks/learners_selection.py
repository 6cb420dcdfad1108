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
from sklearn.metrics import roc_auc_score
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


class Scores:
    """A model whose only feature is its score."""

    classes_, n_features_in_ = np.array([0, 1]), 1

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def unequal(seed: int, n: int, rate: float, tied: bool = False) -> tuple[Any, Any]:
    """Scores, all or some of them different, and classes, the second of which is rare."""
    rng = np.random.default_rng(seed)
    z, middle = rng.normal(0, 1.2, n), np.log(rate / (1 - rate)) - 0.5
    y = (rng.random(n) < 1 / (1 + np.exp(-z - middle))).astype(int)
    return 1 / (1 + np.exp(-(np.round(z) if tied else z) - middle)), y


def covered(figure: str, n: int, rate: float, epsilon: float, tied: bool, seed: int) -> float:
    """The share of intervals, among 60, that hold the exact figure of their records."""
    held = []
    for run in range(60):
        p, y = unequal(1000 * seed + run, n, rate, tied)
        exact = roc_auc_score(y, p) if figure == "auc" else -np.log(np.where(y == 1, p, 1 - p)).mean()
        low, high = getattr(evaluate(Scores(), p[:, None], y, epsilon=epsilon), figure).interval
        held.append(low <= exact <= high)
    return float(np.mean(held))


def narrow(seed: int) -> float:
    """Half of the width of the interval of an AUC."""
    p, y = unequal(seed, 10_000, 0.08)
    return float(evaluate(Scores(), p[:, None], y, epsilon=1.0).auc.half_width)


def chosen(scoring: str, seed: int) -> float:
    """The AUC, on others, of the better of two radii by a score, where 6 in a hundred are of the second class."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (20_000, 2))
    y = (3 * X[:, 0] - 3.7 + rng.logistic(size=20_000) > 0).astype(int)
    public: dict[str, Any] = {"bounds": (-1, 1), "classes": [0, 1], "epsilon": 4.0, "delta": 0.0}
    search = PrivateSearchCV(GaussianNB(), {"radius": [0.016, 1.4]}, scoring=scoring, **public).fit(X[:N], y[:N])
    return float(roc_auc_score(y[N:], search.predict_proba(X[N:])[:, 1]))


def searched(seed: int) -> float:
    """How much better the model is that a search by AUC chooses, than that of a search by accuracy."""
    return chosen("roc_auc", seed) - chosen("accuracy", seed)


def coverage() -> list[Cell]:
    """How many intervals of 95 % hold the exact figure: 0.93 leaves room for 360 runs, and no more."""
    return [
        Cell(f"{name}: share of intervals that hold it", partial(covered, *setting), 0.93)
        for name, setting in (
            ("AUC, 8 % positives, 5000 records, epsilon 1", ("auc", 5000, 0.08, 1.0, False)),
            ("AUC, 2 % positives, 1000 records, epsilon 1", ("auc", 1000, 0.02, 1.0, False)),
            ("AUC, 8 % positives, tied scores, epsilon 3", ("auc", 5000, 0.08, 3.0, True)),
            ("log loss, 8 % positives, 5000 records, epsilon 0.3", ("log_loss", 5000, 0.08, 0.3, False)),
        )
    ]


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
        *coverage(),
        Cell("AUC, 8 % positives, 10000 records, epsilon 1: half width of its interval", narrow, 0.03, less=True),
        Cell("a search with 6 % positives: AUC gained by scoring='roc_auc'", searched, 0.01),
        Cell("invented census table, encoder and logistic regression: accuracy", census, 0.85),
    ]


def rows() -> list[Row]:
    """None besides these."""
    return []
