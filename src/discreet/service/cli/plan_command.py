"""`discreet plan`: what questions would cost and how far off they would be. No record is read, nothing is charged."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from discreet.core.errors import ParameterError
from discreet.core.ledger import Ledger
from discreet.query.forecast.plan import plan as planned
from discreet.query.forecast.practice import PracticeLedger
from discreet.query.schema_file import SchemaFile, read_schema
from discreet.query.words import value_of
from discreet.service.cli.account import opened_account
from discreet.service.cli.saying import put
from discreet.trust.private_data import PrivateData


def plan(arguments: Namespace) -> int:
    """Print the expected error of each question at each price, or the price for an error."""
    described = read_schema(arguments.schema)
    foreseen(described, arguments.questions, arguments)
    return 0


def nobody(described: SchemaFile) -> dict[str, list[str]]:
    """A table without a record."""
    return {name: [] for name in (*described.schema.columns, *filter(None, [described.unit.column]))}


def said_beside(arguments: Namespace) -> dict[str, Any]:
    """What is said beside a SELECT, where there is one."""
    ends = {name: ends_of(getattr(arguments, name, []), name) for name in ("edges", "bounds")}
    return {**{name: one for name, one in ends.items() if one}, "most": getattr(arguments, "most", None)}


def ends_of(given: list[str], name: str) -> dict[str, list[float]]:
    """Numbers by the name of a column, written as age=0,18,65."""
    found: dict[str, list[float]] = {}
    for one in given:
        column, _, ends = one.rpartition("=")
        numbers = value_of(f"[{ends}]")
        plain = isinstance(numbers, list) and all(isinstance(end, int | float) for end in numbers)
        if not column or column in found or not plain:
            raise ParameterError(f"--{name}", f"it is {one!r:.60}", f"Write --{name} age=0,18,65, once for each.")
        found[column] = list(map(float, numbers))
    return found


def foreseen(
    described: SchemaFile,
    questions: list[str],
    arguments: Namespace,
    beside: Callable[[PrivateData], Any] = lambda one: one,
) -> None:
    """Print a forecast, from the schema and an assumed number of records; of the table, and of those beside it."""
    with ExitStack() as files:
        ledger: Ledger = opened_account(arguments, files) or PracticeLedger(arguments.delta or 0.0)
        how: Any = {"neighbors": described.neighbors, "unit": described.unit}
        data = PrivateData.of(nobody(described), described.schema, ledger, **how)
        forecast = planned(
            beside(data),
            *questions,
            n=arguments.n,
            epsilon=arguments.epsilon,
            delta=arguments.delta or 0.0,
            for_error=getattr(arguments, "for_error", None),
            **said_beside(arguments),
        )
    put(forecast.to_json() if arguments.json else str(forecast))
