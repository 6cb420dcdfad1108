"""`discreet ask`: one statistic of a file, from the shell. What it takes is read off the declarations of statistics."""

from __future__ import annotations

import argparse
import sys
import typing
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.ledger import Ledger
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.query.schema_file import read_schema
from discreet.query.words import (
    StatisticQuestion,
    Wording,
    declared,
    named,
    sayable,
    statistic_asked,
    unknown,
    value_of,
)
from discreet.releases.declaration import Option, declaration_of
from discreet.releases.option_docs import SHARED
from discreet.service.cli.account import check_account, opened_account, paid_key
from discreet.service.cli.saying import put_paid
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.file import File

ASKED = "discreet ask"
WAYS = "Write such as: discreet ask people.csv mean age --by sex --where 'age >= 18'."
APART = {"column", "columns", "target", "bounds", "epsilon", "delta", "key"}  # said otherwise, or by the schema


def add_options(command: argparse.ArgumentParser) -> None:
    """Give a command every option that some statistic takes and a text can say."""
    every: dict[str, list[Option]] = {}
    for name in sayable():
        for option in declaration_of(declared()[name]).options.values():
            every.setdefault(option.name, []).append(option)
    for name, options in every.items():
        if name not in APART and not any(map(_is_function, options)):
            usual = SHARED[""].get(name, options[0]).meaning
            meaning = usual.removeprefix("Public. ").partition(". ")[0].rstrip(".").replace("%", "%%")
            flag, kinds = f"--{name.replace('_', '-')}", [option.kind for option in options]
            if kinds == [bool] * len(kinds):
                command.add_argument(flag, dest=name, action="store_true", default=None, help=meaning)
            elif any(map(_several, kinds)):
                command.add_argument(flag, dest=name, nargs="+", metavar="X", help=meaning)
            else:
                command.add_argument(flag, dest=name, metavar="X", help=meaning)


def _parts(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind) if typing.get_origin(kind) not in (Sequence, Mapping, Callable) else (kind,)


def _several(kind: Any) -> bool:
    """Whether it may be several values."""
    return any(typing.get_origin(one) is Sequence for one in (kind, *_parts(kind)))


def _is_function(option: Option) -> bool:
    return typing.get_origin(option.kind) is Callable


def ask(arguments: Namespace) -> int:
    """Ask one statistic, and print it with its interval and its price."""
    question = _question(arguments)
    described = read_schema(arguments.schema)
    check_account(arguments)
    key = paid_key(arguments)
    with ExitStack() as open_files:
        budget = Budget(arguments.epsilon, arguments.delta)
        ledger: Ledger | None = opened_account(arguments, open_files)
        if ledger is None:
            sys.stderr.write("discreet: no --ledger, so nothing will remember what this costs\n")
            ledger = MemoryLedger(budget, described.neighbors, described.unit)
        form = {"delimiter": arguments.delimiter, "dialect": arguments.dialect}
        records = File(arguments.file, described.schema, described.unit, **form)
        data = PrivateData.of(records, described.schema, ledger, neighbors=described.neighbors, unit=described.unit)
        paid = {"epsilon": arguments.epsilon, "key": key} | ({"delta": arguments.delta} if arguments.delta else {})
        found = _found(question, data, paid)
    put_paid(found.to_json() if arguments.json else f"{found}\n{found.receipt.cost}", key)
    return 0


def _question(arguments: Namespace) -> StatisticQuestion:
    """What the command line asks: a statistic in words, columns behind it, and options."""
    wording = Wording.of(arguments.statistic)  # "mean of age", as in a plan, or: mean age
    found = named(wording)
    if found is None or found[0].__name__ not in sayable():
        raise unknown(ASKED, "_".join(wording.words), WAYS)
    function, columns = found
    taken = {option for name in sayable() for option in declaration_of(declared()[name]).options} - APART
    said = {name: value for name in sorted(taken) if (value := getattr(arguments, name, None)) is not None}
    options = wording.options | {name: _value(name, value) for name, value in said.items()}
    return statistic_asked(f"{ASKED} {function.__name__}", function, [*columns, *arguments.columns], options)


def _value(name: str, said: Any) -> Any:
    """What the words of an option say; a condition and names of columns are texts."""
    if isinstance(said, list):
        each = [said_one if name == "by" else value_of(said_one) for said_one in said]
        return each[0] if len(each) == 1 and name != "edges" else each
    return said if isinstance(said, bool) or name == "where" else value_of(said)


def _found(question: StatisticQuestion, data: PrivateData, paid: dict[str, Any]) -> Any:
    """The release, without letting an engine's complaint quote a row."""
    try:
        return question.function(data, **question.options, **paid)
    except DiscreetError:
        raise
    except Exception as why:
        raise DiscreetError(
            f"{ASKED} {question.function.__name__}",
            f"the file could not be read ({type(why).__name__}, whose message may quote a row and is not shown)",
            "Check that the file is whole and is what its name says.",
            "It may have been charged, and nothing was released.",
        ) from None
