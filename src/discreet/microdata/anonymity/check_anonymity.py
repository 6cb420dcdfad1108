"""How anonymous a table is, for its owner: exact figures, NOT PRIVATE."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from math import comb, prod
from numbers import Real
from typing import Any

import numpy as np

from discreet.core.checks import names_of
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.grid import Steps
from discreet.core.parameters import checked
from discreet.display.notebook import carded, facts
from discreet.display.plain import plain
from discreet.mechanisms.microdata.equivalence_classes import ClassCounts, joint_codes
from discreet.microdata.published_table import PublishedTable
from discreet.releases.columns import Columns, Series
from discreet.releases.release import finite
from discreet.schema.roles import Roles
from discreet.schema.schema import Number

TITLE = "anonymity"
WORK = 2**25  # records, times sets of columns, that shares are computed for
WARNING = "NOT PRIVATE: exact figures of the records, for their owner"


@dataclass(frozen=True)
class SensitiveFigures:
    """How the values of a sensitive column are spread in the class that is worst in each respect.

    Parameters
    ----------
    name : str
        Of the column.
    distinct : int
        l of distinct l-diversity: the fewest values in a class.
    entropy : float
        l of entropy l-diversity: the exponential of the least entropy.
    recursive : float
        What c of recursive (c, l)-diversity must exceed, with l as in `distinct`.
    t : float
        Of t-closeness: the greatest earth mover's distance of a class from the table.
    ordered : bool
        Whether that is by the order of values; else all values are equally far from one another.
    """

    name: str
    distinct: int
    entropy: float
    recursive: float
    t: float
    ordered: bool

    @classmethod
    def of(cls, name: str, counts: ClassCounts, whole: Steps, ordered: bool) -> SensitiveFigures:
        """From the counts of values in classes."""
        least = int(counts.distinct.min())
        worst = float((counts.largest / counts.tail(least)).max())
        distance = float(counts.distance(whole, ordered).max())
        return cls(name, least, float(np.exp(counts.entropy.min())), worst, max(distance, 0.0), ordered)


@dataclass(frozen=True)
class ColumnRisk:
    """What a quasi-identifier adds to the risk that somebody is recognised.

    Parameters
    ----------
    name : str
        Of the column.
    alone : int
        How many records are unique by this column alone.
    vanish : int
        How many unique records are not unique any more when it is left out.
    share : float
        Its part of the unique records by Shapley's rule: the mean, over all orders in which columns become known, of
        the number of records that this one makes unique. Shares add up to the number of unique records. nan, where
        there are too many records and columns to compute it.
    """

    name: str
    alone: int
    vanish: int
    share: float


@dataclass(frozen=True)
class AnonymityReport:
    """How anonymous a table is: exact figures, NOT PRIVATE.

    Parameters
    ----------
    records, classes : int
        How many there are; records of one class are alike in all quasi-identifiers.
    k : int
        The size of the smallest class.
    uniques : int
        How many records are alone in their class.
    sensitive : tuple of SensitiveFigures
        One for each sensitive column.
    columns : tuple of ColumnRisk
        One for each quasi-identifier.
    identifying : tuple of str
        The identifying columns that are still in the table: they name people, whatever k is.

    Examples
    --------
    >>> report = check_anonymity({"age": [31, 31, 40]}, {"age": "quasi-identifier"})
    >>> report.k, report.uniques, report.to_dict()["columns"][0]["vanish"]
    (1, 1, 1)
    """

    records: int
    classes: int
    k: int
    uniques: int
    sensitive: tuple[SensitiveFigures, ...]
    columns: tuple[ColumnRisk, ...]
    identifying: tuple[str, ...] = ()

    @property
    def l(self) -> int | None:  # noqa: E743
        """The least l of distinct l-diversity; None without a sensitive column."""
        return min((one.distinct for one in self.sensitive), default=None)

    @property
    def t(self) -> float | None:
        """The greatest t of t-closeness; None without a sensitive column."""
        return max((one.t for one in self.sensitive), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts."""
        own = {name: getattr(self, name) for name in ("records", "classes", "k", "uniques")}
        columns = [{**vars(one), "share": None if np.isnan(one.share) else one.share} for one in self.columns]
        sensitive = [dict(vars(one)) for one in self.sensitive]
        identifying = list(self.identifying)
        return {"warning": WARNING, **own, "sensitive": sensitive, "columns": columns, "identifying": identifying}

    def _facts(self) -> dict[str, str]:
        named = f"{', '.join(self.identifying)}: still there, and names people whatever k is"
        return {
            "records": f"{self.records:,} in {self.classes:,} classes",
            "k": f"{self.k:,}",
            "unique records": f"{self.uniques:,}",
            **({"identifying": named} if self.identifying else {}),
        }

    def _tables(self) -> list[tuple[str, Columns]]:
        names = {"l": "distinct", "l by entropy": "entropy", "c above": "recursive", "t": "t"}
        found = []
        if self.sensitive:
            labels = {"sensitive": tuple(one.name for one in self.sensitive)}
            found.append(("the worst class", Columns(labels, _series(names, self.sensitive))))
        names = {"unique alone": "alone", "vanish without": "vanish", "share of uniques": "share"}
        labels = {"quasi-identifier": tuple(one.name for one in self.columns)}
        return [*found, ("unique records by column", Columns(labels, _series(names, self.columns)))]

    def __str__(self) -> str:
        lines = [f"{name}: {text}" for name, text in self._facts().items()]
        tables = [table.text() for _, table in self._tables()]
        return "\n".join([f"{TITLE} ({WARNING})", *map(plain, lines), *tables])

    def to_html(self) -> str:
        """The report as a page of its own: it needs no network and runs no script."""
        head = f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{TITLE} (NOT PRIVATE)</title></head>"
        return f"{head}<body>{self._repr_html_()}</body></html>"

    def to_json(self) -> str:
        """The same as `to_dict` as JSON; null for what is not a finite number."""
        return json.dumps(finite(self.to_dict()), allow_nan=False)

    def _repr_html_(self) -> str:
        tables = [table.html(title) for title, table in self._tables()]
        return carded(facts({TITLE: WARNING, **self._facts()}), *tables)


