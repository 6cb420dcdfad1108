"""`discreet ask`: one statistic of a file, from the shell."""

from __future__ import annotations

import inspect
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import discreet
from discreet.core.budget import Budget
from discreet.core.checks import near_name
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.ledger import Ledger
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.query.schema_file import read_schema
from discreet.schema.dates import Temporal
from discreet.schema.schema import Schema
from discreet.service.cli.account import check_account, opened_account, paid_key
from discreet.service.cli.saying import put_paid
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.file import File

SAID = {"column", "by"}  # what statistics may need that the command line can say


def ask(arguments: Namespace) -> int:
    """Ask one statistic, and print it with its interval and its price."""
    name, *columns = _words(arguments.statistic)  # "mean of age", as in a plan, or: mean age
    statistic, arguments.columns = _statistic(name), [*columns, *arguments.columns]
    described = read_schema(arguments.schema)
    check_account(arguments)
    arguments.key = paid_key(arguments)
    options = _options(statistic, arguments, described.schema)
    with ExitStack() as open_files:
        budget = Budget(arguments.epsilon, arguments.delta)
        ledger: Ledger | None = opened_account(arguments, open_files)
        if ledger is None:
            sys.stderr.write("discreet: no --ledger, so nothing will remember what this costs\n")
            ledger = MemoryLedger(budget, described.neighbors, described.unit)
        form = {"delimiter": arguments.delimiter, "dialect": arguments.dialect}
        records = File(arguments.file, described.schema, described.unit, **form)
        data = PrivateData.of(records, described.schema, ledger, neighbors=described.neighbors, unit=described.unit)
        data = data if arguments.where is None else data.where(arguments.where)
        found = _found(statistic, data, options)
    put_paid(found.to_json() if arguments.json else f"{found}\n{found.receipt.cost}", arguments.key)
    return 0


def _found(statistic: Callable[..., Any], data: PrivateData, options: dict[str, Any]) -> Any:
    """The release, without letting an engine's complaint quote a row."""
    try:
        return statistic(data, **options)
    except DiscreetError:
        raise
    except Exception as why:
        raise DiscreetError(
            f"discreet ask {statistic.__name__}",
            f"the file could not be read ({type(why).__name__}, whose message may quote a row and is not shown)",
            "Check that the file is whole and is what its name says.",
            "It may have been charged, and nothing was released.",
        ) from None


def _words(asked: str) -> list[str]:
    """The statistic, and the column where both are one text.

    Examples
    --------
    >>> _words("mean of age"), _words("median")
    (['mean', 'age'], ['median'])
    """
    return asked.split(" of ", 1)


def _statistic(name: str) -> Callable[..., Any]:
    """The public function of this name that releases a statistic."""
    called = discreet.MEANT.get(name, name).replace("-", "_")
    if called not in discreet.__all__ or not _askable(called):
        raise ParameterError("discreet ask", f"there is no statistic {name!r}", _instead(called))
    found: Callable[..., Any] = getattr(discreet, called)
    return found


def _instead(called: str) -> str:
    """What would work in place of what is no statistic."""
    near = near_name(called, statistics())
    if near is not None:
        return f"Did you mean {near}?"
    ways = "discreet ask people.csv mean age --by sex --where 'age >= 18'"
    return f"Write such as: {ways}. There are {', '.join(statistics())}."


def statistics() -> tuple[str, ...]:
    """The names of all statistics that can be asked from the shell."""
    return tuple(sorted(filter(_askable, discreet.__all__)))


def _askable(name: str) -> bool:
    """Whether it takes private data and a price, and needs nothing that a command line cannot say, as a function."""
    one = getattr(discreet, name)
    if not inspect.isfunction(one):
        return False
    return {"data", "epsilon"} <= inspect.signature(one).parameters.keys() and set(_needed(one)) <= SAID


def _needed(statistic: Callable[..., Any]) -> list[str]:
    """What it takes beside the data and has no default for."""
    takes = inspect.signature(statistic).parameters.values()
    return [one.name for one in takes if one.default is one.empty and one.name != "data"]


def _options(statistic: Callable[..., Any], arguments: Namespace, schema: Schema) -> dict[str, Any]:
    """What the command line says, as the statistic takes it; what it does not take is refused."""
    takes, columns = inspect.signature(statistic).parameters, arguments.columns
    given = {
        "epsilon": arguments.epsilon,
        "delta": arguments.delta or None,
        "key": arguments.key,
        "columns" if "columns" in takes else "column": _alone(columns) if "columns" not in takes else columns or None,
        "q": _alone(arguments.q),
        "by": _alone(arguments.by),
        "edges": arguments.edges and _edges(arguments.edges, schema, [*(arguments.by or ()), *columns]),
        "bins": arguments.bins,
        "confidence": arguments.confidence,
        "population": arguments.population or None,
    }
    options = {name: value for name, value in given.items() if value is not None}
    refused = [name for name in options if name not in takes]
    missing = [name for name in _needed(statistic) if name not in options]
    if isinstance(options.get("column"), list):
        raise ParameterError(f"discreet ask {statistic.__name__}", "it is asked of one column", "Name one.")
    if refused:
        obstacle = f"it takes no {refused[0]}"
        raise ParameterError(f"discreet ask {statistic.__name__}", obstacle, f"It takes {', '.join(takes)}.")
    if missing:
        remedy = "Name it behind the statistic." if missing[0] == "column" else f"Give --{missing[0]}."
        raise ParameterError(f"discreet ask {statistic.__name__}", f"{missing[0]} is missing", remedy)
    return options


def _alone(values: list[Any] | None) -> Any:
    """The only value of a list, or the list; None where there is none."""
    return None if not values else values[0] if len(values) == 1 else values


def _edges(texts: list[str], schema: Schema, columns: list[str]) -> list[Any]:
    """Numbers, or dates as they are written where a column of dates is cut."""
    if any(isinstance(schema.columns.get(name), Temporal) for name in columns):
        return list(texts)
    try:
        return [float(text) for text in texts]
    except ValueError as why:
        raise ParameterError("--edges", f"they are {' '.join(texts)[:80]}", "Give ascending numbers.") from why
