"""What a model says of each row: computed for many rows together, and the same as for each row alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array

NEAR = 1e-6  # of an edge: what is computed beside other rows, in float32 even, differs by less from what it is alone


@dataclass(frozen=True)
class RowsTogether:
    """What is computed for several rows, and for which of them rounding could make it something else."""

    values: Array
    doubtful: NDArray[np.bool_]

    def agrees(self, others: RowsTogether) -> bool:
        """Whether every second row has the same value where only those are computed, except for rows in doubt."""
        mine, sure = self.values[::2], ~(self.doubtful[::2] | others.doubtful)
        return bool(np.array_equal(mine[sure], others.values[sure], equal_nan=True))


def row_by_row(compute: Callable[[Any], RowsTogether], rows: Any) -> Array:
    """What is computed for each row, nan where it fails.

    What a model raises for one row is about that row, and must not show. So where several rows fail together, halves
    of them are tried, down to single rows; those with a missing value, which many models refuse, are tried apart. Rows
    in doubt are computed alone: what a row is given depends on no other row. If other rows matter by more than
    rounding, as a computation without half of them shows, every row is computed alone.

    Parameters
    ----------
    compute : callable
        Rows in, a `RowsTogether` out.
    rows : array or data frame
        The rows.

    Examples
    --------
    >>> def root(rows):
    ...     if (rows < 0).any():
    ...         raise ValueError("negative")
    ...     return RowsTogether(np.sqrt(rows[:, 0]), np.zeros(len(rows), bool))
    >>> row_by_row(root, np.array([[4.0], [-1.0], [9.0]]))
    array([ 2., nan,  3.])
    """
    found, gaps = np.full(len(rows), np.nan), _gaps(rows)
    left = [part for part in (np.flatnonzero(gaps), np.flatnonzero(~gaps)) if len(part)]
    while left:
        part = left.pop()
        try:
            together = compute(_taken(rows, part))
            agreed = len(part) == 1 or together.agrees(compute(_taken(rows, part[::2])))
        except Exception:  # see above
            left += [half for half in np.array_split(part, 2) if 0 < len(half) < len(part)]
            continue
        found[part] = together.values
        if len(part) > 1:
            left += [part[[place]] for place in np.flatnonzero(together.doubtful | (not agreed))]
    return found


def _taken(rows: Any, part: NDArray[np.intp]) -> Any:
    return rows.iloc[part] if hasattr(rows, "iloc") else rows[part]


def _gaps(rows: Any) -> NDArray[np.bool_]:
    """Which rows have a missing value, or one of an unusual kind."""
    values = np.asarray(rows)
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values).any(axis=1))
    usual = [values.dtype.kind != "O" or all(map(_usual, row)) for row in values.tolist()]
    return ~np.array(usual, dtype=np.bool_)


def _usual(value: Any) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and not math.isnan(value))
