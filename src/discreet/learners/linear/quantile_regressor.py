"""Private linear quantile regression."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri
from sklearn.metrics import d2_pinball_score

from discreet.core.checks import check_positive
from discreet.core.grid import Array
from discreet.learners.linear.linear_classifier import STILL
from discreet.learners.linear.normal_scores import NormalScores
from discreet.learners.linear.stepped_regressor import NumberStart, SteppedRegressor
from discreet.learners.linear.target_distribution import TargetDistribution
from discreet.questions.gradients.number_gradients import NumberLoss
from discreet.trust.stored import Artefact

NARROWEST = 0.1  # the least standard deviation of residuals, in those of the target


class QuantileRegressor(SteppedRegressor):
    """A quantile that is linear in the features, by Newton's steps on noisy sums of gradients.

    The loss has no second derivatives, and its mean has: the density of residuals at 0. It is taken to be that of a
    normal law, with the spread that a noisy distribution of the target has, less what the scores explain. Records are
    whitened by noisy moments, and one with a missing value counts for nothing. A residual is one of two numbers,
    however far from the quantile a target is, and so bounds of the target need not be tight.

    Parameters
    ----------
    quantile : float
        Public. The level of the quantile, from 0.01 to 0.99. The farther from 0.5, the more noise.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Released. The coefficients, in the units of the data.

    Guarantee
    ---------
    `event_`: two releases of moments, one of counts of the target and `max_iter` of gradients, each one bounded sum,
    composed, for the neighbors and the unit of the data set; add or remove one record for arrays. Released: `coef_` and
    `intercept_`, which follow from these. No minimiser is assumed to have been found.
    Quantile regression: Koenker and Bassett 1978. Noisy gradient descent: Song, Chaudhuri and Sarwate 2013.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = X @ [1.0, -0.5] + rng.exponential(size=20_000)
    >>> model = QuantileRegressor(bounds=(-1, 1), target_bounds=(-10, 30), epsilon=1.0).fit(X, y)
    >>> bool(np.abs(model.coef_ - [1.0, -0.5]).max() < 0.15), round(model.intercept_, 1)
    (True, 0.7)
    """

    purpose: ClassVar[str] = "quantile regression"
    loss: ClassVar[NumberLoss] = "quantile"

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        max_iter: int | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        given = {"target": target, "bounds": bounds, "target_bounds": target_bounds}
        super().__init__(**given, max_iter=max_iter, epsilon=epsilon, delta=delta)
        self.quantile = quantile

    def check(self) -> None:
        super().check()
        check_positive(self.purpose, "quantile", self.quantile, 0.01, 0.99)

    @property
    def level(self) -> float:
        return float(self.quantile)

    @property
    def _density(self) -> float:
        """That of a standard normal law at its quantile."""
        return math.exp(-(float(ndtri(self.level)) ** 2) / 2) / math.sqrt(2 * math.pi)

    def start(self, found: TargetDistribution, moved: float) -> NumberStart:
        """At the quantile of all records, in standard deviations of a normal law that is as wide there."""
        unit, size = found.spread(self.level), max(self.level, 1 - self.level)
        variance = found.variance / unit**2 if moved * size / self._density <= STILL else 1.0
        return NumberStart(found.quantile(self.level), unit, size, self._density, variance)

    def bends(self, begun: NumberStart, center: Array, variance: Array) -> NormalScores:
        return NormalScores(self._density / _narrowed(begun, float(variance[0])), np.eye(2))

    def level_of(self, begun: NumberStart, variance: float) -> float:
        """Closer to the mean, by as much as residuals are narrower than targets."""
        return (_narrowed(begun, variance) - 1) * float(ndtri(self.level))

    def own(self, begun: NumberStart, coef: Array, intercept: float) -> Artefact:
        return {"coef_": coef * begun.unit, "intercept_": begun.center + intercept * begun.unit}

    def predict(self, X: Any) -> Array:
        """The quantile for each row, between the bounds of the target; a missing value counts as 0."""
        return np.asarray(np.clip(self.scores(X), *self.target_ends_))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the pinball loss that is explained; 0 for the quantile of `y`."""
        return float(d2_pinball_score(y, self.predict(X), sample_weight=sample_weight, alpha=self.level))


def _narrowed(begun: NumberStart, variance: float) -> float:
    """The standard deviation of residuals, in those of the target: they have the variance that scores do not have."""
    return math.sqrt(float(np.clip(begun.variance - variance, NARROWEST**2, 1.0)))
