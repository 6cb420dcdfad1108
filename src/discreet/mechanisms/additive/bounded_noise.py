"""Bounded noise: many counts at once, none of them off by more than a limit known beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, DiscreteLoss, Repeated
from discreet.core.grid import Array, Steps
from discreet.core.loss_cells import LossCells, masses
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.noise.bounded import exponent, farthest, rounded_bounded

RADIUS = 3.4931488  # in standard deviations
FORGOTTEN = 2.0**-40  # what is written off, over all queries, of probability
CELLS = 2**11  # of loss, on either side of 0
HIGHEST = 40.0  # greater losses count as infinite
SMALLEST = 0.65  # of a radius, in sensitivities: below it two laws hardly overlap
BISECTIONS = 60


@dataclass(frozen=True)
class BoundedNoise(Additive):
    """Add noise to every coordinate of a sum, none of it beyond a radius.

    The density is in proportion to exp(-exp(R^2 / (R^2 - x^2))) inside the radius R, and 0 outside; the real variable
    is rounded to the answer's grid. The greatest of many Gaussian errors has no limit, and grows as sqrt(ln k) with
    their number k beside the growth that both share. At epsilon 1 and delta 1e-6 the greatest bounded error is mostly
    the smaller one from 250 coordinates on, by 13 % for a thousand and 23 % for ten thousand; for ten it is 2.7 times
    as large.

    Parameters
    ----------
    multiplier : float
        Public. Noise standard deviation in units of the linf sensitivity. The radius is 3.49 standard deviations.
    queries : int
        Public. How many coordinates the price is for. An answer may have fewer.

    Guarantee
    ---------
    The tabulated loss of one coordinate that moves by the whole linf sensitivity, `queries` times over, which
    dominates the loss of any neighbors that the answer was bounded for (`bounded_noise.md`). The law is that of Dagan
    and Kur 2022, whose bound leaves its constants open, so the price is computed. A probability of 2^-40 is written
    off: no smaller delta can be met.

    Examples
    --------
    >>> noise = BoundedNoise(multiplier=100.0, queries=12)
    >>> round(noise.radius(Bound("linf", 1.0), 12, Neighbors.ADD_REMOVE), 2)
    349.31
    """

    multiplier: float = 2.0
    queries: int = 1
    norm: ClassVar[Norm] = "linf"
    deviation: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("BoundedNoise", "queries", self.queries)

    @property
    def event(self) -> DiscreteLoss | Repeated | ApproximateLoss:
        """The price of one release; no promise at all where noise is hardly as wide as the sensitivity."""
        if RADIUS * self.multiplier < SMALLEST:
            return ApproximateLoss(0.0, 1.0)
        one = loss_of(RADIUS * self.multiplier, int(self.queries))
        return one if self.queries == 1 else Repeated(one, int(self.queries))

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        """Independent draws of this standard deviation, in grid steps."""
        return rounded_bounded(bits, shape, RADIUS * scale * (1 + 2.0**-50))

    def release(self, answer: Answer, bits: Bits) -> Array:
        if answer.size > self.queries:
            raise ParameterError(
                "BoundedNoise",
                f"the answer has {answer.size} coordinates, and {self.queries} are paid for",
                "Set queries to the number of coordinates.",
                "Nothing was released.",
                size=answer.size,
            )
        return super().release(answer, bits)

    def radius(self, bound: Bound, size: int, neighbors: Neighbors) -> float:
        """The greatest error of a coordinate of such a sum, except for the grid: public."""
        return RADIUS * self.stddev(bound, size, neighbors)


@lru_cache(maxsize=256)
def loss_of(radius: float, queries: int = 1) -> DiscreteLoss:
    """The loss of noise of this radius, at least `SMALLEST`, on a number that moves by one.

    Let the number be -1/2 or 1/2. At u the loss is e(u + 1/2) - e(u - 1/2), e being minus the logarithm of the
    density: it grows with u, is odd, and ends where one of the laws does.
    """
    end = radius - 0.5  # from here on one law has nothing
    far = farthest(math.log(queries / FORGOTTEN)) * radius + 0.5
    top = min(HIGHEST, float(_loss(np.array([min(far, end)]), radius)[0]))
    edges = _places(top / CELLS * np.arange(CELLS + 1, dtype=np.float64), end, radius)
    likelier, rarer = (_masses(edges, shift, radius) for shift in (-0.5, 0.5))
    beyond = _masses(np.linspace(edges[-1], radius + 0.5, 2**10), -0.5, radius).sum()
    whole = 2 * _masses(np.linspace(0.0, radius, 2**10), 0.0, radius).sum()
    p, q = np.append(rarer[::-1], likelier) / whole, np.append(likelier[::-1], rarer) / whole
    table = LossCells(top / CELLS, -CELLS, p, q, float(beyond / whole) * (1 + 2.0**-30) + 2.0**-200).table
    return DiscreteLoss(top / CELLS, table, table)


def _masses(edges: Array, shift: float, radius: float) -> Array:
    return masses(lambda u: -exponent((u + shift) / radius), edges)


def _loss(u: Array, radius: float) -> Array:
    ahead, behind = exponent((u + 0.5) / radius), exponent((u - 0.5) / radius)
    return np.where(np.isinf(ahead), np.inf, ahead - np.where(np.isinf(behind), 0.0, behind))


def _places(losses: Array, end: float, radius: float) -> Array:
    """Where the loss is so great, between 0 and `end`."""
    low, high = np.zeros_like(losses), np.full_like(losses, end)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = _loss(middle, radius) < losses
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low
