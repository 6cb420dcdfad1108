"""The most one row may add to a sum: a ball chosen without seeing the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array, upwards
from discreet.core.neighbors import Neighbors

Norm = Literal["l1", "l2", "linf"]
ORDER: dict[Norm, float] = {"l1": 1.0, "l2": 2.0, "linf": math.inf}
ULP = 2.0**-52


def _sizes(rows: Array, norm: Norm) -> Array:
    """The norm of each row, kept as a column."""
    if norm == "linf":
        return np.abs(rows).max(axis=-1, initial=0.0, keepdims=True)
    if norm == "l1":
        return np.abs(rows).sum(axis=-1, keepdims=True)
    return np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class Bound:
    """A ball around zero that every contribution is cut to.

    Parameters
    ----------
    norm : {"l1", "l2", "linf"}
        Public. How length is measured.
    radius : float
        Public. Positive and finite.
    nonnegative : bool
        Public. Contributions below zero are raised to zero. Two such contributions differ by less under replace:
        their l2 distance is at most sqrt(2) radii instead of 2, their linf distance one radius.

    Examples
    --------
    >>> Bound("l2", 1.0).clip(np.array([[3.0, 4.0], [0.0, np.nan]])).round(3)
    array([[0.6, 0.8],
           [0. , 0. ]])
    """

    norm: Norm
    radius: float
    nonnegative: bool = False

    def __post_init__(self) -> None:
        if self.norm not in ORDER:
            raise ParameterError("bound", f"there is no norm {self.norm!r}", "Use l1, l2 or linf.")
        if not 0 < self.radius < math.inf:
            raise ParameterError(
                "bound", f"the radius is {self.radius}", "Give a positive, finite radius.", radius=self.radius
            )

    def clip(self, rows: Array) -> Array:
        """Shrink each row into the ball; a row with nan or inf counts as zero.

        A row that is shrunk ends strictly inside; one that seems to fit may be too long by the rounding of its
        length, which `rounding` states and every sensitivity includes.
        """
        rows = np.ascontiguousarray(np.where(np.isfinite(rows).all(axis=-1, keepdims=True), rows, 0.0))  # one order
        if self.nonnegative:
            rows = np.maximum(rows, 0.0)
        largest = np.abs(rows).max(axis=-1, initial=0.0, keepdims=True)
        directions = rows / np.where(largest > 0, largest, 1.0)  # nothing overflows from here on
        sizes = np.maximum(_sizes(directions, self.norm), 1.0)
        inside = self.radius * (1 - (self.rounding(rows.shape[-1]) - 1) - 4 * ULP)
        with np.errstate(over="ignore"):
            too_long = largest * sizes > self.radius
        return np.where(too_long, directions * (inside / sizes), rows)

    def rounding(self, size: int) -> float:
        """The factor by which a row of this size can be longer than float64 says (Higham 2002, section 4.2)."""
        return 1.0 if self.norm == "linf" or size == 1 else 1.0 + (size + 8) * ULP

    def times(self, rows: int) -> Bound:
        """The bound of a unit that has `rows` rows; rounded up."""
        return self if rows == 1 else Bound(self.norm, upwards(Fraction(self.radius) * rows), self.nonnegative)

    def sensitivity(self, norm: Norm, size: int, neighbors: Neighbors) -> float:
        """The farthest one unit can move a sum of `size` coordinates, in any norm; rounded up.

        Hoelder's inequality between the norms; the triangle inequality under replace, or, for two nonnegative
        contributions a and b, |a - b|_p^p <= |a|_p^p + |b|_p^p (and |a - b| <= max(a, b) for single numbers).
        """
        stretch = size ** max(0.0, 1 / ORDER[norm] - 1 / ORDER[self.norm])
        overlap = 0.0 if size == 1 else 1 / ORDER[norm]
        reach = neighbors.reach ** (overlap if self.nonnegative else 1.0)
        exact = stretch == 1 and reach == int(reach)
        return self.radius * reach * stretch * self.rounding(size) * (1.0 if exact else 1 + 8 * ULP)
