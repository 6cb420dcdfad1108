"""The account that the command line names: `--ledger`, and with it `--analyst` and `--key`."""

from __future__ import annotations

from argparse import Namespace
from contextlib import ExitStack

from discreet.accounting.sqlite_ledger import SqliteLedger
from discreet.core.errors import ParameterError

NEED = {"key": "a key can be replayed only from a ledger", "analyst": "only a ledger has caps for analysts"}


def check_account(arguments: Namespace) -> None:
    """Refuse what says nothing without a ledger."""
    for name, why in NEED.items():
        if getattr(arguments, name) is not None and arguments.ledger is None:
            raise ParameterError(f"--{name}", why, "Give --ledger, too.")


def opened_account(arguments: Namespace, files: ExitStack) -> SqliteLedger | None:
    """The ledger, open until the files are closed; None where none is named."""
    if arguments.ledger is None:
        return None
    return files.enter_context(SqliteLedger.open(arguments.ledger, analyst=arguments.analyst))
