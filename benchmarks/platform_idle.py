"""Ten thousand lines that say nothing, and an analyst who asks among them.

    python -m benchmarks.platform idle

The lines are opened as fast as the site takes them and held for as long as it lets them. Meanwhile one analyst asks,
each time on a line of its own.
"""

from __future__ import annotations

import json
import resource
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

from benchmarks.platform_server import SERVE, made, running
from benchmarks.rows import Row, at_least, at_most, missing, printed

LINES, ASKED, SPARE = 10_000, 40, 500  # a silent line is closed after 20 seconds: all are asked before


def opened(port: int) -> list[socket.socket]:
    """Lines that were taken, and on which nothing is sent."""
    found = []
    for _ in range(LINES):
        line = socket.create_connection(("127.0.0.1", port), 10)
        line.setblocking(False)
        found.append(line)
    return found


def asked(port: int, key: str, name: str) -> tuple[int, float]:
    """The status of an answer, and the seconds until it was there."""
    body, began = json.dumps({"question": "mean of age", "epsilon": 1e-3, "key": name}), time.perf_counter()
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as line:
        line.request("POST", "/api/data/patients/ask", body, {"Authorization": f"Bearer {key}"})
        answer = line.getresponse()
        answer.read()
    return answer.status, time.perf_counter() - began


def memory(process: int) -> float:
    """The resident memory of a process, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def open_there(process: int, port: int) -> int:
    """How many lines a process holds open at its port."""
    own = {path.readlink().name for path in Path(f"/proc/{process}/fd").iterdir() if path.is_symlink()}
    found = 0
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *rest = line.split()
        found += int(local.split(":")[1], 16) == port and state == "01" and f"socket:[{rest[5]}]" in own
    return found


def rows() -> Iterator[Row]:
    """What becomes of the analyst, and of the server."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < LINES + SPARE:
        yield missing(f"{LINES} idle lines: this process may open {hard} files")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, LINES + SPARE), hard))
    with tempfile.TemporaryDirectory() as place, running(SERVE, made(Path(place, "site")), {}) as (process, key, port):
        first = [asked(port, key, f"before {number}") for number in range(ASKED // 10)]
        before = memory(process.pid)
        lines = opened(port)
        held, after = open_there(process.pid, port), memory(process.pid)
        answers = [asked(port, key, f"among {number}") for number in range(ASKED)]
        for line in lines:
            line.close()
    refused = sum(status != 200 for status, _ in (*first, *answers))
    yield at_most(f"answers that were no 200, of {ASKED} among {LINES} idle lines", refused, 0)
    yield at_most("the slowest of them, s (the deadline is 0.25)", max(seconds for _, seconds in answers), 1.0)
    yield printed("the slowest before there were idle lines, s", max(seconds for _, seconds in first))
    yield at_least("idle lines that the site still holds", held, 1)
    yield at_most("the same, of those that it may hold", held, 1024)
    yield at_most("memory that they cost the server, MB", after - before, 100.0)
