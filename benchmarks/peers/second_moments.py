"""X'X of a table by one way alone, in a process of its own: `npy`, `pyarrow` or `discreet`. Prints JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet

from discreet.questions.vectors.second_moments import second_moments_of
from discreet.schema.schema import Schema
from discreet.trust.sources.file import File

COLUMNS, RADIUS = 20, 1.0
SCHEMA = Schema.numeric(-5.0, 5.0, COLUMNS)


def npy(table: Path) -> Any:
    """Everything at once, in floating point."""
    matrix = np.load(table.with_suffix(".npy"))
    return matrix.T @ matrix


def pyarrow_table(table: Path) -> Any:
    """The same from the Parquet file."""
    columns = pyarrow.parquet.read_table(table.with_suffix(".parquet"))
    matrix = np.empty((columns.num_rows, columns.num_columns))
    for place, column in enumerate(columns.columns):
        matrix[:, place] = column.to_numpy()
    return matrix.T @ matrix


def discreet(table: Path) -> Any:
    """Batch by batch, bounded, scaled, shrunk to a length and exact."""
    question = second_moments_of(SCHEMA, SCHEMA.features, RADIUS)
    return File(table.with_suffix(".parquet"), SCHEMA).sum(question)


WAYS: dict[str, Callable[[Path], Any]] = {"npy": npy, "pyarrow": pyarrow_table, "discreet": discreet}


def peak_mib() -> float:
    """The most memory that this process has held."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main(way: str, table: str) -> None:
    start, worked = time.perf_counter(), time.process_time()
    WAYS[way](Path(table))
    seconds, processor = time.perf_counter() - start, time.process_time() - worked
    print(json.dumps({"seconds": seconds, "processor_seconds": processor, "peak_mib": peak_mib()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
