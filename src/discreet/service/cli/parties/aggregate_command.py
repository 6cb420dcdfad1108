"""`discreet aggregate`: devices that report in secret shares, a leader, a helper, and whoever asks for the sum."""

from __future__ import annotations

import contextlib
import json
import secrets
import signal
import tempfile
import threading
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import EngineFailure, NotPermitted, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.core.receipt import in_words
from discreet.display.plain import plain
from discreet.query.schema_file import read_schema
from discreet.query.task_file import (
    asked_in_words,
    read_asker,
    read_secrets,
    read_task,
    task_in_words,
    write_asker,
    write_secrets,
    written_task,
)
from discreet.service.aggregator.running import (
    TASK,
    AggregatorFiles,
    RunningPair,
    aggregator_of,
    asker_of,
    certified,
    listening,
    running_pair,
    secret_of,
    serving,
)
from discreet.service.bounded_http import host_and_port
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.saying import put, say
from discreet.trust.aggregation.aggregated import Aggregated
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.device_account import DeviceAccount
from discreet.trust.aggregation.prio_reporter import PrioReporter
from discreet.trust.aggregation.published_task import DAY, PublishedTask
from discreet.trust.aggregation.stored_aggregator import drawn_secrets


def create(arguments: Namespace) -> int:
    """Write a task, the secrets of its aggregators, and those of the asker."""
    secret, asked = secret_of(arguments.task), asker_of(arguments.task)
    if there := [path for path in (arguments.task, secret, asked) if Path(path).exists()]:
        remedy = "Choose another name: a task that was given away stays as it is."
        raise ParameterError("aggregate create", f"{plain(there[0])} is there already", remedy)
    shared, asker = drawn_secrets()
    published = PublishedTask(
        _task(arguments, _fresh(Path(arguments.task).stem)),
        arguments.leader,
        arguments.helper,
        asker.key.public,
        int(time.time()),
        arguments.days * DAY,
        arguments.precision,
    )
    with OutFile(arguments.task) as out:
        write_secrets(secret, published, shared)
        write_asker(asked, published, asker)
        out.write(written_task(published))
    name, identifier = plain(arguments.task), published.identifier.hex()
    lines = [
        f"Wrote {name}: give it to everybody; identifier {identifier}.",
        f"Wrote {name}.secret: for leader and helper alone. Wrote {name}.asker: for whoever may open the sum.",
        "Each of the two now opens its account, and starts; for the leader:",
        f"    discreet ledger create leader.ledger --schema {name} {_priced(arguments)}",
        f"    discreet aggregate leader {name} --ledger leader.ledger",
    ]
    say(arguments, "\n".join(lines), task=arguments.task, identifier=identifier, secret=secret, asker=asked)
    return 0


def run(arguments: Namespace) -> int:
    """Run the leader or the helper of some tasks, until stopped."""
    role, context = arguments.role, certified(arguments.certificate, arguments.key)
    tasks = {path: read_task(path) for path in arguments.task}
    host, port = host_and_port("aggregate", arguments.listen or _own_place(role, tasks))
    with contextlib.ExitStack() as stack:
        those = []
        for path, published in tasks.items():
            shared = read_secrets(secret_of(path), published)
            files = AggregatorFiles(Path(f"{path}.{role}.reports"), Path(arguments.ledger), arguments.trusted)
            those.append(stack.enter_context(aggregator_of(role, published, shared, files)))
        server = listening(host, port, context)
        for one in those:
            server.add(one)
        stack.enter_context(serving(server))
        where = f"{'https' if context else 'http'}://{host}:{server.server_address[1]}"
        say(arguments, f"{role} listens at {where}", role=role, listening=where)
        _wait()
        say(arguments, "stopped; all that was acknowledged is on disk", stopped=True)
    return 0


def _own_place(role: str, tasks: Mapping[str, PublishedTask]) -> str:
    """HOST:PORT of what the tasks say, where that is one place on this machine, in the clear."""
    addresses = {getattr(one, role) for one in tasks.values()}
    parts = urlsplit(addresses.pop())
    if addresses or parts.scheme != "http" or parts.port is None:
        remedy = "Give --listen HOST:PORT, to which what the tasks say leads."
        raise ParameterError(f"aggregate {role}", "the tasks name no place on this machine", remedy)
    return f"{parts.hostname}:{parts.port}"


def pair(arguments: Namespace) -> int:
    """Run a leader and a helper here, and say how to use them, until stopped."""
    if not arguments.pair:
        remedy = "Run: discreet aggregate --pair --schema S --ask QUESTION --epsilon E, or see --help."
        raise ParameterError("aggregate", "there is no action", remedy)
    for name in ("schema", "ask", "epsilon"):
        if getattr(arguments, name) is None:
            remedy = 'Give --schema, --ask "histogram of age" and --epsilon.'
            raise ParameterError("aggregate --pair", f"--{name} is missing", remedy)
    with contextlib.ExitStack() as stack:
        folder = arguments.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="discreet-"))
        try:
            Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as why:
            raise ParameterError("aggregate --pair", f"{plain(folder)}: {why.strerror}", "Give a folder.") from why
        path = Path(folder) / TASK
        task = _task(arguments, read_task(path).task.name if path.exists() else _fresh("pair"))
        both = stack.enter_context(running_pair(folder, task, Budget(arguments.epsilon, arguments.delta)))
        said = _instructions(arguments, both, Path(folder))
        say(arguments, "\n".join(said["lines"]), **said["fields"])
        _wait()
        say(arguments, "stopped; all that was acknowledged is on disk", stopped=True)
    return 0


