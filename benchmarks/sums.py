"""Exact sums beside numpy, across engines, in shares among parties and under encryption."""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import galois
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks.peers.second_moments import COLUMNS, RADIUS, SCHEMA, WAYS
from benchmarks.rows import Row, at_least, at_most, cpu_seconds, missing, printed, report
from discreet.crypto.fields.field import PRIME, uniform_elements
from discreet.crypto.sharing.shamir import Deal, reconstruct, share
from discreet.noise.system_bits import system_bits
from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import count_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.vectors.second_moments import second_moments_of
from discreet.trust.sources.file import File
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.relation import Relation
from discreet.trust.sources.spark import SparkFrame

FOLDER = Path("build/bench/data")
FEW, MANY = 2_000_000, 10_000_000
ROUNDS = 5
QUERY_ENGINES = ("opendp", "smartnoise", "pipelinedp")


def table(rows: int) -> Path:
    """Where the same table lies as .npy and as .parquet, written with pyarrow's defaults; made once."""
    place = FOLDER / f"normal-{rows}"
    if place.with_suffix(".parquet").exists():
        return place
    FOLDER.mkdir(parents=True, exist_ok=True)
    rng, chunk = np.random.default_rng(1), 2**20
    matrix = np.lib.format.open_memmap(place.with_suffix(".npy"), "w+", np.float64, (rows, COLUMNS))
    fields = pa.schema([(name, pa.float64()) for name in SCHEMA.features])
    unfinished = place.with_suffix(".unfinished")
    with pyarrow.parquet.ParquetWriter(unfinished, fields) as writer:
        for start in range(0, rows, chunk):
            values = matrix[start : start + chunk]
            values[:] = rng.standard_normal(values.shape)
            writer.write_table(pa.table(dict(zip(SCHEMA.features, values.T, strict=True)), schema=fields))
    matrix.flush()
    unfinished.rename(place.with_suffix(".parquet"))
    return place


def output_of(program: str, *words: str) -> dict[str, Any]:
    """What a program of `peers` prints."""
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.peers.{program}", *words], stdout=subprocess.PIPE, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def products() -> Iterator[Row]:
    """All products of 20 columns from Parquet, bounded and exact, against numpy in floating point, unbounded.

    Each in a process of its own, in turns. Numpy's time is mostly that of getting 1.6 GB of memory: next to nothing on
    a machine that has just used as much, and the most of it elsewhere. So the fastest rounds are told too.
    """
    few, many = str(table(FEW)), str(table(MANY))
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for turn in range(ROUNDS):
        for way in WAYS if turn < 2 else ("npy", "discreet"):
            found[way].append(output_of("second_moments", way, many))

    def ratio(way: str, figure: str = "seconds", middle: Callable[[list[float]], float] = statistics.median) -> float:
        ours, theirs = (middle([one[figure] for one in found[name]]) for name in ("discreet", way))
        return ours / theirs

    task = "X'X of 1e7 x 20 from Parquet"
    yield at_most(f"{task}: time over numpy's to load .npy and multiply", ratio("npy"), 1.5)
    yield at_most(f"{task}: time over pyarrow's to load it and multiply", ratio("pyarrow"), 1.5)
    yield printed(f"{task}: the first, fastest rounds", ratio("npy", middle=min))
    yield printed(f"{task}: the first, processor time", ratio("npy", "processor_seconds"))
    yield printed(f"{task}: seconds", statistics.median(one["seconds"] for one in found["discreet"]))
    peaks = {"2e6": [output_of("second_moments", "discreet", few)], "1e7": found["discreet"]}
    for rows, runs in peaks.items():
        yield at_most(f"X'X of {rows} x 20 from Parquet: peak memory, MiB", _peak(runs), 700)
    yield printed("the same of 1e7 x 20 with numpy from .npy", _peak(found["npy"]))


def _peak(runs: list[dict[str, float]]) -> float:
    return round(max(one["peak_mib"] for one in runs))


QUESTIONS: dict[str, BoundedSum] = {
    "products of 20 columns": second_moments_of(SCHEMA, SCHEMA.features, RADIUS),
    "count": count_of(SCHEMA, "x0"),
    "moments": moments_of(SCHEMA, "x3", 2, False),
    "histogram": contingency_of(SCHEMA, ("x7",), (1000,)),
}


