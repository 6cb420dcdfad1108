"""How much likelier an output is on one data set than on another, learnt from outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array

Values = NDArray[Any]

DISTINCT = 256  # different values, at most, that get a cell each
CELLS = 128  # cells of equal mass otherwise, at most, and finer ones at both ends
CROWD = 16  # no cell with fewer outputs than this
SHOWN = 4  # stretches of the line that a description spells out


@dataclass(frozen=True)
class Ratio:
    """The logarithm of a likelihood ratio, constant on cells of the line.

    Cell i holds the values above `edges[i - 1]` and up to `edges[i]`; the last cell the rest, nan included.

    Examples
    --------
    >>> ratio = Ratio.learnt(np.array([1, 1, 1, 0]), np.array([0, 0, 0, 1]))
    >>> ratio(np.array([0, 1])).round(3)
    array([-0.847,  0.847])
    >>> ratio.where(0.847, above=True)
    '0 < output <= 1'
    """

    edges: Values = field(repr=False)
    levels: Array = field(repr=False)

    @classmethod
    def learnt(cls, first: Values, second: Values) -> Ratio:
        """The ratio of the two histograms, with half an output added to each cell."""
        edges = _edges(np.concatenate([first, second]))
        here, there = (_shares(edges, values) for values in (first, second))
        return cls(edges, np.log(here / there))

    def __call__(self, values: Values) -> Array:
        """The level of each value's cell."""
        return self.levels[np.searchsorted(self.edges, values)]

    def where(self, threshold: float, above: bool) -> str:
        """The values at or above the threshold (or at or below it), in words."""
        inside = self.levels >= threshold if above else self.levels <= threshold
        turns = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]])))
        stretches = [self._stretch(start, stop) for start, stop in turns.reshape(-1, 2).tolist()]
        rest = [f"{len(stretches) - SHOWN} more stretches"] if len(stretches) > SHOWN else []
        return " or ".join(stretches[:SHOWN] + rest) or "no output"

    def _stretch(self, start: int, stop: int) -> str:
        low = f"{self.edges[start - 1]:.6g} < " if start > 0 else ""
        high = f" <= {self.edges[stop - 1]:.6g}" if stop <= len(self.edges) else ""
        return f"{low}output{high}" if low or high else "any output"


def _shares(edges: Values, values: Values) -> Array:
    counts = np.bincount(np.searchsorted(edges, values), minlength=len(edges) + 1) + 0.5
    return counts / counts.sum()


def _edges(values: Values) -> Values:
    """The distinct values, where they are few; else quantiles, with a cell to itself for every frequent value."""
    distinct = np.unique(values)
    if len(distinct) <= DISTINCT:
        return distinct
    chosen = spread(values, cells=CELLS, crowd=CROWD)
    frequent = chosen[1:][chosen[1:] == chosen[:-1]]
    below = frequent - 1 if frequent.dtype.kind in "iu" else np.nextafter(frequent, -np.inf)
    return np.unique(np.concatenate([chosen, below]))


def spread(values: Values, cells: int, crowd: int) -> Values:
    """Quantiles that cut the values into equal shares, and the shares at both ends in halves again and again.

    At most `cells` equal shares, and none with fewer than `crowd` values; a frequent value comes several times.
    """
    ordered = np.sort(values)
    equal = int(np.clip(len(ordered) // crowd, 4, cells))
    halves = 0.5 ** np.arange(1, 60) / equal
    ends = halves[halves * len(ordered) >= crowd]
    below = np.sort(np.concatenate([np.arange(1, equal) / equal, ends, 1 - ends]))
    return ordered[np.floor(below * (len(ordered) - 1)).astype(np.int64)]
