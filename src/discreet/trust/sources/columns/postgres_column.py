"""Columns that PostgreSQL decodes by itself, exactly as `arrow_column` does: chosen by their types alone.

Nothing of it can raise, whatever a record holds: numbers are compared before they are cast, and texts are never cast.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal

from discreet.core.formula import Formula
from discreet.schema.dates import Temporal
from discreet.schema.schema import Category, Column, Number
from discreet.schema.value import BLANKS, LONGEST, TRUTHS
from discreet.trust.sources.columns.decoding import WHOLE as MOST
from discreet.trust.sources.engine import name

WHOLE = {21: "int2", 23: "int4", 20: "int8"}
FLOATS = {700: "float4", 701: "float8"}
TEXTS = {25: "text", 1043: "varchar"}
DATE, ZONED = 1082, 1184
TIMES = {DATE: "date", 1114: "timestamp", ZONED: "timestamptz"}
TRUTH, DECIMAL = 16, 1700
FEW = 8  # values that are compared one after the other; more are looked up
EXACT = Context(prec=2000)
TOO_LARGE = str(2**1024 - 2**970)  # from here on the nearest float is infinite
TOO_SMALL = f"{EXACT.power(Decimal(2), -1075):f}"  # up to here it is zero
DIGITS = 300
FIRST, LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"


@dataclass(frozen=True)
class PostgresColumn:
    """A column of a table in PostgreSQL.

    Parameters
    ----------
    name : str
        Public. Its name.
    oid : int
        Public. Its type, by the number that PostgreSQL has for it in all its versions.
    """

    name: str
    oid: int

    @property
    def raw(self) -> str:
        """Its values in SQL; no collation merges texts."""
        return f'{name(self.name)} COLLATE "C"' if self.oid in TEXTS else name(self.name)

    def decoded(self, kind: Column, value: str | None = None) -> str | None:
        """A value in SQL as questions see it, NULL where it is missing; None where Arrow must read it.

        Parameters
        ----------
        kind : Column
            Public. What the schema says of the column.
        value : str, optional
            Public. Of which value, in SQL; of the column's where not given.
        """
        own, oid = name(self.name) if value is None else value, self.oid
        match kind:
            case Temporal():
                return _time(own, kind, oid)
            case Number() if oid == DECIMAL:
                return _decimal(own, kind)
            case Number():
                return _number(own, kind, oid)
            case Category():
                return _place(own, kind, oid)
            case _:
                return _text(own, oid)

    @property
    def unit(self) -> str | None:
        """What identifies units in SQL, as a whole number or as text; None where Arrow must read it.

        A text that is digits is the number that they stand for: see `schema.value.name_of`.
        """
        if self.oid in WHOLE:
            return name(self.name)
        text = _text(name(self.name), self.oid)
        return None if text is None or self.oid not in TEXTS else f'({_named(text)}) COLLATE "C"'


def quoted(text: str) -> str:
    """A text in PostgreSQL's SQL, however it is set to read a backslash."""
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _number(own: str, kind: Number, oid: int) -> str | None:
    """`decoding.bounded` in SQL. To PostgreSQL nan is more than any number, and equal to itself."""
    if oid not in (*WHOLE, *FLOATS, TRUTH):
        return None
    value = f"{own}::INT4::FLOAT8" if oid == TRUTH else f"{own}::FLOAT8"
    least, most = _ends(kind)
    nearer = f"CASE WHEN {value} < {least} THEN {least} ELSE {most} END"
    finite = f"{value} > '-Infinity' AND {value} < 'Infinity'"
    return f"CASE WHEN {value} BETWEEN {least} AND {most} THEN {value} + 0e0::FLOAT8 WHEN {finite} THEN {nearer} END"


def _decimal(own: str, kind: Number) -> str:
    """The nearest float; what is too large for one, or has more digits than a text may, is missing."""
    plain = f"scale({own}) <= {DIGITS} AND abs({own}) < 1e{DIGITS}"
    short = f"abs({own}) < {TOO_LARGE} AND length(trim_scale({own})::TEXT) <= {LONGEST}"
    rest = f"CASE WHEN abs({own}) <= {TOO_SMALL} THEN 0e0::FLOAT8 ELSE {own}::FLOAT8 END"
    return f"CASE WHEN {plain} THEN {_moved(f'{own}::FLOAT8', kind)} WHEN {short} THEN {_moved(rest, kind)} END"


