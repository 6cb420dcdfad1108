"""How many units have more rows than a limit, where all rows of a unit are at hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted
from discreet.core.grid import Grid, Steps
from discreet.questions.question import View


@dataclass(frozen=True)
class CrowdedUnits:
    """The number of units with more rows than each of some limits. A curator of pooled units alone can ask this.

    Parameters
    ----------
    limits : tuple of int
        Public. Whole numbers, ascending, from 1 on.
    """

    limits: tuple[int, ...]
    columns: tuple[str, ...] = ()

    def answer(self, view: View) -> Answer:
        """The numbers: one unit more raises each by one, or leaves it."""
        bound = Bound("linf", 1.0, nonnegative=True)
        return Answer(crowded(view, self.limits), Grid(0), bound, view.neighbors)


@dataclass(frozen=True)
class LimitScores:
    """How well each of some limits cuts a number of units: that many have more rows than the limit before it, and no
    more than that have more rows than the limit itself. Only a curator of pooled units can ask this.

    Parameters
    ----------
    limits : tuple of int
        Public. Whole numbers, ascending, from 1 on.
    target : int
        Public. The number of units that are to be cut.
    """

    limits: tuple[int, ...]
    target: int
    columns: tuple[str, ...] = ()

    def answer(self, view: View) -> Answer:
        """Units from the target to the nearer end, negative outside: one unit more moves each by one at most."""
        units = crowded(view, (0, *self.limits))
        scores = np.minimum(self.target - units[1:], units[:-1] - self.target)
        return Answer(scores, Grid(0), Bound("linf", 1.0), view.neighbors)


def crowded(view: View, limits: tuple[int, ...]) -> Steps:
    """The number of units with more rows than each limit."""
    if not view.unit.pooled:
        raise NotPermitted(
            "rows of each unit",
            "some of them may have been left out already",
            'Open the records with Unit("user", column=..., pooled=True).',
            "Nothing was released.",
        )
    units = view.units_by_rows(limits[-1] + 1)
    return np.array([units[limit:].sum() for limit in limits], dtype=np.int64)