def engines() -> Iterator[Row]:
    """The same integers from numpy, from Arrow, from DuckDB and from the executors of Spark."""
    place = table(FEW)
    matrix, parquet = np.load(place.with_suffix(".npy"), mmap_mode="r"), place.with_suffix(".parquet")
    frame = spark().read.parquet(str(parquet))
    sources = {
        "numpy": Matrix(matrix, SCHEMA),
        "Parquet": File(parquet, SCHEMA),
        "DuckDB": Relation(duckdb.connect().read_parquet(str(parquet)), SCHEMA),
        "Spark": SparkFrame(frame, SCHEMA),
    }
    for name, question in QUESTIONS.items():
        first, *others = (source.sum(question) for source in sources.values())
        wrong = sum(int((one != first).sum()) for one in others)
        yield Row(f"{name}, 2e6 rows: integers that differ among {', '.join(sources)}", wrong, "== 0", wrong == 0)
    spark().stop()


@cache
def spark() -> Any:
    """A session of two workers."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(prefix="warehouse-"),
    }
    session = importlib.import_module("pyspark.sql").SparkSession.builder.master("local[2]").config(map=settings)
    found = session.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def shares() -> Iterator[Row]:
    """Shamir's sharing among 10, of whom 3 learn nothing, and its reconstruction from 4 shares."""
    deal, size, few, bits = Deal(parties=10, threshold=3), 1_000_000, 20_000, system_bits()
    secret = uniform_elements(bits, size)
    field = galois.GF(PRIME)
    points = field(np.array([[pow(x, k, PRIME) for k in range(4)] for x in range(1, 11)], dtype=object))
    weights = field(np.array([[4, PRIME - 6, 4, PRIME - 1]], dtype=object))  # Lagrange's, of 1, 2, 3, 4 at 0
    clear = field(secret[:few].astype(object))

    def ours() -> Any:
        return reconstruct(share(bits, secret, deal)[:4])

    def theirs() -> Any:
        unknown = field.Random((3, few))
        dealt = points @ np.vstack([clear[None], unknown])
        return (weights @ dealt[:4])[0]

    assert np.array_equal(ours(), secret)
    assert np.array_equal(theirs(), clear)
    mine, other = cpu_seconds(ours, theirs, rounds=3)
    claim = "Shamir, 1e6 numbers, 10 parties, threshold 3: speed against galois (from 2e4 numbers)"
    yield at_least(claim, other / few / (mine / size), 30)
    yield printed("the same: processor seconds", mine)


def grouped_rows() -> Iterator[Row]:
    """Grouped private queries, which `benchmarks.grouped` measures; each peer in an environment of its own."""
    pythons = {peer: Path(f".venv/bench-{peer}/bin/python").absolute() for peer in QUERY_ENGINES}
    there = {peer: str(python) for peer, python in pythons.items() if python.exists()}
    for peer in sorted(pythons.keys() - there.keys()):
        yield missing(f"grouped private queries against {peer} (no {pythons[peer]})")
    yield from _rows_of("benchmarks.grouped", there)


def secure_sum_rows() -> Iterator[Row]:
    """Sums among ten processes, which `benchmarks.secure` measures, beside one under Paillier's encryption."""
    figures = output_of("paillier")
    note = f"{figures['library']}, {figures['key_bits']} bits"
    yield printed(f"Paillier sum, milliseconds for each number ({note})", 1000 * figures["seconds_per_number"])
    yield from _rows_of("benchmarks.secure", figures["seconds_per_number"])


def _rows_of(module: str, *given: Any) -> Iterator[Row]:
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as why:
        yield missing(f"{module} ({why})")
        return
    yield from found.rows(*given)


PARTS = (products, engines, shares, grouped_rows, secure_sum_rows)


def main(chosen: list[str]) -> None:
    """All parts, or those that are named; a part of the benchmark is written to a file of its own."""
    rows: list[Row] = []
    for part in PARTS:
        if chosen and part.__name__ not in chosen:
            continue
        print(f"... {part.__name__}", file=sys.stderr, flush=True)
        try:
            rows += part()
        except Exception as why:  # the other parts are worth having
            traceback.print_exc()
            rows.append(missing(f"{part.__name__}: {why}"))
    report("-".join(["sums", *chosen]), rows)


if __name__ == "__main__":
    main(sys.argv[1:])
