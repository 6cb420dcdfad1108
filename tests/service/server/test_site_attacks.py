"""What somebody tries who may send anything: guesses, floods, races, kills, other people's keys and questions."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import (
    BudgetExceeded,
    DiscreetError,
    EngineFailure,
    KeyReused,
    LedgerError,
    NotPermitted,
    ParameterError,
)
from discreet.core.events import PureLoss
from discreet.service.server.bounded_protocol import BoundedProtocol
from discreet.service.server.question_desk import PREVIEWS, wait_until
from discreet.service.server.serving_site import ServedSite, served
from discreet.service.server.site import Site
from discreet.service.server.site_answer import next_moment
from discreet.service.server.site_refusals import NotHere, TooMany
from tests.service.server.made_site import TEXT, made_site
from tests.service.server.site_soak import soak
from tests.service.server.test_api import ASK, Sender


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedSite]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BoundedProtocol, "patience", 1.0)
        patch.setattr(BoundedProtocol, "most_lines", 64)
        with Site.open(made_site(tmp_path_factory.mktemp("attacked"))) as site, served(site) as one:
            yield one


def raw(there: ServedSite, sent: bytes, seconds: float = 10.0) -> bytes:
    """What comes back for these bytes until the line is closed."""
    found = b""
    with connected(there) as line:
        line.settimeout(seconds)
        with contextlib.suppress(OSError):
            line.sendall(sent)
            while part := line.recv(65536):
                found += part
    return found


def connected(there: ServedSite) -> socket.socket:
    host, port = there.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def test_ids_of_others_are_of_no_use_and_cannot_be_guessed(there: ServedSite) -> None:
    site = there.site
    ann, bob = site.file.users["ann"], site.file.users["bob"]
    asked = [site.ask(ann, "patients", "count", epsilon=0.01, key=f"guess {n}") for n in range(3)]
    assert len({one.id for one in asked}) == 3
    assert all(len(one.id) == 32 for one in asked)
    refused = set()
    for one in (*(one.id for one in asked), "0" * 32, "../ann", asked[0].id.upper(), asked[0].id[:-1], "%"):
        with pytest.raises(NotHere) as why:
            site.answer(bob, one)
        refused.add(str(why.value).replace(one, ""))
    assert len(refused) == 1


def test_a_key_is_in_no_answer_no_error_and_no_log(there: ServedSite, capfd: pytest.CaptureFixture[str]) -> None:
    key = there.site.keys.drawn("ann")
    said = []
    for path in (ASK, "/api/data/staff", f"/api/data/{key}", "/nothing", f"/api/me?key={key}", "/api/me"):
        sender = Sender(there, key)
        said += [json.dumps(sender("GET", path)[1]), json.dumps(sender("POST", path, {})[1])]
        sender.line.close()
    said.append(raw(there, f"GET /api/me HTTP/1.1\r\nAuthorization: Bearer {key}\r\n\r\n\r\n".encode()).decode())
    out, err = capfd.readouterr()
    echoed = [one for one in said if key in one]
    assert all("data set" in one for one in echoed)  # a name that was asked for is quoted to whoever sent it
    assert len(echoed) <= 1
    assert key not in out + err
    folder = there.site.file.path.parent
    assert not any(key.encode() in path.read_bytes() for path in folder.iterdir() if path.is_file())


def test_paths_lead_nowhere_else(there: ServedSite) -> None:
    key = there.site.keys.drawn("ann")
    for path in ("/api/data/../../etc/passwd", "/api/data/..%2f..%2fetc%2fpasswd", "//api/me", "/api/data/patients%00",
                 "/static/../site.toml", "/api/data/%2e%2e", "/site.toml", "/site.state"):  # fmt: skip
        sender = Sender(there, key)
        status, said = sender("GET", path)
        assert status == 404, path
        assert "root:" not in json.dumps(said)
        sender.line.close()


def test_what_is_sent_never_becomes_a_header(there: ServedSite) -> None:
    key = there.site.keys.drawn("ann")
    sender = Sender(there, key)
    for word in ("x\r\nSet-Cookie: a=b", "x%0d%0aSet-Cookie:%20a=b"):
        body = {"question": word, "epsilon": 0.1, "key": word}
        assert sender("POST", ASK, body)[0] == 422
    sender.line.close()
    for head in (b"GET /api/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n y\r\n\r\n",
                 b"GET /api/me%0d%0aX:y HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"):  # fmt: skip
        found = raw(there, head)
        assert found == b"" or found.split(b" ")[1] in (b"400", b"401", b"404")
        assert b"\r\nX:y" not in found


def test_two_lengths_or_none_are_no_way_to_smuggle_a_request(there: ServedSite) -> None:
    for heads in (b"Content-Length: 5\r\nContent-Length: 6", b"Content-Length: 5\r\nTransfer-Encoding: chunked"):
        sent = (
            b"POST /api/data/patients/ask HTTP/1.1\r\nHost: x\r\n"
            + heads
            + b"\r\n\r\n{}aaaGET /api/health HTTP/1.1\r\n\r\n"
        )
        assert raw(there, sent).count(b'"site":"open"') == 0


def test_requests_that_arrive_slowly_or_never_are_given_up(there: ServedSite) -> None:
    began = time.monotonic()
    for part in (
        b"",
        b"GET /api/me HTTP/1.1\r\n",
        b"POST /api/data/patients/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
    ):
        assert b" 200 " not in raw(there, part, 30.0)
    with connected(there) as line:
        with contextlib.suppress(OSError):
            for letter in b"GET /api/health HTTP/1.1\r\nHost: " + b"x" * 200:
                line.sendall(bytes([letter]))
                time.sleep(0.02)
        line.settimeout(10)
        with contextlib.suppress(OSError):
            assert line.recv(100) == b""
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("path", [ASK, "/api/data/patients/plan"])
def test_whoever_hangs_up_in_the_middle_of_a_request_is_no_mistake_and_charged_nothing(
    there: ServedSite, capfd: pytest.CaptureFixture[str], path: str
) -> None:
    site, key = there.site, there.site.keys.drawn("ann")
    ann, way = site.file.users["ann"], path.replace("patients", "{name}")
    before, cat = len(site.history(ann, "patients")), Sender(there, site.keys.drawn("cat"))
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Length: 90\r\n\r\n"
    with connected(there) as line:
        line.sendall(head.encode() + b'{"question": "count", "epsilon": 0.5')
        time.sleep(0.2)  # for the body to be waited for
    counted = f'discreet_answers_total{{way="{way}",status="400"}} 1'
    for _ in range(100):
        if counted in (figures := cat("GET", "/api/metrics")[1].decode()):
            break
        time.sleep(0.05)
    cat.line.close()
    assert counted in figures
    assert len(site.history(ann, "patients")) == before
    assert capfd.readouterr() == ("", "")


def test_a_head_without_an_end_is_not_kept(there: ServedSite) -> None:
    assert b" 200 " not in raw(there, b"GET /api/health HTTP/1.1\r\n" + b"X: " + b"y" * 10**6)


def test_idle_lines_make_room_for_those_that_ask(there: ServedSite) -> None:
    idle = [connected(there) for _ in range(200)]
    try:
        sender = Sender(there, there.site.keys.drawn("ann"))
        assert sender("GET", "/api/me")[0] == 200
        sender.line.close()
    finally:
        for line in idle:
            line.close()


def test_keys_that_nobody_has_cannot_keep_others_waiting(there: ServedSite) -> None:
    key = there.site.keys.drawn("ann")
    sender = Sender(there, key)
    assert sender("GET", "/api/me")[0] == 200

    def stranger(number: int) -> int:
        one = Sender(there, f"discreet_{number:016x}_{'0' * 48}")
        status = one("GET", "/api/me")[0]
        one.line.close()
        return status

    with ThreadPoolExecutor(48) as threads:
        found = list(threads.map(stranger, range(96)))
    sender.line.close()
    known = Sender(there, key)
    assert known("GET", "/api/me")[0] == 200
    known.line.close()
    assert {*found} <= {401, 429}
    assert 401 in found


def test_a_caller_who_asks_too_often_is_told_to_wait_and_others_are_not(tmp_path: Path) -> None:
    text = TEXT.replace("requests = 100000", "requests = 5")
    with Site.open(made_site(tmp_path, text=text)) as site:
        ann, bob = site.file.users["ann"], site.file.users["bob"]
        for _ in range(5):
            site.desk.count(ann)
        with pytest.raises(TooMany):
            site.desk.count(ann)
        site.desk.count(bob)


def test_prices_that_take_long_to_compute_are_few_at_a_time(there: ServedSite) -> None:
    site = there.site
    ann, bob = site.file.users["ann"], site.file.users["bob"]
    with contextlib.ExitStack() as looking:
        for _ in range(PREVIEWS):
            looking.enter_context(site.desk.previewing(ann))
        for look in (
            lambda: site.plan(ann, "patients", "count", epsilon=0.1),
            lambda: site.often(ann, "patients", PureLoss(0.1), 1),
        ):
            with pytest.raises(TooMany):
                look()
        assert site.often(bob, "staff", PureLoss(0.1), 1) == 1
    assert site.often(ann, "patients", PureLoss(0.1), 1) == 1


def test_the_last_of_the_budget_is_spent_once_whoever_races(tmp_path: Path) -> None:
    with Site.open(made_site(tmp_path, Budget(1.0))) as site:
        ann = site.file.users["ann"]
        site.ask(ann, "patients", "count", epsilon=0.9)

        def one(number: int) -> bool:
            try:
                return site.ask(ann, "patients", "count", epsilon=0.04, key=f"race {number}").done
            except BudgetExceeded:
                return False

        with ThreadPoolExecutor(40) as threads:
            paid = sum(threads.map(one, range(40)))
        assert paid == 2
        assert site.data_set(ann, "patients").balances["data set"].certified <= 1.0
        assert len(site.history(ann, "patients")) == 3


def test_one_key_that_is_sent_by_many_at_once_is_charged_once(tmp_path: Path) -> None:
    with Site.open(made_site(tmp_path)) as site:
        ann = site.file.users["ann"]
        found: list[Any] = []

        def one(_: int) -> None:
            for _ in range(200):
                try:
                    found.append(site.ask(ann, "patients", "mean of age", epsilon=0.5, key="same").result)
                    return
                except LedgerError:  # another one is at work on it
                    time.sleep(0.02)

        with ThreadPoolExecutor(16) as threads:
            list(threads.map(one, range(16)))
        assert len(found) == 16
        assert len({json.dumps(one) for one in found}) == 1
        assert len(site.history(ann, "patients")) == 1


def test_two_sites_on_one_ledger_spend_it_together(tmp_path: Path) -> None:
    path = made_site(tmp_path, Budget(1.0))
    other = tmp_path / "other"
    other.mkdir()
    for name in ("staff.csv", "staff.toml"):
        (other / name).write_bytes((tmp_path / name).read_bytes())
    text = TEXT.replace('account = "', 'account = "../')
    (other / "site.toml").write_text(text)
    with Site.open(path) as one, Site.open(other / "site.toml") as two:
        one.ask(one.file.users["ann"], "patients", "count", epsilon=0.6, key="k")
        with pytest.raises(BudgetExceeded):
            two.ask(two.file.users["ann"], "patients", "count", epsilon=0.6, key="j")
        again = two.ask(two.file.users["ann"], "patients", "count", epsilon=0.6, key="k")
        assert again.replayed
        with pytest.raises(KeyReused):
            two.ask(two.file.users["ann"], "patients", "mean of age", epsilon=0.6, key="k")


def test_a_worker_that_is_killed_at_work_costs_nobody_a_second_charge(there: ServedSite) -> None:
    site = there.site
    bob, line, rng = site.file.users["bob"], site._data["staff"].line, np.random.default_rng(0)
    ask = line.ask

    def killed(*asked: Any) -> bytes:
        """Some questions meet a worker that dies before them, or a little later."""
        process = line.start() and line.process_id
        if rng.random() < 0.5 and process is not None:
            threading.Timer(float(rng.choice([0.0, 0.0, 0.002, 0.01])), os.kill, (process, signal.SIGKILL)).start()
        return ask(*asked)

    line.ask = killed  # type: ignore[method-assign, assignment]
    try:
        for number in range(8):
            for _ in range(100):
                try:
                    assert site.ask(bob, "staff", "mean of pay", epsilon=0.01, key=f"kill {number}").done
                    break
                except EngineFailure:
                    pass
    finally:
        line.ask = ask  # type: ignore[method-assign]
    paid = [one for one in site.history(bob, "staff") if one.key.startswith("bob/kill")]
    assert len(paid) == 8
    assert all(one.committed for one in paid)


def soaked(folder: Path, kills: int) -> None:
    """Everybody has what they paid for, once; what has no answer was told to nobody, and gets one for a new charge."""
    found = soak(folder, kills, seed=7)
    assert (found.lost, found.twice, found.over) == (0, 0, 0)
    assert found.told > kills
    assert found.mended == found.dangling


def test_a_server_that_is_killed_under_load_loses_no_answer_that_somebody_got(tmp_path: Path) -> None:
    soaked(tmp_path, 2)


@pytest.mark.slow
def test_a_server_that_is_killed_fifty_times_loses_no_answer(tmp_path: Path) -> None:
    soaked(tmp_path, 50)


def test_an_answer_leaves_at_a_moment_that_does_not_depend_on_its_records(tmp_path: Path) -> None:
    """Its due moment is a multiple of the deadline: what the records need within one shows nowhere."""
    with Site.open(made_site(tmp_path)) as site:
        ann = site.file.users["ann"]
        site.ask(ann, "patients", "count", epsilon=0.01)
        for number in range(8):
            began = time.monotonic()
            answer = site.desk.ask(ann, site._data["patients"], "count", epsilon=0.01, key=f"due {number}")
            inside = time.monotonic() - began
            steps = (answer.due - began) / site.file.cheap
            assert answer.due > began + inside - 1e-3
            assert steps == pytest.approx(round(steps), abs=0.2)
        wait_until(answer.due)
        assert site.desk.ask(ann, site._data["patients"], "count", epsilon=0.01, key="due 0").due == 0.0
    for late in (0.0, 0.01, 0.2499, 0.25, 0.26):
        assert next_moment(1.0, 1.0 + late, 0.25) in (1.25, 1.5)


def test_before_an_answer_is_due_nothing_tells_that_it_is_there(tmp_path: Path) -> None:
    """Neither the state of its question, nor the same key again, nor the caller's place changes before.

    Its commit is in the ledger at a public moment too, a fifth of the deadline: others see the order of its entries.
    """
    path = made_site(tmp_path)
    path.write_text(path.read_text().replace("cheap = 0.05", "cheap = 3.0"))
    with Site.open(path) as site:
        ann, data = site.file.users["ann"], site._data["patients"]
        site.desk.ask(site.file.users["cat"], data, "count", epsilon=0.01)  # the worker has its records
        began = time.monotonic()
        with ThreadPoolExecutor(1) as threads:
            asking = threads.submit(site.desk.ask, ann, data, "count", epsilon=0.01, key="early")
            wait_until(began + 0.5)
            assert [one.committed for one in site.history(ann, "patients")] == [False]
        answer = asking.result()
        assert [one.committed for one in site.history(ann, "patients")] == [True]
        assert time.monotonic() - began < 3.0
        said = {"question": "count", "epsilon": 0.01, "key": "early"}
        assert site.remembered(ann, "patients", said) is None
        again = site.desk.ask(ann, data, "count", epsilon=0.01, key="early")
        assert answer.due == again.due > time.monotonic()
        assert site.question(ann, answer.id).state == "asked"
        assert site.desk._limits.taken("ann") == 1
        with pytest.raises(NotPermitted, match="there is none"):
            site.answer(ann, answer.id)
        wait_until(answer.due)
        assert site.answer(ann, answer.id).result == answer.result
        found = site.remembered(ann, "patients", said)
        assert found is not None
        assert found.result == answer.result
        assert site.question(ann, answer.id).state == "done"
        assert site.desk._limits.taken("ann") == 0


QUESTIONS = (
    "mean of pay",
    "mean of nothing",
    "SELECT log(pay) FROM staff",
    "quantile of pay q=2",
    "variance of pay where",
)


def test_errors_are_the_same_for_neighbours(tmp_path: Path) -> None:
    found = []
    for name, more in (("one", ""), ("other", "nan\n")):
        folder = tmp_path / name
        folder.mkdir()
        path = made_site(folder)
        rows = (folder / "staff.csv").read_text()
        (folder / "staff.csv").write_text(rows + more if name == "other" else rows)
        with Site.open(path) as site:
            bob, said = site.file.users["bob"], []
            for question in QUESTIONS:
                try:
                    site.ask(bob, "staff", question, epsilon=0.01)
                    said.append("answered")
                except DiscreetError as why:
                    said.append(f"{type(why).__name__}: {why}")
            found.append(said)
    assert found[0] == found[1]


def test_a_certificate_that_is_none_refuses_to_start(tmp_path: Path) -> None:
    text = TEXT.replace(
        'address = "127.0.0.1:0"', 'address = "0.0.0.0:0"\n[tls]\ncertificate = "no.pem"\nkey = "no.key"\n'
    )
    with Site.open(made_site(tmp_path, text=text)) as site, pytest.raises(ParameterError, match="PEM"), served(site):
        pass