def _series(names: Mapping[str, str], rows: Sequence[Any]) -> tuple[Series, ...]:
    return tuple(
        Series(title, np.array([getattr(row, name) for row in rows], np.float64)) for title, name in names.items()
    )


@checked
def check_anonymity(table: Any, roles: Mapping[str, str] | Roles, *, ordered: Sequence[str] = ()) -> AnonymityReport:
    """Say how anonymous a table is: k, l, t, unique records, and what each column adds to the risk. NOT PRIVATE.

    It reads records and gives exact figures, without a ledger: it is for the owner of the table, or for a table that
    was given away already. A missing value is a value of its own; among values with an order it is the last.

    Parameters
    ----------
    table : data frame, mapping of str to sequences, or PublishedTable
        The records.
    roles : mapping of str to str, or Roles
        What columns are: "quasi-identifier", "sensitive", "identifying" or "other". Only the first two are looked at;
        identifying ones are named where they are still in the table.
    ordered : sequence of str
        Sensitive columns whose values have an order though they are no numbers or dates: that of the list of a
        published table, or else of their texts.

    Returns
    -------
    AnonymityReport
        All figures; it prints, and `to_dict` gives plain numbers.

    Examples
    --------
    >>> people = {"age": [31, 31, 40, 40], "sex": ["f", "f", "m", None], "ill": ["flu", "cold", "flu", "flu"]}
    >>> roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "ill": "sensitive"}
    >>> print(check_anonymity(people, roles))
    anonymity (NOT PRIVATE: exact figures of the records, for their owner)
    records: 4 in 3 classes
    k: 1
    unique records: 2
    sensitive  l  l by entropy  c above     t
          ill  1             1        1  0.25
    quasi-identifier  unique alone  vanish without  share of uniques
                 age             0               0                 0
                 sex             2               2                 2
    """
    own = Roles(roles)
    if not own.quasi_identifiers:
        remedy = 'Say which columns others may know: roles={"age": "quasi-identifier"}.'
        raise SchemaError(TITLE, "no column is a quasi-identifier", remedy)
    columns = _columns(table, (*own.quasi_identifiers, *own.sensitive), names_of(ordered))
    quasi = [columns[name] for name in own.quasi_identifiers]
    keys = joint_codes([one.codes for one in quasi], [one.count for one in quasi])
    _, classes, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    sensitive = [
        SensitiveFigures.of(
            name,
            ClassCounts.of(classes.reshape(-1), columns[name].codes, len(sizes)),
            np.bincount(columns[name].codes),
            columns[name].ordered,
        )
        for name in own.sensitive
    ]
    uniques = int((sizes == 1).sum())
    risks = _risks(own.quasi_identifiers, quasi)
    named = tuple(name for name in own.identifying if name in _there(table))
    return AnonymityReport(len(keys), len(sizes), int(sizes.min()), uniques, tuple(sensitive), risks, named)


@dataclass(frozen=True)
class _Coded:
    """A column by numbers from zero: equal values have equal ones, and where there is an order, they are in it."""

    codes: Steps
    count: int
    ordered: bool


