"""The arguments of `discreet ledger` and `discreet receipt`; what they do is imported when it is done."""

from __future__ import annotations

import argparse
from typing import Any

from discreet.service.cli.later import later

Commands = Any  # argparse gives the type of its subparsers no public name


def add_ledger(commands: Commands, parser: type[argparse.ArgumentParser]) -> None:
    ledger = commands.add_parser("ledger", help="the account of a data set, and of every analyst")
    actions = ledger.add_subparsers(required=True, metavar="ACTION", parser_class=parser)
    create = _action(actions, "create", "open an account, once per data set")
    create.add_argument("--schema", required=True, metavar="SCHEMA", help="whose neighbors and unit it is opened for")
    create.add_argument("--epsilon", type=float, required=True, metavar="E", help="the cap for everything, ever")
    create.add_argument("--delta", type=float, default=0.0, metavar="D", help="the same for delta (default: 0)")
    show = _action(actions, "show", "print every charge and what is left")
    show.add_argument("--analyst", metavar="NAME", help="this analyst's account and charges alone")
    verify = _action(actions, "verify", "check that nothing was changed, cut off or rolled back")
    verify.add_argument("--head", metavar="H", help="a head kept elsewhere, which must occur in it")
    admit = _action(actions, "admit", "give an analyst a cap; from then on, strangers are refused")
    admit.add_argument("--analyst", required=True, metavar="NAME")
    admit.add_argument("--epsilon", type=float, required=True, metavar="E", help="the cap of this analyst")
    admit.add_argument("--delta", type=float, default=0.0, metavar="D", help="the same for delta (default: 0)")
    larger = _action(actions, "raise", "raise a cap, for a reason that goes on record", "raise_cap")
    larger.add_argument("--analyst", metavar="NAME", help="whose cap (default: that of the data set)")
    larger.add_argument("--epsilon", type=float, metavar="E", help="the new cap (default: as it is)")
    larger.add_argument("--delta", type=float, metavar="D", help="the same for delta (default: as it is)")
    larger.add_argument("--reason", required=True, metavar="WHY", help="stays in the ledger for ever")
    expire = _action(actions, "expire", "let nothing be charged any more")
    expire.add_argument("--analyst", metavar="NAME", help="by this analyst (default: by anybody)")
    expire.add_argument("--reason", required=True, metavar="WHY", help="stays in the ledger for ever")
    export = _action(actions, "export", "write every entry with its hash, one JSON object to a line")
    export.add_argument("--out", metavar="FILE", help="where to write them (default: print them)")
    backup = _action(actions, "backup", "copy a ledger while it is in use", "back_up")
    backup.add_argument("--out", required=True, metavar="COPY", help="where no file is yet")
    restore = _action(actions, "restore", "put a copy in the place of a ledger that was lost")
    restore.add_argument("--backup", required=True, metavar="COPY", help="the copy")
    restore.add_argument(
        "--head", action="append", default=[], metavar="H", help="a head kept elsewhere; the copy must be as new"
    )
    restore.add_argument(
        "--receipt", action="append", default=[], metavar="FILE", help="a receipt, whose head the copy must have"
    )


def add_receipt(commands: Commands, parser: type[argparse.ArgumentParser]) -> None:
    receipt = commands.add_parser("receipt", help="what comes with every release")
    actions = receipt.add_subparsers(required=True, metavar="ACTION", parser_class=parser)
    verify = actions.add_parser("verify", help="check that a ledger holds the charge of a receipt, or its signature")
    verify.add_argument("file", metavar="FILE", help="the JSON of a receipt, or of a result that has one")
    where = verify.add_mutually_exclusive_group(required=True)
    where.add_argument("--ledger", metavar="LEDGER", help="the ledger that it came from")
    where.add_argument("--card", metavar="CARD", help="the card of the server that signed it, which is enough")
    verify.add_argument("--json", action="store_true", help="print JSON instead of text")
    verify.set_defaults(run=later("receipt_command", "verify"))


def _action(actions: Commands, name: str, what: str, function: str = "") -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(name, help=what)
    action.add_argument("ledger", metavar="LEDGER")
    action.add_argument("--json", action="store_true", help="print JSON instead of text")
    action.set_defaults(run=later("ledger_command", function or name))
    return action
