"""A bound for contributions of which no two form an obtuse angle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.bound import Bound, Norm
from discreet.core.neighbors import Neighbors
from discreet.core.rounding import upwards

ROUNDING = 2.0**-16  # relative: grids turn vectors by less


@dataclass(frozen=True)
class AcuteBound(Bound):
    """Contributions a, b with a'b >= 0, such as matrices x x' and z z', whose product is (x'z)^2.

    Then |a - b|^2 <= |a|^2 + |b|^2, so that the l2 sensitivity under replace is sqrt(2) radii, not 2. Shrinking and
    adding such vectors keeps all angles acute. Only a question whose own contributions are so may have this bound.

    Examples
    --------
    >>> round(AcuteBound("l2", 1.0).sensitivity("l2", 10, Neighbors.REPLACE), 3)
    1.414
    """

    def times(self, rows: int) -> AcuteBound:
        """The bound of a unit that brings so many rows; rounded up."""
        return AcuteBound(self.norm, upwards(Fraction(self.radius) * rows), self.nonnegative)

    def sensitivity(self, norm: Norm, size: int, neighbors: Neighbors) -> float:
        """The farthest one unit can move a sum of `size` coordinates, in any norm; rounded up."""
        general = super().sensitivity(norm, size, neighbors)
        if neighbors is not Neighbors.REPLACE or self.norm != "l2" or norm == "linf":
            return general
        stretch = math.sqrt(size) if norm == "l1" else 1.0
        one = super().sensitivity("l2", size, Neighbors.ADD_REMOVE)
        return min(general, one * math.sqrt(2) * stretch * (1 + ROUNDING))
