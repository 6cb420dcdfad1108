"""A schema to fill in: a file's column names and types, and nothing from its rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from discreet.core.errors import DiscreetError, SchemaError
from discreet.display.plain import plain
from discreet.trust.sources.csv_file import RFC4180, CsvForm
from discreet.trust.sources.file import column_names

OTHERS = (";", "\t", "|", ",")  # what else may stand between columns

HEAD = """\
# What is public about {name}. No row was read to write this: names and types are all that is known.
# Fill in every column, from what you know WITHOUT the data, or delete its table: then it is never read.

# Which tables must look alike: "add_remove" (the number of records is secret) or "replace" (it is public).
neighbors = "add_remove"

# Whose presence is hidden: one record, or all rows of a person:
# kind = "user"
# column = "..."   # the column that identifies people
# rows = 1         # the most rows of one person that are used
[unit]
kind = "record"
"""

NUMBER = """\
kind = "number"
# lower =                   # values outside these bounds are moved to the nearer one
# upper =
"""

BOOLEAN = """\
kind = "boolean"
"""

DATE = """\
kind = "date"
# lower =                   # such as 2020-01-01; dates outside are moved to the nearer bound
# upper =
"""

WORDS = """\
# kind = "category"
# values = ["...", "..."]   # all values that are distinguished; others count as missing
# kind = "text"             # values stay secret unless many records share them; needs delta > 0
"""

ANYTHING = (
    """\
# Keep one of these.
# kind = "number"           # or "date", or "datetime"
# lower =                   # values outside these bounds are moved to the nearer one; of dates, such as 2020-01-01
# upper =
# kind = "boolean"
"""
    + WORDS
)


def init(path: str | Path, form: CsvForm = RFC4180) -> str:
    """The text of a schema for a CSV or Parquet file, to be filled in.

    Parameters
    ----------
    path : path-like
        The file. Of a CSV only the header is read, of a Parquet file only the names and types in its footer.
    form : CsvForm
        Public. How a CSV file is written.

    Returns
    -------
    str
        TOML. Using it before it is filled in is an error that names the column.
    """
    path = Path(path)
    names = _header(path, form)
    other = next((mark for mark in OTHERS if mark != form.delimiter and mark in names[0]), None)
    if len(names) == 1 and other is not None and path.suffix != ".parquet":
        remedy = f"If {other!r} stands between columns, give it: --delimiter {other!r}."
        raise SchemaError(f"open {path}", f"its only column is called {plain(names[0])!r:.80}", remedy)
    kinds = _parquet_types(path) if path.suffix == ".parquet" else {}
    tables = [f"[columns.{quoted(name)}]\n{kinds.get(name, ANYTHING)}" for name in names]
    return "\n".join([HEAD.format(name=quoted(path.name)), *tables])


def quoted(text: str) -> str:
    r"""Text as a TOML string, on one line.

    Examples
    --------
    >>> print(quoted('a "b"'))
    "a \"b\""
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _header(path: Path, form: CsvForm) -> tuple[str, ...]:
    try:
        return column_names(path, form)
    except DiscreetError:
        raise
    except Exception as why:
        raise SchemaError(
            f"open {path}",
            f"its header cannot be read ({type(why).__name__})",
            "Give a CSV file with a header line, or a whole Parquet file.",
        ) from why


def _parquet_types(path: Path) -> dict[str, str]:
    """What each column of a Parquet file can be, by the type in its footer."""
    import pyarrow.parquet

    return {field.name: _choices(field.type) for field in pyarrow.parquet.read_schema(path)}


def _choices(kind: Any) -> str:
    from pyarrow import types

    named = f"# In the file: {quoted(str(kind))}.\n"
    if types.is_boolean(kind):
        return named + BOOLEAN
    if types.is_integer(kind):
        return named + NUMBER + "# step = 1                  # whole numbers, if they are counts and no codes\n"
    if types.is_floating(kind) or types.is_decimal(kind):
        return named + NUMBER
    if types.is_date(kind) or types.is_timestamp(kind):
        return named + (DATE if types.is_date(kind) else DATE.replace('"date"', '"datetime"'))
    return f"{named}# Keep one of the two.\n{WORDS}"
