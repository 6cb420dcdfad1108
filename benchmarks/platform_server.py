"""A site under load: 200 analysts at once, beside a bare server on the ledger of before, in one run.

    python -m benchmarks.platform_server [SECONDS]

The bare server has the records and the ledger in its own threads, no worker, no keys, no deadlines: Starlette before
`discreet.mean`. It runs on the sources of the commit before charges were committed together, taken from git. All is run
twice: with the disk's syncs, and with every sync 2 ms slower, which takes gcc.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import Row, at_least, at_most, missing, printed, report
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors
from discreet.ledger.sqlite_ledger import SqliteLedger

BEFORE = "1d118b66"  # charges were committed one by one
SLOW_SYNC = Path(__file__).parent / "slow_sync.c"
CLIENTS, RECORDS = 200, 100_000
SOON = 0.1  # seconds: a deadline that caps answers at 2,000 a second; that of all other rows does at 800
SCHEMA = (
    '[columns.age]\nkind = "number"\nlower = 0\nupper = 110\n[columns.stay]\nkind = "number"\nlower = 0\nupper = 60\n'
)
SITE = """address = "127.0.0.1:0"
[limits]
requests = 100000000
running = 1000
[deadlines]
cheap = {deadline}
[data.patients]
source = "patients.csv"
schema = "patients.toml"
account = "patients.ledger"
[users.ann]
role = "analyst"
data = ["patients"]
"""
SERVE = """
import sys
from discreet.service.server.serving_site import serve
from discreet.service.server.site import Site
with Site.open(sys.argv[1] + "/site.toml") as site:
    print(site.keys.drawn("ann"), flush=True)
    serve(site, lambda address: print(address, flush=True))
"""
BARE = """
import asyncio, json, sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
import discreet
from discreet import PrivateData, SqliteLedger
values = np.loadtxt(sys.argv[1] + "/patients.csv", delimiter=",", skiprows=1)
data = PrivateData.of(values, {"age": (0, 110), "stay": (0, 60)}, SqliteLedger.open(sys.argv[1] + "/patients.ledger"))
pool = ThreadPoolExecutor(64)
def answer(ask):
    found = discreet.mean(data, "age", epsilon=ask["epsilon"], key=ask["key"])
    return {"result": found.value, "receipt": json.loads(found.receipt.to_json())}
async def asked(request):
    return JSONResponse(await asyncio.get_running_loop().run_in_executor(pool, answer, await request.json()))
