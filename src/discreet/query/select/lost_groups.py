"""How many groups that only the data know a threshold would leave out, if they were as large as is expected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.checks import check_by_name, check_positive
from discreet.core.errors import ParameterError
from discreet.query.select.selection import Selection


@dataclass(frozen=True)
class LostGroups:
    """Chances of groups of being left out: of all public, as sizes are assumed.

    Parameters
    ----------
    threshold : int
        The least noisy number of rows that names a group.
    chances : dict of str to float
        How probable it is that each group is left out.

    Examples
    --------
    >>> round(LostGroups(40, {"Bern": 0.0, "Chur": 0.98}).number, 2)
    0.98
    """

    threshold: int
    chances: dict[str, float]

    @classmethod
    def of(cls, selection: Selection, expected: Mapping[str, float]) -> LostGroups:
        """Of a selection whose plan names groups first."""
        check_by_name("lost groups", "expected", expected)
        for name, size in expected.items():
            check_positive("lost groups", f"the size of {name!r:.40}", size, 0.0, 2.0**53)
        if not expected:
            raise ParameterError("lost groups", "no group is expected", 'Give such as {"Bern": 500}.')
        naming: Any = selection.plan.mechanisms[0]
        rows, neighbors = selection.data.unit.rows, selection.data.neighbors
        threshold, scale = naming.threshold(rows, neighbors), naming.scale(rows, neighbors)
        # rounded Laplace noise on a count passes where the variable is half a row below the threshold, or more
        return cls(threshold, {name: _below(threshold - 0.5 - size, scale) for name, size in expected.items()})

    @property
    def number(self) -> float:
        """How many groups are left out, on average."""
        return math.fsum(self.chances.values())

    def __str__(self) -> str:
        of = (
            f"{self.number:.1f} of {len(self.chances)} groups would be left out, with fewer than about {self.threshold}"
        )
        return f"{of} rows; nothing was asked"


def _below(distance: float, scale: float) -> float:
    """The chance of Laplace noise to be less."""
    half = math.exp(-abs(distance) / scale) / 2
    return 1 - half if distance > 0 else half
