"""Sums over records by stratum and group, and what one person moves them by."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array, Grid
from discreet.deep.fair.constraint import Codes

FINE = Grid(-20)  # scores are cut to it, so that their sums are exact


@dataclass(frozen=True)
class Cells:
    """Strata by groups.

    Parameters
    ----------
    strata, groups : int
        Public. How many.

    Examples
    --------
    >>> Cells(1, 2).sums(np.ones(3), np.zeros(3, dtype=int), np.array([0, 1, 1]))
    array([[1., 2.]])
    """

    strata: int
    groups: int

    def sums(self, values: Array, strata: Codes, groups: Codes) -> Array:
        """The sums of values in each cell, missing ones as 0; a record in no group is in no cell."""
        there = groups >= 0
        places = strata[there] * self.groups + groups[there]
        cut = FINE.values(FINE.cut(np.nan_to_num(values[there], nan=0.0)))
        return np.bincount(places, cut, self.strata * self.groups).astype(np.float64).reshape(self.strata, self.groups)

    def centred(self, values: Array, strata: Codes, groups: Codes) -> Array:
        """The same, less the mean over the groups: a record adds its value at its group and takes 1 / k from each.

        So a record in no group is one k-th in every group. Where only groups are secret, the rest is public.
        """
        sums = self.sums(values, strata, groups)
        return sums - sums.mean(axis=1, keepdims=True)

    @property
    def radius(self) -> float:
        """The l2 length of a centred contribution of value one: of (1 - 1/k) at one group and -1/k at the others."""
        return math.sqrt(1 - 1 / self.groups)