def _time(own: str, kind: Temporal, oid: int) -> str | None:
    """Whole days or seconds since 1970; a time before or after the years that texts have is missing."""
    if oid not in TIMES:
        return None
    if oid == DATE:
        there = f"{own} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
        seconds = f"({own} - DATE '1970-01-01') * 86400e0::FLOAT8"
    else:
        zone, typed = ("+00", "TIMESTAMPTZ") if oid == ZONED else ("", "TIMESTAMP")
        there = f"{own} BETWEEN {typed} '{FIRST}{zone}' AND {typed} '{LAST}{zone}'"
        seconds = f"date_part('epoch', date_trunc('second', {own}))"
    return f"CASE WHEN {there} THEN {_moved(f'floor({seconds} / {kind.seconds})', kind)} END"


def _moved(value: str, kind: Number) -> str:
    """A finite number inside its bounds."""
    least, most = _ends(kind)
    return f"least(greatest({value}, {least}), {most}) + 0e0::FLOAT8"


def _ends(kind: Number) -> tuple[str, str]:
    return Formula.constant(float(kind.lower) + 0.0).sql, Formula.constant(float(kind.upper) + 0.0).sql


def _text(own: str, oid: int) -> str | None:
    """The text without outer blanks."""
    if oid in WHOLE or oid == TRUTH:
        return f'{own}::TEXT COLLATE "C"'
    return f"CASE WHEN {_short(own)} THEN nullif({_trimmed(own)}, '') END COLLATE \"C\"" if oid in TEXTS else None


def _short(own: str) -> str:
    return f"octet_length({own}) <= {LONGEST}"


def _trimmed(own: str) -> str:
    blanks = "".join(f"\\{ord(blank):03o}" for blank in BLANKS)
    return f"btrim({own} COLLATE \"C\", E'{blanks}')"


def _place(own: str, category: Category, oid: int) -> str | None:
    """`decoding.codes` in SQL."""
    listed = category.places.items()
    words = {form: place for form, place in listed if isinstance(form, str) and "\0" not in form}  # it has no zeros
    forms = {form: place for form, place in listed if isinstance(form, float)}
    if oid in WHOLE and not any(abs(form) >= MOST for form in forms):  # beyond, floats merge some of them
        return place_in_list(
            f"{own}::TEXT", {str(int(form)): place for form, place in forms.items() if form == int(form)}
        )
    if oid == TRUTH:
        return place_in_list(f"{own}::TEXT", words)
    if oid not in TEXTS or forms:
        return None
    other = place_in_list(_trimmed(own), words)
    if truths := {word: words[truth] for word, truth in TRUTHS.items() if truth in words}:
        other = f"coalesce({other}, {place_in_list(f'lower({_trimmed(own)})', truths)})"
    # first as it is: so most records need not be trimmed
    return f"coalesce({place_in_list(own, words)}, CASE WHEN {_short(own)} THEN {other} END)"


def place_in_list(text: str, places: Mapping[str, int]) -> str:
    """The place of a text in a list, by its bytes: no collation merges two."""
    if not places:
        return "NULL::INT4"
    if len(places) > FEW:
        return f"({quoted(json.dumps(dict(places), ensure_ascii=False))}::JSONB ->> ({text}))::INT4"
    whens = " ".join(f"WHEN {quoted(word)} THEN {place}" for word, place in places.items())
    return f'CASE {text} COLLATE "C" {whens} END'


def _named(text: str) -> str:
    """`schema.value.name_of` in SQL."""
    digits = text
    for pattern, instead in ((r"^\+", ""), (r"^(-?)\.", r"\10."), (r"^(-?)0+([0-9])", r"\1\2")):
        digits = f"regexp_replace({digits}, {quoted(pattern)}, {quoted(instead)})"
    short = f"CASE WHEN position('.' IN {digits}) > 0 THEN rtrim(rtrim({digits}, '0'), '.') ELSE {digits} END"
    plain = f"{text} ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)$'"
    return f"CASE WHEN {plain} THEN coalesce(nullif({short}, '-0'), '0') ELSE {text} END"
