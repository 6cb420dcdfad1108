"""Several tables in one schema file: which a SELECT may join, by what they belong together, and whom they protect.

    [tables.people]                 # a table of the same unit: one account protects both
    schema = "people.toml"          # what is public about it: a file beside this one
    on = { patient = "patient" }    # may be left out: columns of this table, and those of the other that must agree

    [tables.wards]
    schema = "wards.toml"
    public = true                   # no secret: nothing about it is protected or paid
    key = ["ward"]                  # may be left out: no two of its rows share these values
    on = { ward = "ward" }

With `on`, a SELECT may say `JOIN wards` alone. Only a public table has a `key`, which is checked where it is opened:
that no person has two rows is said in the table's own `[unit]`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.checks import instead_of
from discreet.core.errors import SchemaError
from discreet.core.held import Secret
from discreet.core.neighbors import RECORD
from discreet.query.schema_file import SchemaFile, check_known, read_schema
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable
from discreet.trust.sources.related_rows import most_alike

Pairs = tuple[tuple[str, str], ...]
Table = PrivateData | PublicTable


@dataclass(frozen=True)
class StatedTable:
    """What a schema file says of another table.

    Parameters
    ----------
    described : SchemaFile
        Public. Its columns, and whom it protects.
    public : bool
        Public. Whether it is no secret.
    key : tuple of str
        Public. Columns whose values no two rows share; none, where nothing is said.
    on : tuple of pairs of str
        Public. The columns of the first table, and of this one, by which their rows belong together.
    """

    described: SchemaFile
    public: bool = False
    key: tuple[str, ...] = ()
    on: Pairs = ()

    def opened(self, name: str, records: Any, first: PrivateData) -> Table:
        """The table behind the account of the first one; or the public one, once its key is checked."""
        described = self.described
        if not self.public:
            how: Any = {"unit": described.unit, "neighbors": described.neighbors}
            return PrivateData.of(records, described.schema, first.ledger, name=name, **how)
        table = PublicTable(records, described.schema, name=name)
        if self.key and most_alike(table.rows.tables[table.rows.node], table.rows.node, self.key) > 1:
            obstacle = f"several of its rows have the same {' and '.join(self.key)}"
            raise SchemaError(f"table {name}", obstacle, "Leave out its key, or give one row for each.")
        return table


@dataclass(frozen=True)
class OpenTables(Secret, Mapping[str, Table]):
    """Tables by their names, and how they belong together: what `discreet.sql` takes.

    Parameters
    ----------
    tables : mapping of str to PrivateData or PublicTable
        The tables.
    relations : mapping of str to pairs of str
        Public. For each table that is joined with the first one: the columns of both that must agree.
    """

    tables: Mapping[str, Table]
    relations: Mapping[str, Pairs] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)


def read_tables(path: str | Path) -> dict[str, StatedTable]:
    """The other tables of a schema file, by name; `SchemaError` at the first mistake, with its table."""
    described = read_schema(path)
    document = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    entries = document.get("tables", {})
    where = f"schema {path}"
    if not isinstance(entries, dict):
        raise SchemaError(where, f"tables is {entries!r:.60}", "Write a [tables.NAME] table for each.")
    return {
        name: _stated(entry, f"{where}, table {name!r:.60}", described, Path(path).parent)
        for name, entry in entries.items()
    }


def opened_tables(
    name: str, first: PrivateData, stated: Mapping[str, StatedTable], records: Mapping[str, Any]
) -> OpenTables:
    """The first table and those others whose records are given, behind one account.

    Parameters
    ----------
    name : str
        Public. Of the first table.
    first : PrivateData
        The first table.
    stated : mapping of str to StatedTable
        Public. What `read_tables` gives.
    records : mapping of str to records
        A path, frame or query for each of the others.
    """
    check_stated(stated, records)
    tables = {one: stated[one].opened(one, own, first) for one, own in records.items()}
    return OpenTables({name: first, **tables}, {one: stated[one].on for one in tables if stated[one].on})


def check_stated(stated: Mapping[str, StatedTable], names: Iterable[str]) -> None:
    """Refuse tables of which the schema file says nothing."""
    for one in names:
        if one not in stated:
            known = instead_of(one, stated) if stated else f"Add [tables.{one}] to the schema file."
            raise SchemaError(f"table {one!r:.60}", "the schema file says nothing of it", known)


def _stated(entry: Any, where: str, first: SchemaFile, folder: Path) -> StatedTable:
    check_known(entry, ("schema", "public", "key", "on"), where)
    if not isinstance(entry.get("schema"), str):
        raise SchemaError(where, "nothing says which file describes it", 'Write schema = "wards.toml".')
    described, public = read_schema(folder / entry["schema"]), entry.get("public", False)
    if not isinstance(public, bool):
        raise SchemaError(where, f"public is {public!r:.60}", "Write public = true, or leave it out.")
    key, on = entry.get("key", []), entry.get("on", {})
    if not isinstance(key, list) or not all(isinstance(one, str) for one in key):
        raise SchemaError(where, f"key is {key!r:.60}", 'Write key = ["ward"].')
    if not isinstance(on, dict) or not all(isinstance(one, str) for one in on.values()):
        raise SchemaError(where, f"on is {on!r:.60}", 'Write on = { ward = "ward" }.')
    _check_unit(described, first, public, bool(key), where)
    _check_columns(key, described.schema, (), where)
    own = () if public else tuple(filter(None, [first.unit.column]))
    _check_columns(list(on), first.schema, own, where)
    _check_columns(list(on.values()), described.schema, own, where)
    return StatedTable(described, public, tuple(key), tuple(on.items()))


def _check_unit(described: SchemaFile, first: SchemaFile, public: bool, keyed: bool, where: str) -> None:
    """Refuse tables that one account cannot protect, or of which something is said that nothing may rely on."""
    if public and described.unit != RECORD:
        raise SchemaError(where, "it is public, and its file protects somebody", "Leave out its [unit], or `public`.")
    if public:
        return
    ours, theirs = ((one.neighbors, one.unit.kind, one.unit.column, one.unit.pooled) for one in (first, described))
    if ours != theirs or first.unit.column is None:
        obstacle = "it does not protect the same people as the first table, by a column of the same name"
        raise SchemaError(where, obstacle, "Give both the same [unit] and neighbors, or say public = true.")
    if keyed:
        obstacle = "its rows are protected, and whether a key holds would say something about them"
        raise SchemaError(where, obstacle, "State [unit] rows = 1 in its own file, where a person has one row.")


def _check_columns(names: list[str], schema: Schema, beside: tuple[str, ...], where: str) -> None:
    for name in names:
        if name not in schema.columns and name not in beside:
            raise SchemaError(where, f"there is no column {name!r:.60}", instead_of(name, schema.columns))
