"""Secrets from shares of which some are false, and whose these are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.crypto.errors import UNOPENED, WrongShares
from discreet.crypto.fields.share_field import ShareField, Shares
from discreet.crypto.odo.share_dealing import weights_at


@dataclass(frozen=True)
class Decoded:
    """A polynomial through most of the values at some points, and the points that do not lie on it.

    Parameters
    ----------
    points, values : tuple of int
        Right ones, as many as determine the polynomial.
    wrong : frozenset of int
        Points whose values were changed.
    prime : int
        Public. The modulus.
    """

    points: tuple[int, ...]
    values: tuple[int, ...] = field(repr=False)
    wrong: frozenset[int]
    prime: int

    def at(self, point: int) -> int:
        """The polynomial's value anywhere; the secret is the one at 0."""
        weights = weights_at(point, self.points, self.prime)
        return sum(weight * value for weight, value in zip(weights, self.values, strict=True)) % self.prime


def decoded(values: Mapping[int, int], degree: int, prime: int) -> Decoded:
    """The polynomial of this degree at most, through all values but as few as can be told from the others.

    Of m values, (m - degree - 1) // 2 may be wrong: Berlekamp and Welch's method. Let E be zero at the wrong points, of
    their number as degree, and monic: then Q = f E has the value y E at all points, and these equations are linear.

    Raises
    ------
    WrongShares
        More are wrong.

    Examples
    --------
    >>> found = decoded({1: 5, 2: 7, 3: 1000, 4: 11, 5: 13}, degree=1, prime=2003)
    >>> found.at(0), sorted(found.wrong)
    (3, [3])
    """
    points = sorted(values)
    errors = (len(points) - degree - 1) // 2
    if errors < 0:
        raise _undecodable(len(points), degree)
    if not (found := _through(values, points[: degree + 1], prime)).wrong:
        return found
    for count in range(errors, 0, -1):
        if (located := _fitted(values, degree, count, prime)) is not None:
            return located
    raise _undecodable(len(points), degree)


def _through(values: Mapping[int, int], base: list[int], prime: int) -> Decoded:
    """The polynomial through the values at some points, with all points that it misses."""
    found = Decoded(tuple(base), tuple(values[x] for x in base), frozenset(), prime)
    return replace(found, wrong=frozenset(x for x in values if found.at(x) != values[x]))


def _fitted(values: Mapping[int, int], degree: int, errors: int, prime: int) -> Decoded | None:
    """The polynomial, if exactly this many errors are located by a regular system; fewer need a smaller one."""
    rows = [
        [
            *(pow(x, k, prime) for k in range(degree + errors + 1)),
            *(-y * pow(x, k, prime) % prime for k in range(errors)),
            y * pow(x, errors, prime) % prime,
        ]
        for x, y in values.items()
    ]
    solution = _solved(rows, degree + 2 * errors + 1, prime)
    if solution is None:
        return None
    locator = [*solution[degree + errors + 1 :], 1]
    right = [x for x in sorted(values) if sum(c * pow(x, k, prime) for k, c in enumerate(locator)) % prime]
    if len(right) <= degree:
        return None
    found = _through(values, right[: degree + 1], prime)
    return found if len(found.wrong) <= (len(values) - degree - 1) // 2 else None


def _solved(rows: list[list[int]], unknowns: int, prime: int) -> list[int] | None:
    """The solution of linear equations, the last column being the right side; None where there is none or many."""
    rows = [row[:] for row in rows]
    for column in range(unknowns):
        pivot = next((i for i in range(column, len(rows)) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        inverse = pow(rows[column][column], -1, prime)
        rows[column] = [value * inverse % prime for value in rows[column]]
        for i, row in enumerate(rows):
            if i != column and row[column]:
                rows[i] = [(a - row[column] * b) % prime for a, b in zip(row, rows[column], strict=True)]
    return None if any(row[-1] for row in rows[unknowns:]) else [row[-1] for row in rows[:unknowns]]


def opened(
    shares: Mapping[int, Shares], challenges: Shares, degree: int, modulo: ShareField
) -> tuple[Shares, frozenset[int]]:
    """The secret vector from whole shares, some false, and whose these are.

    Random combinations of all elements are decoded, one for each row of challenges: a share that is false anywhere is
    false in one of them, but for a probability of one in the prime to the power of their number. Whoever chose the
    shares must not have known the challenges.
    """
    most = (len(shares) - degree - 1) // 2
    if most < 0:
        raise _undecodable(len(shares), degree)
    columns = zip(*modulo.dots(challenges, list(shares.values())), strict=True)
    found = [decoded(dict(zip(shares, column, strict=True)), degree, modulo.prime) for column in columns]
    wrong = frozenset[int]().union(*(one.wrong for one in found))
    if len(wrong) > most:
        raise _undecodable(len(shares), degree)
    right = sorted(set(shares) - wrong)[: degree + 1]
    rows = np.stack([shares[point] for point in right])
    return modulo.combined(weights_at(0, tuple(right), modulo.prime), rows), wrong


def _undecodable(count: int, degree: int) -> WrongShares:
    return WrongShares(
        "reconstruction",
        f"no polynomial of degree {degree} goes through all but {max((count - degree - 1) // 2, 0)} of {count} shares",
        "More parties lied than the federation bears; begin a new round without them.",
        UNOPENED,
    )
