"""`discreet sql`: a SELECT about a file, from the shell."""

from __future__ import annotations

from argparse import Namespace
from contextlib import ExitStack

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.query.schema_file import read_schema
from discreet.query.select.sql import read_sql
from discreet.query.select.sql_text import privacy_options
from discreet.service.cli.account import check_account, paid_key
from discreet.service.cli.plan_command import foreseen
from discreet.service.cli.private_file import private_file, unquoted
from discreet.service.cli.saying import put_paid


def sql(arguments: Namespace) -> int:
    """Ask what a SELECT asks for, and print it with its intervals and its price; or only say what it would cost."""
    described = read_schema(arguments.schema)
    if arguments.preview:
        foreseen(described, [arguments.text], arguments)
        return 0
    price = _price(arguments)
    check_account(arguments)
    key = paid_key(arguments)
    with ExitStack() as open_files:
        data = private_file(arguments, described, price, open_files)
        statement = read_sql(data, arguments.text, epsilon=arguments.epsilon, delta=arguments.delta or None)
        found = unquoted("discreet sql", lambda: statement.asked(key))
    put_paid(found.to_json() if arguments.json else f"{found}\n{found.receipt.cost}", key)
    return 0


def _price(arguments: Namespace) -> Budget:
    """What it may cost: as it is given, or as the text says it."""
    _, said = privacy_options(arguments.text)
    epsilon = said.get("epsilon") if arguments.epsilon is None else arguments.epsilon
    if epsilon is None:
        raise ParameterError("discreet sql", "nothing says what it may cost", "Give --epsilon, or --preview.")
    return Budget(epsilon, arguments.delta or said.get("delta", 0.0))