answer({"epsilon": 1e-3, "key": "warm"})
app = Starlette(routes=[Route("/ask", asked, methods=["POST"])])
server = uvicorn.Server(uvicorn.Config(app, port=0, access_log=False, log_level="error"))
async def main():
    serving = asyncio.create_task(server.serve())
    while not server.started: await asyncio.sleep(0.05)
    print("-", flush=True)
    print(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", flush=True)
    await serving
asyncio.run(main())
"""


def made(folder: Path, deadline: float = 0.25) -> Path:
    """A data set with its account, and a site for it."""
    folder.mkdir()
    values = np.random.default_rng(0).normal(50, 15, (RECORDS, 2)).clip(0, 110)
    np.savetxt(folder / "patients.csv", values, fmt="%.2f", delimiter=",", header="age,stay", comments="")
    (folder / "patients.toml").write_text(SCHEMA)
    (folder / "site.toml").write_text(SITE.format(deadline=deadline))
    about: Any = {"name": "patients", "neighbors": Neighbors.ADD_REMOVE}
    SqliteLedger.create(folder / "patients.ledger", Budget(1e5, 1e-6), **about).close()
    return folder


def sources_before(folder: Path) -> Path | None:
    """The sources of the library as they were, from git; None where git does not have them."""
    home = Path(__file__).resolve().parent.parent
    archive = subprocess.run(["git", "archive", BEFORE, "src"], cwd=home, capture_output=True, check=False)
    if archive.returncode:
        return None
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder / "src"


@contextlib.contextmanager
def running(
    program: str, folder: Path, disk: dict[str, str], sources: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """A server in a process, the key to ask with, and its port."""
    path = {} if sources is None else {"PYTHONPATH": str(sources)}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **disk, **path}
    command = [sys.executable, "-c", program, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            key, address = process.stdout.readline().strip(), process.stdout.readline().strip()
            time.sleep(2)  # the worker opens its records
            yield process, key, int(address.rpartition(":")[2])
        finally:
            process.kill()


def loaded(
    program: str, folder: Path, path: str, mode: str, seconds: float, disk: dict[str, str], sources: Path | None = None
) -> Any:
    """What a load of 200 lines finds."""
    with running(program, folder, disk, sources) as (process, key, port):
        arguments = [str(port), str(CLIENTS), str(seconds), mode, path, key]
        run = [sys.executable, "-m", "benchmarks.load_lines", *arguments]
        before = processor(process.pid)
        found = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
        found["processor"] = (processor(process.pid) - before) / max(1, found["all"])
    return found


def processor(pid: int) -> float:
    """The processor time of a process and of those that it started, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    threads = [Path(f"/proc/{pid}/task/{one}/children").read_text().split() for one in os.listdir(f"/proc/{pid}/task")]
    own = {int(child) for each in (children, *threads) for child in each}
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(map(processor, own))


def rows(seconds: float = 8.0) -> list[Row]:
    """All figures of the server, on the bare disk and with slower syncs."""
    with tempfile.TemporaryDirectory() as place:
        library = Path(place, "slow_sync.so")
        command = ["gcc", "-shared", "-fPIC", "-O2", "-o", str(library), str(SLOW_SYNC), "-ldl"]
        if shutil.which("gcc") is None or subprocess.run(command, check=False).returncode:
            return [*on("the bare disk", {}, 2.0, seconds), missing("the same with syncs of 2 ms: no gcc")]
        slower = {"LD_PRELOAD": str(library), "SLOW_SYNC": "2000"}
        return [*on("the bare disk", {}, 2.0, seconds), *on("syncs of 2 ms", slower, 4.0, seconds)]


def on(name: str, disk: dict[str, str], goal: float, seconds: float) -> list[Row]:
    """The figures of one disk."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        before = sources_before(folder)
        if before is None:
            return [missing(f"answers a second of 200 analysts, against a bare server of {BEFORE}, {name}")]
        bare = {
            mode: loaded(BARE, made(folder / f"bare {mode}"), "/ask", mode, seconds, disk, before)
            for mode in ("new", "same")
        }
        path = "/api/data/patients/ask"
        ours = {
            mode: loaded(SERVE, made(folder / f"site {mode}"), path, mode, seconds, disk)
            for mode in ("new", "same", "varied")
        }
        ours["soon"] = loaded(SERVE, made(folder / "site soon", SOON), path, "new", seconds, disk)
        with SqliteLedger.open(folder / "site new" / "patients.ledger") as ledger:
            verified, balance = ledger.verify(), ledger.balance()
    new, same = ours["new"]["rate"] / bare["new"]["rate"], ours["same"]["rate"] / bare["same"]["rate"]
    refused = sum(n for found in ours.values() for status, n in found["statuses"].items() if status != "200")
    return [
        printed(f"bare server: new questions a second, {name}", bare["new"]["rate"]),
        printed(f"site: new questions a second, {name}", ours["new"]["rate"]),
        at_least(f"new questions a second, site to bare, {name}", new, goal),
        printed(f"the same with a deadline of {SOON:g} s, {name}", ours["soon"]["rate"] / bare["new"]["rate"]),
        at_most(f"99th percentile of new questions, s, {name}", ours["new"]["p99"], 1.0),
        printed(f"the same of the bare server, s, {name}", bare["new"]["p99"]),
        printed(f"site: new questions a second, of 1,100 different ones, {name}", ours["varied"]["rate"]),
        printed(f"bare server: repeated keys a second, {name}", bare["same"]["rate"]),
        printed(f"site: repeated keys a second, {name}", ours["same"]["rate"]),
        at_least(f"repeated keys a second, site to bare, {name}", same, 5.0),
        at_most(f"99th percentile of repeated keys, s, {name}", ours["same"]["p99"], 0.25),
        *(
            printed(
                f"{whose}, {mode} questions, {name}: processor time of an answer, ms", 1e3 * found[mode]["processor"]
            )
            for whose, found in (("site with its worker", ours), ("bare server", bare))
            for mode in ("new", "same")
        ),
        at_most(f"answers that were no 200, {name}", refused, 0),
        at_most(f"charges without an answer, after the load, {name}", verified.dangling, CLIENTS),
        at_most(f"budget overspent, {name}", max(0.0, balance.certified - balance.budget.epsilon), 0.0),
    ]


if __name__ == "__main__":
    report("platform_server", rows(float(sys.argv[1]) if len(sys.argv) > 1 else 8.0))
