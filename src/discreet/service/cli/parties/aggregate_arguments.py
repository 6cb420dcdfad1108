"""The arguments of `discreet aggregate`; what it does is imported when it is done."""

from __future__ import annotations

import argparse
from typing import Any

from discreet.service.cli.later import later

Commands = Any  # argparse gives the type of its subparsers no public name


def add_aggregate(commands: Commands, parser: type[argparse.ArgumentParser]) -> None:
    aggregate = commands.add_parser(
        "aggregate",
        help="leader and helper for devices that report in secret shares (Prio3)",
        description="With --pair, starts a leader and a helper on this machine, to try things out.",
    )
    aggregate.add_argument("--pair", action="store_true", help="start both here, in one process")
    aggregate.add_argument("--folder", metavar="FOLDER", help="of the pair's files (default: one that goes with it)")
    _add_question(aggregate, required=False)
    aggregate.add_argument("--json", action="store_true", help="print JSON instead of text")
    aggregate.set_defaults(run=later("parties.aggregate_command", "pair"))
    actions = aggregate.add_subparsers(metavar="ACTION", parser_class=parser)
    create = _action(actions, "create", "write a task for devices, and the secrets that go with it")
    _add_question(create, required=True)
    create.add_argument("--leader", required=True, metavar="URL", help="where devices send reports")
    create.add_argument("--helper", required=True, metavar="URL", help="the other aggregator, of another owner")
    create.add_argument("--days", type=int, default=365, metavar="N", help="how long reports are taken (default: 365)")
    create.add_argument("--precision", type=int, default=3600, metavar="S", help="of times, in seconds (default: 3600)")
    for name in ("leader", "helper"):
        role = _action(actions, name, f"run the {name} of tasks, until stopped", several=True)
        role.add_argument("--ledger", required=True, metavar="LEDGER", help="its account; see: discreet ledger create")
        role.add_argument("--listen", metavar="HOST:PORT", help="where (default: what the task says, if that is here)")
        role.add_argument("--certificate", metavar="PEM", help="to show to others; needed beyond this machine")
        role.add_argument("--key", metavar="PEM", help="that goes with the certificate")
        role.add_argument("--trusted", metavar="PEM", help="certificates to trust in place of the system's")
        role.set_defaults(role=name)
    report = _action(actions, "report", "report one record, as a device does")
    report.add_argument("values", nargs="+", metavar="COLUMN=VALUE", help="the record")
    report.add_argument("--most-epsilon", type=float, default=2.0, metavar="E", help="weakest promise (default: 2)")
    report.add_argument("--account", metavar="FILE", help="what this device has reported: at most E in all, each once")
    report.add_argument("--trusted", metavar="PEM", help="certificates to trust in place of the system's")
    ask = _action(actions, "ask", "open the sum, which closes the batch")
    _add_question(ask, required=True, schema=False)
    ask.add_argument("--trusted", metavar="PEM", help="certificates to trust in place of the system's")


def _add_question(command: argparse.ArgumentParser, required: bool, schema: bool = True) -> None:
    if schema:
        command.add_argument("--schema", required=required, metavar="SCHEMA", help="what is public about a record")
        command.add_argument("--least", type=int, default=100, metavar="N", help="fewest reports (default: 100)")
    command.add_argument("--ask", required=required, metavar="QUESTION", help='such as "histogram of age bins=8"')
    command.add_argument("--epsilon", type=float, required=required, metavar="E", help="what each device is promised")
    command.add_argument("--delta", type=float, default=0.0, metavar="D", help="the same for delta (default: 0)")


def _action(actions: Commands, name: str, what: str, several: bool = False) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(name, help=what)
    how: dict[str, Any] = {"nargs": "+"} if several else {}
    action.add_argument("task", metavar="TASK", help="the task's file", **how)
    action.add_argument("--json", action="store_true", help="print JSON instead of text")
    action.set_defaults(run=later("parties.aggregate_command", "run" if several else name))
    return action
