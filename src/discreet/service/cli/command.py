"""The command `discreet`: reports, questions, tables, schemas, ledgers, parties.

Only what a subcommand needs is imported, so that `discreet --help` answers at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from discreet import __version__
from discreet.core.errors import BudgetExceeded, DiscreetError, LedgerError, NotPermitted, ParameterError
from discreet.core.held import unheld
from discreet.service.cli.attack_arguments import add_attack
from discreet.service.cli.gelu.gelu_arguments import add_gelu
from discreet.service.cli.later import later
from discreet.service.cli.ledger_arguments import add_ledger, add_receipt
from discreet.service.cli.matching.match_arguments import add_match
from discreet.service.cli.parties.aggregate_arguments import add_aggregate
from discreet.service.cli.parties.rappor_arguments import add_rappor
from discreet.service.cli.saying import Unwritten
from discreet.service.cli.sites.site_arguments import add_elsewhere, add_fit, add_serve, add_site
from discreet.service.cli.tables.table_arguments import add_anonymize, add_check, add_form, add_synthesize

DONE, MISTAKE, OVER_BUDGET, NO_LEDGER, NOT_PERMITTED, UNWRITTEN, REFUTED, INTERRUPTED = 0, 2, 3, 4, 5, 6, 7, 130
CODES = """exit codes: 0 done; 2 a mistake in what was asked; 3 over budget; 4 the ledger cannot be used, or a receipt
is not one of its; 5 not permitted, as to strangers and to analysts whose account has expired; 6 the answer could not be
written, and how to have it is said; 7 an audit refuted the claim, or an
attack went beyond a receipt; 130 interrupted"""


class Once(argparse.Action):
    """An option that is given once; one that takes any number of values may be given again, and adds to them."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Take the values, or refuse another one that would take the place of the first."""
        before = namespace.__dict__.setdefault(GIVEN, {})
        if self.dest in before and (isinstance(self.nargs, int) or not isinstance(values, list)):
            raise argparse.ArgumentError(self, "it is given twice")
        before[self.dest] = [*before.get(self.dest, []), *values] if isinstance(values, list) else values
        setattr(namespace, self.dest, before[self.dest])


GIVEN = "given"  # the options of a command line so far


