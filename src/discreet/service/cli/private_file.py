"""The file that the command line names, as private data behind the account that pays."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.ledger import Ledger
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.query.schema_file import SchemaFile
from discreet.service.cli.account import opened_account
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.file import File

CHARGED = "It may have been charged, and nothing was released."

Found = TypeVar("Found")


def private_file(arguments: Namespace, described: SchemaFile, budget: Budget, files: ExitStack) -> PrivateData:
    """The records, behind the ledger that is named; else behind one that forgets, which is said."""
    ledger: Ledger | None = opened_account(arguments, files)
    if ledger is None:
        sys.stderr.write("discreet: no --ledger, so nothing will remember what this costs\n")
        ledger = MemoryLedger(budget, described.neighbors, described.unit)
    form = {"delimiter": arguments.delimiter, "dialect": arguments.dialect}
    records = File(arguments.file, described.schema, described.unit, **form)
    return PrivateData.of(records, described.schema, ledger, neighbors=described.neighbors, unit=described.unit)


def unquoted(asked: str, release: Callable[[], Found], consequence: str = CHARGED) -> Found:
    """What is released, without letting an engine's complaint quote a row."""
    try:
        return release()
    except DiscreetError:
        raise
    except Exception as why:
        raise DiscreetError(
            asked,
            f"the file could not be read ({type(why).__name__}, whose message may quote a row and is not shown)",
            "Check that the file is whole and is what its name says.",
            consequence,
        ) from None
