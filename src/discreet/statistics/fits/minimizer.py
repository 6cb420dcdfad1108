"""The minimizer of a criterion over noisy counts, and how far noise, bins and sampling move it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtri

from discreet.core.grid import Array
from discreet.statistics.fits.criterion import Criterion
from discreet.statistics.fits.layout import Layout

UNSURE = 3.0  # deviations of its noise from zero: a curvature that is nearer may be nothing but noise
ITERATIONS, PATIENCE, CLOSE = 40, 6, 1e-7
FARTHER = 4.0  # times the step, where the curvature is unsure
BLURRED = 0.5  # of what cells twice as wide would change: counted as an error of the cells
STRIDE, STRIDES = 0.25, 400  # of the search for the end of an interval: in standard errors, and how many at most
NORMAL = 1.4826  # standard deviation of a normal distribution, over its median distance from the median


@dataclass(frozen=True)
class Minimizer:
    """The parameters that minimise a criterion, and the covariance of their errors.

    Parameters
    ----------
    theta : array of shape (parameters,)
        The parameters.
    covariance : array of shape (parameters, parameters), optional
        Of their errors; None where noise hides how the criterion curves.
    """

    theta: Array
    covariance: Array | None


@dataclass(frozen=True)
class NoisyCriterion:
    """A criterion over noisy counts.

    Parameters
    ----------
    criterion, layout : Criterion, Layout
        What is minimised, and the points that it is over.
    coarse, wide : Criterion, Layout
        The same with cells twice as wide.
    counts : array of shape (cells,)
        As released, negative ones too.
    noise : float
        The standard deviation of the noise on each.
    population : bool
        Whether the covariance counts sampling; else, where the records are inside their cells.
    """

    criterion: Criterion
    layout: Layout
    coarse: Criterion
    wide: Layout
    counts: Array
    noise: float
    population: bool

    @cached_property
    def weights(self) -> Array:
        """Of the points, by the counts as they are."""
        return self.layout.weights(self.counts)

    @cached_property
    def level_weights(self) -> Array:
        """The same, level inside each cell."""
        return self.layout.level_weights(self.counts)

    @cached_property
    def wide_weights(self) -> Array:
        """Of the points of cells twice as wide."""
        return self.wide.weights(self.counts)

    def convex_minimizer(self, start: Array) -> Array:
        """The minimizer over the nearest counts without negative ones, level inside cells: convex if the loss is."""
        weights, scale = self.layout.level_weights(nonnegative(self.counts)), self.criterion.step
        total = float(weights.sum())

        def height(part: Array) -> tuple[float, Array]:
            theta = scale * part
            return float(weights @ self.criterion.of(theta)) / total, scale * self._sum(theta, weights) / total

        found = minimize(height, start / scale, jac=True, method="BFGS", options={"gtol": 1e-10})
        return np.asarray(scale * found.x)

    def minimizer(self, start: Array) -> Minimizer:
        """Where the sum of scores over the counts as they are is zero, next to a start, by Newton's method.

        The counts as they are have no bias; those without negative ones have. Curvatures are taken over a step of one
        standard error: over less, they would show the noise in a few cells. Moves get smaller in the end, in case
        noise has made more than one such place.
        """
        theta, step, unsure, covariance = start, self.criterion.step, 0, None
        for done in range(ITERATIONS):
            curvature = self.curvature(theta, step)
            if not self.sure(curvature, theta, step):
                unsure, step = unsure + 1, FARTHER * step
                if unsure > PATIENCE:
                    return Minimizer(start, None)
                continue
            move = -np.linalg.solve(curvature, self._sum(theta, self.weights))
            inverse = np.linalg.inv(curvature)
            covariance = inverse @ self.spread(theta) @ inverse
            before, step = step, np.sqrt(np.diag(covariance)) + 1e-6 * self.criterion.step
            far = float(np.abs(move / step).max())
            theta = theta + move / max(1.0, (done - unsure) / 8, far / 50)
            if far < CLOSE and float(np.abs(before / step - 1).max()) < 0.1:
                break
        return Minimizer(theta, covariance)

    def curvature(self, theta: Array, step: Array) -> Array:
        """The matrix of second derivatives, by differences of scores over this step."""
        sides = [[self._sum(theta + side * move, self.weights) for side in (1, -1)] for move in np.diag(step)]
        found = np.stack([above - below for above, below in sides]) / (2 * step[:, None])
        return np.asarray((found + found.T) / 2)

    def sure(self, curvature: Array, theta: Array, step: Array) -> bool:
        """Whether the criterion curves upwards in every direction, clearly more than noise would make it."""
        if not np.isfinite(curvature).all():
            return False
        values, vectors = np.linalg.eigh(curvature * np.outer(step, step))
        for value, vector in zip(values, vectors.T, strict=True):
            move = step * vector
            change = (self.criterion.scores(theta + move) - self.criterion.scores(theta - move)) @ move[:, None] / 2
            if not value > UNSURE * self.noise * float(np.linalg.norm(self.layout.gathered(change))):
                return False
        return True

    def spread(self, theta: Array) -> Array:
        """The covariance of the sum of scores: the filling of the sandwich of Huber 1967.

        Noise adds its variance times the sum, over all cells, of the squares of their scores. A sample adds the sum of
        squares of the scores of its records; of these data, only what of it is within cells, since where records are
        inside them is not known. Cells add the square of half of what cells twice as wide would change.
        """
        scores = self.criterion.scores(theta)
        gathered = self.layout.gathered(scores)
        if self.population:
            more = scores.T @ (self.weights[:, None] * scores)
        else:
            means = self.layout.averaged(scores)
            within = scores.T @ (self.level_weights[:, None] * scores) - means.T @ (self.counts[:, None] * means)
            more = within * self.criterion.unseen(self.layout.nodes)
        blurred = self.coarse.scores(theta).T @ self.wide_weights - scores.T @ self.weights
        values, vectors = np.linalg.eigh(more)
        positive = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return np.asarray(self.noise**2 * gathered.T @ gathered + positive + BLURRED**2 * np.outer(blurred, blurred))

    def ends(self, found: Minimizer, confidence: float) -> Array:
        """The ends of an interval for a single parameter: where the sum of scores is as far off as noise moves it.

        They are not beyond the limits of the parameter, and at these where noise hides all else.
        """
        far, limits = float(ndtri(0.5 + confidence / 2)), self.criterion.limits
        if found.covariance is None:
            return np.array(limits)
        return np.array([self._end(found, far, side, limit) for side, limit in zip((-1, 1), limits, strict=True)])

    def _end(self, found: Minimizer, far: float, side: int, limit: float) -> float:
        """How far to this side the sum of scores is within `far` deviations of zero."""
        assert found.covariance is not None
        stride, inside, before = STRIDE * math.sqrt(float(found.covariance[0, 0])), float(found.theta[0]), 0.0
        for _ in range(STRIDES):
            place = inside + side * stride
            if side * (place - limit) >= 0:
                return limit
            deviation = math.sqrt(float(self.spread(np.array([place]))[0, 0])) or 1.0
            beyond = side * float(self._sum(np.array([place]), self.weights)[0]) / deviation
            if beyond >= far:
                return inside + side * stride * (far - before) / (beyond - before)
            inside, before = place, beyond
        return limit

    def deviation(self, theta: Array) -> float:
        """The standard deviation of what is left of the response, if normal, by the median of its size.

        The criterion is half this size, as that of `Pinball` is.
        """
        sizes, weights = 2 * self.criterion.of(theta), self.layout.level_weights(nonnegative(self.counts))
        order = np.argsort(sizes, kind="stable")
        half = np.searchsorted(np.cumsum(weights[order]), 0.5 * float(weights.sum()))
        return NORMAL * float(sizes[order][half])

    def _sum(self, theta: Array, weights: Array) -> Array:
        return self.criterion.scores(theta).T @ weights


def nonnegative(counts: Array) -> Array:
    """The nearest counts without negative ones of the same sum; of the sum one where it is less.

    Examples
    --------
    >>> nonnegative(np.array([5.0, 1.0, -2.0]))
    array([4., 0., 0.])
    """
    total, falling = max(float(counts.sum()), 1.0), np.sort(counts.ravel())[::-1]
    taken = (np.cumsum(falling) - total) / np.arange(1, counts.size + 1)
    return np.maximum(counts - taken[np.flatnonzero(falling > taken)[-1]], 0.0)
