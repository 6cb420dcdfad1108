"""Leader and helper over HTTP: what strangers may send, what tokens are for, and what survives a kill."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import EngineFailure, NotPermitted, ParameterError
from discreet.noise.system_bits import system_bits
from discreet.query.task_file import read_asker, read_task
from discreet.schema.schema import Category, Schema
from discreet.service.aggregator import aggregator_server
from discreet.service.aggregator.aggregator_server import AggregatorServer
from discreet.service.aggregator.running import TASK, RunningPair, asker_of, certified, running_pair, serving
from discreet.trust.aggregation.aggregated import Aggregated
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.aggregator_line import AggregatorLine, written_id
from discreet.trust.aggregation.collected import task_for
from discreet.trust.aggregation.dap import Rejected
from discreet.trust.aggregation.prio_reporter import PrioReporter
from discreet.trust.aggregation.share_aggregator import Batch, Reports
from tests.service.aggregator.certificates import certificate

SCHEMA = Schema({"answer": Category(("never", "monthly", "daily"))})


def task(name: str, least: int = 3) -> AggregationTask:
    return task_for(lambda phones: discreet.histogram(phones, "answer", epsilon=1.0), SCHEMA, name, least)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[RunningPair]:
    with running_pair(tmp_path, task("survey"), Budget(1.0)) as both:
        yield both


def spoken(address: str, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    parts = urlsplit(address)
    line = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    line.request(method, path, body, headers)
    answer = line.getresponse()
    found = answer.status, answer.read()
    line.close()
    return found


def test_devices_report_and_a_statistic_opens_the_sum_once(pair: RunningPair, tmp_path: Path) -> None:
    phone = PrioReporter(pair.published)
    phone.report({"answer": "daily"})
    phone.report_all({"answer": ["never"] * 60 + ["monthly"] * 40 + ["elsewhere"]})
    trust = Aggregated.at(pair.published, pair.asker)
    with pytest.raises(NotPermitted, match="cannot keep the promise"):
        discreet.histogram(trust, "answer", epsilon=2.0)
    with pytest.raises(NotPermitted, match="devices did not report for this question"):
        discreet.count(trust, "answer", where="answer == 'daily'", epsilon=1.0)
    assert not pair.leader.store.closed
    found = discreet.histogram(trust, "answer", epsilon=1.0)
    assert abs(found.counts - [60, 40, 1]).max() < 120  # each of two has Laplace noise of scale 2
    assert trust.collected == 102
    assert trust.batch == Batch(102, 0, 0)
    again = discreet.histogram(Aggregated.at(pair.published, pair.asker), "answer", epsilon=1.0)
    assert again.counts.tolist() == found.counts.tolist()
    with pytest.raises(Rejected, match="takes no more"):
        PrioReporter(pair.published).report({"answer": "daily"})
    phone.report({"answer": "daily"})  # which has arrived
    assert read_task(tmp_path / TASK) == pair.published


def test_an_old_key_is_asked_for_again_and_a_lost_answer_is_sent_again(
    pair: RunningPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone = PrioReporter(pair.published)
    sealed = PrioReporter.sealed
    renewed: list[Any] = []

    def late(self: PrioReporter, made: Any) -> Any:
        found = sealed(self, made)
        if not renewed:
            renewed.append(pair.leader.store.renew_key(keep=0))
        return found

    monkeypatch.setattr(PrioReporter, "sealed", late)
    phone.report({"answer": "daily"})
    once = AggregatorLine._once
    lost: list[str] = []

    def loses(self: AggregatorLine, method: str, path: str, body: bytes | None) -> Any:
        found = once(self, method, path, body)
        if path.endswith("reports") and not lost:
            lost.append(path)
            raise ConnectionResetError
        return found

    monkeypatch.setattr(AggregatorLine, "_once", loses)
    PrioReporter(pair.published).report({"answer": "never"})
    assert (len(renewed), len(lost)) == (1, 1)
    while pair.leader.verify():
        pass
    assert pair.leader.batch == Batch(2, 0, 1)


def test_a_weak_promise_is_not_taken_part_in(pair: RunningPair) -> None:
    with pytest.raises(NotPermitted, match="it promises epsilon 1"):
        PrioReporter(pair.published, Budget(0.5))


def test_strangers_are_answered_with_problem_documents_alone(pair: RunningPair) -> None:
    published, name = pair.published, written_id(pair.published.identifier)
    leader, helper = published.leader, published.helper
    secret, asker = pair.leader.secrets.token.hex(), pair.asker.token.hex()
    jobs, shares = f"/tasks/{name}/aggregation_jobs/x", f"/tasks/{name}/aggregate_shares"
    wrong = [
        (404, "unrecognizedTask", leader, "GET", "/hpke_config?task_id=AAAA", None, ""),
        (404, "unrecognizedTask", leader, "POST", "/tasks/AAAA/reports", b"x", ""),
        (404, "unrecognizedTask", leader, "GET", "/", None, ""),
        (400, "invalidMessage", leader, "POST", f"/tasks/{name}/reports", b"x", ""),
        (400, "invalidMessage", helper, "PUT", jobs, b"x", secret),
        (404, "unrecognizedAggregationJob", helper, "POST", jobs, b"x", secret),
        (400, "invalidBatchSize", leader, "PUT", f"/tasks/{name}/collection_jobs/x", b"", asker),
        *((403, "unauthorizedRequest", helper, "PUT", jobs, b"x", token) for token in ("", asker, "zz", secret[:-2])),
        *((403, "unauthorizedRequest", helper, "POST", path, b"x", asker) for path in (jobs, shares)),
        *((403, "unauthorizedRequest", leader, "GET", f"/tasks/{name}/batch", None, token) for token in ("", secret)),
        (403, "unauthorizedRequest", leader, "PUT", f"/tasks/{name}/collection_jobs/x", b"", secret),
        (403, "unauthorizedRequest", leader, "PUT", jobs, b"x", secret),  # a leader is no helper
        (403, "unauthorizedRequest", helper, "POST", f"/tasks/{name}/reports", b"x", ""),  # and the other way round
    ]
    for status, kind, address, method, path, body, token in wrong:
        found = spoken(address, method, path, body, Authorization=f"Bearer {token}")
        assert (found[0], json.loads(found[1])["type"].rpartition(":")[2]) == (status, kind), (method, path, token)
    assert pair.leader.batch == pair.helper.batch == Batch()


def test_requests_are_bounded_and_strangers_have_less_room_than_the_leader(
    pair: RunningPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aggregator_server, "MOST_UPLOAD", 1000)
    name = written_id(pair.published.identifier)
    body, secret = bytes(1001), {"Authorization": f"Bearer {pair.leader.secrets.token.hex()}"}
    assert spoken(pair.published.leader, "POST", f"/tasks/{name}/reports", body)[0] == 413
    assert spoken(pair.published.leader, "POST", f"/tasks/{name}/reports", body, **secret)[0] == 413
    assert spoken(pair.published.helper, "PUT", f"/tasks/{name}/aggregation_jobs/x", body)[0] == 413
    assert spoken(pair.published.helper, "PUT", f"/tasks/{name}/aggregation_jobs/x", body, **secret)[0] == 400


def test_nobody_listens_in_the_clear_beyond_this_machine() -> None:
    for host in ("0.0.0.0", "example.org", "10.0.0.1"):
        with pytest.raises(ParameterError, match="no certificate"):
            AggregatorServer(host)
    for half in (("a.pem", None), (None, "b.pem"), ("nothing.pem", "nothing.pem")):
        with pytest.raises(ParameterError):
            certified(*half)


def test_with_tls_only_a_trusted_certificate_is_spoken_to(pair: RunningPair, tmp_path: Path) -> None:
    card, key = certificate(tmp_path)
    server = AggregatorServer("127.0.0.1", 0, certified(card, key))
    server.add(pair.helper)
    with serving(server):
        address = f"https://127.0.0.1:{server.server_address[1]}"
        trusting = AggregatorLine(pair.published, address, trusted=card, attempts=1)
        assert trusting.configs() == AggregatorLine(pair.published, pair.published.helper).configs()
        with pytest.raises(EngineFailure, match="SSLCertVerificationError"):
            AggregatorLine(pair.published, address, attempts=1).configs()


def started(folder: Path, *more: str) -> tuple[subprocess.Popen[str], str]:
    """A pair in a process of its own, once it listens, and its task."""
    schema = folder / "schema.toml"
    schema.write_text('neighbors = "replace"\n[columns.answer]\nkind = "category"\nvalues = ["never", "daily"]\n')
    command = [sys.executable, "-m", "discreet", "aggregate", "--pair", "--schema", str(schema), "--json"]
    command += ["--ask", "histogram of answer", "--epsilon", "1", "--least", "20", "--folder", str(folder / "pair")]
    process = subprocess.Popen([*command, *more], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())["task"]


def reported(phone: PrioReporter, sent: list[Any], enough: threading.Event) -> None:
    """Report until nobody answers any more; a few acknowledgements are enough to go on elsewhere."""
    for acknowledged in itertools.count():
        if acknowledged == 3:
            enough.set()
        sent.append(phone.sealed(Reports.of(phone.published.task, np.ones((20, 1)), system_bits())))
        phone.send(sent[-1])


def test_what_was_acknowledged_survives_a_kill_and_counts_once(tmp_path: Path) -> None:
    """A pair is killed while devices report and reports are verified; then they send all of theirs again."""
    process, path = started(tmp_path)
    published = read_task(path)
    phone = PrioReporter(published, attempts=1)
    sent: list[Any] = []
    enough = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(reported, phone, sent, enough)
        enough.wait()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert isinstance(done.exception(), EngineFailure)
    process, _ = started(tmp_path)
    for made in sent:  # those that were acknowledged, and the last ones that were not
        phone.send(made)
    trust = Aggregated.at(published, read_asker(asker_of(path), published))
    found = discreet.histogram(trust, "answer", epsilon=1.0)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 0
    assert trust.collected == 20 * len(sent)
    assert abs(found.counts - [0, 20 * len(sent)]).max() < 120
