"""One question to a site and to lomas 0.4.1, one after the other in one run; with the deadlines of both switched off.

    python -m benchmarks.platform lomas

lomas has an environment of its own (`make bench-platform` installs it). It is asked in SQL, and its own server listens;
both read the same file of 100,000 records. What both refuse is in docs/run_a_site.md.
"""

from __future__ import annotations

import http.client
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.platform_server import RECORDS, SERVE, made, running
from benchmarks.rows import Row, at_most, missing, printed

PEER = Path(__file__).resolve().parent.parent / ".venv" / "bench-lomas" / "bin" / "python"
ANSWERS = Path(__file__).parent / "peers" / "lomas_answers.py"
TIMES, STARTING = 30, 120.0
SQL = {"query_str": "SELECT AVG(age) AS m FROM df", "dataset_name": "patients", "mechanisms": {}, "postprocess": True}


@contextmanager
def lomas(folder: Path) -> Iterator[int]:
    """The port of a lomas server on this folder's file."""
    command = [str(PEER), str(ANSWERS), str(folder), str(RECORDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(int(line) for line in process.stdout if line.strip().isdecimal())
        finally:
            process.kill()


def asking(port: int, path: str, headers: dict[str, str]) -> Callable[[dict[str, object]], float]:
    """A line on which questions are sent; each gives the seconds until its answer."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=STARTING)

    def ask(body: dict[str, object]) -> float:
        began = time.perf_counter()
        try:
            line.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **headers})
        except OSError:
            line.close()
            raise
        answer = line.getresponse()
        said = answer.read()
        assert answer.status == 200, said
        return time.perf_counter() - began

    return ask


def reached(ask: Callable[[dict[str, object]], float], body: dict[str, object]) -> None:
    """Ask until there is an answer: lomas takes a while to load."""
    end = time.monotonic() + STARTING
    while True:
        try:
            ask(body)
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def rows() -> Iterator[Row]:
    """The time of an answer beside that of lomas."""
    if not PEER.exists():
        yield missing("seconds until an answer, of those of lomas: it is not installed")
        return
    with tempfile.TemporaryDirectory() as place:
        folder = made(Path(place, "site"), 0.0)
        with running(SERVE, folder, {}) as (_, key, port), lomas(folder) as theirs:
            ours = asking(port, "/api/data/patients/ask", {"Authorization": f"Bearer {key}"})
            them = asking(theirs, "/smartnoise_sql_query", {"user-name": "ann"})
            found: tuple[list[float], list[float]] = [], []
            reached(them, {**SQL, "epsilon": 1e-3, "delta": 1e-7})
            for number in range(TIMES):
                found[0].append(ours({"question": "mean of age", "epsilon": 1e-3 * (1 + number / TIMES)}))
                found[1].append(them({**SQL, "epsilon": 1e-3, "delta": 1e-7}))
    site, peer = map(statistics.median, found)
    yield at_most("seconds until an answer, of those of lomas, without deadlines", site / peer, 0.1)
    yield printed("seconds until an answer", site)
    yield printed("seconds until an answer of lomas", peer)
