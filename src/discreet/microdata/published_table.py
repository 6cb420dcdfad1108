"""A table of records that is given away."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.checks import quoted
from discreet.core.errors import MissingExtra, SchemaError
from discreet.core.grid import Array
from discreet.display.notebook import carded, facts, folded, grid
from discreet.display.plain import plain
from discreet.ledger.own_file import replace_own
from discreet.releases.columns import KEPT, Columns, Series
from discreet.releases.drawing import drawn_on
from discreet.releases.table import Tabular
from discreet.schema.dates import Date, Temporal
from discreet.schema.schema import Category, Column, Number, Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 8  # rows that are printed
BARS = 24  # of a number that is drawn
MOST_WHOLE = 2.0**63  # below it, an integer of 64 bits holds a whole number


@dataclass(frozen=True, kw_only=True)
class PublishedTable(Tabular):
    """Records that are given away, in no order of the original.

    Parameters
    ----------
    schema : Schema
        What the columns are: those of the original, or coarser ones.
    records : array of shape (n, columns)
        The rows: numbers, places in the lists of categories, nan where a value is missing.
    notes : mapping
        What else was released, by the method.

    Examples
    --------
    >>> from discreet.core.events import NoPromise
    >>> from discreet.core.neighbors import RECORD, Neighbors
    >>> from discreet.core.receipt import Receipt
    >>> receipt = Receipt("example", NoPromise("made up"), 0.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
    >>> schema = Schema({"age": Number(0, 120, step=1), "sex": Category(("f", "m"))})
    >>> rows = np.array([[31.0, 0.0], [np.nan, 1.0]])
    >>> table = PublishedTable(name="example", receipt=receipt, confidence=None, schema=schema, records=rows)
    >>> table["sex"], table["age"]
    (array(['f', 'm'], dtype=object), array([31., nan]))
    >>> print(table)
    example: 2 records
    age  sex
     31    f
           m
    """

    schema: Schema
    records: Array = field(repr=False)
    notes: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        columns = self.schema.columns
        if self.records.ndim != 2 or self.records.shape[1] != len(columns):
            raise SchemaError(self.name, f"its records do not have {len(columns)} values each", "Give one by column.")
        for (name, column), values in zip(columns.items(), self.records.T, strict=True):
            if not _fit(column, values[~np.isnan(values)]):
                obstacle = f"the table has a value of {name} that is not in its schema"
                raise SchemaError(self.name, obstacle, "Give the table as it was released.")

    def __len__(self) -> int:
        return len(self.records)

    @property
    def values(self) -> Array:
        """The records, as numbers and places."""
        return self.records

    def __getitem__(self, name: str) -> Any:
        """A column by its name, as users know its values: texts, numbers or times."""
        return self.decoded[name]

    @cached_property
    def decoded(self) -> dict[str, Any]:
        """All columns as users know their values; a missing one is None, nan or not a time."""
        columns = zip(self.schema.columns.items(), self.records.T, strict=True)
        return {name: _decoded(column, values) for (name, column), values in columns}

    def tabulated(self) -> Columns:
        """A row for each column: how many values are there, and how many of them are different."""
        there = ~np.isnan(self.records)
        distinct = [len(np.unique(own[here])) for own, here in zip(self.records.T, there.T, strict=True)]
        columns = self.schema.columns
        labels = {"column": tuple(columns), "kind": tuple(type(column).__name__ for column in columns.values())}
        series = Series("values", there.sum(axis=0).astype(np.float64)), Series("distinct", np.array(distinct, float))
        return Columns(labels, series)

    def to_dict(self) -> dict[str, Any]:
        """The records column by column, and the receipt; None where a value is missing."""
        texts = {name: [None if text == "" else text for text in self._texts(name)] for name in self.schema.columns}
        about = {"kind": type(self).__name__, "name": self.name, "rows": len(self), "columns": texts}
        return {**about, "receipt": self.receipt.to_dict()}

    def to_pandas(self) -> Any:
        """The records as a pandas data frame; a category has the values of the schema.

        Raises
        ------
        MissingExtra
            pandas is not installed.
        """
        pandas = _library("pandas", "a data frame")
        frame = pandas.DataFrame(self.decoded)
        for name, column in self.schema.columns.items():
            if isinstance(column, Category):
                frame[name] = pandas.Categorical(frame[name], categories=column.values)
            elif _is_whole(column, self.decoded[name]):
                frame[name] = frame[name].astype("Int64" if frame[name].isna().any() else "int64")
        return frame

    def to_csv(self, path: str | Path) -> None:
        """Write the records to a CSV file; a missing value is empty.

        Parameters
        ----------
        path : path
            Of the file; one that is there is replaced, as a whole.
        """
        lines = _Lines()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(self.schema.columns)
        writer.writerows(zip(*map(self._texts, self.schema.columns), strict=True))
        replace_own(path, "".join(lines.texts).encode())

    def to_parquet(self, path: str | Path) -> None:
        """Write the records to a Parquet file; whole numbers are integers, a missing value is null.

        Parameters
        ----------
        path : path
            Of the file; one that is there is replaced, as a whole.

        Raises
        ------
        MissingExtra
            pyarrow is not installed.
        """
        arrow, parquet = (_library(name, "a Parquet file") for name in ("pyarrow", "pyarrow.parquet"))
        arrays = {name: self._arrow(arrow, name) for name in self.schema.columns}
        sink = arrow.BufferOutputStream()
        parquet.write_table(arrow.table(arrays), sink)
        replace_own(path, sink.getvalue().to_pybytes())

    def _arrow(self, arrow: Any, name: str) -> Any:
        """A column as Arrow has it."""
        values = self.decoded[name]
        if _is_whole(self.schema.columns[name], values):
            missing = np.isnan(values)
            return arrow.array(np.where(missing, 0, values).astype(np.int64), mask=missing)
        return arrow.array(_plain(values), from_pandas=True)

    def draw(self, ax: Axes) -> None:
        """The values of the first column."""
        self._draw(ax, next(iter(self.schema.columns)))

    def plot(self, ax: Axes | None = None, column: str | None = None) -> Axes:
        """Draw how often each value of a column occurs.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure, which a notebook shows.
        column : str, optional
            Which column; by default the first.
        """
        name = next(iter(self.schema.columns)) if column is None else column
        if not (isinstance(name, str) and name in self.schema.columns):
            remedy = f"There are {', '.join(self.schema.columns)}."
            raise SchemaError(self.name, f"there is no column {quoted(name)}", remedy)
        ax = drawn_on(self.name, ax)
        self._draw(ax, name)
        return ax

    def _draw(self, ax: Axes, name: str) -> None:
        column, values = self.schema.columns[name], self.records[:, list(self.schema.columns).index(name)]
        there = values[~np.isnan(values)]
        if isinstance(column, Category):
            ax.bar(list(column.values), np.bincount(there.astype(np.intp), minlength=len(column.values)))
        elif isinstance(column, Number):
            ax.hist(there, BARS, range=(column.lower, column.upper))
        ax.set_xlabel(name)
        ax.set_ylabel("records")

    def _texts(self, name: str) -> list[str]:
        """The values of a column as texts, empty where one is missing."""
        column, values = self.schema.columns[name], self.decoded[name]
        if isinstance(column, Category):
            return ["" if value is None else value for value in values]
        if isinstance(column, Temporal):
            return ["" if text == "NaT" else text for text in values.astype(str)]
        numbers = values.tolist()
        if _is_whole(column, values):
            return ["" if value != value else str(int(value)) for value in numbers]
        return ["" if value != value else repr(value) for value in numbers]

    def _first(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The names, and the first rows as texts."""
        some = PublishedTable(
            name=self.name, receipt=self.receipt, confidence=None, schema=self.schema, records=self.records[:SHOWN]
        )
        return tuple(self.schema.columns), list(zip(*map(some._texts, self.schema.columns), strict=True))

    def __str__(self) -> str:
        names, rows = self._first()
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in (names, *rows)
        ]
        more = [f"... and {len(self) - SHOWN} more"] if len(self) > SHOWN else []
        return "\n".join(map(plain, [f"{self.asked}: {len(self)} records", *lines, *more]))

    def _repr_html_(self) -> str:
        names, rows = self._first()
        shown = grid(f"{self.asked}: {len(self)} records", names, rows)
        return carded(shown, folded(self.receipt.cost, facts(self.receipt.lines())))


