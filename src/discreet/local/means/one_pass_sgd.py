"""Linear models from one private gradient of each person."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.knob import check_knob
from discreet.local.means.sphere_vector import SphereVector
from discreet.noise.bits import system_bits
from discreet.schema.schema import Category, Number
from discreet.trust.sources.columns.decoding import decoded
from discreet.trust.sources.columns.raw_values import numbers_in, unlisted

STEPS = 100  # batches that people are split into, at most
LONGEST = math.sqrt(2)  # a row with its constant, and so a gradient


class _OnePassSGD(BaseEstimator):
    """Averaged gradient descent in which every person takes part once, by a report of the own gradient."""

    epsilon: float
    radius: float
    coefficient_radius: float

    @abstractmethod
    def slopes(self, margins: Array, targets: Array) -> Array:
        """The derivative of each person's loss, in [-1, 1]."""

    def _people(self, X: Any, y: Any, column: Number | Category) -> Array:
        """Features, and then targets in [-1, 1]: nan where somebody lacks a number, and so reports noise alone."""
        found = validate_data(self, unlisted(X), dtype=None, ensure_all_finite=False)
        rows, targets = numbers_in(found, found.shape), decoded(column_or_1d(unlisted(y), warn=True), column)
        check_consistent_length(rows, targets)
        lower, upper = (0, 1) if isinstance(column, Category) else (column.lower, column.upper)
        inside = (np.clip(targets, lower, upper) - (lower + upper) / 2) / ((upper - lower) / 2)
        return np.column_stack([rows, np.where(np.isfinite(rows).all(axis=1), inside, np.nan)])

    def _fit(self, people: Array) -> Array:
        """The coefficients of scaled rows, and of their constant.

        The step of batch t is R / (M sqrt(t)), where M^2 is at least the mean square of its reported gradient, and the
        iterates of the last half are averaged.
        """
        features, targets = Bound("l2", 1.0).clip(people[:, :-1] / self.radius), people[:, -1]
        rows = np.column_stack([features, np.ones(len(people))])
        report, bits = SphereVector(self.epsilon, rows.shape[1], LONGEST), system_bits()
        steps = min(STEPS, len(rows))
        size = math.sqrt(LONGEST**2 + rows.shape[1] * report.stddev**2 * steps / len(rows))
        found, average = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
        for place, batch in enumerate(np.array_split(np.arange(len(rows)), steps)):
            slopes = self.slopes(rows[batch] @ found, targets[batch])
            gradient = report.unbiased(report.reports(rows[batch] * slopes[:, None], bits)).mean(axis=0)
            moved = found - self.coefficient_radius / (size * math.sqrt(place + 1)) * gradient
            found = moved * min(1.0, self.coefficient_radius / max(float(np.linalg.norm(moved)), 1e-300))
            average += found * (place >= steps // 2)
        self.event_, self.n_iter_ = report.event, steps
        return np.asarray(average / (steps - steps // 2))

    def _check(self) -> None:
        name = type(self).__name__
        check_knob(name, "epsilon", self.epsilon, 2.0**-20, 40.0)
        check_knob(name, "radius", self.radius)
        check_knob(name, "coefficient_radius", self.coefficient_radius)

    def _margins(self, X: Any) -> Array:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False) @ self.coef_ + self.intercept_)


class LocalSGDClassifier(ClassifierMixin, _OnePassSGD):
    """Logistic regression for two classes, with nobody to trust.

    Every person gets the model of the moment and reports the gradient of the own loss by `SphereVector`, once. The
    excess of the mean loss is at most of the order R sqrt(d / n) / epsilon: many people are needed for many features.
    `fit` plays all people in one process.

    Parameters
    ----------
    epsilon : float
        Public. What one person's report costs.
    radius : float
        Public. Rows are shrunk to this length.
    coefficient_radius : float
        Public. The length R that coefficients of scaled rows are kept to.
    classes : pair
        Public. The labels of the two classes.

    Attributes
    ----------
    coef_, intercept_ : array, float
        Released. The model.
    classes_ : array
        Public. The two labels.
    event_ : Event
        What each person paid.
    n_iter_ : int
        Public. How many batches.

    Guarantee
    ---------
    That of one `SphereVector` for each person, where one record is replaced by any other: nobody reports twice.
    Duchi, Jordan and Wainwright 2018, section 4.2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-0.7, 0.7, (20_000, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> bool(LocalSGDClassifier(epsilon=4.0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(
        self, *, epsilon: float = 1.0, radius: float = 1.0, coefficient_radius: float = 5.0, classes: Any = (0, 1)
    ) -> None:
        self.epsilon = epsilon
        self.radius = radius
        self.coefficient_radius = coefficient_radius
        self.classes = classes

    def fit(self, X: Any, y: Any) -> LocalSGDClassifier:
        """Collect one report of each person."""
        self._check()
        self.classes_ = np.asarray(self.classes)
        if self.classes_.shape != (2,):
            raise ParameterError("LocalSGDClassifier", f"the classes are {self.classes}", "Give two labels.")
        found = self._fit(self._people(X, y, Category(self.classes_.tolist())))
        self.coef_, self.intercept_ = found[:-1] / self.radius, float(found[-1])
        return self

    def slopes(self, margins: Array, targets: Array) -> Array:
        """Of the logistic loss."""
        return np.asarray(-targets / (1 + np.exp(np.clip(targets * margins, -500, 500))))

    def decision_function(self, X: Any) -> Array:
        """Above 0 for the second class."""
        return self._margins(X)

    def predict(self, X: Any) -> Array:
        """The label of each row."""
        return np.asarray(self.classes_[(self._margins(X) > 0).astype(int)])


class LocalSGDRegressor(RegressorMixin, _OnePassSGD):
    """Linear regression, with nobody to trust.

    As `LocalSGDClassifier`, with the Huber loss of targets that are scaled to [-1, 1]: residuals count by their square
    up to half the width of the bounds, and by their size beyond.

    Parameters
    ----------
    epsilon : float
        Public. What one person's report costs.
    radius : float
        Public. Rows are shrunk to this length.
    coefficient_radius : float
        Public. The length R that coefficients of scaled rows and targets are kept to.
    target_bounds : (lower, upper)
        Public. Targets outside are moved to the nearer bound.

    Attributes
    ----------
    coef_, intercept_ : array, float
        Released. The model.
    event_ : Event
        What each person paid.
    n_iter_ : int
        Public. How many batches.

    Guarantee
    ---------
    That of one `SphereVector` for each person, where one record is replaced by any other: nobody reports twice.
    Duchi, Jordan and Wainwright 2018, section 4.2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-0.7, 0.7, (20_000, 2))
    >>> model = LocalSGDRegressor(epsilon=4.0, coefficient_radius=2.0).fit(X, X[:, 0])
    >>> bool(abs(model.coef_[0] - 1) < 0.3)
    True
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        radius: float = 1.0,
        coefficient_radius: float = 2.0,
        target_bounds: tuple[float, float] = (-1.0, 1.0),
    ) -> None:
        self.epsilon = epsilon
        self.radius = radius
        self.coefficient_radius = coefficient_radius
        self.target_bounds = target_bounds

    def fit(self, X: Any, y: Any) -> LocalSGDRegressor:
        """Collect one report of each person."""
        self._check()
        lower, upper = self.target_bounds
        if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
            obstacle = f"the target bounds are {lower} and {upper}"
            raise ParameterError("LocalSGDRegressor", obstacle, "Give two finite numbers, the lower first.")
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        found = self._fit(self._people(X, y, Number(lower, upper)))
        self.coef_, self.intercept_ = half * found[:-1] / self.radius, float(middle + half * found[-1])
        return self

    def slopes(self, margins: Array, targets: Array) -> Array:
        """Of the Huber loss."""
        return np.clip(margins - targets, -1.0, 1.0)

    def predict(self, X: Any) -> Array:
        """The target of each row."""
        return self._margins(X)
