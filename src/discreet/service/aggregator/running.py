"""Aggregators that run: their files opened, their servers in threads."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD
from discreet.ledger.own_file import create_own
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.query.task_file import read_asker, read_secrets, read_task, write_asker, write_secrets, written_task
from discreet.service.aggregator.aggregator_server import AggregatorServer, tell_owner
from discreet.trust.aggregation.aggregation_task import NEIGHBORS, AggregationTask
from discreet.trust.aggregation.aggregator_line import AggregatorLine
from discreet.trust.aggregation.aggregator_store import AggregatorStore
from discreet.trust.aggregation.helper import Helper
from discreet.trust.aggregation.leader import Leader
from discreet.trust.aggregation.published_task import HOUR, PublishedTask
from discreet.trust.aggregation.stored_aggregator import (
    AggregatorSecrets,
    AskerSecrets,
    StoredAggregator,
    drawn_secrets,
)

NAMES = ("leader", "helper")
TASK = "task.toml"


def secret_of(task: str | Path) -> str:
    """Where the secrets of both aggregators are: beside the task's file."""
    return f"{task}.secret"


def asker_of(task: str | Path) -> str:
    """Where the secrets of whoever asks are: beside the task's file."""
    return f"{task}.asker"


def listening(host: str, port: int, context: ssl.SSLContext | None = None) -> AggregatorServer:
    """A server that has its place, and serves nothing yet."""
    try:
        return AggregatorServer(host, port, context)
    except OSError as why:
        obstacle = f"cannot listen at {host}:{port} ({why.strerror or why})"
        raise ParameterError("aggregate", obstacle, "Choose another place, or stop what listens there.") from why


def certified(certificate: str | None, key: str | None) -> ssl.SSLContext | None:
    """The certificate to show, if there is one."""
    if (certificate is None) != (key is None):
        raise ParameterError("aggregate", "a certificate goes with its key", "Give --certificate and --key.")
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as why:
        raise ParameterError("aggregate", f"the certificate cannot be used ({why})", "Give PEM files.") from why
    return context


@dataclass(frozen=True)
class AggregatorFiles:
    """Where an aggregator's own files are.

    Parameters
    ----------
    store : path
        Its state; made where there is none.
    ledger : path
        Its account; see `discreet ledger create`.
    trusted : str, optional
        Certificates to trust in place of the system's, where the leader calls the helper.
    """

    store: Path
    ledger: Path
    trusted: str | None = None


@contextlib.contextmanager
def aggregator_of(
    name: str, published: PublishedTask, secrets: AggregatorSecrets, files: AggregatorFiles
) -> Iterator[StoredAggregator]:
    """The leader or the helper of a task, with its state and its account, which are closed with the block."""
    with SqliteLedger.open(files.ledger) as ledger:
        store = AggregatorStore(files.store, published, NAMES.index(name))
        with contextlib.closing(store):
            if name == "helper":
                yield Helper(published, secrets, store, ledger)
            else:
                line = AggregatorLine(published, published.helper, secrets.token, files.trusted)
                yield Leader(published, secrets, store, ledger, line)


@contextlib.contextmanager
def serving(server: AggregatorServer) -> Iterator[AggregatorServer]:
    """A server in threads, which end with the block."""
    threads = [
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True),
        threading.Thread(target=server.verify_for_ever, args=(tell_owner,), daemon=True),
    ]
    for one in threads:
        one.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        for one in threads:
            one.join()


@dataclass(frozen=True)
class RunningPair:
    """A leader and a helper in this process, and what devices and the asker need."""

    published: PublishedTask
    asker: AskerSecrets
    leader: Leader
    helper: Helper


@contextlib.contextmanager
def running_pair(
    folder: str | Path,
    task: AggregationTask,
    budget: Budget,
    *,
    ports: tuple[int, int] = (0, 0),
    start: int = 0,
    duration: int = 2**36,
    precision: int = HOUR,
) -> Iterator[RunningPair]:
    """A leader and a helper on this machine, to try things out: whoever runs both can read every report.

    Their state, accounts and secrets are files in the folder, and go on where they ended if the folder is given again.

    Parameters
    ----------
    folder : path
        Where their files are.
    task : AggregationTask
        Public. What devices are asked.
    budget : Budget
        Public. The cap of each aggregator's account.
    ports : (int, int)
        Public. Where leader and helper listen; 0 for any that is free.
    start, duration, precision : int
        Public. See `PublishedTask`.
    """
    home = Path(folder)
    path = home / TASK
    known = read_task(path) if path.exists() else None
    if known is not None:
        ports = (urlsplit(known.leader).port or 0, urlsplit(known.helper).port or 0)
    with contextlib.ExitStack() as stack:
        servers = []
        for port in ports:
            servers.append(listening("127.0.0.1", port))
            stack.callback(servers[-1].server_close)
        if known is None:
            leader, helper = (f"http://127.0.0.1:{one.server_address[1]}" for one in servers)
            secrets, asker = drawn_secrets()
            known = PublishedTask(task, leader, helper, asker.key.public, start, duration, precision)
            _write(home, known, secrets, asker, budget)
        if known.task != task:
            raise ParameterError(f"pair in {home}", "the folder has another task", "Give another folder.")
        secrets, asker = read_secrets(secret_of(path), known), read_asker(asker_of(path), known)
        both = []
        for name, server in zip(NAMES, servers, strict=True):
            files = AggregatorFiles(home / f"{name}.reports", home / f"{name}.ledger")
            both.append(stack.enter_context(aggregator_of(name, known, secrets, files)))
            server.add(both[-1])
            stack.enter_context(serving(server))
        yield RunningPair(known, asker, *both)  # type: ignore[arg-type]


def _write(
    home: Path, published: PublishedTask, secrets: AggregatorSecrets, asker: AskerSecrets, budget: Budget
) -> None:
    """The files of a new pair; the task's own comes last, so that a folder has all of them or is not used."""
    for name in NAMES:
        ledger = SqliteLedger.create(home / f"{name}.ledger", budget, name=name, neighbors=NEIGHBORS, unit=RECORD)
        ledger.close()
    write_secrets(secret_of(home / TASK), published, secrets)
    write_asker(asker_of(home / TASK), published, asker)
    create_own(home / TASK, written_task(published).encode())
