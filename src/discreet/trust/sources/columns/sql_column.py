"""Columns that DuckDB decodes by itself, exactly as `arrow_column` does: chosen by their types alone.

Whole numbers, floats and truth values are among them. Texts are not: a Parquet file or an Arrow table may hold bytes
that are no UTF-8, on which DuckDB would stop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from discreet.core.formula import Formula
from discreet.core.neighbors import Unit
from discreet.schema.dates import Temporal
from discreet.schema.schema import Category, Column, Number, Schema
from discreet.schema.value import text_of
from discreet.trust.sources.columns.decoding import WHOLE as MOST
from discreet.trust.sources.engine import literal, name

WHOLE = {
    **{f"int{bits}": kind for bits, kind in ((8, "TINYINT"), (16, "SMALLINT"), (32, "INTEGER"), (64, "BIGINT"))},
    **{f"uint{bits}": kind for bits, kind in ((8, "UTINYINT"), (16, "USMALLINT"), (32, "UINTEGER"), (64, "UBIGINT"))},
}
TRUTH = {"bool": "BOOLEAN"}
FLOATS = {"float": "FLOAT", "double": "DOUBLE"}


def decoded_columns(schema: Schema, unit: Unit, arrow: Mapping[str, str], engine: Mapping[str, str]) -> str | None:
    """What to select for decoded records: the unit in `u`, the schema's columns in c0, c1, ...; None where Arrow must.

    Parameters
    ----------
    schema, unit : Schema, Unit
        Public. What is read.
    arrow, engine : mapping of str to str
        The type of each column, as Arrow and as DuckDB name it. Both must mean the same.
    """

    def among(column: str, *kinds: dict[str, str]) -> bool:
        return any(kind.get(arrow[column]) == engine[column] for kind in kinds)

    whole = unit.column is None or among(unit.column, WHOLE)
    fitting = (
        among(column, WHOLE, TRUTH, *([FLOATS] if isinstance(kind, Number) else []))
        and not (_beyond(kind) or isinstance(kind, Temporal))
        for column, kind in schema.columns.items()
    )
    if not whole or not all(fitting):
        return None
    units = [] if unit.column is None else [f"{name(unit.column)} AS u"]
    content = (
        f"{_decoded(name(column), kind, among(column, WHOLE))} AS c{i}"
        for i, (column, kind) in enumerate(schema.columns.items())
    )
    return ", ".join([*units, *content])


def _decoded(column: str, kind: Column, whole: bool) -> str:
    match kind:
        case Number(lower, upper):
            return _number(f"CAST({column} AS DOUBLE)", float(lower), float(upper))
        case Category() as category:
            return (_place_of_whole(column, category) if whole else None) or _place(
                f"CAST({column} AS VARCHAR)", category
            )
        case _:
            return f"CAST({column} AS VARCHAR)"


def _number(value: str, lower: float, upper: float) -> str:
    """`decoding.bounded` in SQL."""
    least, most = Formula.constant(lower + 0.0).sql, Formula.constant(upper + 0.0).sql
    nearer = f"CASE WHEN {value} < {least} THEN {least} ELSE {most} END"
    return f"CASE WHEN {value} BETWEEN {least} AND {most} THEN {value} + 0e0 WHEN isfinite({value}) THEN {nearer} END"


def _beyond(kind: Column) -> bool:
    """Whether a category lists whole numbers of which floats merge some: DuckDB would distinguish them."""
    forms = kind.places if isinstance(kind, Category) else ()
    return any(isinstance(form, float) and abs(form) >= MOST for form in forms)


def _place_of_whole(column: str, category: Category) -> str | None:
    """The same for whole numbers, if they are listed one after the other: without writing them as texts."""
    forms = {int(form): p for form, p in category.places.items() if isinstance(form, float) and form.is_integer()}
    first = min(forms, default=0)
    if not forms or len(category.values) > 2**8:
        return None
    if any(place != form - first for form, place in forms.items()):
        return None
    place = f"TRY_CAST(TRY_CAST({column} AS BIGINT) - CAST({first} AS BIGINT) AS UTINYINT)"
    return f"CASE WHEN {column} BETWEEN {first} AND {max(forms)} THEN {place} END"


def _place(text: str, category: Category) -> str:
    """`decoding.codes` in SQL, for texts that are digits or truth values."""
    forms = {text_of(form) or "": place for form, place in category.places.items()}
    possible = {form: place for form, place in forms.items() if re.fullmatch(r"-?[0-9]+|true|false", form)}
    if not possible:
        return "CAST(NULL AS UTINYINT)"
    found = f"enum_code(TRY_CAST({text} AS ENUM({', '.join(map(literal, possible))})))"
    if list(possible.values()) == list(range(len(possible))):
        return found
    kind = "UTINYINT" if len(category.values) <= 2**8 else "UINTEGER"
    return f"CAST({list(possible.values())} AS {kind}[])[CAST({found} AS BIGINT) + 1]"
