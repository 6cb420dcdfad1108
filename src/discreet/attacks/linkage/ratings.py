"""Sparse ratings: who rated what, how, and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "ratings"
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Ratings:
    """Ratings in the order of items, so that all of one item lie together.

    Parameters
    ----------
    users, items : array of int
        Who, and what.
    values, dates : array
        The rating and its day; nan where it is not known.
    starts : array of int
        Where each item begins, and the end.
    people : int
        How many users there are, with those who rated nothing.

    Examples
    --------
    >>> ratings = Ratings.of([0, 0, 1], [2, 0, 2], [5, 3, 4])
    >>> ratings.people, ratings.support.tolist(), ratings.users[ratings.of_item(2)].tolist()
    (2, [1, 0, 2], [0, 1])
    """

    users: Places = field(repr=False)
    items: Places = field(repr=False)
    values: Array = field(repr=False)
    dates: Array = field(repr=False)
    starts: Places = field(repr=False)
    people: int

    @classmethod
    def of(
        cls,
        users: ArrayLike,
        items: ArrayLike,
        values: ArrayLike | None = None,
        dates: ArrayLike | None = None,
        *,
        people: int | None = None,
    ) -> Ratings:
        """Ratings from sequences of one length; of several by one user on one item the last counts."""
        who, what = _places("users", users), _places("items", items)
        rated, days = (_numbers(name, given, len(who)) for name, given in (("values", values), ("dates", dates)))
        if len(what) != len(who):
            raise ParameterError(ASKED, f"there are {len(who)} users and {len(what)} items", "Give one by rating.")
        least = int(who.max(initial=-1)) + 1
        if people is not None and people < least:
            raise ParameterError(ASKED, f"people is {people}, and user {least - 1} rated", "Count all users.")
        order = np.lexsort((who, what))
        who, what = who[order], what[order]
        last = np.r_[(who[1:] != who[:-1]) | (what[1:] != what[:-1]), True][: len(who)]
        who, what = who[last], what[last]
        starts = np.searchsorted(what, np.arange(int(what.max(initial=-1)) + 2)).astype(np.int64)
        return cls(who, what, rated[order][last], days[order][last], starts, least if people is None else people)

    @classmethod
    def given(cls, target: Any) -> Ratings:
        """Ratings as they are, or those that a sparse matrix of users by items stores."""
        if isinstance(target, cls):
            return target
        if not hasattr(target, "tocoo"):
            obstacle = f"the target is a {type(target).__name__}"
            raise ParameterError(ASKED, obstacle, "Give Ratings, or a sparse matrix with a row for each user.")
        cells = target.tocoo()
        return cls.of(cells.row, cells.col, cells.data, people=cells.shape[0])

    @property
    def support(self) -> Places:
        """How many rated each item."""
        return np.diff(self.starts)

    def of_item(self, item: int) -> slice:
        """The ratings of an item: none of one that nobody rated."""
        return slice(*self.starts[item : item + 2]) if 0 <= item < len(self.starts) - 1 else slice(0, 0)

    def of_users(self, number: int) -> list[Places]:
        """Where the ratings of each of the first users lie."""
        order = np.argsort(self.users, kind="stable")
        ends = np.searchsorted(self.users[order], np.arange(number + 1))
        return [order[start:end] for start, end in pairwise(ends)]


def _places(name: str, given: ArrayLike) -> Places:
    found = np.asarray(given)
    if found.ndim != 1 or (found.size and (found.dtype.kind not in "iu" or found.min() < 0)):
        raise ParameterError(
            ASKED, f"{name} are no sequence of numbers from 0", "Number them from 0, in whole numbers."
        )
    return found.astype(np.int64)


def _numbers(name: str, given: ArrayLike | None, length: int) -> Array:
    if given is None:
        return np.full(length, np.nan)
    found = np.asarray(given)
    if found.dtype.kind == "M":
        days = found.astype("M8[D]")
        found = np.where(np.isnat(days), np.nan, days.astype(np.int64))
    if found.shape != (length,) or found.dtype.kind not in "iufb":
        raise ParameterError(
            ASKED, f"{name} are not {length} numbers", "Give one by rating, nan where it is not known."
        )
    return np.where(np.isfinite(found), found, np.nan).astype(np.float64)
