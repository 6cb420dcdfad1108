"""What a method of making up records consists of: a plan of what is asked, and the model that the answers make."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np

from discreet.core.bound import Norm
from discreet.core.grid import Array, Steps
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.exponential import Exponential
from discreet.microdata.synthetic.known_counts import KnownCounts
from discreet.microdata.synthetic.number_cells import NumberCells, leaf_question
from discreet.questions.question import BoundedSum
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes, TableDistances, coded_tables_of
from discreet.releases.ask import ColumnsOf
from discreet.releases.spread import spread
from discreet.schema.schema import Category, Schema
from discreet.trust.permit import Permit

TITLE = "synthetic table"
MOST_ROWS = 2**24  # of a table: much noise may make the number of records look large


@dataclass(frozen=True)
class TableLayout:
    """What is known of the table before anything is asked: all of it public.

    Parameters
    ----------
    schema : Schema
        Of the data.
    columns : tuple of str
        Of the table.
    bins : int
        About how many cells a number has.
    pure : bool
        Whether there is no delta.
    curated : bool
        Whether somebody holds all records, and can choose by them what is counted.
    together : tuple of pairs
        Columns that public constraints name together, by their places.
    degree : int, optional
        How many columns depend on one another at once, where a method asks for it.
    target : int, optional
        The column that a method keeps best, by its place.
    """

    schema: Schema
    columns: tuple[str, ...]
    bins: int
    pure: bool
    curated: bool
    together: tuple[tuple[int, int], ...] = ()
    degree: int | None = None
    target: int | None = None

    @cached_property
    def pairs(self) -> tuple[AxisPlaces, ...]:
        """All pairs of columns."""
        return tuple(combinations(range(len(self.columns)), 2))

    @cached_property
    def most_cells(self) -> tuple[int, ...]:
        """Of each column, at most."""
        return tuple(1 + self._most(name) for name in self.columns)

    def _most(self, name: str) -> int:
        """Without the one for missing values."""
        kind, cells = self.schema.columns[name], self.numbers.get(name)
        if isinstance(kind, Category):
            return len(kind.values)
        return 2 * self.bins if cells is None else len(cells.edges) - 1

    @cached_property
    def numbers(self) -> dict[str, NumberCells | None]:
        """The cells of numbers, where they need not be counted."""
        names = [name for name in self.columns if not isinstance(self.schema.columns[name], Category)]
        return {name: NumberCells.few(self.schema.number(name), self.bins) for name in names}

    @property
    def counted(self) -> list[str]:
        """The numbers whose cells are found by counting."""
        return [name for name, cells in self.numbers.items() if cells is None]

    @property
    def norm(self) -> Norm:
        return "l1" if self.pure else "l2"

    def noise(self, share: float) -> Gaussian | Laplace:
        """For counts, at a share of a price of 1: of concentrated privacy, where there is a delta."""
        return Laplace(1 / share) if self.pure else Gaussian(1 / math.sqrt(2 * share))

    def choice(self, share: float) -> Exponential:
        """For choosing, at a share of a price of 1."""
        return Exponential(share if self.pure else math.sqrt(8 * share))


def total_of(ones: Sequence[Array], size: float | None) -> float:
    """The number of records: where it is secret, by the noisy sums of all columns, those of few cells first.

    Examples
    --------
    >>> total_of([np.array([6.0, 4.0]), np.array([8.0, 1.0, 3.0, 4.0])], None)
    12.0
    """
    if size is not None:
        return max(float(size), 1.0)
    weights = np.array([1 / len(own) for own in ones])
    return float(np.clip(weights @ [own.sum() for own in ones] / weights.sum(), 1.0, MOST_ROWS))


class SynthesisModel(ABC):
    """A distribution of records, made from noisy counts."""

    codes: TableCodes
    total: float
    copies: ClassVar[int] = 100  # with noise drawn again, from which it is seen how far noise moves a count

    @abstractmethod
    def measured(self, axes: AxisPlaces) -> AxisPlaces | None:
        """The columns of a counted table that has all of these, if there is one."""

    @abstractmethod
    def table(self, axes: AxisPlaces) -> Array:
        """How many records are in each cell of a counted table."""

    def known(self, axes: AxisPlaces) -> KnownCounts | None:
        """The counts of such a table as noise alone moved them, where that is said."""
        return None

    @abstractmethod
    def likelihood(self, places: Steps) -> Array:
        """The logarithm of how likely each record is, given by its cells; up to a constant."""

    @abstractmethod
    def counted_out(self, rows: int, generator: np.random.Generator) -> Steps:
        """Records, a cell for each column: as many in each cell as there should be, as nearly as possible."""

    @abstractmethod
    def again(self, generator: np.random.Generator) -> SynthesisModel:
        """What might have been made, had the counts been those of this model: noise is drawn on them again."""

    @abstractmethod
    def to_notes(self) -> dict[str, Any]:
        """All that it was made from, in a form that a ledger keeps; the cells are kept apart."""

    @classmethod
    @abstractmethod
    def of_notes(cls, codes: TableCodes, notes: Mapping[str, Any]) -> Self:
        """What was kept."""


@dataclass(frozen=True)
class SynthesisMethod(ABC):
    """What is asked for a synthetic table: all of it public.

    Parameters
    ----------
    layout : TableLayout
        The table.
    """

    layout: TableLayout
    model: ClassVar[type[SynthesisModel]]

    @classmethod
    def of(cls, layout: TableLayout) -> Self:
        """For a table, unless the method cannot make it."""
        return cls(layout)

    @property
    def weight(self) -> float:
        """What it asks beside the cells of numbers, in proportion to what methods ask of many columns."""
        return 1.0

    @abstractmethod
    def parts(self, share: float) -> tuple[Any, ...]:
        """The mechanisms, in the order in which they are used, at a share of a price of 1; cells are counted apart."""

    def kept(self, codes: TableCodes, notes: Mapping[str, Any]) -> SynthesisModel:
        """What was made, from what a ledger kept of it."""
        return self.model.of_notes(codes, notes)

    @abstractmethod
    def made(self, asker: TableAsker, mechanisms: Sequence[Any]) -> SynthesisModel:
        """All releases, with the mechanisms at their prices, and what they make."""


@dataclass(frozen=True)
class TableAsker:
    """Asks for tables of counts, and for the distances of tables from what is expected of them."""

    permit: Permit
    of: ColumnsOf
    codes: TableCodes
    norm: Norm

    @classmethod
    def counted(cls, permit: Permit, of: ColumnsOf, layout: TableLayout, mechanisms: Iterable[Any]) -> _WithCells:
        """One for the cells that noisy counts of numbers make, and these cells."""
        cells = {name: one for name, one in layout.numbers.items() if one is not None}
        for name, noise in zip(layout.counted, mechanisms, strict=False):
            question = leaf_question(of.schema, name, layout.norm)
            stddev = spread(of.data, question, noise).stddev
            released = permit.ask(question, noise)
            cells[name] = NumberCells.of(of.schema.number(name), released, stddev, layout.bins, layout.norm)
        edges = tuple(cells[name].edges if name in cells else () for name in of.columns)
        return cls(permit, of, TableCodes.of(of.schema, of.columns, edges), layout.norm), cells

    def counts(self, sets: Sequence[AxisPlaces], noise: Any) -> list[Array]:
        """Noisy tables."""
        found = self.permit.ask(self._question(sets), noise)
        sizes = [tuple(self.codes.sizes[axis] for axis in axes) for axes in sets]
        tables = np.split(found, np.cumsum([math.prod(size) for size in sizes])[:-1])
        return [table.reshape(size) for table, size in zip(tables, sizes, strict=True)]

    def stddev(self, sets: Sequence[AxisPlaces], noise: Any) -> float:
        """The deviation of the noise of so many tables."""
        return spread(self.of.data, self._question(sets), noise).stddev

    def farthest(
        self, sets: Sequence[AxisPlaces], expected: Sequence[Array], chooser: Any, penalties: Array, weights: Array
    ) -> Steps:
        """What a mechanism chooses among tables: those that are far from what is expected of them, less a penalty."""
        flat = np.concatenate([table.ravel() for table in expected])
        question = TableDistances(self.codes, tuple(sets), flat, weights, penalties)
        found: Steps = self.permit.ask(question, chooser)
        return found

    def total(self, ones: Sequence[Array]) -> float:
        """The number of records, public or noisy."""
        return total_of(ones, self.of.data.public_size)

    def _question(self, sets: Sequence[AxisPlaces]) -> BoundedSum:
        return coded_tables_of(self.of.schema, self.codes.columns, self.codes.edges, tuple(sets), self.norm)


_WithCells = tuple[TableAsker, dict[str, NumberCells]]
