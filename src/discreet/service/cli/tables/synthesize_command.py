"""`discreet synthesize`: a private table of made-up records, in a file."""

from __future__ import annotations

from argparse import Namespace
from contextlib import ExitStack
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.synthetic.synthesize import synthesize as synthetic
from discreet.microdata.utility.utility_report import NOT_PRIVATE, utility_report
from discreet.query.schema_file import read_schema
from discreet.service.cli.account import check_account, paid_key
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.private_file import private_file, unquoted
from discreet.service.cli.tables.table_file import TableFile
from discreet.trust.private_data import PrivateData

ASKED = "discreet synthesize"
OPTIONS = ("columns", "method", "bins", "rows", "degree", "target", "distances")
DELTA = 1e-6  # where none is given, and the account has one


def synthesize(arguments: Namespace) -> int:
    """Write a table of made-up records; and, where that is asked for, how much it resembles the data: not private."""
    _check_report(arguments)
    described = read_schema(arguments.schema)
    check_account(arguments)
    key = paid_key(arguments)
    with ExitStack() as files:
        out = files.enter_context(TableFile(arguments))
        page = files.enter_context(_page(arguments, out)) if arguments.report is not None else None
        assumed = Budget(arguments.epsilon, DELTA if arguments.delta is None else arguments.delta)
        data = private_file(arguments, described, assumed, files)
        if page is not None:
            data.check_curated(f"{ASKED} --report")
        options = _options(arguments, data)
        table = unquoted(ASKED, lambda: synthetic(data, epsilon=arguments.epsilon, key=key, **options))
        out.save(table, key)
        more: dict[str, str] = {}
        try:
            if page is not None:
                more = _reported(page, table, data, arguments.waiver, key)
        finally:
            out.say(table, more, as_json=arguments.json)
    return 0


def _check_report(arguments: Namespace) -> None:
    """Refuse a look at the data without the owner's reason, and a reason for nothing."""
    given = arguments.waiver is not None and arguments.waiver.strip()
    if arguments.report is not None and not given:
        remedy = "Give --waiver the owner's reason, which goes on record; or leave out --report."
        raise NotPermitted(f"{ASKED} --report", "it compares with the data, and is NOT PRIVATE", remedy)
    if arguments.waiver is not None and arguments.report is None:
        remedy = "Leave out --waiver, which is for --report."
        raise ParameterError(f"{ASKED} --waiver", "the table keeps its promise without one", remedy)


def _page(arguments: Namespace, out: OutFile) -> OutFile:
    return OutFile(arguments.report, (arguments.file, arguments.schema, arguments.ledger, out.path))


def _options(arguments: Namespace, data: PrivateData) -> dict[str, Any]:
    """What was said of the table; an account without a delta pays for noise that needs none."""
    given = {name: getattr(arguments, name) for name in OPTIONS}
    delta = arguments.delta
    if delta is None:
        delta = DELTA if data.ledger.budget.delta > 0 else 0.0
    given |= {"delta": delta, "constraints": arguments.constraint}
    return {name: value for name, value in given.items() if value is not None}


def _reported(page: OutFile, table: PublishedTable, data: PrivateData, waiver: str, key: str | None) -> dict[str, str]:
    """Compare the table with the data, by the owner's waiver, and write the page; what is said of it."""
    asked, own = f"{ASKED} --report", f"{key} report"
    report = unquoted(asked, lambda: utility_report(table, data, waiver=waiver, key=own))
    page.write_own(report.to_html(), "The table was charged, and is written.", f"Ask again with --key {key}.")
    return {"report": str(page.path), "warning": NOT_PRIVATE}
