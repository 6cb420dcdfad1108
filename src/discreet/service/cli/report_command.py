"""`discreet report`: all checks come before the charge."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from discreet.core.budget import Budget
from discreet.core.errors import UNTOUCHED, BudgetExceeded, DiscreetError, ParameterError
from discreet.core.ledger import Ledger
from discreet.core.progress_bar import ProgressBar
from discreet.display.plain import plain
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.query.plan import planned
from discreet.query.report import Report, profile
from discreet.query.sample import SCHEMA, TABLE
from discreet.query.schema_file import SchemaFile, read_schema
from discreet.service.cli.account import check_account, opened_account, paid_key
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.plan_command import foreseen
from discreet.service.cli.saying import put, put_paid
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.csv_file import RFC4180, CsvForm
from discreet.trust.sources.file import File

SAMPLE_BUDGET = Budget(1.0, 1e-6)


@dataclass(frozen=True)
class Request:
    """What a report is asked for, with the sample's defaults filled in."""

    file: str
    schema: str
    budget: Budget
    title: str
    form: CsvForm = RFC4180


def report(arguments: Namespace) -> int:
    """Make a report; print it, and write the page if one is asked for."""
    request = _request(arguments)
    described = read_schema(request.schema)
    if arguments.preview:
        arguments.epsilon, arguments.delta = request.budget.epsilon, request.budget.delta
        foreseen(described, ["report"], arguments)
        return 0
    with ExitStack() as open_files:
        ledger = _ledger(arguments, request.budget, open_files)
        keep = (request.file, request.schema, arguments.ledger)
        out = open_files.enter_context(OutFile(arguments.out, keep)) if arguments.out else None
        _delivered(_made(request, described, ledger, arguments.key), out, arguments)
    return 0


def _request(arguments: Namespace) -> Request:
    if arguments.sample:
        return _sample_request(arguments)
    missing = [name for name in ("file", "schema", "epsilon") if getattr(arguments, name) is None]
    if missing:
        names = {"file": "FILE", "schema": "--schema", "epsilon": "--epsilon"}
        raise ParameterError(
            "discreet report",
            f"{' and '.join(names[name] for name in missing)} missing",
            "Run: discreet report FILE --schema SCHEMA --epsilon E, or: discreet report --sample."
            " To write a schema: discreet schema init FILE.",
        )
    check_account(arguments)
    arguments.key = paid_key(arguments)
    budget = Budget(arguments.epsilon, 0.0 if arguments.delta is None else arguments.delta)
    form = CsvForm(arguments.delimiter, arguments.dialect)
    return Request(arguments.file, arguments.schema, budget, Path(arguments.file).name, form)


def _sample_request(arguments: Namespace) -> Request:
    for name in ("file", "schema", "ledger", "key", "analyst"):
        if getattr(arguments, name) is not None:
            raise ParameterError("discreet report --sample", f"{name} is given, too", "Leave one of them out.")
    epsilon = SAMPLE_BUDGET.epsilon if arguments.epsilon is None else arguments.epsilon
    delta = SAMPLE_BUDGET.delta if arguments.delta is None else arguments.delta
    return Request(str(TABLE), str(SCHEMA), Budget(epsilon, delta), f"{TABLE.name} (synthetic sample)")


def _ledger(arguments: Namespace, budget: Budget, open_files: ExitStack) -> Ledger:
    if (account := opened_account(arguments, open_files)) is not None:
        return account
    if not arguments.sample:
        sys.stderr.write(
            "discreet: no --ledger, so nothing will remember what this report costs. If there are to be more releases"
            " about the same people, open an account: discreet ledger create\n"
        )
    return MemoryLedger(budget)


def _made(request: Request, described: SchemaFile, ledger: Ledger, key: str | None) -> Report:
    """Ask the file for its report, without letting an engine's complaint quote a row."""
    progress = ProgressBar(sys.stderr)
    try:
        delimiter, dialect = request.form.delimiter, request.form.dialect
        records = File(request.file, described.schema, described.unit, delimiter=delimiter, dialect=dialect)
        data = PrivateData.of(records, described.schema, ledger, neighbors=described.neighbors, unit=described.unit)
        return profile(data, request.budget, title=request.title, key=key, progress=progress)
    except BudgetExceeded as refusal:
        raise _with_way_out(refusal, request.budget, described, ledger) from None
    except DiscreetError:
        raise
    except Exception as why:
        raise DiscreetError(
            f"report on {request.title}",
            f"it could not be read ({type(why).__name__}, whose message may quote a row and is not shown)",
            "Check that the file is whole and is what its name says.",
            "The plan was charged and stays so; nothing was released." if progress.started else UNTOUCHED,
        ) from None


def _with_way_out(refusal: BudgetExceeded, budget: Budget, described: SchemaFile, ledger: Ledger) -> BudgetExceeded:
    """The refusal, and the first of a few smaller budgets that the ledger could pay now."""
    way_out = "Not even a twentieth of this epsilon with a tenth of this delta would fit."
    for share_of_delta, share in product((1, 0.1), (1, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05)):
        less = Budget(float(f"{budget.epsilon * share:.2g}"), budget.delta * share_of_delta)
        if ledger.affords(planned(described.schema, less, described.neighbors, described.unit).event):
            way_out = f"Now --epsilon {less.epsilon:g} --delta {less.delta:g} would fit."
            break
    return BudgetExceeded(refusal.asked, refusal.obstacle, way_out, refusal.consequence, **refusal.values)


def _delivered(made: Report, out: OutFile | None, arguments: Namespace) -> None:
    """Hand out what was paid for: the page first, and the text whatever happens to the page."""
    try:
        if out is not None:
            again = f"Run again with --key {made.receipt.key}." if arguments.ledger else "Run again with room on disk."
            out.write(made.to_html(), "The report was charged, and is printed.", again)
    finally:
        put_paid(made.to_json() if arguments.json else str(made), arguments.key)
    if out is not None and not arguments.json:
        said = f"The report was charged, is printed, and is in {out.path}."
        put("\n" + plain(f"Wrote {out.path}"), said, "Take it there.")
