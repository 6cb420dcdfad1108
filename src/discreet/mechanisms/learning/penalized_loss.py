"""The sum of a loss over all records, with a penalty and a tilt; minimised to a certified distance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array, Grid, Steps
from discreet.core.held import Secret
from discreet.noise.error_bars import assure

UNIT = 2.0**-53  # the greatest relative error of one rounding
BLOCK = 2**9  # vectors that are added up in floating point; the sums of blocks are added exactly
WORK = 2**21  # numbers at a time
TURNS = 64  # in floating point; then in decimal numbers
PARTS = (1.0, 0.25, 0.0625)  # of Newton's step that are tried
DIGITS = 60
MOST = 2**61
Decimals = NDArray[np.object_]

assure("exp")

LossName = Literal["logistic", "huber_hinge"]

FARTHEST = 50.0  # margins beyond pull less than 2**-72 differently


class MarginLoss(Protocol):
    """A loss l(m) of the margin m, through what a solver needs of it."""

    @property
    def bend(self) -> float:
        """The greatest second derivative."""

    def pull(self, margins: Array) -> Array:
        """-l'(m), between 0 and 1: off by 16 * 2**-53 at most."""

    def curvature(self, margins: Array) -> Array:
        """l''(m), about."""

    def exact_pull(self, margin: Decimal) -> Decimal:
        """-l'(m), to the precision of the decimal context."""


@dataclass(frozen=True)
class LogisticLoss:
    """ln(1 + exp(-m)).

    Examples
    --------
    >>> LogisticLoss().pull(np.array([-2.0, 0.0, 2.0])).round(3)
    array([0.881, 0.5  , 0.119])
    """

    bend: float = 0.25

    def pull(self, margins: Array) -> Array:
        """1 / (1 + exp(m)), from exp(-|m|): four units in the last place for exp, and one rounding for + and /."""
        less = np.exp(np.maximum(-np.abs(margins), -FARTHEST))
        return np.asarray(np.where(margins > 0, less, 1.0) / (1 + less))

    def curvature(self, margins: Array) -> Array:
        p = self.pull(margins)
        return p * (1 - p)

    def exact_pull(self, margin: Decimal) -> Decimal:
        """1 / (1 + exp(m)), from exp(-|m|)."""
        less = (-abs(margin)).exp()
        return (less if margin > 0 else 1) / (1 + less)


@dataclass(frozen=True)
class HuberHinge:
    """Hinge loss with a rounded corner: 1 - m below margin 0, 0 above 2, and a parabola between.

    Chapelle 2007, with h = 1.

    Examples
    --------
    >>> HuberHinge().pull(np.array([-2.0, 0.5, 3.0]))
    array([1.  , 0.75, 0.  ])
    """

    bend: float = 0.5

    def pull(self, margins: Array) -> Array:
        """1 below margin 0, 0 above 2, linear between."""
        return np.clip(1 - margins / 2, 0.0, 1.0)

    def curvature(self, margins: Array) -> Array:
        """1/2 between margins 0 and 2."""
        return np.where((margins >= 0) & (margins <= 2), 0.5, 0.0)

    def exact_pull(self, margin: Decimal) -> Decimal:
        """1 below margin 0, 0 above 2, linear between."""
        return min(max(1 - margin / 2, Decimal(0)), Decimal(1))


LOSSES: dict[LossName, MarginLoss] = {"logistic": LogisticLoss(), "huber_hinge": HuberHinge()}


