"""Exact twins: what a private learner should become where epsilon is so large that noise is nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn import datasets, linear_model, svm
from sklearn.base import is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators

from discreet.schema.schema import Number, Schema
from tests.conformance.walk import has_mirror, learners, mirror

LARGE, CLOSE = 1000.0, 0.01
RECORDS, OTHERS = 4000, 10_000
TwinOf = Callable[[Any], Any]
"""The exact twin of a fitted learner, whose settings it may have."""


@dataclass(frozen=True)
class Compared:
    """Accuracies, or R2, of a learner and of its twin."""

    ours: float
    exact: float

    @property
    def close(self) -> bool:
        """Whether the learner is not behind by more than a hundredth."""
        return self.ours >= self.exact - CLOSE


@dataclass(frozen=True)
class Made:
    """Made-up records between public bounds, to learn from, and others to predict."""

    X: np.ndarray
    y: np.ndarray
    schema: Schema

    def scores(self, kind: type[Any], seed: int = 0) -> Compared:
        """Of a learner with its defaults at a large epsilon, and of its twin, on records that neither has seen."""
        fields: dict[str, Any] = {"bounds": self.schema, "epsilon": LARGE, "random_state": seed}
        fields |= {"expected_size": RECORDS}
        fields |= {"target_bounds": (self.y.min(), self.y.max())} if is_regressor(kind()) else {}
        fields |= {} if is_regressor(kind()) else {"classes": np.unique(self.y)}
        known = kind().get_params()
        model = kind(**{name: value for name, value in fields.items() if name in known})
        mine, other = slice(RECORDS), slice(RECORDS, None)
        model.fit(self.X[mine], self.y[mine])
        exact = twin_of(kind)(model).fit(self.X[mine], self.y[mine])
        return Compared(*(float(one.score(self.X[other], self.y[other])) for one in (model, exact)))


def spheres() -> Made:
    """Ten normal features, and a class for those far from the middle: no line separates them."""
    X, y = datasets.make_hastie_10_2(RECORDS + OTHERS, random_state=0)
    return _within(X, (y > 0).astype(int), [(-5.0, 5.0)] * 10)


def careers() -> Made:
    """An age, two numbers of events, most of them zero and some large, an amount with a heavy tail, and four marks."""
    rng = np.random.default_rng(1)
    n = RECORDS + OTHERS
    age = 18 + rng.gamma(2.0, 8.0, n)
    events, others = rng.geometric(0.25, n) - 1.0, rng.geometric(0.7, n) - 1.0
    amount, marks = np.exp(rng.normal(size=n)), (rng.random((n, 4)) < [0.5, 0.2, 0.08, 0.04]).astype(float)
    score = 0.9 * np.log1p(events) - 0.06 * (age - 30) - 0.5 + 0.4 * marks[:, 0] + 0.3 * np.log(amount)
    X = np.column_stack([age, events, others, amount, marks])
    bounds = [(18.0, 96.0), (0.0, 40.0), (0.0, 20.0), (0.0, 60.0), *[(0.0, 1.0)] * 4]
    return _within(X, (rng.random(n) < expit(score)).astype(int), bounds)


def groups() -> Made:
    """Eight features, of which five tell three classes apart."""
    X, y = datasets.make_classification(
        RECORDS + OTHERS, 8, n_informative=5, n_redundant=1, n_classes=3, n_clusters_per_class=1, random_state=2
    )
    return _within(X, y, [(-8.0, 8.0)] * 8)


def curve() -> Made:
    """Friedman's first function of five of ten uniform features."""
    X, y = datasets.make_friedman1(RECORDS + OTHERS, 10, noise=1.0, random_state=3)
    return _within(X, y, [(0.0, 1.0)] * 10)


def plane() -> Made:
    """A linear function of six features."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(RECORDS + OTHERS, 6))
    return _within(X, X @ [3.0, -2.0, 1.0, 0.5, 0.0, 0.0] + rng.normal(size=len(X)) + 5.0, [(-5.0, 5.0)] * 6)


def amounts() -> Made:
    """Features with heavy tails, and a target that is near one end of its range."""
    rng = np.random.default_rng(5)
    X = np.exp(rng.normal(size=(RECORDS + OTHERS, 5)))
    return _within(X, np.clip(X @ [1.0, 0.5, 0.2, 0.0, 0.0] + rng.normal(size=len(X)), 0, 40), [(0.0, 40.0)] * 5)


def visits() -> Made:
    """Numbers of events, of a mean that grows by a constant factor with each of six features."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(RECORDS + OTHERS, 6))
    y = rng.poisson(np.exp(0.5 + X @ [0.5, -0.3, 0.2, 0.1, 0.0, 0.0])).astype(float)
    return _within(X, y, [(-5.0, 5.0)] * 6)


