"""Secrets from shares of which some are false, and whose these are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.crypto.errors import UNOPENED, WrongShares
from discreet.crypto.fields.field import PRIME, Elements, dot
from discreet.crypto.sharing.shamir import weights_at


@dataclass(frozen=True)
class Decoded:
    """A polynomial through most of the values at some points, and the points that do not lie on it.

    Parameters
    ----------
    points, values : tuple of int
        Right ones, as many as determine the polynomial.
    wrong : frozenset of int
        Points whose values were changed.
    """

    points: tuple[int, ...]
    values: tuple[int, ...] = field(repr=False)
    wrong: frozenset[int]

    def at(self, point: int) -> int:
        """The polynomial's value anywhere; the secret is the one at 0."""
        weights = weights_at(point, self.points).tolist()
        return sum(weight * value for weight, value in zip(weights, self.values, strict=True)) % PRIME


def decoded(values: Mapping[int, int], degree: int) -> Decoded:
    """The polynomial of this degree at most, through all values but as few as can be told from the others.

    Of m values, (m - degree - 1) // 2 may be wrong: Berlekamp and Welch's method. Let E be zero at the wrong points, of
    their number as degree, and monic: then Q = f E has the value y E at all points, and these equations are linear.

    Raises
    ------
    WrongShares
        More are wrong.

    Examples
    --------
    >>> found = decoded({1: 5, 2: 7, 3: 1000, 4: 11, 5: 13}, degree=1)
    >>> found.at(0), sorted(found.wrong)
    (3, [3])
    """
    points = sorted(values)
    errors = (len(points) - degree - 1) // 2
    if errors < 0:
        raise _undecodable(len(points), degree)
    for count in range(errors, -1, -1):
        if (found := _fitted(values, points, degree, count)) is not None:
            return found
    raise _undecodable(len(points), degree)


def _fitted(values: Mapping[int, int], points: list[int], degree: int, errors: int) -> Decoded | None:
    """The polynomial, if exactly this many errors are located by a regular system; fewer need a smaller one."""
    rows = [
        [
            *(pow(x, k, PRIME) for k in range(degree + errors + 1)),
            *(-values[x] * pow(x, k, PRIME) % PRIME for k in range(errors)),
            values[x] * pow(x, errors, PRIME) % PRIME,
        ]
        for x in points
    ]
    solution = _solved(rows, degree + 2 * errors + 1)
    if solution is None:
        return None
    locator = [*solution[degree + errors + 1 :], 1]
    right = [x for x in points if sum(c * pow(x, k, PRIME) for k, c in enumerate(locator)) % PRIME]
    if len(right) <= degree:
        return None
    base = tuple(right[: degree + 1])
    found = Decoded(base, tuple(values[x] for x in base), frozenset())
    wrong = frozenset(x for x in points if found.at(x) != values[x])
    return Decoded(found.points, found.values, wrong) if len(wrong) <= (len(points) - degree - 1) // 2 else None


def _solved(rows: list[list[int]], unknowns: int) -> list[int] | None:
    """The solution of linear equations, the last column being the right side; None where there is none or many."""
    rows = [row[:] for row in rows]
    for column in range(unknowns):
        pivot = next((i for i in range(column, len(rows)) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        inverse = pow(rows[column][column], -1, PRIME)
        rows[column] = [value * inverse % PRIME for value in rows[column]]
        for i, row in enumerate(rows):
            if i != column and row[column]:
                rows[i] = [(a - row[column] * b) % PRIME for a, b in zip(row, rows[column], strict=True)]
    return None if any(row[-1] for row in rows[unknowns:]) else [row[-1] for row in rows[:unknowns]]


def opened(shares: Mapping[int, Elements], challenge: Elements, degree: int) -> tuple[Elements, frozenset[int]]:
    """The secret vector from whole shares, some false, and whose these are.

    One random combination of all elements is decoded: a share that is false anywhere is false there, but for a
    probability of 2**-61. Whoever chose the shares must not have known the challenge.
    """
    combined = {index: int(dot(challenge, values)) for index, values in shares.items()}
    found = decoded(combined, degree)
    rows = np.stack([shares[point] for point in found.points])
    return dot(weights_at(0, found.points), rows), found.wrong


def _undecodable(count: int, degree: int) -> WrongShares:
    return WrongShares(
        "reconstruction",
        f"no polynomial of degree {degree} goes through all but {max((count - degree - 1) // 2, 0)} of {count} shares",
        "More parties lied than the federation bears; begin a new round without them.",
        UNOPENED,
    )
