"""Charges a second of the ledger, beside those of the ledger that committed each by itself, in the same run.

The earlier ledger is the library as it was, taken from the history of its repository. Syncs are those of the disk, and
then 2 ms longer. Runs of the two are taken in turns, since the machine may have other work; ratios are of medians.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.rows import Row, at_least, at_most, missing, printed

HERE = Path(__file__).parent
EARLIER = "1d118b66"  # the last commit with one transaction for each charge
SECONDS, ROUNDS, ENTRIES = 2.0, 3, 100_000
SLOWER = 2000  # microseconds
LOADS = {"alone": (1, 1), "200 threads": (1, 200), "4 processes x 50": (4, 50)}
GOALS = {
    ("alone", 0): 1.0,
    ("200 threads", 0): 2.5,
    ("4 processes x 50", 0): 3.5,
    ("200 threads", SLOWER): 10.0,
    ("4 processes x 50", SLOWER): 10.0,
}


@contextmanager
def sources() -> Iterator[dict[str, Path]]:
    """The library as it is, and as it was before; and a folder for ledgers."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("DISCREET_BENCH_DISK")) as folder:
        place = Path(folder)
        archive = subprocess.run(["git", "archive", EARLIER, "src"], cwd=HERE.parent, capture_output=True, check=True)
        subprocess.run(["tar", "x", "-C", place], input=archive.stdout, check=True)
        library = [
            "gcc",
            "-shared",
            "-fPIC",
            "-O2",
            str(HERE / "slow_sync.c"),
            "-o",
            str(place / "slow_sync.so"),
            "-ldl",
        ]
        subprocess.run(library, check=True)
        yield {"earlier": place / "src", "now": HERE.parent / "src", "disk": place}


def told(source: Path, *arguments: object, slower: int = 0, disk: Path | None = None) -> dict[str, float]:
    """What the load says of this version of the library."""
    settings = {**os.environ, "PYTHONPATH": str(source)}
    if slower and disk:
        settings |= {"LD_PRELOAD": str(disk / "slow_sync.so"), "SLOW_SYNC": str(slower)}
    command = [sys.executable, HERE / "peers" / "discreet_charges.py", *map(str, arguments)]
    found = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    answer: dict[str, float] = json.loads(found.stdout)
    return answer


def rows() -> Iterator[Row]:
    try:
        with sources() as versions:
            yield from charges(versions)
            yield from whole(versions)
    except (OSError, subprocess.CalledProcessError):
        yield missing("charges a second beside the earlier ledger: git, tar and gcc are needed")


def charges(versions: dict[str, Path]) -> Iterator[Row]:
    """The ratio of charges a second, and of processor time."""
    run = 0
    for (load, slower), goal in GOALS.items():
        counts: dict[str, list[float]] = {"earlier": [], "now": []}
        cpu: dict[str, list[float]] = {"earlier": [], "now": []}
        for _ in range(ROUNDS):
            for version in counts:
                run += 1
                path = versions["disk"] / f"{run}.ledger"
                found = told(
                    versions[version], "charge", path, *LOADS[load], SECONDS, slower=slower, disk=versions["disk"]
                )
                counts[version].append(found["charges"] / SECONDS)
                cpu[version].append(found["cpu"])
        syncs = f"syncs of {slower / 1000:g} ms and the disk's" if slower else "the disk's syncs"
        name = f"{load}, {syncs}"
        middle = {version: statistics.median(values) for version, values in counts.items()}
        yield at_least(f"{name}: charges a second, of the earlier ledger's", middle["now"] / middle["earlier"], goal)
        yield printed(f"{name}: charges a second", middle["now"])
        ratio = statistics.median(cpu["now"]) / statistics.median(cpu["earlier"])
        yield printed(f"{name}: processor time of a charge, of the earlier ledger's", ratio)


def whole(versions: dict[str, Path]) -> Iterator[Row]:
    """Opening and verifying a long ledger."""
    path = versions["disk"] / "long.ledger"
    told(versions["now"], "fill", path, ENTRIES // 2)
    for act, goal in (("open", 2.0), ("verify", 6.0)):
        spent = {version: told(versions[version], act, path)["cpu"] for version in ("earlier", "now")}
        yield at_most(f"{act} {ENTRIES} entries, seconds of processor time", spent["now"], goal)
        yield printed(f"{act} {ENTRIES} entries, of the earlier ledger's time", spent["now"] / spent["earlier"])
