"""`discreet sql`: a SELECT about a file, or about several, from the shell."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.query.schema_file import read_schema
from discreet.query.select.privacy_options import PrivacyOptions
from discreet.query.select.sql import read_sql
from discreet.query.tables_file import StatedTable, check_stated, opened_tables, read_tables
from discreet.service.cli.account import check_account, paid_key
from discreet.service.cli.plan_command import foreseen, nobody, said_beside
from discreet.service.cli.private_file import private_file, unquoted
from discreet.service.cli.saying import put_paid
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.file import File


def sql(arguments: Namespace) -> int:
    """Ask what a SELECT asks for, and print it with its intervals and its price; or only say what it would cost."""
    described = read_schema(arguments.schema)
    stated = read_tables(arguments.schema)
    if arguments.preview:
        foreseen(described, [arguments.text], arguments, lambda first: _opened(arguments, first, stated, preview=True))
        return 0
    price = _price(arguments)
    check_account(arguments)
    key = paid_key(arguments)
    with ExitStack() as open_files:
        first = private_file(arguments, described, price, open_files)
        data = _opened(arguments, first, stated, preview=False)
        how: Any = {"epsilon": arguments.epsilon, "delta": arguments.delta or None, **said_beside(arguments)}
        statement = read_sql(data, arguments.text, **how)
        found = unquoted("discreet sql", lambda: statement.asked(key))
    put_paid(found.to_json() if arguments.json else f"{found}\n{found.receipt.cost}", key)
    return 0


def _name(arguments: Namespace) -> str:
    """What the first table is called: as its file is."""
    return Path(arguments.file).name.partition(".")[0]


def _files(arguments: Namespace, stated: Mapping[str, StatedTable]) -> dict[str, str]:
    """The files of the other tables, by name."""
    found: dict[str, str] = {}
    for one in arguments.table or []:
        name, given, path = one.partition("=")
        if not given or name in found or name == _name(arguments):
            raise ParameterError("--table", f"it is {one!r:.60}", "Write --table wards=wards.csv, once for each.")
        found[name] = path
    check_stated(stated, found)
    return found


def _opened(arguments: Namespace, first: PrivateData, stated: Mapping[str, StatedTable], *, preview: bool) -> Any:
    """All tables; for a preview, those that are protected without a record."""
    files = _files(arguments, stated)
    if not files:
        return first
    records: dict[str, Any] = {
        name: nobody(stated[name].described)
        if preview and not stated[name].public
        else File(path, stated[name].described.schema, stated[name].described.unit)
        for name, path in files.items()
    }
    return opened_tables(_name(arguments), first, stated, records)


def _price(arguments: Namespace) -> Budget:
    """What it may cost: as it is given, or as the text says it."""
    _, said = PrivacyOptions.read(arguments.text)
    if arguments.epsilon is None and said.epsilon is None:
        raise ParameterError("discreet sql", "nothing says what it may cost", "Give --epsilon, or --preview.")
    return said.budget(arguments.epsilon, arguments.delta or None)
