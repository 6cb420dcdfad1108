"""A bound for contributions that are closer to each other than two radii."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.core.bound import Bound, Norm
from discreet.core.neighbors import Neighbors


@dataclass(frozen=True)
class DiameterBound(Bound):
    """Contributions of which no two are farther apart in l2 than a known distance.

    Parameters
    ----------
    norm, radius, nonnegative
        Public. As for `Bound`.
    apart : float
        Public. The distance, with what grids add to it. Only who makes the contributions may state it.

    Examples
    --------
    >>> DiameterBound("l2", 1.25, apart=2.0).sensitivity("l2", 2, Neighbors.REPLACE)
    2.0
    """

    apart: float = math.inf

    def sensitivity(self, norm: Norm, size: int, neighbors: Neighbors) -> float:
        """The farthest that one unit moves their sum, in any norm; rounded up."""
        general = super().sensitivity(norm, size, neighbors)
        return min(general, self.apart) if norm == "l2" and neighbors is Neighbors.REPLACE else general


def on_a_grid(apart: float, size: int, multiplier: float, contributions: int) -> float:
    """How far apart vectors may be on the grid of a square root counter, if they are this far apart before.

    A grid that the noise makes coarser has steps of at most 2^-27 of the scale of the noise, and moves the distance of
    two vectors by at most 2 sqrt(size) of them. The scale is at most 2.2 times multiplier, contributions and distance,
    since one update moves by at most 2.2 what gets noise. Finer grids change the distance by less than 2^-16 of it.
    """
    return apart * (1 + 2.0**-16 + 2.0**-23 * math.sqrt(size) * multiplier * contributions)
