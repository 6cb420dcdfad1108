"""Scores of public candidates, computed from exact counts, for mechanisms that choose one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import Neighbors
from discreet.questions.question import BoundedSum, View

FINE = Grid(-20)  # for scores that are no whole numbers
ROUNDED = 2.0  # steps that rounding and floating point may add to how far a record moves such a score


@dataclass(frozen=True)
class Scores:
    """Scores in one or several rows, of which a mechanism chooses one in each. A curator alone can ask this.

    One release is a choice in every row, and it is one promise. A record changes the counts that one row is computed
    from, and moves all scores of that row in one direction, by `most` at most. A choice with noise of scale s then
    loses most / s, for one that joins or leaves; one that is replaced leaves a row and joins another, or the same, and
    loses 2 most / s. That is what a nonnegative bound of `most` in the norm linf makes `PermuteAndFlip` and
    `Exponential` draw, whose loss is that of a single row that moves by the whole bound.

    Parameters
    ----------
    sums : tuple of BoundedSum
        Public. Counts in whole numbers, in which no record is clipped; asked one after the other and joined.
    of : callable
        Public. Counts in, scores out, of shape (rows, candidates).
    most : float
        Public. How far one record moves a score.
    whole : bool
        Public. Whether scores are whole numbers; others are put on a grid, and what rounding adds is counted.
    size : int, optional
        Public. The number of records up to which `most` holds, where it depends on that. It has to be public: records
        that may be replaced, each a unit by itself.
    """

    sums: tuple[BoundedSum, ...]
    of: Callable[[Steps], Array]
    most: float
    whole: bool = True
    size: int | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.sums[0].columns

    def answer(self, view: View) -> Answer:
        """The scores, and how far one unit can move them."""
        self._check(view)
        scores = self.of(np.concatenate([view.sum(question) for question in self.sums]))
        grid, slack = (Grid(0), 0.0) if self.whole else (FINE, ROUNDED)
        bound = Bound("linf", self.most, nonnegative=True).times(view.unit.rows)
        return Answer(np.floor(scores / grid.step).astype(np.int64), grid, bound, view.neighbors, slack)

    def _check(self, view: View) -> None:
        """Refuse more records than the bound is for; their number is public, or nothing is said of it."""
        if self.size is None:
            return
        public = view.neighbors is Neighbors.REPLACE and view.unit.is_row
        if not public or sum(map(len, view.batches(self.columns))) > self.size:
            raise NotPermitted(
                "scores",
                f"how far a record moves them is known for {self.size} records, whose number is public",
                "Give the number of records, where they are replaced, or another criterion.",
                "Nothing was released.",
            )
