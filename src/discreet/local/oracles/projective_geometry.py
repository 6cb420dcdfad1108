"""Projective geometry response: a point of a hyperplane that the value stands for, decoded by a Fourier transform."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.fft import rfftn

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.local.oracle import PureOracle
from discreet.local.oracles.generalized_randomized_response import CodeOracle
from discreet.local.randomizer import Reports
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers

MOST_VECTORS = 2**27
WORSE = 1.03  # the variance that a smaller space may cost


@dataclass(frozen=True)
class ProjectiveSpace:
    """All lines through zero in the vectors of t numbers modulo q.

    A point is written as the vector on it whose first number that is not zero is a 1. Read as digits to the base q,
    these vectors have the values q**m + r with 0 <= r < q**m; points are numbered from 0 in the order of these values.

    Examples
    --------
    >>> plane = ProjectiveSpace(q=2, t=3)
    >>> plane.points, plane.vector(np.array([6])).ravel()
    (7, array([1, 1, 1]))
    """

    q: int  # public: a prime
    t: int  # public: at least 2

    @classmethod
    def of_at_least(cls, q: int, points: int) -> ProjectiveSpace:
        """The smallest one with so many points."""
        t = 2
        while (q**t - 1) // (q - 1) < points:
            t += 1
        return cls(q, t)

    @property
    def vectors(self) -> int:
        return self.q**self.t

    @property
    def points(self) -> int:
        return (self.vectors - 1) // (self.q - 1)

    @property
    def hyperplane(self) -> int:
        """How many points are orthogonal to one."""
        return (self.q ** (self.t - 1) - 1) // (self.q - 1)

    @property
    def meet(self) -> int:
        """How many points are orthogonal to two."""
        return (self.q ** (self.t - 2) - 1) // (self.q - 1)

    def vector(self, number: Steps) -> Steps:
        """The vectors of points, one in each column."""
        return self._digits(number + self._skipped[np.searchsorted(self._first, number, side="right") - 1])

    def number(self, vectors: Steps) -> Steps:
        """The numbers of the points on which vectors lie, none of them zero."""
        leading = np.take_along_axis(vectors, (vectors != 0).argmax(axis=0)[None], axis=0)
        value = self._value(vectors * self._inverse[leading] % self.q)
        return value - self._skipped[np.searchsorted(self._powers, value, side="right") - 1]

    def product(self, first: Steps, second: Steps) -> Steps:
        """The scalar products of columns, modulo q."""
        return (first * second).sum(axis=0) % self.q

    def with_product(self, points: Steps, free: Steps, product: Steps) -> Steps:
        """The vectors whose scalar products with points are these.

        Their numbers where the points do not have the leading 1 are the digits of `free`, which is below q**(t - 1).
        """
        pivot, columns = (points != 0).argmax(axis=0), np.arange(points.shape[1])
        digits = self._digits(free)  # the first is zero
        vectors = np.where(np.arange(self.t)[:, None] < pivot, np.roll(digits, -1, axis=0), digits)
        vectors[pivot, columns] = 0
        vectors[pivot, columns] = (product - self.product(vectors, points)) % self.q
        return vectors

    def hyperplane_sums(self, weights: Array) -> Array:
        """For each point, the sum of the weights of the points that are orthogonal to it.

        With F the Fourier transform of the weights, put on all multiples of each point, the sum is (sum of all weights
        + F) / q, since the characters of multiples of the point add up to q on its hyperplane and to 0 elsewhere.
        Feldman, Nelson, Nguyen and Talwar 2022 have a recursion in its place.
        """
        full = np.zeros(self.vectors)
        for times in range(1, self.q):
            full[self._value(self._all * times % self.q)] = weights
        transform = rfftn(full.reshape((self.q,) * self.t)).real
        return (weights.sum() + transform.reshape(-1)[self._half]) / self.q

    @cached_property
    def _powers(self) -> Steps:
        return self.q ** np.arange(self.t, dtype=np.int64)

    @cached_property
    def _first(self) -> Steps:
        """The number of the first point with each number of digits."""
        return (self._powers - 1) // (self.q - 1)

    @cached_property
    def _skipped(self) -> Steps:
        """What the value of a point's digits is above its number."""
        return self._powers - self._first

    @cached_property
    def _inverse(self) -> Steps:
        return np.array([0] + [pow(i, -1, self.q) for i in range(1, self.q)])

    @cached_property
    def _all(self) -> Steps:
        return self.vector(np.arange(self.points))

    @cached_property
    def _half(self) -> Steps:
        """Where each point, or its negative, is in a transform of which the last axis is cut to half."""
        digits, width = self._all, self.q // 2 + 1
        digits = np.where(digits[-1] < width, digits, -digits % self.q)
        return self._value(digits[:-1], self.t - 1) * width + digits[-1]

    def _digits(self, values: Steps) -> Steps:
        """To the base q, the highest in the first row."""
        digits = np.empty((self.t, len(values)), np.int64)
        for place in range(self.t - 1, -1, -1):
            values, digits[place] = np.divmod(values, self.q)
        return digits

    def _value(self, digits: Steps, length: int | None = None) -> Steps:
        value = digits[0].copy()
        for row in digits[1:length]:
            value = value * self.q + row
        return value


@dataclass(frozen=True)
class ProjectiveGeometry(CodeOracle, PureOracle):
    """Report a point of a projective space: more likely one that is orthogonal to the point of the value.

    The points are those of a space over a field of q elements, q a prime near exp(epsilon) + 1, with at least d points.
    A report is one whole number, the variance is that of optimised unary encoding within a few percent, and decoding
    takes one Fourier transform: the default for all but small domains.

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
        return {"q": self.space.q, "t": self.space.t}

    @property
    def codes(self) -> int:
        return self.space.points

    @property
    def inside(self) -> int:
        return self.space.hyperplane

    @property
    def own(self) -> float:
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
        return self.space.hyperplane_sums(weights)[: self.size]

    def scattered(self, shares: Array) -> Array:
        """The sums over hyperplanes again: being orthogonal is symmetric."""
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
