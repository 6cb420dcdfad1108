"""Projective geometry response: a point of a hyperplane that the value stands for, decoded by a Fourier transform."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.local.oracle import PureOracle
from discreet.local.oracles.code_oracle import CodeOracle
from discreet.local.oracles.projective_space import ProjectiveSpace
from discreet.local.randomizer import Reports
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers

MOST_VECTORS = 2**27
WORSE = 1.03  # the variance that a smaller space may cost


@dataclass(frozen=True)
class ProjectiveGeometry(CodeOracle, PureOracle):
    """Report a point of a projective space: more likely one that is orthogonal to the point of the value.

    The points are those of a space over a field of q elements, q a prime near exp(epsilon) + 1, with at least d points.
    A report is one whole number, the variance is that of optimised unary encoding within a few percent, and decoding
    takes one Fourier transform: the default for all but small domains.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    domain : int or tuple of str
        Public. The values: a number d for the integers from 0 to d - 1, or labels. At least two.

    Guarantee
    ---------
    Pure, epsilon, where one value is replaced by any other: each point that is orthogonal to that of the value is at
    most exp(epsilon) times as likely as any other, with the probability of the others together rounded up and tossed
    exactly (`miss_chance`). Feldman, Nelson, Nguyen and Talwar 2022.

    Examples
    --------
    >>> ProjectiveGeometry(epsilon=1.0, domain=10_000).space
    ProjectiveSpace(q=3, t=10)
    """

    kind: ClassVar[str] = "pgr"

    @cached_property
    def space(self) -> ProjectiveSpace:
        """The smallest space whose variance is at most 3 % above the least one."""
        spaces = [ProjectiveSpace.of_at_least(q, self.size) for q in _primes(2 * math.exp(self.epsilon) + 4)]
        spaces = [space for space in spaces if space.vectors <= MOST_VECTORS]
        noise = [_noise(space, self.epsilon) for space in spaces]
        good = [space for space, one in zip(spaces, noise, strict=True) if one <= WORSE * min(noise)]
        return min(good, key=lambda space: space.vectors)

    @property
    def derived(self) -> dict[str, int]:
        """The space."""
        return {"q": self.space.q, "t": self.space.t}

    @property
    def codes(self) -> int:
        """The points."""
        return self.space.points

    @property
    def inside(self) -> int:
        """Those of a hyperplane."""
        return self.space.hyperplane

    @property
    def own(self) -> float:
        """The probability of the own hyperplane."""
        return 1 - self.miss

    @property
    def other(self) -> float:
        """The probability of another one: it meets the own one in a space of two dimensions less."""
        meet = self.space.meet
        return meet * self.high + (self.inside - meet) * self.low

    def reports(self, values: Any, bits: Bits) -> Reports:
        """A point for each.

        All coordinates but one are uniform; that one, where the point of the value has its leading 1, gives the vector
        the scalar product that it should have: 0, or a uniform one among the others. The zero vector is no point: for
        the product 0 the free coordinates are not all 0. Nothing is drawn twice, so that time tells nothing.
        """
        places, free = self.places(values), self.space.q ** (self.space.t - 1)
        miss = bernoulli(bits, len(places), self.miss)
        product = np.where(miss, 1 + uniform_integers(bits, len(places), self.space.q - 1), 0)
        any_free, some_free = (uniform_integers(bits, len(places), free - less) + less for less in (0, 1))
        coordinates = np.where(miss, any_free, some_free)
        return self.space.number(self.space.with_product(self.space.vector(places), coordinates, product)).astype(
            self.form
        )

    def supports(self, reports: Reports, place: int) -> NDArray[np.bool_]:
        """Whether the point is orthogonal to that of the value."""
        points, value = (self.space.vector(numbers) for numbers in (reports.astype(np.int64), np.array([place])))
        return self.space.product(points, value) == 0

    def gathered(self, weights: Array) -> Array:
        """The sums over hyperplanes."""
        return self.space.hyperplane_sums(weights)[: self.size]

    def scattered(self, shares: Array) -> Array:
        """The same, since being orthogonal is symmetric."""
        return self.space.hyperplane_sums(np.append(shares, np.zeros(self.codes - self.size)))

    def support(self, tally: Steps) -> Array:
        """How many reports are orthogonal to each value, in whole numbers; the transform is off by less than 1/2."""
        return np.rint(self.gathered(tally.astype(np.float64)))


def _noise(space: ProjectiveSpace, epsilon: float) -> float:
    """The variance times n for a value that nobody has."""
    odds = math.expm1(epsilon)
    unit = 1 / (odds * space.hyperplane + space.points)
    own, other = (odds + 1) * unit * space.hyperplane, unit * (odds * space.meet + space.hyperplane)
    return other * (1 - other) / (own - other) ** 2


def _primes(most: float) -> list[int]:
    """The primes up to a number, at most 1021."""
    return [q for q in range(2, min(int(most), 1021) + 1) if all(q % p for p in range(2, math.isqrt(q) + 1))]