def costs() -> Made:
    """Positive numbers, by a number of skewed features and rare marks; errors are relative, and large."""
    rng = np.random.default_rng(7)
    n = RECORDS + OTHERS
    X = np.column_stack([rng.gamma(2.0, 1.0, (n, 3)), rng.random((n, 3)) < [0.5, 0.1, 0.05]])
    y = np.exp(6 + X @ [0.2, -0.2, 0.1, 0.5, 0.5, -0.5]) * rng.gamma(2.0, 0.5, n)
    return _within(X, y, [(0.0, 15.0)] * 3 + [(0.0, 1.0)] * 3)


def _within(X: np.ndarray, y: np.ndarray, bounds: list[tuple[float, float]]) -> Made:
    low, high = np.array(bounds).T
    return Made(np.clip(X, low, high), y, Schema({f"x{i}": Number(*ends) for i, ends in enumerate(bounds)}))


CLASSES: dict[str, Callable[[], Made]] = {"spheres": spheres, "careers": careers, "groups": groups}
NUMBERS: dict[str, Callable[[], Made]] = {"curve": curve, "plane": plane, "amounts": amounts}
POSITIVE: dict[str, Callable[[], Made]] = {"visits": visits, "costs": costs}


@cache
def made(name: str) -> Made:
    return (CLASSES | NUMBERS | POSITIVE)[name]()


def sets_of(kind: type[Any]) -> tuple[str, ...]:
    """The sets that a learner is compared on: as its own test file says, by SETS, where not all targets are for it."""
    brought = getattr(mirror(kind), "SETS", {}) if has_mirror(kind) else {}
    if kind.__name__ in brought:
        return tuple(brought[kind.__name__])
    return tuple(NUMBERS if is_regressor(kind()) else CLASSES)


def predictors(rooms: tuple[str, ...] | None = None) -> list[type[Any]]:
    """Every classifier and regressor in these rooms of `discreet.learners`, or in all."""
    found = [kind for kind in learners() if kind.__module__.startswith("discreet.learners.")]
    found = [kind for kind in found if is_classifier(kind()) or is_regressor(kind())]
    return [kind for kind in found if rooms is None or kind.__module__.split(".")[2] in rooms]


def twin_of(kind: type[Any]) -> TwinOf:
    """As its own test file says, by TWIN or TWINS; else that of `STANDARD`; else what scikit-learn has by its name."""
    brought = mirror(kind) if has_mirror(kind) else None
    found = getattr(brought, "TWINS", {}).get(kind.__name__, getattr(brought, "TWIN", None))
    return found or STANDARD.get(kind.__name__) or (lambda _: _scaled(dict(all_estimators())[kind.__name__]()))


@dataclass
class ThroughTheMiddle:
    """Exact ridge regression through the middle of all bounds, without the column of time: what `OnlineRidge` does."""

    model: Any

    def fit(self, X: np.ndarray, y: np.ndarray) -> ThroughTheMiddle:
        low, high = np.array([(column.lower, column.upper) for column in self.model.bounds.columns.values()]).T
        self.middle, self.half, self.ends = (low + high) / 2, (high - low) / 2, self.model.target_bounds
        self.line = linear_model.Ridge(self.model.alpha, fit_intercept=False)
        self.line.fit(self._rows(X), (y - sum(self.ends) / 2) / (self.ends[1] - self.ends[0]) * 2)
        return self

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        found = self.line.predict(self._rows(X)) * (self.ends[1] - self.ends[0]) / 2 + sum(self.ends) / 2
        return float(1 - np.mean((y - found) ** 2) / np.var(y))

    def _rows(self, X: np.ndarray) -> np.ndarray:
        return np.delete((X - self.middle) / self.half, self.model.time_, axis=1)


def _scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


STANDARD: dict[str, TwinOf] = {
    "ERMClassifier": lambda _: _scaled(linear_model.LogisticRegression()),
    "FunctionalLinearRegression": lambda _: _scaled(linear_model.LinearRegression()),
    "FunctionalLogisticRegression": lambda _: _scaled(linear_model.RidgeClassifier()),  # the loss is quadratic
    "KernelSVC": lambda _: _scaled(svm.SVC()),
    "OnlineRidge": lambda model: ThroughTheMiddle(model),
    "AdditiveClassifier": lambda _: HistGradientBoostingClassifier(interaction_cst="no_interactions", random_state=0),
    "AdditiveRegressor": lambda _: HistGradientBoostingRegressor(interaction_cst="no_interactions", random_state=0),
    "AnovaClassifier": lambda _: HistGradientBoostingClassifier(interaction_cst="pairwise", random_state=0),
    "AnovaRegressor": lambda _: HistGradientBoostingRegressor(interaction_cst="pairwise", random_state=0),
}
"""Twins of those that have another name in scikit-learn."""
