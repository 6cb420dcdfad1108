"""What a model says of each row: computed for many rows together, and the same as for each row alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array

NEAR = 1e-6  # of an edge: what is computed beside other rows, in float32 even, differs by less from what it is alone


@dataclass(frozen=True)
class RowsTogether:
    """What is computed for several rows."""

    values: Array  # what each row is given, of shape (n,)
    doubtful: NDArray[np.bool_]  # for which of them rounding could make it something else
    scores: Array  # what values were made from, in units in which `NEAR` is small, of shape (n,)


Compute = Callable[[Any], RowsTogether]


def treats_rows_alone(compute: Compute, made_up: Iterable[Any]) -> bool:
    """Whether other rows matter by no more than rounding: decided on made-up rows, and not on private ones.

    Rows that are refused are left out; where all are, nothing is known, and the answer is no.

    Parameters
    ----------
    compute : callable
        Rows in, a `RowsTogether` out.
    made_up : iterable of arrays or data frames
        Public. The first ones should be usual rows.

    Examples
    --------
    >>> def shares(rows):
    ...     return RowsTogether(rows[:, 0], np.zeros(len(rows), bool), rows[:, 0] / rows.max())
    >>> treats_rows_alone(shares, [np.array([[1.0], [2.0], [3.0]])])
    False
    """
    return all([_is_alone(compute, rows, first=not place) for place, rows in enumerate(made_up)] or [False])


def _is_alone(compute: Compute, rows: Any, first: bool) -> bool:
    places, scores = [], []
    for place in range(len(rows)):
        single = _tried(compute, taken(rows, np.array([place])))
        if single is not None:
            places.append(place)
            scores.append(single[0])
    if not places:
        return not first
    for some in (places, places[::2], places[:1] * 3):  # all, others and another number of them, and one row thrice
        together = _tried(compute, taken(rows, np.array(some)))
        alone = np.array([scores[places.index(place)] for place in some])
        if together is None or not np.allclose(together, alone, rtol=0.0, atol=NEAR, equal_nan=True):
            return False
    return True


def _tried(compute: Compute, rows: Any) -> Array | None:
    try:
        found = compute(rows).scores
    except Exception:  # rows that a model refuses
        return None
    return found if len(found) == len(rows) else None


def row_by_row(compute: Compute, rows: Any, alone: bool) -> Array:
    """What is computed for each row, nan where it fails.

    What a model raises for one row is about that row, and must not show. So where several rows fail together, halves
    of them are tried, down to single rows; those with a missing value, which many models refuse, are tried apart. Rows
    in doubt are computed alone: what a row is given depends on no other row.

    Parameters
    ----------
    compute : callable
        Rows in, a `RowsTogether` out.
    rows : array or data frame
        The rows.
    alone : bool
        Public. Whether other rows matter by no more than rounding: see `treats_rows_alone`. If not, every row is
        computed alone.

    Examples
    --------
    >>> def root(rows):
    ...     if (rows < 0).any():
    ...         raise ValueError("negative")
    ...     return RowsTogether(np.sqrt(rows[:, 0]), np.zeros(len(rows), bool), rows)
    >>> row_by_row(root, np.array([[4.0], [-1.0], [9.0]]), alone=True)
    array([ 2., nan,  3.])
    """
    found, gaps = np.full(len(rows), np.nan), _gaps(rows)
    parts = (np.flatnonzero(gaps), np.flatnonzero(~gaps)) if alone else np.arange(len(rows))[:, None]
    left = [part for part in parts if len(part)]
    while left:
        part = left.pop()
        try:
            together = compute(taken(rows, part))
            found[part] = together.values
        except Exception:  # see above
            left += [half for half in np.array_split(part, 2) if 0 < len(half) < len(part)]
            continue
        if len(part) > 1:
            left += [part[[place]] for place in np.flatnonzero(together.doubtful)]
    return found


def taken(rows: Any, part: NDArray[np.intp]) -> Any:
    """The rows at these places, of an array or a data frame."""
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
