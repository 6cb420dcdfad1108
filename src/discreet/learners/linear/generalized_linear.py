"""Linear models of a number by the logarithm of its mean: counts and positive numbers."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import d2_tweedie_score

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.linear.linear_classifier import LEAST_BEND
from discreet.learners.linear.normal_scores import NormalScores
from discreet.learners.linear.stepped_regressor import NumberStart, SteppedRegressor
from discreet.learners.linear.target_distribution import TargetDistribution
from discreet.questions.gradients.number_gradients import NumberLoss
from discreet.releases.joint_plan import StagedPlan
from discreet.trust.stored import Artefact

SIZES: Array = 2.0 ** np.arange(-2.0, 6.01, 0.25)  # that residuals may be shrunk to, in units of the mean
WIDEST = 4.0  # variance of scores at which it is asked how the loss bends
STEEPEST = 700.0  # of the logarithm of a mean


class LogLinear(SteppedRegressor):
    """The logarithm of a mean that is linear in the features, of a target from 0 on.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Released. The coefficients of the logarithm of the mean, in the units of the data.
    """

    power: ClassVar[int]
    """Of the mean, in proportion to which the variance grows."""

    @abstractmethod
    def means(self, scores: Array) -> Array:
        """The second derivative of the loss at each row of scores, where the mean is that of all records."""

    def plan(self, task: Task) -> StagedPlan:
        lower = task.schema.number(str(task.target)).lower
        if lower < 0:
            obstacle = f"the target may be {lower:g}"
            raise ParameterError(self.purpose, obstacle, "Give bounds of the target from 0 on, or another learner.")
        return super().plan(task)

    def start(self, found: TargetDistribution, moved: float) -> NumberStart:
        """At the mean, with the size of residuals that shrinking and noise together move least."""
        return NumberStart(0.0, found.mean, best_size(found, moved), 1.0)

    def bends(self, begun: NumberStart, center: Array, variance: Array) -> NormalScores:
        return NormalScores.of(self.means, center, np.minimum(variance, WIDEST), LEAST_BEND)

    def level_of(self, begun: NumberStart, variance: float) -> float:
        """With normal scores f, the mean of exp(f) is 1."""
        return -min(variance, WIDEST) / 2

    def own(self, begun: NumberStart, coef: Array, intercept: float) -> Artefact:
        return {"coef_": coef, "intercept_": intercept + math.log(begun.unit)}

    def predict(self, X: Any) -> Array:
        """The mean that is expected for each row, between the bounds of the target; a missing value counts as 0."""
        return np.asarray(np.clip(np.exp(np.clip(self.scores(X), -STEEPEST, STEEPEST)), *self.target_ends_))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the deviance that is explained, as scikit-learn has it; 0 for the mean of `y`."""
        found = np.maximum(self.predict(X), 1e-9 * self.target_ends_[1])
        return float(d2_tweedie_score(y, found, sample_weight=sample_weight, power=self.power))


def best_size(found: TargetDistribution, moved: float) -> float:
    """What residuals are shrunk to, in units of the mean, where noise on those of size 1 moves scores by so much.

    The least sum of two squares: of what shrinking takes off the mean, and of what noise adds.
    """
    away = np.abs(found.values / found.mean - 1)
    lost = np.maximum(away - SIZES[:, None], 0.0) @ found.shares
    return float(SIZES[np.argmin(lost**2 + (SIZES * moved) ** 2)])


class PoissonRegressor(LogLinear):
    """Poisson regression for counts, by Newton's steps on noisy sums of gradients.

    The logarithm of the mean is linear in the features. Any target from 0 on may be fitted: the mean is right where the
    variance is not. Records are whitened by noisy moments, and one with a missing value counts for nothing. Residuals
    are shrunk to a size that a noisy distribution of the target gives.

    Guarantee
    ---------
    `event_`: two releases of moments, one of counts of the target and `max_iter` of gradients, each one bounded sum,
    composed, for the neighbors and the unit of the data set; add or remove one record for arrays. Released: `coef_` and
    `intercept_`, which follow from these. No minimiser is assumed to have been found.
    Noisy gradient descent: Song, Chaudhuri and Sarwate 2013; Bassily, Smith and Thakurta 2014.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = rng.poisson(np.exp(1.0 + X @ [1.0, -0.5]))
    >>> model = PoissonRegressor(bounds=(-1, 1), target_bounds=(0, 40), epsilon=1.0).fit(X, y)
    >>> bool(np.abs(model.coef_ - [1.0, -0.5]).max() < 0.1), round(model.intercept_, 1)
    (True, 1.0)
    """

    purpose: ClassVar[str] = "Poisson regression"
    loss: ClassVar[NumberLoss] = "poisson"
    power: ClassVar[int] = 1

    def means(self, scores: Array) -> Array:
        """The mean itself."""
        return np.asarray(np.exp(np.clip(scores, -16.0, 16.0)).mean(axis=1))


class GammaRegressor(LogLinear):
    """Gamma regression for positive numbers, by Newton's steps on noisy sums of gradients.

    The logarithm of the mean is linear in the features, and all errors are relative: small numbers count as much as
    large ones. Records are whitened by noisy moments, and one with a missing value counts for nothing. Residuals are
    shrunk to a size that a noisy distribution of the target gives.

    Guarantee
    ---------
    `event_`: two releases of moments, one of counts of the target and `max_iter` of gradients, each one bounded sum,
    composed, for the neighbors and the unit of the data set; add or remove one record for arrays. Released: `coef_` and
    `intercept_`, which follow from these. No minimiser is assumed to have been found.
    Noisy gradient descent: Song, Chaudhuri and Sarwate 2013; Bassily, Smith and Thakurta 2014.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = np.exp(1.0 + X @ [1.0, -0.5]) * rng.gamma(2.0, 0.5, 20_000)
    >>> model = GammaRegressor(bounds=(-1, 1), target_bounds=(0, 60), epsilon=1.0).fit(X, y)
    >>> bool(np.abs(model.coef_ - [1.0, -0.5]).max() < 0.1), round(model.intercept_)
    (True, 1)
    """

    purpose: ClassVar[str] = "gamma regression"
    loss: ClassVar[NumberLoss] = "gamma"
    power: ClassVar[int] = 2

    def means(self, scores: Array) -> Array:
        """One where a score is right: the mean of numbers over their means."""
        return np.ones(len(scores))
