"""Types of PostgreSQL that its driver hands over as they are on the wire: refused by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from discreet.core.errors import SchemaError
from discreet.trust.sources.columns.arrow_column import arrow
from discreet.trust.sources.engine import literal

Answered = Callable[[str], list[tuple[Any, ...]]]
"""The rows that a query to the database gives."""

MISREAD = ("money", "oid", "regproc")  # hundredths without a point, and numbers whose first bit is taken for a sign
TEXTS = ("enum_send", "textsend", "varcharsend", "bpcharsend", "namesend", "citextsend")
"""What sends values as their texts."""


def check_postgres_types(asked: str, types: Any, names: Sequence[str], answered: Answered) -> None:
    """Refuse columns of types whose values would not be read as what they are; of another database, none.

    Parameters
    ----------
    asked : str
        What is opened.
    types : pyarrow.Schema
        Public. The types of all columns, as the driver has them.
    names : sequence of str
        Public. The columns that are read.
    answered : callable
        Asks the database, for the types that the driver does not know.
    """
    for name in names:
        field = types.field(name)
        kind = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
        opaque = bool(kind) and isinstance(field.type, arrow().OpaqueType) and kind != "numeric"
        if kind in MISREAD or (opaque and not _is_text(kind, answered)):
            called = next((found for found, _ in _known(kind, answered)), kind)
            raise SchemaError(
                asked,
                f"column {name!r} holds {called}, which is read neither as numbers nor as texts",
                f"Leave it out, or convert it in a view or a query, as {name}::text or {name}::numeric.",
                kind=called,
            )


def _is_text(kind: str, answered: Answered) -> bool:
    """Whether all types of this name send texts, as enumerations do."""
    sent = [sender in TEXTS for _, sender in _known(kind, answered)]
    return bool(sent) and all(sent)


def _known(kind: str, answered: Answered) -> list[tuple[Any, ...]]:
    """The name of a type and what sends it; the driver may know its number alone."""
    number = re.fullmatch(r"unnamed<oid:([0-9]+)>", kind)
    which = f"pg_type.oid = {number[1]}" if number else f"typname = {literal(kind)}"
    tables = "pg_catalog.pg_type JOIN pg_catalog.pg_proc ON pg_proc.oid = typsend"
    return answered(f"SELECT typname::text, proname::text FROM {tables} WHERE {which}")
