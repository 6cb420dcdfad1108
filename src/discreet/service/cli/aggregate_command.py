"""`discreet aggregate`: devices that report in secret shares, a leader, a helper, and whoever asks for the sum."""

from __future__ import annotations

import contextlib
import secrets
import signal
import tempfile
import threading
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
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
from discreet.service.aggregator.aggregator_server import AggregatorServer
from discreet.service.aggregator.running import (
    ASKER,
    TASK,
    AggregatorFiles,
    RunningPair,
    aggregator_of,
    certified,
    running_pair,
    serving,
)
from discreet.service.bounded_http import host_and_port
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.saying import put, say
from discreet.trust.aggregation.aggregated import Aggregated
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.prio_reporter import PrioReporter
from discreet.trust.aggregation.published_task import DAY, PublishedTask
from discreet.trust.aggregation.stored_aggregator import drawn_secrets


def create(arguments: Namespace) -> int:
    """Write a task, the secrets of its aggregators, and those of the asker."""
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
    with OutFile(arguments.task, keep=[arguments.schema]) as out:
        write_secrets(f"{arguments.task}.secret", published, shared)
        write_asker(f"{arguments.task}.asker", published, asker)
        out.write(written_task(published))
    name, identifier = plain(arguments.task), published.identifier.hex()
    lines = [
        f"Wrote {name}: give it to everybody; identifier {identifier}.",
        f"Wrote {name}.secret: for leader and helper alone. Wrote {name}.asker: for whoever may open the sum.",
    ]
    say(arguments, "\n".join(lines), task=arguments.task, identifier=identifier)
    return 0


def run(arguments: Namespace) -> int:
    """Run the leader or the helper of some tasks, until stopped."""
    host, port = host_and_port("aggregate", arguments.listen)
    context = certified(arguments.certificate, arguments.key)
    role = arguments.role
    with contextlib.ExitStack() as stack:
        try:
            server = AggregatorServer(host, port, context)
        except OSError as why:
            raise ParameterError("aggregate", f"cannot listen at {arguments.listen}: {why}", "Choose another.") from why
        for path in arguments.task:
            published = read_task(path)
            shared = read_secrets(f"{path}.secret", published)
            files = AggregatorFiles(Path(f"{path}.{role}.reports"), Path(arguments.ledger), arguments.trusted)
            server.add(stack.enter_context(aggregator_of(role, published, shared, files)))
        stack.enter_context(serving(server))
        where = f"{'https' if context else 'http'}://{host}:{server.server_address[1]}"
        say(arguments, f"{role} listens at {where}", role=role, listening=where)
        _wait()
        say(arguments, "stopped; all that was acknowledged is on disk", stopped=True)
    return 0


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
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
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
    priced = f"--epsilon {arguments.epsilon:g}" + (f" --delta {arguments.delta:g}" if arguments.delta else "")
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
        f'    discreet aggregate ask {path} --ask "{arguments.ask}" {priced}',
        "or from Python:",
        f"    task = read_task({str(path)!r})",
        f"    discreet.{arguments.ask.split()[0]}(Aggregated.at(task, read_asker({str(folder / ASKER)!r}, task)), ...)",
    ]
    fields = {"leader": published.leader, "helper": published.helper, "task": str(path), "asker": str(folder / ASKER)}
    return {"lines": [plain(one) for one in lines], "fields": fields}


def report(arguments: Namespace) -> int:
    """Report one record."""
    published = read_task(arguments.task)
    record = dict(one.partition("=")[::2] for one in arguments.values)
    unknown = [name for name in record if name not in published.task.schema.columns]
    missing = [name for name in published.task.question.columns if name not in record]
    if unknown or missing:
        obstacle = f"there is no column {unknown[0]!r}" if unknown else f"{missing[0]} is missing"
        known = ", ".join(published.task.schema.columns)
        raise ParameterError("report", obstacle, f"Give COLUMN=VALUE for {known}.")
    columns = published.task.question.columns
    most = Budget(arguments.most_epsilon, 1e-6)
    PrioReporter(published, most, arguments.trusted).report({name: record[name] for name in columns})
    say(arguments, "The leader has the report, and counts it once.", reported=True)
    return 0


def ask(arguments: Namespace) -> int:
    """Open the sum, and print what was asked."""
    published = read_task(arguments.task)
    beside = Path(arguments.task).with_name(ASKER) if Path(arguments.task).name == TASK else None
    asker = read_asker(beside or f"{arguments.task}.asker", published)
    question = asked_in_words(arguments.ask, arguments.epsilon, arguments.delta)
    trust = Aggregated.at(published, asker, trusted=arguments.trusted)
    found = question(trust)
    batch = trust.batch
    told = f"{batch.accepted} reports are in it; {batch.failed} failed, and {batch.repeated} came again"
    put(found.to_json() if arguments.json else f"{found}\n{told}")
    return 0


def _task(arguments: Namespace, name: str) -> AggregationTask:
    described = read_schema(arguments.schema)
    if not described.unit.is_row:
        raise ParameterError("aggregate", "a device has one record", "Leave [unit] out of the schema.")
    if described.neighbors is not Neighbors.REPLACE:
        remedy = 'Write neighbors = "replace": the number of reports is public.'
        raise ParameterError("aggregate", "the schema hides whether a device took part", remedy)
    return task_in_words(arguments.ask, described.schema, name, arguments.least, arguments.epsilon, arguments.delta)


def _fresh(name: str) -> str:
    """A name that no other task has: accounts pay for each name once."""
    return f"{name} {time.strftime('%Y-%m-%d', time.gmtime())} {secrets.token_hex(8)}"


def _wait() -> None:
    """Until a signal to stop, which is no failure."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    while not stop.wait(0.5):
        pass
