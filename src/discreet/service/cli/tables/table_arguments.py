"""The arguments of commands that take a table: `discreet synthesize`, `anonymize`, `check`.

What they do is imported when it is done.
"""

from __future__ import annotations

from typing import Any

from discreet.service.cli.later import later

Commands = Any  # argparse gives the type of its subparsers no public name


def add_synthesize(commands: Commands) -> None:
    """A private table of made-up records."""
    command = commands.add_parser("synthesize", help="a private table of made-up records that resemble the data")
    _add_table(command)
    command.add_argument("--epsilon", type=float, required=True, metavar="E", help="what the table may cost")
    delta = "the chance of failure (default: 1e-6; 0 where the account has none)"
    command.add_argument("--delta", type=float, metavar="D", help=delta)
    command.add_argument("--ledger", metavar="LEDGER", help="the account that pays; see: discreet ledger create")
    methods = "what is counted: tree (default), adaptive (to train models), contingency, mwem, privbayes or diffgen"
    command.add_argument("--method", metavar="M", help=methods)
    columns = "of which the table consists (default: all but texts)"
    command.add_argument("--columns", nargs="+", metavar="COLUMN", help=columns)
    command.add_argument("--bins", type=int, metavar="N", help="about how many cells a number has (default: 16)")
    command.add_argument("--rows", type=int, metavar="N", help="how many records (default: about as many as there are)")
    constraint = "what holds of every record by its nature, such as 'end >= start'; for each"
    command.add_argument("--constraint", action="append", metavar="CONDITION", help=constraint)
    degree = "how many columns a table that is counted has, at most; not for tree and diffgen"
    command.add_argument("--degree", type=int, metavar="N", help=degree)
    command.add_argument("--target", metavar="COLUMN", help="of diffgen: the classes; of adaptive: what to keep best")
    distances = "the share of the price for bounds on any count of up to three columns (default: 0)"
    command.add_argument("--distances", type=float, metavar="X", help=distances)
    report = "write a page, too, of how much the table resembles the data: NOT PRIVATE; takes --waiver"
    command.add_argument("--report", metavar="utility.html", help=report)
    command.add_argument("--waiver", metavar="WHY", help="the owner's reason for --report, which goes on record")
    command.set_defaults(run=later("tables.synthesize_command", "synthesize"))


def add_anonymize(commands: Commands) -> None:
    """A table in which everybody is one of k."""
    command = commands.add_parser("anonymize", help="a table in which everybody is one of k: NOT PRIVATE, by a waiver")
    _add_table(command)
    roles = "a TOML file with the roles of columns; they come before those in the schema"
    command.add_argument("--roles", metavar="ROLES", help=roles)
    command.add_argument("--k", type=int, required=True, metavar="N", help="the least number of people that are alike")
    command.add_argument("--l", type=float, metavar="X", help="l-diversity of sensitive columns")
    command.add_argument("--diversity", metavar="D", help="what l counts: distinct (default), entropy or recursive")
    command.add_argument("--c", type=float, metavar="X", help="of recursive (c, l)-diversity")
    command.add_argument("--t", type=float, metavar="X", help="t-closeness of sensitive columns")
    command.add_argument("--method", metavar="M", help="mondrian (default) or lattice")
    hierarchies = "for the lattice, a TOML file with levels, such as: age = [5, 10]"
    command.add_argument("--hierarchies", metavar="FILE", help=hierarchies)
    command.add_argument("--suppression", type=float, metavar="X", help="the share that the lattice may leave out")
    _add_ordered(command)
    command.add_argument("--waiver", metavar="WHY", help="the owner's reason, which goes on record")
    command.add_argument("--ledger", required=True, metavar="LEDGER", help="the account that records the waiver")
    command.set_defaults(run=later("tables.anonymize_command", "anonymize"))


def add_check(commands: Commands) -> None:
    """How anonymous a table is."""
    command = commands.add_parser("check", help="how anonymous a table is, for its owner: exact figures, NOT PRIVATE")
    command.add_argument("file", metavar="FILE", help="a .csv, .csv.gz or .parquet file, or a folder of such")
    add_form(command)
    roles = 'a TOML file such as: age = "quasi-identifier"; or a schema whose columns have a role'
    command.add_argument("--roles", required=True, metavar="ROLES", help=roles)
    _add_ordered(command)
    command.add_argument("--html", metavar="FILE", help="write a web page, too")
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
    command.set_defaults(run=later("tables.check_command", "check"))


def _add_table(command: Any) -> None:
    """What is read and what is written."""
    command.add_argument("file", metavar="FILE", help="a .csv, .csv.gz or .parquet file, or a folder of such")
    add_form(command)
    command.add_argument("--schema", required=True, metavar="SCHEMA", help="what is public about the table")
    command.add_argument("--out", required=True, metavar="TABLE", help="where to write it: a .csv or .parquet file")
    command.add_argument("--analyst", metavar="NAME", help="who asks, where the account has caps for analysts")
    command.add_argument("--key", metavar="K", help="makes a retry safe: the same key gives the same table, paid once")
    command.add_argument("--json", action="store_true", help="print JSON instead of text")


def add_form(command: Any) -> None:
    """How a CSV file is written."""
    dialects = "rfc4180, where quoted fields may hold line ends, or lines, where every line is a record"
    command.add_argument("--dialect", default="rfc4180", metavar="D", help=f"of a CSV file: {dialects}")
    command.add_argument("--delimiter", default=",", metavar="C", help="what separates the fields of a CSV file")


def _add_ordered(command: Any) -> None:
    ordered = "sensitive columns whose values have an order, though they are no numbers"
    command.add_argument("--ordered", nargs="+", metavar="COLUMN", help=ordered)
