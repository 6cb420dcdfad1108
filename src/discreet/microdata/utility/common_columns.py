"""What a released table and the data have in common: columns, cells, and the tables of counts that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.microdata.published_table import PublishedTable
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes
from discreet.questions.tables.domain import MOST_CELLS
from discreet.schema.schema import Category, Column, Number, Schema, Text

ASKED = "utility of a table"
MOST_ORDER, MOST_SETS = 3, 500  # columns of a table of counts, and tables of so many columns
SEED = 1  # which tables are compared, where there are too many, is no secret
BINS = 16


@dataclass(frozen=True)
class CommonColumns:
    """The columns that a released table has as the data have them, and cells to count them in: all public.

    Cells of numbers are those with equally many records of the released table, and one of its own for each value that
    is as frequent as that. A missing value has a cell of its own.

    Parameters
    ----------
    schema : Schema
        Of the data.
    records : array of shape (n, columns)
        The released records, of the columns in common.
    codes : TableCodes
        The cells of these.
    skipped : mapping of str to str
        The other columns of both, and why each is not compared.

    Examples
    --------
    >>> from discreet.core.events import NoPromise
    >>> from discreet.core.neighbors import RECORD, Neighbors
    >>> from discreet.core.receipt import Receipt
    >>> receipt = Receipt("example", NoPromise("made up"), 0.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
    >>> schema = Schema({"sex": Category(("f", "m")), "age": Category(("0-39", "40+"))})
    >>> rows = np.zeros((2, 2))
    >>> table = PublishedTable(name="example", receipt=receipt, confidence=None, schema=schema, records=rows)
    >>> common = CommonColumns.of(table, Schema({"age": Number(0, 90), "sex": Category(("f", "m")), "ill": Text()}))
    >>> common.columns, dict(common.skipped)
    (('sex',), {'age': 'it is another kind of column in the table', 'ill': 'it is not in the table'})
    """

    schema: Schema
    records: Array = field(repr=False)
    codes: TableCodes
    skipped: Mapping[str, str]

    @classmethod
    def of(cls, table: PublishedTable, schema: Schema, bins: int = BINS) -> CommonColumns:
        """Of a table and the schema of the data; refused, where they have nothing in common or there is no record."""
        check_whole(ASKED, "bins", bins, 2, 2**8)
        if not len(table):
            raise ParameterError(ASKED, "the table has no records", "Compare one that has.")
        skipped = {name: why for name in schema.columns if (why := _obstacle(name, table.schema, schema))}
        skipped |= {name: "it is not in the data" for name in table.schema.columns if name not in schema.columns}
        names = tuple(name for name in schema.columns if name not in skipped)
        if not names:
            raise ParameterError(ASKED, "the table and the data have no column in common", _why(skipped))
        records = table.records[:, [list(table.schema.columns).index(name) for name in names]]
        edges = [cell_edges(schema.columns[name], own, bins) for name, own in zip(names, records.T, strict=True)]
        return cls(schema, records, TableCodes.of(schema, names, edges), skipped)

    def without(self, columns: Mapping[str, str]) -> CommonColumns:
        """The same without some columns, each with the reason."""
        kept = [place for place, name in enumerate(self.columns) if name not in columns]
        skipped = {**self.skipped, **columns}
        if not kept:
            raise ParameterError(ASKED, "the table and the data have no column in common", _why(skipped))
        names, edges = zip(*((self.columns[place], self.codes.edges[place]) for place in kept), strict=True)
        return CommonColumns(self.schema, self.records[:, kept], TableCodes.of(self.schema, names, edges), skipped)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.codes.columns

    @cached_property
    def sets(self) -> tuple[AxisPlaces, ...]:
        """The tables of one, two and three columns that are compared: all, or some where they are too many."""
        found: list[AxisPlaces] = []
        for order in range(1, min(MOST_ORDER, len(self.columns)) + 1):
            every = list(combinations(range(len(self.columns)), order))
            some = np.random.default_rng(SEED).permutation(len(every))[:MOST_SETS] if len(every) > MOST_SETS else None
            found += every if some is None else [every[place] for place in sorted(some)]
        return tuple(self._fitting(found))

    def _fitting(self, sets: list[AxisPlaces]) -> list[AxisPlaces]:
        """As many of them as have few enough cells together, those of few columns first."""
        ends = np.cumsum([self.codes.cells(axes) for axes in sets])
        return [axes for axes, end in zip(sets, ends, strict=True) if end <= MOST_CELLS]

    @property
    def names(self) -> tuple[str, ...]:
        """What each table of counts is about."""
        return tuple(", ".join(self.columns[axis] for axis in axes) for axes in self.sets)

    @cached_property
    def shares(self) -> Array:
        """The share of the released records in each cell of each table, one table after another."""
        return shares_of(self.codes, self.sets, self.records)


def shares_of(codes: TableCodes, sets: tuple[AxisPlaces, ...], records: Array) -> Array:
    """The share of records in each cell of each table, one table after another."""
    return np.concatenate(codes.counted(codes.places(records), sets)) / max(len(records), 1)


def cell_edges(column: Column, values: Array, bins: int) -> tuple[float, ...]:
    """The edges of a number's cells, by released values; none for a category.

    Examples
    --------
    >>> cell_edges(Number(0, 10), np.array([0.0] * 6 + [1.0, 2.0, 3.0, 4.0, np.nan]), 2)
    (0.0, 5e-324, 10.0)
    """
    if not isinstance(column, Number):
        return ()
    there = values[~np.isnan(values)]
    own, counts = np.unique(there, return_counts=True)
    atoms = own[counts * bins >= max(len(there), 1)]
    cuts = np.quantile(there, np.linspace(0, 1, bins + 1)[1:-1], method="lower") if len(there) else there
    inner = np.concatenate([cuts, atoms, np.nextafter(atoms, np.inf)])
    lower, upper = float(column.lower), float(column.upper)
    return tuple(np.unique([lower, *inner[(inner > lower) & (inner < upper)], upper]).tolist())


def check_published(table: Any) -> None:
    """Refuse what is no released table, without a word about what it holds."""
    if not isinstance(table, PublishedTable):
        obstacle = "no table is given" if table is None else f"the table is a {type(table).__name__}"
        raise ParameterError(ASKED, obstacle, "Give a PublishedTable, such as `synthesize` releases.")


def _obstacle(name: str, table: Schema, data: Schema) -> str:
    """Why a column of the data is not compared; nothing, where it is."""
    if name not in table.columns:
        return "it is not in the table"
    ours, theirs = table.columns[name], data.columns[name]
    if isinstance(theirs, Text) or isinstance(ours, Text):
        return "its values are text"
    if type(ours) is not type(theirs):
        return "it is another kind of column in the table"
    if isinstance(ours, Category) and isinstance(theirs, Category) and ours.values != theirs.values:
        return "it has other values in the table"
    return ""


def _why(skipped: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in list(skipped.items())[:8]) + "."
