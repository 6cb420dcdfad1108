"""`discreet ask`: one statistic of a file, from the shell. What it takes is read off the declarations of statistics."""

from __future__ import annotations

import argparse
import typing
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.ledger.book_ledger import fresh_key
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
from discreet.service.cli.account import check_account, paid_key
from discreet.service.cli.private_file import private_file, unquoted
from discreet.service.cli.saying import put_paid
from discreet.service.cli.sites.site_key import data_elsewhere

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
    if arguments.site is None and arguments.schema is None:
        raise ParameterError(ASKED, "nothing says what is public about the table", "Give --schema, or --site.")
    with ExitStack() as open_files:
        if arguments.site is not None:
            key, data = arguments.key or fresh_key(), data_elsewhere(arguments, open_files)
        else:
            described = read_schema(arguments.schema)
            check_account(arguments)
            key = paid_key(arguments)
            data = private_file(arguments, described, Budget(arguments.epsilon, arguments.delta), open_files)
        paid = {"epsilon": arguments.epsilon, "key": key} | ({"delta": arguments.delta} if arguments.delta else {})
        asked = f"{ASKED} {question.function.__name__}"
        found = unquoted(asked, lambda: question.function(data, **question.options, **paid))
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
