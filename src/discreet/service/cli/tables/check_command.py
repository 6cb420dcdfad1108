"""`discreet check`: how anonymous a table is, for its owner. It takes no schema and no ledger, and is not private."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from discreet.core.checks import instead_of
from discreet.core.errors import UNTOUCHED, SchemaError
from discreet.microdata.anonymity.check_anonymity import check_anonymity
from discreet.query.roles_file import read_roles
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.private_file import unquoted
from discreet.service.cli.saying import put
from discreet.trust.sources.csv_file import CsvForm, csv_batches
from discreet.trust.sources.file import column_names, files_at, is_parquet, parquet_batches

ASKED = "discreet check"


def check(arguments: Namespace) -> int:
    """Print k, l, t, unique records and what each column adds to them; and write a page, if one is asked for."""
    roles = read_roles(arguments.roles)
    names = (*roles.quasi_identifiers, *roles.sensitive)
    with ExitStack() as files:
        keep = (arguments.file, arguments.roles)
        page = files.enter_context(OutFile(arguments.html, keep)) if arguments.html is not None else None
        found = _columns(arguments.file, names, roles.identifying, CsvForm(arguments.delimiter, arguments.dialect))
        found |= {name: numbers_of(found[name]) for name in roles.sensitive}
        report = check_anonymity(found, roles, ordered=arguments.ordered or ())
        if page is not None:
            page.write_own(report.to_html())
    put(report.to_json() if arguments.json else str(report))
    return 0


def _columns(path: str, names: Sequence[str], others: Sequence[str], form: CsvForm) -> dict[str, list[Any]]:
    """The values of some columns, and of others if they are there: of a CSV file texts, empty ones among them."""
    there = column_names(path, form)
    for name in names:
        if name not in there:
            raise SchemaError(ASKED, f"there is no column {name!r:.80}", instead_of(name, there), column=name)
    read = (*names, *(name for name in others if name in there))
    return unquoted(ASKED, lambda: _read(path, there, read, form), UNTOUCHED)


def _read(path: str, there: Sequence[str], names: Sequence[str], form: CsvForm) -> dict[str, list[Any]]:
    files, found = files_at(path), {name: list[Any]() for name in names}
    if is_parquet(files[0]):
        batches = parquet_batches(files, names)
    else:
        batches = csv_batches(files, [there.index(name) for name in names], form)
    for batch in batches:
        for name, column in zip(names, batch.columns, strict=True):
            found[name] += column.to_pylist()
    return found


def numbers_of(values: list[Any]) -> list[Any]:
    """The same as numbers, None where there is none, if all are numbers; else as they are.

    Only sensitive columns are read so: the distance of two classes is by the order of their numbers. What others know
    stays text, since 01234 and 1234 may be two places.

    Examples
    --------
    >>> numbers_of([b"10", b"9.5", b"", None]), numbers_of([b"10", b"flu"])
    ([10.0, 9.5, None, None], [b'10', b'flu'])
    """
    try:
        found = [None if value is None or not value.strip() else float(value) for value in values]
    except (AttributeError, ValueError):
        return values
    finite = all(number is None or math.isfinite(number) for number in found)
    return found if finite and any(number is not None for number in found) else values
