"""A bound for contributions of edges to their two ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.bound import Bound, Norm
from discreet.core.neighbors import Neighbors
from discreet.core.rounding import upwards


@dataclass(frozen=True)
class EdgeBound(Bound):
    """Contributions that are zero, or one in exactly two places: half the radius, which bounds the l1 norm.

    So the l2 sensitivity is sqrt(2) where one is added or removed, and 2 where it is replaced, and no coordinate moves
    by more than one. Sorting two vectors brings them no farther apart, so it holds for sorted sums, too. Only a
    question whose own contributions are so may have this bound.

    Examples
    --------
    >>> EdgeBound("l1", 2.0, True).sensitivity("l1", 10, Neighbors.REPLACE)
    4.0
    """

    def times(self, rows: int) -> EdgeBound:
        """The bound of a unit that brings so many edges; rounded up."""
        return EdgeBound(self.norm, upwards(Fraction(self.radius) * rows), self.nonnegative)

    def sensitivity(self, norm: Norm, size: int, neighbors: Neighbors) -> float:
        """The farthest one unit can move a sum, in any norm; rounded up."""
        reach = neighbors.reach
        if norm == "l1":
            return self.radius * reach
        return self.radius / 2 * (math.sqrt(2 * reach) * (1 + 2.0**-49) if norm == "l2" else 1.0)


EDGE_ENDS = EdgeBound("l1", 2.0, nonnegative=True)
