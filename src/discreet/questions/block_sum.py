"""Blocks of records, dealt at random, and the sum of what a function makes of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.questions.question import View, quiet


@dataclass(frozen=True)
class BlockSum:
    """The sum, over random blocks of records, of what any function makes of a block. A curator alone can ask this.

    Parameters
    ----------
    of : callable
        A block of records in, numbers out. Anything may go wrong in it.
    columns : tuple of str
        Public. The columns that the function sees, in order.
    lower, upper : tuple of float
        Public. Between which each of its numbers is; what is not is moved there, and the sum is of numbers that are
        stretched from there to [-1, 1].
    blocks : int
        Public. Into how many blocks the records are dealt, each record by itself.
    deals : int
        Public. How often they are dealt anew: so many blocks hold any one record.
    seconds : float
        Public. How long the answer takes, whatever happens to a block; each has an equal part of processor time.
    isolation : {"full", "process"}
        Public. What a process of the function's is kept from; see `discreet.trust.isolation`.
    """

    of: Callable[[Array], Any]
    columns: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    blocks: int
    deals: int = 1
    seconds: float = 5.0
    isolation: Literal["full", "process"] = "full"

    @property
    def bound(self) -> Bound:
        """The most that one record's blocks add."""
        return Bound("linf", float(self.deals))

    @property
    def grid(self) -> Grid:
        return Grid.of_radius(1.0)

    def stretched(self, found: Array | None) -> Array:
        """What one block adds: in [-1, 1]; nothing, where there is no answer or no number."""
        low, high = np.array(self.lower), np.array(self.upper)
        with quiet():
            inside = np.clip(np.full(low.shape, np.nan) if found is None else found, low, high)
            return np.nan_to_num(np.clip((inside - (low / 2 + high / 2)) / (high / 2 - low / 2), -1.0, 1.0), nan=0.0)

    @property
    def size(self) -> int:
        return len(self.lower)

    def answer(self, view: View) -> Answer:
        """The sum over all blocks; a block for which the function fails adds nothing.

        Every record is dealt to a block by itself, so one record more or less, or another one, changes one block of
        each deal and no other; what a block adds is replaced.
        """
        records = view.everything(self.columns)
        blocks = [block for _ in range(self.deals) for block in view.dealt(records, self.blocks)]
        found = view.isolated(self.of, blocks, self.size, self.seconds, self.isolation)
        rows = np.array([self.stretched(one) for one in found])
        steps = self.grid.cut(rows).sum(axis=0).astype(np.int64)
        return Answer(steps, self.grid, self.bound.times(view.unit.rows), Neighbors.REPLACE)