@unheld("releases")
class Parser(argparse.ArgumentParser):
    """A parser whose errors read like all others, and of whose options none takes the place of another."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        for store in (None, "store"):
            self.register("action", store, Once)

    completed: Callable[[Any], Any] | None = None
    """Adds further options, when the parser is used."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, once all options are known."""
        if self.completed is not None:
            self.completed(self)
            self.completed = None
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise ParameterError(self.prog, message, f"Run: {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        arguments = parser().parse_args(argv)
        return int(arguments.run(arguments))
    except DiscreetError as refusal:
        sys.stderr.write(_one_line(f"discreet: {refusal}") + "\n")
        return _code(refusal)
    except SystemExit as stop:
        return int(stop.code or 0)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        sys.stderr.write("\ndiscreet: interrupted. What was charged stays so; nothing was released.\n")
        return INTERRUPTED


def parser() -> Parser:
    """The whole command line."""
    root = Parser(
        prog="discreet", description="Learn from sensitive data without giving away anybody in it.", epilog=CODES
    )
    root.add_argument("--version", action="version", version=f"discreet {__version__}")
    commands = root.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    _add_sample(commands)
    _add_plan(commands)
    _add_report(commands)
    _add_ask(commands)
    _add_sql(commands)
    add_synthesize(commands)
    add_anonymize(commands)
    add_check(commands)
    _add_audit(commands)
    add_attack(commands)
    _add_schema(commands)
    add_ledger(commands, Parser)
    add_receipt(commands, Parser)
    _add_identity(commands)
    _add_federation(commands)
    _add_party(commands)
    _add_collect(commands)
    add_aggregate(commands, Parser)
    add_rappor(commands)
    add_match(commands)
    add_gelu(commands)
    add_serve(commands)
    add_site(commands, Parser)
    add_fit(commands)
    return root


def _add_sample(commands: argparse._SubParsersAction[Parser]) -> None:
    sample = commands.add_parser("sample", help="write the synthetic table that comes with discreet, and its schema")
    sample.add_argument("--folder", default=".", metavar="FOLDER", help="where to write them (default: here)")
    _add_json(sample)
    sample.set_defaults(run=later("sample_command", "sample"))


def _add_plan(commands: argparse._SubParsersAction[Parser]) -> None:
    plan = commands.add_parser("plan", help="what questions would cost and how far off they would be; asks nothing")
    plan.add_argument("questions", nargs="+", metavar="QUESTION", help='such as "mean of age", "KMeans" or "report"')
    plan.add_argument("--schema", required=True, metavar="SCHEMA", help="what is public about the table")
    plan.add_argument("--n", type=int, required=True, metavar="N", help="how many records, or users, are assumed")
    price = plan.add_mutually_exclusive_group()
    price.add_argument("--epsilon", type=float, nargs="+", metavar="E", help="what each question may cost")
    price.add_argument("--for-error", type=float, metavar="X", help="find the epsilon for which no error is larger")
    plan.add_argument("--delta", type=float, metavar="D", help="of each question (default: 0)")
    plan.add_argument("--ledger", metavar="LEDGER", help="say how often this account could pay")
    plan.add_argument("--analyst", metavar="NAME", help="who would ask, where the account has caps for analysts")
    _add_json(plan)
    plan.set_defaults(run=later("plan_command", "plan"))


def _add_report(commands: argparse._SubParsersAction[Parser]) -> None:
    report = commands.add_parser("report", help="a private profile of a table")
    report.add_argument("file", nargs="?", metavar="FILE", help="a .csv, .csv.gz or .parquet file")
    add_form(report)
    report.add_argument("--sample", action="store_true", help="use the synthetic table that comes with discreet")
    report.add_argument("--schema", metavar="SCHEMA", help="what is public about the table; see: discreet schema init")
    report.add_argument("--epsilon", type=float, metavar="E", help="what the report may cost")
    report.add_argument("--delta", type=float, metavar="D", help="the chance of failure that it may cost (default: 0)")
    report.add_argument("--ledger", metavar="LEDGER", help="the account that pays; see: discreet ledger create")
    report.add_argument("--analyst", metavar="NAME", help="who asks, where the account has caps for analysts")
    report.add_argument("--key", metavar="K", help="makes a retry safe: the same key is charged once")
    report.add_argument("--preview", action="store_true", help="only say how far off it would be; takes --n")
    report.add_argument("--n", type=int, metavar="N", help="how many records, or users, --preview assumes")
    report.add_argument("--out", metavar="report.html", help="write a web page, too")
    _add_json(report)
    report.set_defaults(run=later("report_command", "report"))


def _add_ask(commands: argparse._SubParsersAction[Parser]) -> None:
    ask = commands.add_parser("ask", help="one statistic of a table, such as: discreet ask people.csv mean age")
    ask.completed = later("ask_command", "add_options")
    ask.add_argument("file", metavar="FILE", help="a .csv, .csv.gz or .parquet file, or a folder; or a site's data set")
    ask.add_argument("statistic", metavar="STATISTIC", help="count, total, mean, median, quantile, histogram, ...")
    ask.add_argument("columns", nargs="*", metavar="COLUMN", help="what it is asked of; none for a count of records")
    add_form(ask)
    add_elsewhere(ask)
    ask.add_argument("--schema", metavar="SCHEMA", help="what is public about the table; not for a site")
    ask.add_argument("--epsilon", type=float, required=True, metavar="E", help="what it may cost")
    ask.add_argument("--delta", type=float, default=0.0, metavar="D", help="the chance of failure (default: 0)")
    ask.add_argument("--ledger", metavar="LEDGER", help="the account that pays; see: discreet ledger create")
    ask.add_argument("--analyst", metavar="NAME", help="who asks, where the account has caps for analysts")
    ask.add_argument("--key", metavar="K", help="makes a retry safe: the same key is charged once")
    _add_json(ask)
    ask.set_defaults(run=later("ask_command", "ask"))


def _add_sql(commands: argparse._SubParsersAction[Parser]) -> None:
    sql = commands.add_parser("sql", help="several statistics of a table at one price: discreet sql FILE 'SELECT ...'")
    sql.add_argument("file", metavar="FILE", help="a .csv, .csv.gz or .parquet file, or a folder of such")
    sql.add_argument("text", metavar="SELECT", help="one SELECT of statistics; see the manual for what it may say")
    add_form(sql)
    sql.add_argument("--schema", required=True, metavar="SCHEMA", help="what is public about the table")
    sql.add_argument(
        "--table",
        nargs="+",
        default=[],
        metavar="NAME=FILE",
        help="other tables, of each of which the schema file has a [tables.NAME]",
    )
    for name, help_text in (
        ("--edges", "the ends of the cells of a number in GROUP BY, as age=0,18,65,100"),
        ("--bounds", "of a number that is computed and has a name, as rate=0,5"),
    ):
        sql.add_argument(name, nargs="+", default=[], metavar="NAME=ENDS", help=help_text)
    sql.add_argument(
        "--most", type=int, metavar="M", help="the most rows that a row meets, where users' rows share a key"
    )
    sql.add_argument(
        "--epsilon", type=float, metavar="E", help="what it may cost; or in the text; --preview has several"
    )
    sql.add_argument("--delta", type=float, default=0.0, metavar="D", help="the chance of failure (default: 0)")
    sql.add_argument("--ledger", metavar="LEDGER", help="the account that pays; see: discreet ledger create")
    sql.add_argument("--analyst", metavar="NAME", help="who asks, where the account has caps for analysts")
    sql.add_argument("--key", metavar="K", help="makes a retry safe: the same key is charged once")
    sql.add_argument("--preview", action="store_true", help="only say how far off it would be")
    sql.add_argument(
        "--n",
        type=int,
        default=10_000,
        metavar="N",
        help="how many records, or users, --preview assumes (default: 10,000)",
    )
    _add_json(sql)
    sql.set_defaults(run=later("sql_command", "sql"))


def _add_audit(commands: argparse._SubParsersAction[Parser]) -> None:
    audit = commands.add_parser(
        "audit",
        help="try to refute what a mechanism of your own is said to cost",
        description="Runs a function of your own on neighboring data sets that it makes up. The module is imported from"
        " the current folder or the installed packages, and so its code is run: name none that you do not trust.",
    )
    audit.add_argument("function", metavar="MODULE:FUNCTION", help="such as my_module:mechanism(records, runs, rng)")
    audit.add_argument("--epsilon", type=float, required=True, metavar="E", help="what it is said to cost")
    audit.add_argument("--delta", type=float, default=0.0, metavar="D", help="that goes with it (default: 0)")
    audit.add_argument("--neighbors", default="add_remove", metavar="R", help="add_remove (default) or replace")
    audit.add_argument("--lower", type=float, nargs="+", metavar="L", help="of each column (default: 0)")
    audit.add_argument("--upper", type=float, nargs="+", metavar="U", help="of each column (default: 1)")
    audit.add_argument("--whole", action="store_true", help="records are whole numbers")
    audit.add_argument("--size", type=int, default=8, metavar="N", help="about how many records (default: 8)")
    audit.add_argument("--runs", type=int, default=100_000, metavar="N", help="on each data set (default: 100000)")
    audit.add_argument("--grid", type=float, metavar="G", help="round outputs to its multiples; else last bits count")
    audit.add_argument("--seed", type=int, metavar="S", help="of the generator, to draw the same again")
    audit.add_argument("--out", metavar="audit.html", help="write a web page, too")
    _add_json(audit)
    audit.set_defaults(run=later("audit_command", "audit"))


def _add_json(command: Parser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON instead of text")


def _add_schema(commands: argparse._SubParsersAction[Parser]) -> None:
    schema = commands.add_parser("schema", help="what is public about a table")
    actions = schema.add_subparsers(required=True, metavar="ACTION", parser_class=Parser)
    init = actions.add_parser("init", help="write a schema to fill in, from a file's header alone")
    init.add_argument("file", metavar="FILE")
    add_form(init)
    init.add_argument("--out", metavar="SCHEMA", help="where to write it (default: print it)")
    _add_json(init)
    init.set_defaults(run=later("schema_command", "init"))
    check = actions.add_parser("check", help="check a schema that was filled in")
    check.add_argument("schema", metavar="SCHEMA")
    _add_json(check)
    check.set_defaults(run=later("schema_command", "check"))


def _add_identity(commands: argparse._SubParsersAction[Parser]) -> None:
    identity = commands.add_parser("identity", help="a name and a key, to take part in a federation")
    identity.add_argument("name", metavar="NAME", help="as others will know it")
    identity.add_argument("--out", required=True, metavar="NAME.key", help="the secret key: to be shown to nobody")
    identity.add_argument("--card", required=True, metavar="NAME.card", help="what the others get")
    identity.add_argument("--passphrase", action="store_true", help="cover the key; asks, or takes DISCREET_PASSPHRASE")
    _add_json(identity)
    identity.set_defaults(run=later("parties.party_command", "identity"))


def _add_federation(commands: argparse._SubParsersAction[Parser]) -> None:
    federation = commands.add_parser("federation", help="what parties agree on, in one file for all")
    actions = federation.add_subparsers(required=True, metavar="ACTION", parser_class=Parser)
    create = actions.add_parser("create", help="write the file")
    create.add_argument("--schema", required=True, metavar="SCHEMA", help="of every party's table")
    create.add_argument("--server", required=True, metavar="CARD", help="of whoever will ask")
    create.add_argument("--party", required=True, action="append", metavar="CARD", help="of a party; for each")
    create.add_argument("--threshold", required=True, type=int, metavar="N", help="how many must be left")
    create.add_argument(
        "--colluding",
        required=True,
        type=int,
        metavar="N",
        help="how many may share their noise with the server; 0 if none",
    )
    create.add_argument(
        "--scheme",
        default="masks",
        help="how sums are opened: masks; where some lie, odo (counts) or odo-vector; encrypted, paillier",
    )
    create.add_argument("--dealer", metavar="NAME", help="who runs this and is trusted to forget the key: for paillier")
    create.add_argument("--shares", metavar="FOLDER", help="where each party's share of that key is written")
    create.add_argument(
        "--largest", type=int, metavar="N", help="the most units that a party has: for odo, and short messages of masks"
    )
    create.add_argument(
        "--size",
        action="append",
        type=int,
        default=[],
        metavar="N",
        help="units that a party states; for each",
    )
    create.add_argument("--out", required=True, metavar="FEDERATION")
    _add_json(create)
    create.set_defaults(run=later("parties.party_command", "create"))
    show = actions.add_parser("show", help="print the members, what they agreed on, and its digest")
    show.add_argument("federation", metavar="FEDERATION")
    _add_json(show)
    show.set_defaults(run=later("parties.party_command", "show"))
    transcript = actions.add_parser("transcript", help="what was said in a round of verified shares")
    steps = transcript.add_subparsers(required=True, metavar="ACTION", parser_class=Parser)
    verify = steps.add_parser("verify", help="check a transcript: what was asked, what came of it, and who lied")
    verify.add_argument("file", metavar="FILE", help="as SecureSum.transcript gives it")
    verify.add_argument("--federation", required=True, metavar="FEDERATION", help="with the right keys of all members")
    verify.add_argument("--package", action="append", default=[], metavar="P", help="whose recipes to trust, too")
    opening = "what a party shows of its own numbers, under odo-committed; for each"
    verify.add_argument("--opening", action="append", default=[], metavar="NAME=FILE", help=opening)
    _add_json(verify)
    verify.set_defaults(run=later("parties.transcript_command", "verify"))


def _add_party(commands: argparse._SubParsersAction[Parser]) -> None:
    party = commands.add_parser("party", help="take part in secure sums with a table of one's own")
    party.add_argument("file", metavar="FILE", help="a .csv, .csv.gz or .parquet file, or a folder of such")
    add_form(party)
    party.add_argument("--federation", required=True, metavar="FEDERATION", help="what all agreed on")
    party.add_argument("--digest", metavar="HEX", help="of that file, as all have compared it; refuses another")
    party.add_argument("--identity", required=True, metavar="NAME.key", help="see: discreet identity")
    party.add_argument("--share", metavar="NAME.share", help="of the key that was dealt, under the scheme paillier")
    party.add_argument("--ledger", required=True, metavar="LEDGER", help="the own account, which pays for every answer")
    party.add_argument("--analyst", metavar="NAME", help="who pays, where the account has caps for analysts")
    where = party.add_mutually_exclusive_group(required=True)
    where.add_argument("--listen", metavar="HOST:PORT", help="wait here for the server's calls")
    where.add_argument("--connect", metavar="HOST:PORT", help="call the server there")
    party.add_argument("--package", action="append", default=[], metavar="P", help="whose recipes to trust, too")
    party.add_argument("--allow", action="append", metavar="RECIPE", help="the only recipe that may be asked; for each")
    party.add_argument("--most-epsilon", type=float, metavar="E", help="what one question may cost, at most")
    party.add_argument("--most-delta", type=float, metavar="D", help="the same for delta (default: 0, Laplace alone)")
    party.add_argument("--least-parties", type=int, metavar="N", help="the fewest parties that a sum may be over")
    party.add_argument("--least-units", type=int, metavar="N", help="the fewest units, by the sizes that all state")
    party.add_argument("--most-sets", type=int, metavar="N", help="over how many different sets of parties sums may be")
    party.add_argument("--most-daily", type=int, metavar="N", help="how many questions are answered on a day (UTC)")
    party.add_argument("--scheme", metavar="NAME", help="how sums are to be opened; refuses another federation")
    _add_json(party)
    party.set_defaults(run=later("parties.party_command", "party"))


def _add_collect(commands: argparse._SubParsersAction[Parser]) -> None:
    collect = commands.add_parser("collect", help="take in, over HTTP, what people's devices have randomised")
    collect.add_argument("store", metavar="STORE", help="the file that reports are kept in")
    collect.add_argument("--protocol", metavar="JSON", help="what is asked; for a new store")
    collect.add_argument("--listen", default="127.0.0.1:8080", metavar="HOST:PORT", help="(default: 127.0.0.1:8080)")
    _add_json(collect)
    collect.set_defaults(run=later("parties.collect_command", "collect"))
    estimate = commands.add_parser("estimate", help="estimate frequencies from what was collected")
    estimate.add_argument("stores", nargs="+", metavar="STORE", help="of one protocol; they are added up")
    estimate.add_argument("--confidence", type=float, default=0.95, metavar="C", help="of each interval")
    estimate.add_argument("--consistent", metavar="METHOD", help="shares of a whole: norm_sub, norm_mul or ibu")
    estimate.add_argument("--candidates", metavar="FILE", help="for RAPPOR: the strings to look for, one in each line")
    estimate.add_argument("--tally", metavar="FILE", help="save the sums, too")
    _add_json(estimate)
    estimate.set_defaults(run=later("parties.collect_command", "estimate"))


def _code(refusal: DiscreetError) -> int:
    if isinstance(refusal, BudgetExceeded):
        return OVER_BUDGET
    if isinstance(refusal, NotPermitted):
        return NOT_PERMITTED
    if isinstance(refusal, Unwritten):
        return UNWRITTEN
    return NO_LEDGER if isinstance(refusal, LedgerError) else MISTAKE


def _one_line(message: str) -> str:
    """The message without control characters: names in it come from files."""
    return "".join(letter if letter.isprintable() else " " for letter in message)
