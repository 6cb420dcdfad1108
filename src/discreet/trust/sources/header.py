"""The names of a table's columns, which are public: the schema must fit them before anything is charged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from discreet.core.checks import instead_of
from discreet.core.errors import SchemaError
from discreet.core.neighbors import Unit
from discreet.schema.dates import Temporal
from discreet.schema.schema import Category, Column, Number, Schema, Text


def read_columns(schema: Schema, unit: Unit) -> tuple[str, ...]:
    """All columns that are read: those of the schema and the one that identifies units."""
    return tuple(dict.fromkeys([*schema.columns, *([unit.column] if unit.column is not None else [])]))


def not_single(asked: str, name: str, kind: object) -> SchemaError:
    """The refusal of a column of lists, structures or intervals, by its type alone."""
    return SchemaError(
        asked, f"column {name!r} holds {kind}: neither numbers nor texts", "Leave it out, or take it apart."
    )


def wants_numbers(kind: Column | None) -> bool:
    """Whether a column of the schema can be found only where there are numbers or booleans."""
    if isinstance(kind, Category):
        return all(form in ("true", "false") or isinstance(form, float) for form in kind.places)
    return isinstance(kind, Number) and not isinstance(kind, Temporal)


def without_numbers(asked: str, name: str, kind: object) -> SchemaError:
    """The refusal of numbers in a column that cannot hold any, by its type alone."""
    return SchemaError(
        asked,
        f"column {name!r} holds {kind}, and the schema has numbers there",
        "Describe it as a Date or a Datetime, or list its values as a category.",
    )


def check_header(asked: str, names: Sequence[str], schema: Schema, unit: Unit, *, any_case: bool = False) -> None:
    """Refuse a table that lacks a column which is read, or has it twice; and text columns of pooled units.

    Parameters
    ----------
    asked : str
        What is opened.
    names : sequence of str
        Public. The names of the table's columns.
    schema, unit : Schema, Unit
        Public. What is read.
    any_case : bool
        Whether the engine takes names that differ in case for the same.
    """
    if unit.pooled and any(isinstance(kind, Text) for kind in schema.columns.values()):
        raise SchemaError(
            asked,
            "values of text columns are counted row by row, and the number of rows of a pooled unit is not bounded",
            "Leave the text columns out of the schema, or give the unit a number of rows.",
        )
    wanted, count = read_columns(schema, unit), Counter(map(str.casefold, names) if any_case else names)
    if not {*names}.issuperset(wanted):
        absent = [name for name in wanted if name not in names]
        raise SchemaError(asked, f"it has no column {absent[0]!r}", instead_of(absent[0], names), absent=absent)
    if len(count) == len(names):
        return
    twice = [name for name in wanted if count[name.casefold() if any_case else name] > 1]
    if twice:
        raise SchemaError(asked, f"it has more than one column {twice[0]!r}", "Rename all but one.", repeated=twice)