class _Lines:
    """A file in memory that keeps what is written."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> None:
        self.texts.append(text)


def _fit(column: Column, values: Array) -> bool:
    """Whether values are places in the list of a category, or finite numbers."""
    if isinstance(column, Category):
        return bool(((values >= 0) & (values < len(column.values)) & (values == np.rint(values))).all())
    return bool(np.isfinite(values).all())


def _decoded(column: Column, values: Array) -> Any:
    missing = np.isnan(values)
    if isinstance(column, Category):
        names = np.array([*column.values, None], dtype=object)
        return names[np.where(missing, len(column.values), values).astype(np.intp)]
    if isinstance(column, Temporal):
        unit = "D" if isinstance(column, Date) else "s"
        found = np.where(missing, 0, values).astype(np.int64).astype(f"M8[{unit}]")
        found[missing] = np.datetime64("NaT")
        return found
    return values


def _is_whole(column: Column, values: Any) -> bool:
    """Whether a number has whole values alone, by its schema and in fact, and an integer of 64 bits holds them."""
    if not isinstance(column, Number) or isinstance(column, Temporal) or column.step is None:
        return False
    whole = float(column.step).is_integer() and float(column.lower).is_integer()
    there = values[~np.isnan(values)]
    return whole and bool(((there == np.rint(there)) & (np.abs(there) < MOST_WHOLE)).all())


def _plain(values: Any) -> Any:
    """Times in the units that Arrow has, all else as it is."""
    return values.astype("M8[s]") if values.dtype.kind == "M" else values


def _library(name: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as why:
        raise MissingExtra(what, f"{name} is not installed", "Run: pip install 'discreet[frames]'.", KEPT) from why
