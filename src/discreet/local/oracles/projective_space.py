"""The points of a projective space over a prime field, by numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.fft import rfftn

from discreet.core.grid import Array, Steps


@dataclass(frozen=True)
class ProjectiveSpace:
    """All lines through zero in the vectors of t numbers modulo q.

    A point is written as the vector on it whose first number that is not zero is a 1. Read as digits to the base q,
    these vectors have the values q**m + r with 0 <= r < q**m; points are numbered from 0 in the order of these values.

    Parameters
    ----------
    q : int
        Public. A prime.
    t : int
        Public. At least 2.

    Examples
    --------
    >>> plane = ProjectiveSpace(q=2, t=3)
    >>> plane.points, plane.vector(np.array([6])).ravel()
    (7, array([1, 1, 1]))
    """

    q: int
    t: int

    @classmethod
    def of_at_least(cls, q: int, points: int) -> ProjectiveSpace:
        """The smallest one with so many points."""
        t = 2
        while (q**t - 1) // (q - 1) < points:
            t += 1
        return cls(q, t)

    @property
    def vectors(self) -> int:
        """How many vectors there are."""
        return self.q**self.t

    @property
    def points(self) -> int:
        """How many points there are."""
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
