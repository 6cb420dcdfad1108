"""A table as an adversary reads it: columns by name, of numbers or of texts, in the order of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import EXACT, instead_of, is_number, names_of, quoted
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

Values = NDArray[Any]
Codes = NDArray[np.int64]
UNKNOWN = -1  # the code of a missing value


@dataclass(frozen=True)
class TableColumns:
    """Columns of one length. Numbers and times are floats, with nan for a missing one; all else is text, or None.

    Parameters
    ----------
    columns : mapping of str to array
        By name, in the order of the table.
    asked : str
        The attack, for errors.

    Examples
    --------
    >>> table = TableColumns.of("example", {"age": [31, None], "town": ["a", "b"]})
    >>> table["age"], table["town"].tolist(), len(table)
    (array([31., nan]), ['a', 'b'], 2)
    """

    columns: Mapping[str, Values] = field(repr=False)
    asked: str

    @classmethod
    def of(cls, asked: str, table: Any) -> TableColumns:
        """From a released table, a data frame, a mapping of columns, or an array of numbers (columns x0, x1, ...)."""
        if isinstance(table, TableColumns):
            return cls(table.columns, asked)
        given = _columns_of(table)
        if given is None:
            obstacle = f"a table is a {type(table).__name__}"
            raise ParameterError(asked, obstacle, "Give a released table, a data frame, or a mapping of columns.")
        columns = {str(name): read_column(values) for name, values in given.items()}
        sizes = {len(values) for values in columns.values()}
        if len(sizes) != 1 or sizes == {0}:
            obstacle = f"a table has columns of {', '.join(map(str, sorted(sizes))) or 'no'} rows"
            raise ParameterError(asked, obstacle, "Give columns of one length, with at least one row.")
        return cls(columns, asked)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Values:
        if name not in self.columns:
            obstacle = f"a table has no column {quoted(name)}"
            raise ParameterError(self.asked, obstacle, instead_of(name, self.columns), column=name)
        return self.columns[name]

    def is_number(self, name: str) -> bool:
        """Whether a column holds numbers or times."""
        return self[name].dtype.kind == "f"

    def rows(self, places: Any) -> TableColumns:
        """Some of the rows."""
        return TableColumns({name: values[places] for name, values in self.columns.items()}, self.asked)

    def named(self, columns: Sequence[str] | None, *others: TableColumns) -> tuple[str, ...]:
        """These columns, or all that the tables share; each is there, and of one kind, in every table."""
        shared = [name for name in self.columns if all(name in other.columns for other in others)]
        names = tuple(shared) if columns is None else tuple(dict.fromkeys(names_of(columns)))
        if not names:
            raise ParameterError(self.asked, "the tables share no column", "Give tables with columns of one name.")
        for name in names:
            if len({table.is_number(name) for table in (self, *others)}) > 1:
                obstacle = f"column {quoted(name)} has numbers in one table and texts in another"
                raise ParameterError(self.asked, obstacle, "Give both alike, or name other columns.", column=name)
        return names


def read_column(values: Any) -> Values:
    """Values as floats, if all that are there are numbers or times; otherwise as texts, with None for missing ones."""
    try:
        found = np.asarray(values)
    except ValueError:  # cells that are lists of unequal lengths
        found = np.empty((0, 0))
    if found.ndim != 1:
        found = np.fromiter(values, dtype=object, count=len(values))
    if found.dtype.kind in "Mm":
        return np.where(np.isnat(found), np.nan, found.astype(f"{found.dtype.kind}8[us]").astype(np.int64) / 1e6)
    if found.dtype.kind in "fiub" and (found.dtype.kind == "f" or np.abs(found.astype(float)).max(initial=0) < EXACT):
        return found.astype(np.float64)
    cells = [None if _is_missing(cell) else cell for cell in found.tolist()]
    if all(cell is None or (is_number(cell) and abs(cell) < EXACT) for cell in cells):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    return np.array([None if cell is None else str(cell) for cell in cells], dtype=object)


def shared_codes(first: Values, second: Values) -> tuple[Codes, Codes]:
    """Whole numbers that are alike where values of two columns of one kind are, and -1 for a missing value."""
    if first.dtype.kind == "f":
        both = np.concatenate([first, second])
        codes = np.unique(both, return_inverse=True)[1].astype(np.int64)
        codes[np.isnan(both)] = UNKNOWN
        return codes[: len(first)], codes[len(first) :]
    places: dict[str | None, int] = {None: UNKNOWN}
    for text in dict.fromkeys([*first, *second]):
        places.setdefault(text, len(places) - 1)
    return tuple(np.array([places[text] for text in part], dtype=np.int64) for part in (first, second))  # type: ignore[return-value]


def row_codes(first: TableColumns, second: TableColumns, names: Sequence[str]) -> tuple[Codes, Codes]:
    """The same for rows: alike where all these columns are, and -1 where a value of one is missing."""
    here, there = np.zeros(len(first), dtype=np.int64), np.zeros(len(second), dtype=np.int64)
    for name in names:
        one, other = shared_codes(first[name], second[name])
        size = max(one.max(initial=0), other.max(initial=0)) + 1
        here, there = (
            np.where((rows < 0) | (own < 0), UNKNOWN, rows * size + own) for rows, own in ((here, one), (there, other))
        )
        dense = np.unique(np.concatenate([here, there, [UNKNOWN]]), return_inverse=True)[1].astype(np.int64) - 1
        here, there = dense[: len(first)], dense[len(first) : -1]
    return here, there


def coded_numbers(table: TableColumns, other: TableColumns, name: str) -> tuple[Array, Array]:
    """A column of two tables as numbers: itself, or the codes of its texts; nan for a missing value."""
    if table.is_number(name):
        return table[name], other[name]
    pair = shared_codes(table[name], other[name])
    return tuple(np.where(codes < 0, np.nan, codes) for codes in pair)  # type: ignore[return-value]


def _columns_of(table: Any) -> Mapping[Any, Any] | None:
    if isinstance(table, Mapping):
        return table
    if hasattr(table, "decoded"):
        return dict(table.decoded)
    if isinstance(table, np.ndarray) and table.ndim == 2:
        return {f"x{place}": column for place, column in enumerate(table.T)}
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        return {name: table[name] for name in table.columns}
    return None


def _is_missing(cell: Any) -> bool:
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)
