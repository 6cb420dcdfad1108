"""What may be asked of records: above all, a bounded sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid
from discreet.core.recipe import Recipe


@dataclass(frozen=True)
class BoundedSum:
    """The question most private learning asks: sum `of` over records, cut to `bound`.

    Parameters
    ----------
    of : callable
        Rows in, one contribution per row out: row i of the result depends on row i of the records alone.
        This is the definition.
    bound : Bound
        Public. The most one row may add. Longer contributions are shrunk.
    columns : tuple of str, optional
        Public. The columns that `of` reads, in order; every feature column where not given.
    grid : Grid, optional
        Public. The grid contributions are cut to; one that makes the radius about 2**30 steps where not given.
    total : callable, optional
        The same sum of a batch, fused: rows in, grid steps out. Must equal the sum of the clipped, cut rows of `of`
        to the last step, so that no n-by-k matrix is needed.
    recipe : Recipe, optional
        Public. What others can build the same question from; `cookbook.recipe` fills it in. A question without one
        cannot be asked where it would have to travel.

    Examples
    --------
    >>> import numpy as np
    >>> heads = BoundedSum(lambda rows: np.ones((len(rows), 1)), Bound("l1", 1.0), grid=Grid(0))
    >>> heads.steps(np.zeros((5, 2))).sum(axis=0)
    array([5.])
    """

    of: Callable[[Array], Array]
    bound: Bound
    columns: tuple[str, ...] | None = None
    grid: Grid = field(default=None)  # type: ignore[assignment]
    total: Callable[[Array], Array] | None = None
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        if self.grid is None:
            object.__setattr__(self, "grid", Grid.of_radius(self.bound.radius))

    def size(self, width: int) -> int:
        """How many numbers the sum has, for records of so many columns."""
        return int(self.of(np.empty((0, width))).shape[1])

    def steps(self, records: Array) -> Array:
        """What each row adds, in grid steps: inside the bound, since cutting is towards zero."""
        return self.grid.cut(self.bound.clip(self.of(records)))


@dataclass(frozen=True)
class KeyCounts:
    """How many rows hold each value of a column whose values are not public. A curator alone can ask this.

    Parameters
    ----------
    column : str
        Public. The column.
    """

    column: str


Question = BoundedSum | KeyCounts