def _there(table: Any) -> dict[str, Any]:
    """All columns of a table, by name."""
    if isinstance(table, PublishedTable):
        return dict(zip(table.schema.columns, table.records.T, strict=True))
    if hasattr(table, "column_names") or hasattr(table, "columns") or isinstance(table, Mapping):
        listed = getattr(table, "column_names", None)
        places = list(table if isinstance(table, Mapping) else table.columns if listed is None else listed)
        return {str(name): table[name] for name in places}
    remedy = "Give a data frame, a mapping of columns, or a published table."
    raise ParameterError(TITLE, f"a {type(table).__name__} is no table", remedy)


def _columns(table: Any, names: Iterable[str], ordered: Sequence[str]) -> dict[str, _Coded]:
    """The columns of these names."""
    there, numbers = _there(table), None
    if isinstance(table, PublishedTable):
        numbers = {name for name, column in table.schema.columns.items() if isinstance(column, Number)}
    found = {}
    for name in dict.fromkeys(names):
        if name not in there:
            raise SchemaError(TITLE, f"there is no column {name!r}", f"There are {', '.join(map(str, there))}.")
        found[name] = _coded(name, there[name], name in ordered)
        if numbers is not None:
            found[name] = _Coded(found[name].codes, found[name].count, name in numbers or name in ordered)
    lengths = {len(one.codes) for one in found.values()}
    if len(lengths) != 1 or lengths == {0}:
        obstacle = "there are no records" if lengths == {0} else "its columns differ in length"
        raise ParameterError(
            TITLE, obstacle, "Give a table with the same number of values in each column, at least one."
        )
    return found


def _coded(name: str, column: Any, ordered: bool) -> _Coded:
    values = np.asarray(column)
    if values.ndim != 1:
        raise ParameterError(TITLE, f"column {name!r} has {values.ndim} dimensions", "Give one value for each record.")
    if values.dtype.kind in "biufmMUS":
        distinct, codes = np.unique(values, return_inverse=True)
        return _Coded(codes.reshape(-1), len(distinct), ordered or values.dtype.kind in "iufmM")
    return _of_objects(name, values.tolist(), ordered)


def _of_objects(name: str, values: list[Any], ordered: bool) -> _Coded:
    """The same of values of any kind, by their hashes."""
    try:
        every = list(dict.fromkeys(values))
    except TypeError as why:
        obstacle = f"column {name!r} has values that cannot be compared"
        raise ParameterError(TITLE, obstacle, "Give numbers, texts, dates or truth values.") from why
    there, absent = [one for one in every if not _absent(one)], [one for one in every if _absent(one)]
    kinds = tuple({type(value) for value in there})
    comparable = bool not in kinds and all(issubclass(kind, Real | Decimal) for kind in kinds)
    dates = len(kinds) == 1 and issubclass(kinds[0], datetime.date)
    if comparable or dates:
        there.sort()
    elif ordered:
        there.sort(key=str)
    places = {**{value: place for place, value in enumerate(there)}, **dict.fromkeys(absent, len(there))}
    codes = np.fromiter(map(places.__getitem__, values), np.int64, len(values))
    return _Coded(codes, len(there) + bool(absent), ordered or (bool(there) and (comparable or dates)))


def _absent(value: Any) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _risks(names: Sequence[str], columns: Sequence[_Coded]) -> tuple[ColumnRisk, ...]:
    every = tuple(range(len(columns)))
    few = len(columns[0].codes) << min(len(columns), 60) <= WORK
    sizes = every if few else (0, len(every) - 2)
    sets = {places for size in sizes for places in combinations(every, size + 1)} | {(), every}
    found = {places: _uniques(columns, places) for places in sets}
    shares = _shares(found, len(columns)) if few else [float("nan")] * len(columns)
    vanish = [found[every] - found[tuple(other for other in every if other != place)] for place in every]
    figures = zip(names, every, vanish, shares, strict=True)
    return tuple(ColumnRisk(name, found[place,], gone, share) for name, place, gone, share in figures)


def _uniques(columns: Sequence[_Coded], places: tuple[int, ...]) -> int:
    """How many records are unique by some columns; by none, a record that is the only one."""
    records = len(columns[0].codes)
    if not places:
        return int(records == 1)
    counts = [columns[place].count for place in places]
    keys = joint_codes([columns[place].codes for place in places], counts)
    if prod(counts) <= 4 * records + 1024:
        return int((np.bincount(keys) == 1).sum())
    keys = np.sort(keys)
    apart = np.concatenate([[True], keys[1:] != keys[:-1], [True]])
    return int((apart[1:] & apart[:-1]).sum())


def _shares(found: Mapping[tuple[int, ...], int], number: int) -> list[float]:
    """Shapley's value of each column, from the numbers of unique records by all sets of columns."""
    shares = np.zeros(number)
    for places, count in found.items():
        for one in set(range(number)) - set(places):
            more = found[tuple(sorted((*places, one)))] - count
            shares[one] += more / (number * comb(number - 1, len(places)))
    return [float(share) for share in shares]
