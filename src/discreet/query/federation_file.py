"""The federation as a TOML file, the same for everybody: a schema, and after it

[federation]
threshold = 3                   # how many parties must be left
colluding = 0                   # how many may work together with the server
scheme = "masks"                # how sums are opened: "masks" where it is missing, or another of trust.schemes
largest = 1000000               # the most units that a party has: for short messages, and as a limit where liars are
sizes = [7000, 5000, 9000]      # the fewest units that each party states to have; may be missing
key = "..."                     # what was dealt to all parties, in hexadecimal digits, under "paillier"
server = '''-----BEGIN CERTIFICATE----- ...'''
parties = ['''-----BEGIN CERTIFICATE----- ...''', ...]
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.core.errors import ParameterError, SchemaError
from discreet.crypto.certificate import PartyCertificate
from discreet.query.blank_schema import quoted
from discreet.query.schema_file import SchemaFile, read_schema
from discreet.schema.dates import Temporal
from discreet.schema.schema import Boolean, Category, Column, Number
from discreet.trust.federation import Federation

KEYS = ("threshold", "colluding", "scheme", "largest", "sizes", "key", "server", "parties")


def read_federation(path: str | Path) -> Federation:
    """The federation in a TOML file; `SchemaError` at the first mistake.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.schema.schema import Schema
    >>> from discreet.trust.secure_sum import SecureSum
    >>> tables = {"north": {"x0": [1.0]}, "south": {"x0": [2.0]}}
    >>> with SecureSum.rehearsal(tables, Schema.numeric(0.0, 9.0, 1), threshold=2) as trust:
    ...     agreed = trust.federation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "both.federation")
    ...     _ = path.write_text(written_federation(agreed))
    ...     read_federation(path) == agreed
    True
    """
    described, where = read_schema(path), f"federation {path}"
    table = tomllib.loads(Path(path).read_text(encoding="utf-8-sig")).get("federation")
    if not isinstance(table, dict) or not set(table) <= set(KEYS):
        raise SchemaError(where, "its [federation] table is missing or has other keys", f"Write {', '.join(KEYS)}.")
    try:
        return Federation(
            tuple(_card(text) for text in _list(table["parties"])),
            _card(table["server"]),
            _whole(table["threshold"]),
            described.schema,
            described.unit,
            described.neighbors,
            _whole(table["colluding"]),
            **{key: kind(table[key]) for key, kind in OPTIONS.items() if key in table},
        )
    except ParameterError as why:
        raise SchemaError(where, why.obstacle, why.remedy) from why
    except (KeyError, TypeError) as why:
        wrong = "is missing" if isinstance(why, KeyError) else "is not of the right kind"
        raise SchemaError(where, f"its {why.args[0]} {wrong}", "Run: discreet federation create.") from why


def written_federation(federation: Federation) -> str:
    """The text of a federation's file."""
    described = SchemaFile(federation.schema, federation.neighbors, federation.unit)
    table = [
        "[federation]",
        f"threshold = {federation.threshold}",
        f"colluding = {federation.colluding}",
        *_scheme(federation),
        f"server = {_block(federation.server)}",
        f"parties = [{', '.join(_block(card) for card in federation.parties)}]",
    ]
    return written_schema(described) + "\n" + "\n".join(table) + "\n"


def _scheme(federation: Federation) -> list[str]:
    """Nothing for masks without a limit, so that their files are as they always were."""
    return [
        *([] if federation.scheme == "masks" else [f"scheme = {quoted(federation.scheme)}"]),
        *([] if federation.largest is None else [f"largest = {federation.largest}"]),
        *([f"sizes = {list(federation.sizes)}"] if federation.sizes else []),
        *([f"key = {quoted(federation.key.hex())}"] if federation.key else []),
    ]


def written_schema(described: SchemaFile) -> str:
    """The text of a schema's file.

    Examples
    --------
    >>> from discreet.schema.schema import Schema
    >>> from discreet.query.schema_file import parsed
    >>> described = SchemaFile(Schema({"age": Number(0.0, 120.0), "sex": Category(("f", "m"))}))
    >>> parsed(written_schema(described)) == described
    True
    """
    unit = described.unit
    bounded = {"pooled": True} if unit.pooled else {"rows": unit.rows}
    fields = {"kind": unit.kind, **({} if unit.column is None else {"column": unit.column, **bounded})}
    lines = [f"neighbors = {quoted(described.neighbors.value)}", "", "[unit]", *_lines(fields)]
    for name, column in described.schema.columns.items():
        lines += ["", f"[columns.{quoted(name)}]", *_lines(_fields(column))]
    return "\n".join(lines) + "\n"


def _fields(column: Column) -> dict[str, Any]:
    match column:
        case Temporal(lower, upper):
            ends = {"lower": column.shown(lower), "upper": column.shown(upper)}
            return {"kind": type(column).__name__.lower(), **ends}
        case Number(lower, upper, step):
            own = {} if step is None else {"step": float(step)}
            return {"kind": "number", "lower": float(lower), "upper": float(upper), **own}
        case Boolean():
            return {"kind": "boolean"}
        case Category(values):
            return {"kind": "category", "values": list(values)}
        case _:
            return {"kind": "text"}


def _lines(fields: dict[str, Any]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in fields.items()]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return quoted(value) if isinstance(value, str) else repr(value)


def _block(card: PartyCertificate) -> str:
    return f"'''\n{card.certificate.decode()}'''"


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("parties")
    return value


def _card(text: Any) -> PartyCertificate:
    if not isinstance(text, str):
        raise TypeError("server, or one of its parties,")
    return PartyCertificate(text.encode())


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("threshold, colluding, largest or sizes")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("scheme")
    return value


def _sizes(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise TypeError("sizes")
    return tuple(_whole(one) for one in value)


def _bytes(value: Any) -> bytes:
    try:
        return bytes.fromhex(_text(value))
    except ValueError as why:
        raise TypeError("key") from why


OPTIONS: dict[str, Callable[[Any], Any]] = {"scheme": _text, "largest": _whole, "sizes": _sizes, "key": _bytes}
