"""The collector: what it acknowledges is counted once, even if it is killed; what is wrong is refused whole."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import socketserver
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import ParameterError
from discreet.local import wire_client
from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
from discreet.local.protocol import randomizer_of
from discreet.local.report_store import Acknowledged, Envelope, ReportStore
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.system_bits import system_bits
from discreet.service import bounded_http
from discreet.service.cli.command import main
from discreet.service.collector.collector import Collector, envelopes

SURVEY = GeneralizedRandomizedResponse(2.0, ("no", "yes"))


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A collector in a thread."""
    store = ReportStore(tmp_path / "reports", SURVEY)
    with Collector(store) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()
    store.close()


def report(value: str, number: int) -> dict[str, str]:
    """What a device sends."""
    message = SURVEY.encode(SURVEY.report(value, system_bits()))
    return {"id": f"{number:032x}", "message": base64.b64encode(message).decode()}


def sent(url: str, body: Any, path: str = "/reports") -> tuple[int, dict[str, Any]]:
    """The status and the answer."""
    data = body if isinstance(body, bytes) or body is None else json.dumps({"reports": body}).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data), timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


def test_reports_are_counted_once_and_wrong_ones_not_at_all(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = (report("yes", i) for i in range(3))
    assert sent(url, [first, second]) == (200, {"new": 2, "repeated": 0})
    assert sent(url, [second, third]) == (200, {"new": 1, "repeated": 1})
    other = {"id": third["id"], "message": base64.b64encode(SURVEY.encode(SURVEY.decode(_raw(third)) ^ 1)).decode()}
    assert sent(url, [report("no", 4), other])[0] == 409
    for wrong in (b"{", b"[]", b'{"reports": 3}', [{"id": "00", "message": first["message"]}], [{"id": "zz"}]):
        status, answer = sent(url, wrong)
        assert status == 400
        assert "Nothing was counted" in answer["error"]
    assert sent(url, [report("no", 5), first | {"id": f"{6:032x}", "message": "AAAA"}])[0] == 400
    assert sent(url, None, "/status") == (200, {"n": 3})
    assert sent(url, None, "/elsewhere")[0] == sent(url, [first], "/elsewhere")[0] == 404
    wire_client.main(url, "yes")
    assert json.loads(capsys.readouterr().out) == {"new": 1, "repeated": 0}


def test_a_request_that_is_too_long_is_not_read(url: str) -> None:
    request = urllib.request.Request(url + "/reports", b"x", {"Content-Length": str(2**40)})
    with pytest.raises(urllib.error.HTTPError, match="413"):
        urllib.request.urlopen(request, timeout=20)


def test_what_was_acknowledged_survives_a_kill_and_is_estimated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.json").write_text(json.dumps(SURVEY.parameters))
    reports = [report("yes" if i % 4 else "no", i) for i in range(400)]
    process, url = started("s.reports", "--protocol", "p.json")
    for at in range(0, 400, 50):
        assert sent(url, reports[at : at + 50]) == (200, {"new": 50, "repeated": 0})
    process.send_signal(signal.SIGKILL)
    process.communicate()
    store = ReportStore("s.reports")
    assert store.add(envelopes(json.dumps({"reports": reports}).encode())) == Acknowledged(0, 400)
    store.close()
    assert main(["estimate", "s.reports", "--json", "--tally", "all.tally"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["name"] == "frequencies from 400 reports"
    assert abs(found["numbers"]["frequency"][1] - 0.75) < 5 * found["numbers"]["standard_error"][1]
    assert Path("all.tally").exists()


def test_stores_of_one_protocol_are_added_up_unless_they_share_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, numbers in {"a": range(30), "b": range(30, 50), "c": range(49, 60)}.items():
        store = ReportStore(name, SURVEY)
        store.add([Envelope(i.to_bytes(16, "big"), _raw(report("yes", i))) for i in numbers])
        store.close()
    assert main(["estimate", "a", "b", "--consistent", "norm_sub"]) == 0
    assert "frequencies from 50 reports, norm_sub" in capsys.readouterr().out
    for shared in (["a", "b", "c"], ["a", "a"]):
        assert main(["estimate", *shared]) == 2
        assert "a report is also in" in capsys.readouterr().err


def test_strings_and_means_are_collected_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words").write_text("cat\ncow\ndog\n")
    rappor = randomizer_of({"kind": "rappor", "bits": 16, "hashes": 1, "cohorts": 4, "f": 0.0, "p": 0.1, "q": 0.9})
    hybrid = randomizer_of({"kind": "hybrid", "epsilon": 4.0, "lower": 0, "upper": 10})
    attributes = randomizer_of({"kind": "smp", "epsilon": 4.0, "domains": [2, ["a", "b", "c"]]})
    values: dict[str, tuple[Any, list[Any]]] = {
        "r": (rappor, ["cat"] * 600 + ["dog"] * 400),
        "h": (hybrid, [4.0] * 1000),
        "a": (attributes, [(1, "c")] * 1000),
    }
    for name, (randomizer, people) in values.items():
        store = ReportStore(name, randomizer)
        made = [randomizer.encode(one) for one in randomizer.reports(people, DeterministicBits(1))]
        store.add([Envelope(i.to_bytes(16, "big"), one) for i, one in enumerate(made)])
        store.close()
    assert main(["estimate", "r", "--candidates", "words"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]] == ["cat", "dog"]
    assert main(["estimate", "h", "--json"]) == 0
    assert abs(json.loads(capsys.readouterr().out)["value"] - 4.0) < 1.0
    assert main(["estimate", "a", "--consistent", "norm_sub"]) == 0
    assert capsys.readouterr().out.count("norm_sub") == 2
    for wrong in (["r"], ["h", "--candidates", "words"], ["h", "--consistent", "ibu"], ["r", "--candidates", "none"]):
        assert main(["estimate", *wrong]) == 2
        capsys.readouterr()


def test_mistakes_in_the_command_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.json").write_text(json.dumps(SURVEY.parameters))
    for command in (
        ["collect", "new"],
        ["collect", "new", "--protocol", "p.json", "--listen", "here"],
        ["collect", "new", "--protocol", "nothing.json"],
        ["estimate", "nothing"],
    ):
        assert main(command) == 2
        assert "Nothing was" in capsys.readouterr().err


def started(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """A collector in a process of its own, once it listens."""
    command = [sys.executable, "-m", "discreet", "collect", *arguments, "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout is not None
    assert process.stdout.readline().startswith("collecting")
    return process, process.stdout.readline().split()[-1]


def _raw(sent: dict[str, str]) -> bytes:
    return base64.b64decode(sent["message"])


def test_no_address_is_printed_where_a_sender_hangs_up(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store = ReportStore(tmp_path / "reports", SURVEY)
    with Collector(store) as server:
        try:
            raise ConnectionResetError("reset by the sender")
        except ConnectionResetError:
            server.handle_error(None, ("192.0.2.7", 54321))
    store.close()
    said = capfd.readouterr().err
    assert "a request was not answered: ConnectionResetError" in said
    assert "192.0.2.7" not in said
    assert "54321" not in said


def test_a_request_of_brackets_is_refused(url: str) -> None:
    status, answer = sent(url, b"[" * 200_000)
    assert status == 400
    assert "Nothing was counted" in answer["error"]


def test_a_store_that_cannot_write_says_so(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> Acknowledged:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(ReportStore, "add", full)
    status, answer = sent(url, [report("yes", 1)])
    assert status == 503
    assert "disk is full. Nothing was counted" in answer["error"]


def spoken(url: str, *parts: bytes) -> bytes:
    """All that the collector says to these bytes until it hangs up."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        for part in parts:
            line.sendall(part)
        return b"".join(iter(lambda: line.recv(65536), b""))


def test_a_length_that_can_be_misread_ends_the_line(url: str) -> None:
    length = b"POST /reports HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\n"
    for wrong in (b"abc", b"-1", b"+2", b"1_0", b"0x2", b"2 2", b"", "\u0662".encode(), b"9" * 30):
        said = spoken(url, length % wrong)
        assert said.startswith(b"HTTP/1.1 400")
        assert b"Nothing was counted" in said
    for head in (
        length % b"2\r\nContent-Length: 3",
        length % b"2\r\nTransfer-Encoding: chunked",
        b"POST /reports HTTP/1.1\r\nHost: x\r\n\r\n",
    ):
        assert spoken(url, head).startswith(b"HTTP/1.1 400")


def test_what_follows_a_question_is_not_read_as_another(url: str) -> None:
    said = spoken(url, b"GET /status HTTP/1.1\r\nHost: x\r\nContent-Length: 19\r\n\r\nGET /protocol HTTP/1.1\r\n\r\n")
    assert said.count(b"HTTP/1.1 ") == 1
    assert b"Connection: close" in said


def test_a_hundred_devices_may_call_before_the_first_is_heard(tmp_path: Path) -> None:
    store = ReportStore(tmp_path / "reports", SURVEY)
    with Collector(store) as server:
        port = server.server_address[1]
        lines = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(100)]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        for line in lines:
            line.sendall(b"GET /status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        said = [b"".join(iter(lambda line=line: line.recv(65536), b"")) for line in lines]  # type: ignore[misc]
        server.shutdown()
        thread.join()
        for line in lines:
            line.close()
    store.close()
    assert all(one.endswith(b'{"n": 0}') for one in said)


def test_headers_and_body_leave_together_and_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    writer: Any = socketserver._SocketWriter  # type: ignore[attr-defined]
    write, sizes, delayed = writer.write, [], []

    def written(self: Any, data: bytes) -> int:
        sizes.append(len(data))
        delayed.append(not self._sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        return int(write(self, data))

    monkeypatch.setattr(writer, "write", written)
    assert sent(url, [report("yes", 1)])[0] == 200
    assert (len(sizes), delayed) == (1, [False])


def drip(line: socket.socket) -> None:
    """Send a byte every few milliseconds, for a long time."""
    for _ in range(2000):
        line.sendall(b"x")
        time.sleep(0.01)


def test_a_slow_sender_is_not_waited_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time, and all of them together do not."""
    monkeypatch.setattr(bounded_http, "PATIENCE", 0.3)
    host, _, port = url.removeprefix("http://").partition(":")
    for head in (b"POST /reports HTTP/1.1\r\nContent-Length: 100000\r\n\r\n", b"POST /reports HTTP/1.1\r\nX: "):
        with socket.create_connection((host, int(port)), timeout=20) as line:
            line.sendall(head)
            with pytest.raises((ConnectionError, BrokenPipeError)):
                drip(line)


def test_a_store_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "reports"
    store = ReportStore(path, SURVEY)
    store.add([Envelope(bytes(16), _raw(report("yes", 1)))])
    modes = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
    store.close()
    assert set(modes.values()) == {0o600}
    path.chmod(0o644)
    with pytest.raises(ParameterError, match="others on this machine"):
        ReportStore(path)
