"""Whether the times of answers and of refusals tell a data set from its neighbour, in 10,000 requests of each kind.

    python -m benchmarks.platform timing

One site serves three tables: the second has one record more than the first, of odd values, and the third has a thousand
times as many. Each line asks them in random order, so that the server's load is the same for all. Two tests look at the
times: of Kolmogorov and Smirnov, and of Mann, Whitney and Wilcoxon; the smaller p-value counts, twice. The same tests
have to tell the third table from the first where deadlines are switched off.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.platform_server import SCHEMA, SERVE, running
from benchmarks.rows import Row, at_least, at_most
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors
from discreet.ledger.sqlite_ledger import SqliteLedger

REQUESTS, LINES, RECORDS, LARGER = 10_000, 16, 2000, 1000
UNLIKELY = 1e-3
SITE = """address = "127.0.0.1:0"
[limits]
requests = 100000000
running = 1000
[deadlines]
cheap = {deadline}
{data}
[users.ann]
role = "analyst"
data = ["one", "more", "many"]
"""
DATA = '[data.{0}]\nsource = "{0}.csv"\nschema = "schema.toml"\naccount = "{0}.ledger"\n'
ASKED = {
    "answers": ({"question": "mean of age", "epsilon": 1e-4}, 200),
    "refusals of what cannot be asked": ({"question": "mean of nothing", "epsilon": 1e-4}, 422),
    "refusals of what cannot be paid": ({"question": "median of age", "epsilon": 1e9}, 402),
}


def made(folder: Path, deadline: float) -> Path:
    """A site with the three tables."""
    folder.mkdir()
    values = np.random.default_rng(0).normal(50, 15, (LARGER * RECORDS, 2)).clip(0, 60)
    tables = {"one": values[:RECORDS], "more": values[:RECORDS], "many": values}
    for name, rows in tables.items():
        np.savetxt(folder / f"{name}.csv", rows, fmt="%.2f", delimiter=",", header="age,stay", comments="")
        about: Any = {"name": name, "neighbors": Neighbors.ADD_REMOVE}
        SqliteLedger.create(folder / f"{name}.ledger", Budget(1e5, 1e-6), **about).close()
    with (folder / "more.csv").open("a") as file:
        file.write("1e300,\n")
    (folder / "schema.toml").write_text(SCHEMA)
    (folder / "site.toml").write_text(SITE.format(deadline=deadline, data="".join(map(DATA.format, tables))))
    return folder


def times(port: int, key: str, body: dict[str, Any], status: int, names: tuple[str, str], requests: int) -> Any:
    """The seconds until the answers of two data sets, asked in random order on several lines."""
    headers = {"Authorization": f"Bearer {key}"}

    def line(number: int) -> list[tuple[str, float]]:
        found, draw = [], random.Random(number)
        here = HTTPConnection("127.0.0.1", port, timeout=120)
        for _ in range(requests // LINES):
            name = draw.choice(names)
            began = time.perf_counter()
            here.request("POST", f"/api/data/{name}/ask", json.dumps(body), headers)
            answer = here.getresponse()
            answer.read()
            found.append((name, time.perf_counter() - began))
            assert answer.status == status, answer.status
        here.close()
        return found

    with ThreadPoolExecutor(LINES) as threads:
        all_found = [one for found in threads.map(line, range(LINES)) for one in found]
    return [np.array([seconds for name, seconds in all_found if name == wanted]) for wanted in names]


def told_apart(one: Any, other: Any) -> float:
    """A p-value for: both are times of the same kind."""
    values = stats.ks_2samp(one, other).pvalue, stats.mannwhitneyu(one, other).pvalue
    return min(1.0, 2 * float(min(values)))


def rows() -> Iterator[Row]:
    """The p-values."""
    with tempfile.TemporaryDirectory() as place:
        with running(SERVE, made(Path(place, "site"), 0.05), {}) as (_, key, port):
            for what, (body, status) in ASKED.items():
                times(port, key, body, status, ("one", "more"), 10 * LINES)  # both workers have their records
                found = times(port, key, body, status, ("one", "more"), REQUESTS)
                yield at_least(f"{REQUESTS} {what}: p-value for neighbours", told_apart(*found), UNLIKELY)
        with running(SERVE, made(Path(place, "bare"), 0.0), {}) as (_, key, port):
            body, status = ASKED["answers"]
            times(port, key, body, status, ("one", "many"), 10 * LINES)
            found = times(port, key, body, status, ("one", "many"), REQUESTS)
            told = told_apart(*found)
            yield at_most(f"without deadlines, {REQUESTS} answers of another table: p-value", told, UNLIKELY)
