"""Count, sum and mean by group with bounded users, by Tumult Analytics on Spark, by two workers of this machine.

Prints seconds, or what was released, as JSON; arguments: a file, a small one to warm up with, and how many statistics
to release instead. The processors' seconds are those of all processes that it starts.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers may start another Python

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    QueryBuilder,
    Session,
)

GROUPS, MOST_ROWS = 5, 4  # of one user: groups, and rows in each
STATISTICS = ("count", "sum", "average", "variance", "stdev")


def spark() -> Any:
    settings: dict[str, bool | float | int | str | None] = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(prefix="warehouse-"),
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def release(path: str, most: int = MOST_ROWS, statistics: int = 3) -> dict[str, list[float]]:
    budget = ApproxDPBudget(1.0, 1e-8)
    session = Session.from_dataframe(
        budget, "visits", spark().read.parquet(path), protected_change=AddRowsWithID(id_column="user")
    )
    rows = QueryBuilder("visits").enforce(MaxGroupsPerID("group", GROUPS))
    grouped = rows.enforce(MaxRowsPerGroupPerID("group", most)).groupby(KeySet.from_dict({"group": list(range(100))}))
    found: dict[str, list[float]] = {}
    for name in STATISTICS[:statistics]:
        query = grouped.count() if name == "count" else getattr(grouped, name)("value", 0.0, 60.0)
        for row in session.evaluate(query, ApproxDPBudget(1 / statistics, 1e-8 / statistics)).collect():
            found.setdefault(str(row["group"]), []).append(float(row[1]))
    return found


def processor_seconds() -> float:
    """What this process and all that it started have used."""
    used, parents = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        used[int(place.name)], parents[int(place.name)] = sum(map(int, words[11:15])), int(words[1])
    own = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(used[one] for one in own if one in used) / os.sysconf("SC_CLK_TCK")


def main(path: str, small: str, statistics: str = "") -> None:
    release(small)
    if statistics:
        print(json.dumps(release(path, 2, int(statistics))))
        return
    wall, cpu = time.perf_counter(), processor_seconds()
    release(path)
    print(json.dumps({"wall": time.perf_counter() - wall, "cpu": processor_seconds() - cpu}))


if __name__ == "__main__":
    main(*sys.argv[1:])
