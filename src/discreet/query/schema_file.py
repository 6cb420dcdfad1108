"""The schema as a TOML file: what is public about a table, written by somebody who did not look at the rows.

    neighbors = "add_remove"        # or "replace"

    [unit]                          # may be left out: one record
    kind = "user"
    column = "patient"
    rows = 3                        # or pooled = true: all rows, clipped together to the bound of one

    [columns.age]
    kind = "number"                 # values outside are moved to the nearer bound
    lower = 0
    upper = 120

    step = 1                        # may be left out: the values are whole numbers

    [columns.sex]
    kind = "category"               # other values count as missing
    values = ["f", "m"]

    [columns.smoker]
    kind = "boolean"

    [columns.admitted]
    kind = "date"                   # or "datetime", to the second
    lower = 2020-01-01
    upper = 2024-12-31

    [columns.town]
    kind = "text"                   # values are named only if many records share them
    role = "quasi-identifier"       # or "identifying", "sensitive", "other"; "other" where it is left out

A column that the file does not mention is never read. `tables_file`, `federation_file` and `task_file` add tables
of their own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.errors import ParameterError, SchemaError
from discreet.core.neighbors import RECORD, Neighbors, Unit, check_protected
from discreet.schema.dates import Date, Datetime
from discreet.schema.roles import ROLES, Roles
from discreet.schema.schema import Boolean, Category, Column, Number, Schema, Text

KEYS: dict[str, tuple[str, ...]] = {
    "number": ("lower", "upper"),
    "date": ("lower", "upper"),
    "datetime": ("lower", "upper"),
    "category": ("values",),
    "boolean": (),
    "text": (),
}
OPTIONAL: dict[str, tuple[str, ...]] = {"number": ("step",)}
UNITS = ("record", "user", "edge", "node", "event")
KINDS = (
    'Write kind = "number", "date" or "datetime" with lower and upper, kind = "category" with values, kind = "boolean" '
    'or kind = "text".'
)


@dataclass(frozen=True)
class SchemaFile:
    """All that is public about a table.

    Parameters
    ----------
    schema : Schema
        Its columns.
    neighbors : Neighbors
        Which tables must look alike.
    unit : Unit
        Whose presence is hidden.
    roles : Roles
        What its columns are to somebody who wants to recognise people: for tables that are given away.
    """

    schema: Schema
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    unit: Unit = RECORD
    roles: Roles = field(default_factory=Roles)


def read_schema(path: str | Path) -> SchemaFile:
    """The schema in a TOML file; `SchemaError` at the first mistake, with the file, the column and the way out."""
    where = f"schema {path}"
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as why:
        raise SchemaError(where, f"it cannot be read ({why})", "Give the path of a TOML file.") from why
    return parsed(text, where)


def parsed(text: str, where: str = "schema") -> SchemaFile:
    r"""The schema in a TOML text.

    Examples
    --------
    >>> parsed('[columns.age]\nkind = "number"\nlower = 0\nupper = 120').schema.number("age")
    Number(lower=0.0, upper=120.0)
    """
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as why:
        raise SchemaError(where, f"it is not TOML: {why}", "Correct that line.") from why
    return read_document(document, where)


def read_document(document: Any, where: str = "schema") -> SchemaFile:
    """The schema in a document: what a TOML file comes to, or `document_of` gives.

    Examples
    --------
    >>> described = SchemaFile(Schema({"age": Number(0, 120), "admitted": Date("2020-01-01", "2024-12-31")}))
    >>> read_document(document_of(described)) == described
    True
    """
    check_known(document, ("neighbors", "unit", "columns", "tables", "federation", "task"), where)
    columns = document.get("columns")
    if not isinstance(columns, dict) or not columns:
        raise SchemaError(where, "it describes no column", "Add a [columns.NAME] table for each column.")
    return SchemaFile(
        Schema({name: _column(entry, f"{where}, column {name!r}") for name, entry in columns.items()}),
        _neighbors(document.get("neighbors", Neighbors.ADD_REMOVE.value), where),
        _unit(document.get("unit", {}), f"{where}, unit"),
        Roles(
            {
                name: _role(entry["role"], f"{where}, column {name!r}")
                for name, entry in columns.items()
                if "role" in entry
            }
        ),
    )


def document_of(described: SchemaFile) -> dict[str, Any]:
    """What a schema says, as plain texts, numbers and lists."""
    unit = described.unit
    about: dict[str, Any] = {"kind": unit.kind, **({} if unit.column is None else {"column": unit.column})}
    about |= {"pooled": True} if unit.pooled else {} if unit.rows == 1 else {"rows": unit.rows}
    columns = {name: _entry_of(column) for name, column in described.schema.columns.items()}
    return {"neighbors": described.neighbors.value, "unit": about, "columns": columns}


def _entry_of(column: Column) -> dict[str, Any]:
    match column:
        case Date() | Datetime():
            ends = {"lower": column.shown(column.lower), "upper": column.shown(column.upper)}
            return {"kind": type(column).__name__.lower(), **ends}
        case Number():
            step = {} if column.step is None else {"step": column.step}
            return {"kind": "number", "lower": column.lower, "upper": column.upper, **step}
        case Boolean():
            return {"kind": "boolean"}
        case Category(values):
            return {"kind": "category", "values": list(values)}
        case _:
            return {"kind": "text"}


def check_known(table: Any, keys: tuple[str, ...], where: str) -> None:
    """Refuse a key that nothing would read: it may be a misspelt bound."""
    if not isinstance(table, dict):
        raise SchemaError(where, f"it is {table!r}, not a table", "Write it as a [table] with keys.")
    unknown = [key for key in table if key not in keys]
    if unknown:
        known = f"Known here: {', '.join(keys)}." if keys else "Nothing else is needed here."
        raise SchemaError(where, f"nothing is called {unknown[0]!r} here", known, unknown=unknown)


def _column(entry: Any, where: str) -> Column:
    kind = entry.get("kind") if isinstance(entry, dict) else None
    if isinstance(entry, dict) and kind in (None, ""):
        raise SchemaError(where, "it is not filled in: its kind is missing", f"{KINDS} Or delete the column's table.")
    if not isinstance(kind, str) or kind not in KEYS:
        raise SchemaError(where, f"no kind of column is called {kind!r}", KINDS)
    check_known(entry, ("kind", "role", *KEYS[kind], *OPTIONAL.get(kind, ())), where)
    missing = [key for key in KEYS[kind] if key not in entry]
    if missing:
        remedy = f"Give {' and '.join(KEYS[kind])}, from what you know without the data."
        raise SchemaError(where, f"it is not filled in: {' and '.join(missing)} missing", remedy, missing=missing)
    try:
        return _filled(kind, entry, where)
    except SchemaError as why:
        raise SchemaError(where, why.obstacle, why.remedy, **why.values) from why


def _filled(kind: str, entry: Mapping[str, Any], where: str) -> Column:
    match kind:
        case "number":
            step = _bound(entry, "step", where) if "step" in entry else None
            return Number(_bound(entry, "lower", where), _bound(entry, "upper", where), step)
        case "date":
            return Date(entry["lower"], entry["upper"])
        case "datetime":
            return Datetime(entry["lower"], entry["upper"])
        case "boolean":
            return Boolean()
        case "category":
            return Category(_values(entry["values"], where))
        case _:
            return Text()


def _role(role: Any, where: str) -> str:
    if role not in ROLES:
        raise SchemaError(where, f"no role is called {role!r:.40}", f"Roles are {', '.join(ROLES)}.")
    return str(role)


def _bound(entry: Mapping[str, Any], key: str, where: str) -> float:
    value = entry[key]
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise SchemaError(where, f"{key} is {value!r}, which is not a number", f"Write {key} = a number.")
    try:
        return float(value)
    except OverflowError:
        raise SchemaError(where, f"{key} is beyond what a float holds", "Give a bound below 1e308.") from None


def _values(values: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise SchemaError(where, f"values is {values!r}", 'Write values = ["one", "another"].')
    for value in values:
        plain = isinstance(value, bool | int | float)
        if not plain and not (isinstance(value, str) and value and value == value.strip()):
            raise SchemaError(
                where,
                f"the value {value!r} could never be found",
                "List each as a number, a boolean or text in quotes, not empty and without blanks around it.",
            )
    return tuple(values)


def _neighbors(value: Any, where: str) -> Neighbors:
    for relation in Neighbors:
        if value == relation.value:
            return relation
    raise SchemaError(where, f"neighbors is {value!r}", 'Write neighbors = "add_remove" or "replace".')


def _unit(entry: Any, where: str) -> Unit:
    check_known(entry, ("kind", "column", "rows", "pooled"), where)
    kind, column, rows = entry.get("kind", "record"), entry.get("column"), entry.get("rows", 1)
    pooled = entry.get("pooled", False)
    if kind not in UNITS:
        raise SchemaError(where, f"no unit is called {kind!r}", f"Units are {', '.join(UNITS)}.")
    if not isinstance(column, str | None):
        raise SchemaError(where, f"column is {column!r}", 'Write column = "the name of a column".')
    if not isinstance(rows, int) or isinstance(rows, bool):
        raise SchemaError(where, f"rows is {rows!r}", "Give a whole number of rows, at least 1.")
    if not isinstance(pooled, bool):
        raise SchemaError(where, f"pooled is {pooled!r}", "Write pooled = true, or leave it out.")
    try:
        found = Unit(kind, column, rows, pooled)
        check_protected(where, Neighbors.ADD_REMOVE, found)
        return found
    except ParameterError as why:
        remedy = 'Write kind = "record" alone, or "user" with column and either rows or pooled.'
        raise SchemaError(where, why.obstacle, remedy) from why
