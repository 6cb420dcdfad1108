"""Moments of pairs of columns up to the fourth, from one bounded sum: they show how covariances vary with a sample.

Beside the products of `second_moments`, a record adds products of its squares and cubes. Let h be a power of two that
no coordinate exceeds, and s = z^2 / h and c = z^3 / h^2, cut to whole steps towards zero: then |s_i| and |c_i| are at
most |z_i|. What is added is s_i s_j for i <= j, s_i z_j, and c_i z_j for different i and j, an eighth or two of each.
Their squares add up to 3 |z|^4 at most, or their sizes to (5 n + 1) / 2 |z|^2 for n columns; so in the norm of Gaussian
noise the vector is little longer than with second moments alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import MOST_NUMBERS, recipe
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.row_steps import SLICE
from discreet.questions.vectors.second_moments import CROSS, EIGHTHS, unfolded, weights_of
from discreet.schema.schema import Schema

PARTS: dict[Norm, int] = {"l1": 1, "l2": 2}  # eighths of the products of squares and cubes that are added


def pair_moments_size(columns: int) -> int:
    """The number of coordinates of the sum."""
    return len(weights_of(1 + columns)) + columns * (columns + 1) // 2 + columns * columns + columns * (columns - 1)


@recipe("pair_moments")
def pair_moments_of(schema: Schema, columns: tuple[str, ...], radius: float, norm: Norm) -> BoundedSum:
    """The sum of all products of two coordinates, of two squares, and of a square or a cube and a coordinate.

    As in `second_moments_of`, all of these are whole squared steps, and a product of matrices adds them without error.

    Parameters
    ----------
    radius : float
        Public. The length that a record is shrunk to where the bounds of every column are [-1, 1].
    norm : {"l1", "l2"}
        Public. In which one record's numbers are bounded.
    """
    check_one_of("moments of pairs", "norm", norm, tuple(PARTS))
    check_size("moments of pairs", pair_moments_size(len(columns)), MOST_NUMBERS)
    coordinates = Coordinates.of(schema, columns, radius)
    size, grid = coordinates.size, Grid(2 * coordinates.grid.exponent - EIGHTHS)
    (first, second), (low, high) = np.triu_indices(size), np.triu_indices(size - 1)
    (i, j), (one, other) = np.indices((size - 1, size - 1)).reshape(2, -1), np.nonzero(~np.eye(size - 1, dtype=bool))
    weights = math.ldexp(1.0, EIGHTHS) * weights_of(size)

    def of(records: Array) -> Array:
        u = coordinates.steps(records, np.empty((size, len(records))))
        z, (s, c) = u[1:], _powers(u[1:], coordinates)
        more = np.concatenate([s[low] * s[high], s[i] * z[j], c[one] * z[other]])
        return grid.values(np.concatenate([weights[:, None] * u[first] * u[second], PARTS[norm] * more]).T)

    def total(records: Array) -> Array:
        rows = max(SLICE // (3 * size), 1)
        room, sums = np.empty((size, rows)), np.zeros((4, size, size))
        for start in range(0, len(records), rows):
            u = coordinates.steps(records[start : start + rows], room[:, : len(records) - start])
            z, (s, c) = u[1:], _powers(u[1:], coordinates)
            sums[0] += u @ u.T
            sums[1:, 1:, 1:] += [s @ s.T, s @ z.T, c @ z.T]
        by_two, by_one, by_three = sums[1:, 1:, 1:]
        more = np.concatenate([by_two[low, high], by_one[i, j], by_three[one, other]])
        return np.concatenate([weights * sums[0, first, second], PARTS[norm] * more])

    return BoundedSum(of, _bound(coordinates, norm), columns, grid, total)


def _powers(z: Array, coordinates: Coordinates) -> tuple[Array, Array]:
    """The squares and the cubes of coordinates, over powers of the largest that any can be, in whole steps."""
    most = _largest(coordinates)
    inside = np.clip(z, -most, most)
    squares = np.floor(np.square(inside) / most)
    return squares, np.trunc(inside * squares / most)


def _largest(coordinates: Coordinates) -> float:
    """A power of two, in steps, that no coordinate of a record inside its bounds exceeds."""
    return math.ldexp(1.0, min(math.ceil(0.5 * math.log2(coordinates.longest)), -coordinates.grid.exponent))


def _bound(coordinates: Coordinates, norm: Norm) -> Bound:
    """Of all that one record adds; the margin is for the rounding of whoever measures it."""
    n, w, longest = coordinates.size - 1, float(coordinates.constant), float(coordinates.longest)
    part = math.ldexp(PARTS[norm], -EIGHTHS)
    if norm == "l2":
        most = math.sqrt((w * w + longest) ** 2 + 3 * (part * longest) ** 2)
    else:
        products = w * w + CROSS * w * math.sqrt(n * longest) + (1 + CROSS * (n - 1) / 2) * longest
        most = products + part * (5 * n + 1) / 2 * longest
    return Bound(norm, math.ldexp(most * (1 + 2.0**-30), 2 * coordinates.grid.exponent))


@dataclass(frozen=True)
class PairMoments:
    """Released sums of the products z_i^p z_j^q of powers of columns, in units of half their bounds.

    Parameters
    ----------
    second : array of shape (1 + n, 1 + n)
        Of the products of (1, z), with the count in its corner.
    by_one, by_two, by_three : arrays of shape (n, n), optional
        Of z_i^2 z_j, z_i^2 z_j^2 and z_i^3 z_j; where there are second moments alone, nothing.
    scales : dict of int to float
        Public. What the noise on the sums of each degree was multiplied by, since a part of them was released.
    """

    second: Array
    scales: dict[int, float]
    by_one: Array | None = None
    by_two: Array | None = None
    by_three: Array | None = None

    @classmethod
    def of_second(cls, released: Array, coordinates: Coordinates) -> PairMoments:
        """From a release of second moments."""
        return cls(unfolded(released, coordinates), _scales(coordinates))

    @classmethod
    def of_fourth(cls, released: Array, coordinates: Coordinates, norm: Norm) -> PairMoments:
        """From a release of moments up to the fourth."""
        n = coordinates.size - 1
        largest, part = _largest(coordinates) * coordinates.grid.step, math.ldexp(PARTS[norm], -EIGHTHS)
        scales = _scales(coordinates) | {3: largest / part, 4: largest**2 / part}
        ends = np.cumsum([len(weights_of(1 + n)), n * (n + 1) // 2, n * n])
        second, upper, by_one, apart = np.split(released, ends)
        by_two, by_three = np.zeros((2, n, n))
        by_two[np.triu_indices(n)] = scales[4] * upper
        by_two += np.triu(by_two, 1).T
        by_three[~np.eye(n, dtype=bool)] = scales[4] * apart
        np.fill_diagonal(by_three, np.diag(by_two))
        return cls(unfolded(second, coordinates), scales, scales[3] * by_one.reshape(n, n), by_two, by_three)

    @property
    def degree(self) -> int:
        """The highest degree of all sums."""
        return max(self.scales)

    def sum_of(self, i: int, j: int, p: int, q: int) -> float:
        """The sum of z_i^p z_j^q."""
        if p < q or (p == q == 0):
            return float(self.second[0, 0]) if q == 0 else self.sum_of(j, i, q, p)
        if p + q <= 2:
            return float(self.second[1 + i, (1 + j) * q if p == 1 else 1 + i])
        assert self.by_one is not None
        assert self.by_two is not None
        assert self.by_three is not None
        match p, q:
            case 3, 0:
                return float(self.by_one[i, i])
            case 2, 1:
                return float(self.by_one[i, j])
            case 4, 0:
                return float(self.by_two[i, i])
            case 2, 2:
                return float(self.by_two[i, j])
            case _:
                return float(self.by_three[i, j])

    def scale_of(self, p: int, q: int) -> float:
        """How far the noise on a released number moves the sum of z_i^p z_j^q."""
        return self.scales[p + q] / (CROSS if p == q == 1 else 1.0)


def _scales(coordinates: Coordinates) -> dict[int, float]:
    return {0: coordinates.weight**-2, 1: 1 / (CROSS * coordinates.weight), 2: 1.0}
