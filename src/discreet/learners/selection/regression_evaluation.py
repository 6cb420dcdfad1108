"""What a private evaluation of a regressor says: all of it from one noisy sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.grid import Array
from discreet.learners.selection.evaluation import series_of
from discreet.questions.columns.column_moments import count_weight
from discreet.releases.ask import Released
from discreet.releases.columns import Columns
from discreet.releases.estimate import ENDLESS, Estimate, estimate_of
from discreet.releases.figure import Figure
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Tabular
from discreet.schema.schema import Number

LEAST = 1e-9  # variance of a target, in units of the square of half the distance of its bounds


@dataclass(frozen=True, kw_only=True)
class RegressionEvaluation(Tabular):
    """R2 and the mean squared error of a regressor, and the mean of its residuals: for these data.

    Parameters
    ----------
    released : Released
        The noisy sum of `column_moments` of the target and of the residuals.
    number : Number
        Public. The bounds of the target.
    """

    released: Released
    number: Number

    @cached_property
    def r2(self) -> Estimate:
        """One less the mean squared error over the variance of the target, as in scikit-learn."""
        return self._estimate("R2", r2_of, Number(-ENDLESS.upper, 1.0))

    @cached_property
    def mse(self) -> Estimate:
        """The mean squared error, in squared units of the target."""
        return self._estimate("mean squared error", self._mse, Number(0.0, ENDLESS.upper))

    @cached_property
    def bias(self) -> Estimate:
        """The mean of the target less its prediction."""
        return self._estimate("mean residual", lambda sums: self._width * sums[2] / _count(sums))

    def tabulated(self) -> Columns:
        """All of them."""
        found = [self.r2, self.mse, self.bias]
        return Columns({"measure": [one.name for one in found]}, (series_of("value", found),))

    @property
    def _width(self) -> float:
        return self.number.upper - self.number.lower

    def _mse(self, sums: Array) -> float:
        return self._width**2 * float(sums[4] / _count(sums) + 1) / 2

    def _estimate(self, name: str, of: Callable[[Array], float], ends: Number = ENDLESS) -> Estimate:
        """With its derivatives by the sums, from differences."""
        sums, step = self.released.values, math.sqrt(np.finfo(float).eps) * _count(self.released.values)
        weights = np.array([(of(sums + d) - of(sums - d)) / (2 * step) for d in step * np.eye(len(sums))])
        figure = Figure(min(max(float(of(sums)), ends.lower), ends.upper), weights)
        return estimate_of(name, figure, self.released, self.confidence or CONFIDENCE, ends)


def r2_of(sums: Array) -> float:
    """R2, from the moments of the target and of its residuals, whose unit is twice as long."""
    mean, square = sums[1] / _count(sums), (sums[3] / _count(sums) + 1) / 2
    return float(1 - 4 * (sums[4] / _count(sums) + 1) / 2 / max(float(square - mean**2), LEAST))


def _count(sums: Array) -> float:
    return max(float(sums[0]) / count_weight(2), 1.0)