@dataclass(frozen=True)
class PenalizedLoss(Secret):
    """J(w) = sum of s^2 l(w'v / s) over all vectors v + penalty |w|^2 / 2 + t'w, where t is the tilt.

    J bends by the penalty at least. So a point where its gradient is no longer than g is at most g / penalty away from
    the minimiser, and the gradient is what is certified: computed in float64 with a bound on its error, or in decimal
    numbers, where that bound is too great (beyond ten million vectors, or for coefficients so great that float64 cannot
    tell them apart). Every data set and every tilt is solved: a step that does not shorten the gradient is replaced
    by one of gradient descent, which always does.

    Parameters
    ----------
    vectors : array of shape (n, d)
        The records, as vectors of which the margin is a product.
    radius : float
        At least the length of each vector.
    loss : MarginLoss
        Public.
    penalty : float, or array of shape (d,)
        Public. Positive.
    shares : array of shape (n,) or float
        s, above 0 and at most 1: so slopes and second derivatives by w'v are no more than those of l.
    """

    vectors: Array = field(repr=False)
    radius: float
    loss: MarginLoss
    penalty: float | Array
    shares: Array | float = field(default=1.0, repr=False)

    def minimizers(self, tilts: Array, tolerance: float, grid: Grid) -> Steps:
        """For each tilt a point on the grid, next to one where the gradient is no longer than the tolerance.

        Coordinates are rounded to the nearest step, and those beyond 2**61 steps to that many.
        """
        found = np.empty(tilts.shape, np.int64)
        rows = max(1, WORK // (1 + self.vectors.size))
        for start in range(0, len(tilts), rows):
            part = slice(start, start + rows)
            found[part] = self._minimizers(tilts[part], tolerance, grid)
        return found

    def _minimizers(self, tilts: Array, tolerance: float, grid: Grid) -> Steps:
        points = np.zeros_like(tilts)
        slopes = self._gradients(points, tilts)
        left = np.arange(len(tilts))
        for _ in range(TURNS):
            left = np.flatnonzero(~(_lengths(slopes) + self._errors(points, tilts) <= tolerance))
            if not left.size:
                break
            points[left], slopes[left] = self._moved(points[left], slopes[left], tilts[left])
        steps = np.rint(np.clip(np.ldexp(points, -grid.exponent), -MOST, MOST)).astype(np.int64)
        for row in left:
            steps[row] = self._settled(points[row], tilts[row], tolerance, grid)
        return steps

    def _moved(self, points: Array, slopes: Array, tilts: Array) -> tuple[Array, Array]:
        """The greatest tried part of Newton's step that shortens the gradient; where none does, gradient descent."""
        newton = np.linalg.solve(self._hessians(points), slopes[:, :, None])[:, :, 0]
        after, now = points - slopes / self._steepest, slopes.copy()
        rest, before = np.arange(len(points)), _lengths(slopes)
        for part in PARTS:
            tried = points[rest] - part * newton[rest]
            found = self._gradients(tried, tilts[rest])
            shorter = _lengths(found) <= (1 - part / 4) * before[rest]
            after[rest[shorter]], now[rest[shorter]] = tried[shorter], found[shorter]
            rest = rest[~shorter]
            if not rest.size:
                return after, now
        now[rest] = self._gradients(after[rest], tilts[rest])
        return after, now

    def _gradients(self, points: Array, tilts: Array) -> Array:
        """At each point, with its own tilt."""
        pulls = np.zeros((len(points), len(self._blocks) * self._blocks.shape[1]))
        pulls[:, : len(self.vectors)] = self.shares * self.loss.pull(points @ self.vectors.T / self.shares)
        parts = np.matmul(pulls.reshape(len(points), *self._blocks.shape[:2], 1).swapaxes(2, 3), self._blocks)[:, :, 0]
        pulled = parts[:, 0] if parts.shape[1] == 1 else _exactly_added(parts)
        return np.asarray(self.penalty * points + tilts - pulled)

    def _errors(self, points: Array, tilts: Array) -> Array:
        """How much longer the gradients may be than they were found to be (Higham 2002, section 3.1, for products).

        A margin is off by (d + 3) roundings of |w| |v| / s and moves its pull by `bend` times that; a pull is off by 16
        more, is multiplied by s, and a block of them adds one for each vector. The last term is for the penalty, the
        tilt and the length.
        """
        n, d = self.vectors.shape
        lengths = _lengths(points)
        pulls = self.loss.bend * (d + 3) * self.radius * lengths + 20 + min(n, BLOCK)
        rest = np.max(self.penalty) * lengths + _lengths(tilts) + n * self.radius
        return np.asarray(2 * UNIT * (n * self.radius * pulls + (8 + d) * rest))

    def _hessians(self, points: Array) -> Array:
        weights = self.loss.curvature(points @ self.vectors.T / self.shares)
        bends = np.matmul(self.vectors.T * weights[:, None, :], self.vectors)
        return np.asarray(bends + self.penalty * np.eye(self.vectors.shape[1]))

    @cached_property
    def _steepest(self) -> float:
        """At least the greatest second derivative of J."""
        return float(np.max(self.penalty)) + len(self.vectors) * self.loss.bend * self.radius**2

    @cached_property
    def _blocks(self) -> Array:
        """The vectors in blocks, the last one filled up with zeros."""
        n, d = self.vectors.shape
        size = max(min(n, BLOCK), 1)
        filled = np.zeros((max(-(-n // size), 1) * size, d))
        filled[:n] = self.vectors
        return filled.reshape(-1, size, d)

    def _settled(self, start: Array, tilt: Array, tolerance: float, grid: Grid) -> list[int]:
        """One minimiser in decimal numbers, from where floating point left off."""
        with localcontext(Context(prec=DIGITS)):
            vectors, penalty, slope = _decimals(self.vectors), _decimals(self.penalty), _decimals(tilt)
            shares = _decimals(np.broadcast_to(self.shares, len(vectors)))

            def gradient(point: Decimals) -> Decimals:
                pulls = np.array([self.loss.exact_pull(margin) for margin in vectors @ point / shares], dtype=object)
                return np.asarray(penalty * point + slope - (shares * pulls) @ vectors)

            def tries(point: Decimals, now: Decimals) -> Iterator[Decimals]:
                newton = np.linalg.solve(self._hessians(point.astype(float)[None])[0], now.astype(float))
                yield from (point - _decimals(part * newton) for part in PARTS)
                yield point - now / Decimal(self._steepest)

            point = _decimals(start)
            now = gradient(point)
            while _square(now) > Decimal(tolerance) ** 2:
                candidates, enough = tries(point, now), _square(now) * 3 / 4
                for candidate in candidates:
                    point, now = candidate, gradient(candidate)
                    if _square(now) <= enough:
                        break
            steps = [coordinate / Decimal(grid.step) for coordinate in point]
            return [int(max(-MOST, min(step.to_integral_value(), MOST))) for step in steps]


def _lengths(rows: Array) -> Array:
    return np.asarray(np.sqrt(np.square(rows).sum(axis=1)))


def _exactly_added(parts: Array) -> Array:
    """The sum over the second axis, rounded once."""
    return np.array([[math.fsum(column) for column in part.T] for part in parts])


def _decimals(values: Any) -> Decimals:
    found: Decimals = np.vectorize(Decimal, otypes=[object])(np.asarray(values, dtype=np.float64))
    return found


def _square(vector: Decimals) -> Decimal:
    return sum((coordinate * coordinate for coordinate in vector), Decimal(0))