def _instructions(arguments: Namespace, both: RunningPair, folder: Path) -> dict[str, Any]:
    """Where reports go, and how to ask, in words that can be copied."""
    path, published = folder / TASK, both.published
    column = published.task.question.columns[0]
    lines = [
        f"leader listens at {published.leader}, helper at {published.helper}",
        f"reports go to {published.leader}; the task is in {path}",
        "One person runs both here, and could read every report: to try things out.",
        "Report a record:",
        f"    discreet aggregate report {path} {column}=VALUE",
        "or from Python:",
        f"    PrioReporter(read_task({str(path)!r})).report({{{column!r}: ...}})",
        f"Open the sum, from {published.task.least} reports on, once:",
        f'    discreet aggregate ask {path} --ask "{arguments.ask}" {_priced(arguments)}',
        "or from Python:",
        f"    task = read_task({str(path)!r})",
        f"    discreet.{arguments.ask.split()[0]}(Aggregated.at(task, read_asker({asker_of(path)!r}, task)), ...)",
    ]
    fields = {"leader": published.leader, "helper": published.helper, "task": str(path), "asker": asker_of(path)}
    return {"lines": [plain(one) for one in lines], "fields": fields}


def report(arguments: Namespace) -> int:
    """Report one record."""
    published = read_task(arguments.task)
    most = Budget(arguments.most_epsilon, 1e-6)
    account = None if arguments.account is None else DeviceAccount(most, arguments.account)
    device = PrioReporter(published, most, arguments.trusted, account=account)
    record = _record(device, arguments.values)
    try:
        device.report(record)
    except EngineFailure as failure:
        remedy = "Report again, with the same --account: the same report is sent, and counts once."
        if account is None:
            remedy = "Report again where nobody could be reached; a report that arrived unheard would count beside it."
        raise EngineFailure(failure.asked, failure.obstacle, remedy, "The report was not acknowledged.") from failure
    say(arguments, "The leader has the report, and counts it once.", reported=True)
    return 0


def _record(device: PrioReporter, values: Sequence[str]) -> dict[str, str]:
    """The columns that devices are asked for, from COLUMN=VALUE; what cannot be read is a mistake of typing."""
    task = device.published.task
    columns = {name: task.schema.columns[name] for name in task.question.columns}
    remedy = "Give " + ", ".join(f"{name}=VALUE ({one.described})" for name, one in columns.items()) + "."
    record = dict(one.partition("=")[::2] for one in values)
    if wrong := [one for one in values if "=" not in one] or [name for name in record if name not in columns]:
        raise ParameterError("report", f"{wrong[0]!r:.80} is no column and its value", remedy)
    if missing := [name for name in columns if name not in record]:
        raise ParameterError("report", f"{missing[0]} is missing", remedy)
    row = device.rows({name: [text] for name, text in record.items()})[0]
    if unread := [name for name, value in zip(columns, row, strict=True) if np.isnan(value) and record[name]]:
        obstacle = f"{unread[0]} is {record[unread[0]]!r:.80}, which would count as missing"
        raise ParameterError("report", obstacle, f"{remedy} Where it is missing, leave VALUE empty.")
    return record


def ask(arguments: Namespace) -> int:
    """Open the sum, and print what was asked."""
    published = read_task(arguments.task)
    asker = read_asker(asker_of(arguments.task), published)
    _check_asked(arguments, published.task)
    trust = Aggregated.at(published, asker, trusted=arguments.trusted)
    found = asked_in_words(arguments.ask, arguments.epsilon, arguments.delta)(trust)
    batch = trust.batch
    if arguments.json:
        told = json.dumps(json.loads(found.to_json()) | {"batch": vars(batch)}, allow_nan=False)
    else:
        told = f"{found}\n{batch.accepted} reports are in it; {batch.failed} failed, and {batch.repeated} came again"
    put(told, "The batch is closed, and paid for.", "Ask the same again, which costs nothing more.")
    return 0


def _check_asked(arguments: Namespace, task: AggregationTask) -> None:
    """Refuse, before anything is opened, another question than devices answered, and other noise."""
    given = arguments.epsilon, arguments.delta
    asked = task_in_words(arguments.ask, task.schema, task.name, task.least, *given)
    if (asked.recipe, asked.event) != (task.recipe, task.event):
        known = f"They answered {task.recipe.name} {dict(task.recipe.parameters)} with {in_words(task.event)}"
        obstacle = "devices did not report for this question"
        if asked.recipe == task.recipe:
            obstacle = (
                f"devices were not promised this, but {in_words(task.event)}, and it asks {in_words(asked.event)}"
            )
        raise NotPermitted(f"task {task.name!r}", obstacle, f"{known}: ask the same, with the same --epsilon.")


def _task(arguments: Namespace, name: str) -> AggregationTask:
    described = read_schema(arguments.schema)
    if not described.unit.is_row:
        raise ParameterError("aggregate", "a device has one record", "Leave [unit] out of the schema.")
    if described.neighbors is not Neighbors.REPLACE:
        remedy = 'Write neighbors = "replace": the number of reports is public.'
        raise ParameterError("aggregate", "the schema hides whether a device took part", remedy)
    return task_in_words(arguments.ask, described.schema, name, arguments.least, arguments.epsilon, arguments.delta)


def _priced(arguments: Namespace) -> str:
    """The options that say what is promised."""
    return f"--epsilon {arguments.epsilon:g}" + (f" --delta {arguments.delta:g}" if arguments.delta else "")


def _fresh(name: str) -> str:
    """A name that no other task has: accounts pay for each name once."""
    return f"{name} {time.strftime('%Y-%m-%d', time.gmtime())} {secrets.token_hex(8)}"


def _wait() -> None:
    """Until a signal to stop, which is no failure."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    while not stop.wait(0.5):
        pass
    for number, handler in before.items():
        signal.signal(number, handler)
