"""What may be asked of records: above all, a bounded sum."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound
from discreet.core.formula import Tally
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Unit
from discreet.core.quiet import quiet

if TYPE_CHECKING:
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
        Public. What others can build the same question from; `recipe` fills it in. A question without one
        cannot be asked where it would have to travel.
    tally : Tally, optional
        Public. The same sum once more, as formulas, for engines that add up where the records are. Must equal the sum
        of the clipped, cut rows of `of` to the last step, for values inside the schema's bounds.

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
    tally: Tally | None = None

    def __post_init__(self) -> None:
        if self.grid is None:
            object.__setattr__(self, "grid", Grid.of_radius(self.bound.radius))

    @property
    def identified_by(self) -> dict[str, Any]:
        """What tells this question from others: its recipe, where it has one, and the functions themselves if not."""
        built = {"bound": self.bound, "columns": self.columns, "grid": self.grid}
        return built | ({"recipe": self.recipe.written()} if self.recipe is not None else {"of": self.of})

    def size(self, width: int) -> int:
        """How many numbers the sum has, for records of so many columns."""
        return int(self.of(np.empty((0, width))).shape[1])

    def steps(self, records: Array) -> Array:
        """What each row adds, in grid steps: inside the bound, since cutting is towards zero."""
        with quiet():
            return self.grid.cut(self.bound.clip(self.of(records)))

    def for_unit(self, unit: Unit) -> BoundedSum:
        """The question as it is put to records of such a unit: on a fine grid where units are pooled.

        What a pooled unit brings is shrunk as a whole. On a grid of whole numbers nothing would be left of a unit that
        adds a little here and a little there.
        """
        if not unit.pooled:
            return self
        fine = min(self.grid.exponent, Grid.of_radius(self.bound.radius).exponent)
        return dataclasses.replace(self, grid=Grid(fine), total=None)


@dataclass(frozen=True)
class KeyCounts:
    """How many rows hold each value of a column whose values are not public. A curator alone can ask this.

    Parameters
    ----------
    column : str
        Public. The column.
    """

    column: str


@dataclass(frozen=True)
class CellCounts:
    """How many rows are in each cell of a table with far too many cells to list. A curator alone can ask this.

    Parameters
    ----------
    of : callable
        Rows in; the places of the cell of each row that is in one, on all axes of the table, out.
    columns : tuple of str
        Public. The columns that `of` reads, in order.
    """

    of: Callable[[Array], NDArray[np.intp]]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class AllRecords:
    """All records at once, for a mechanism that needs more than a sum of them. A curator alone can ask this.

    Parameters
    ----------
    columns : tuple of str
        Public. The columns that the mechanism sees, in order.
    """

    columns: tuple[str, ...]


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
        Public. How long the answer takes, whatever happens; each block has an equal part of it.
    isolation : {"full", "process"}
        Public. What a process of the function's is kept from; see `discreet.trust.isolation`.
    """

    of: Callable[[Array], Any]
    columns: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    blocks: int
    deals: int = 1
    seconds: float = 60.0
    isolation: Literal["full", "process"] = "full"

    @property
    def bound(self) -> Bound:
        """The most that one record's blocks add."""
        return Bound("linf", float(self.deals))

    @property
    def grid(self) -> Grid:
        """The grid that the numbers are cut to."""
        return Grid.of_radius(1.0)

    def stretched(self, found: Array | None) -> Array:
        """What one block adds: in [-1, 1]; nothing, where there is no answer or no number."""
        low, high = np.array(self.lower), np.array(self.upper)
        with quiet():
            inside = np.clip(np.full(low.shape, np.nan) if found is None else found, low, high)
            return np.nan_to_num(np.clip((inside - (low / 2 + high / 2)) / (high / 2 - low / 2), -1.0, 1.0), nan=0.0)


Question = BoundedSum | KeyCounts | CellCounts | AllRecords | BlockSum
