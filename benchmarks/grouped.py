"""Count, sum and mean by group with bounded users: against DuckDB without any privacy, and against the peers.

    python -m benchmarks.grouped opendp=/path/to/python smartnoise=/path/to/python pipelinedp=/path/to/python

Each peer runs in the interpreter of an environment of its own (`peers/*_grouped.txt`): they cannot share one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks.peers.discreet_grouped import SCHEMA, USER, release
from benchmarks.rows import Row, at_least, at_most, cpu_seconds, report
from discreet.questions.columns.moments import grouped_moments_of
from discreet.trust.sources.source_of import source_of

MILLION = 1_000_000
SMALL = 10_000
PEERS = {
    "opendp": ("OpenDP's Polars context", 5),
    "smartnoise": ("SmartNoise SQL", 15),
    "pipelinedp": ("PipelineDP's local runner", 40),
}
SUMS = """SELECT "group", count(*), sum(value) FROM '{path}' GROUP BY "group" """
SUMS_AND_USERS = """SELECT "group", count(*), sum(value), count(DISTINCT "user") FROM '{path}' GROUP BY "group" """


def rows(interpreters: Mapping[str, str]) -> Iterator[Row]:
    """One row per figure; `interpreters` names the Python of each peer that is there."""
    with tempfile.TemporaryDirectory() as place:
        small, million, ten = (visits(Path(place), count) for count in (SMALL, MILLION, 10 * MILLION))
        yield from beside_duckdb(ten)
        ours = run(sys.executable, "discreet", ten, small)
        yield at_most("grouped sum of 1e7 rows: peak memory of the process, MiB", ours["peak"], 1200)
        yield from beside_peers(million, small, interpreters)


def visits(folder: Path, count: int) -> str:
    """Rows (user, group, value): a tenth as many users, whose activity has a heavy tail, and a hundred groups."""
    rng, users = np.random.default_rng(0), count // 10
    activity = np.cumsum(rng.pareto(1.5, users) + 1)
    columns = {
        "user": np.searchsorted(activity / activity[-1], rng.random(count)).clip(0, users - 1),
        "group": (rng.zipf(1.3, count) % 100).astype(np.int32),
        "value": np.round(rng.gamma(2, 12, count), 3),
    }
    path = folder / f"visits-{count}.parquet"
    pa.parquet.write_table(pa.table(columns), path, row_group_size=2**18)
    return str(path)


def beside_duckdb(path: str) -> Iterator[Row]:
    """The first question, which bounds the users, and the later ones, which find that done."""
    connection = duckdb.connect()
    first, users = cpu_seconds(
        lambda: release(path), lambda: connection.execute(SUMS_AND_USERS.format(path=path)).fetchall(), rounds=3
    )
    claim = f"first grouped sum, 1e7 rows, over DuckDB's count, sum and distinct users ({first:.2f} s of CPU)"
    yield at_most(claim, first / users, 2.5)
    source, question = source_of(path, SCHEMA, USER), grouped_moments_of(SCHEMA, "group", "value", 1)
    later, raw = cpu_seconds(
        lambda: source.sum(question), lambda: connection.execute(SUMS.format(path=path)).fetchall()
    )
    yield at_most(f"later grouped sums, over DuckDB's count and sum ({later:.3f} s of CPU)", later / raw, 1.0)


def beside_peers(path: str, small: str, interpreters: Mapping[str, str]) -> Iterator[Row]:
    """The first question at 1e6 rows, everything included; all but OpenDP have their data loaded already."""
    if not interpreters:
        return
    ours = run(sys.executable, "discreet", path, small)
    for peer, interpreter in interpreters.items():
        name, goal = PEERS[peer]
        theirs = run(interpreter, peer, path, small)
        seconds = (
            f"{theirs['cpu']:.1f} over {ours['cpu']:.2f} s; {theirs['wall'] / ours['wall']:.0f} times by the clock"
        )
        claim = f"first grouped sum, 1e6 rows, CPU of {name} over ours ({seconds})"
        yield at_least(claim, theirs["cpu"] / ours["cpu"], goal)


def run(interpreter: str, peer: str, *paths: str) -> dict[str, Any]:
    script = Path(__file__).parent / "peers" / f"{peer}_grouped.py"
    place = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([interpreter, script, *paths], check=True, capture_output=True, text=True, env=place)
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    report("grouped", list(rows(dict(argument.split("=", 1) for argument in sys.argv[1:]))))
