"""The account that the command line names: `--ledger`, and with it `--analyst` and `--key`."""

from __future__ import annotations

import secrets
from argparse import Namespace
from contextlib import ExitStack

from discreet.core.errors import ParameterError
from discreet.ledger.sqlite_ledger import SqliteLedger

NEED = {
    "key": "a key can be replayed only from a ledger",
    "analyst": "only a ledger has caps for analysts",
    "waiver": "a waiver goes on record, and only a ledger keeps one",
}


def check_account(arguments: Namespace) -> None:
    """Refuse what says nothing without a ledger."""
    for name, why in NEED.items():
        if getattr(arguments, name, None) is not None and arguments.ledger is None:
            raise ParameterError(f"--{name}", why, "Give --ledger, too.")


def paid_key(arguments: Namespace) -> str | None:
    """The key that was given; with a ledger, else a new one: an answer that was paid for can be asked for again."""
    if arguments.key is not None or arguments.ledger is None:
        return None if arguments.key is None else str(arguments.key)
    return secrets.token_hex(8)


def opened_account(arguments: Namespace, files: ExitStack) -> SqliteLedger | None:
    """The ledger, open until the files are closed; None where none is named."""
    if arguments.ledger is None:
        return None
    return files.enter_context(SqliteLedger.open(arguments.ledger, analyst=arguments.analyst))
