"""A table in Spark: the executors add up, and nothing but sums comes to the driver.

The table has a line for each visit, and people come more than once. What is hidden is a person, so at most three
visits of each are used; Spark chooses them.

Run: python examples/spark_means_and_kmeans.py
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet import Budget, Category, Neighbors, Number, PrivateData, Schema, SqliteLedger, Unit
from discreet.learners import KMeans
from discreet.releases.table import Table
from discreet.statistics.moments.grouped import grouped

WARDS = ("maternity", "surgery", "medicine", "geriatrics")
SCHEMA = Schema({"age": Number(0, 110), "stay_days": Number(0, 40), "ward": Category(WARDS)})
PERSON = Unit("user", column="person", rows=3)
BUDGET = Budget(epsilon=2.0, delta=1e-6)
PEOPLE, VISITS = 60_000, 200_000


@dataclass(frozen=True)
class Findings:
    """What an analyst asks of any patients, wherever they are."""

    stays: Table
    kinds: KMeans


def findings(data: PrivateData) -> Findings:
    """How long patients stay, ward by ward, and which kinds of patients there are."""
    stays = grouped(data, "stay_days", by="ward", epsilon=0.5)
    kinds = KMeans(3, columns=["age", "stay_days"], epsilon=1.0, delta=1e-7, random_state=0).fit(data)
    return Findings(stays, kinds)


def main() -> dict[str, Any]:
    """Ask a table that stays in Spark."""
    with tempfile.TemporaryDirectory() as folder, session(folder) as spark:
        data = PrivateData.of(visits(spark), SCHEMA, account(folder), unit=PERSON)
        found = findings(data)
        kinds = sorted(found.kinds.cluster_centers_.tolist())
        print(f"{found.stays}\n")
        for number, (age, stay) in enumerate(kinds, 1):
            print(f"kind {number}: {age:.0f} years, {stay:.0f} days")
        print(f"\nThe receipt of these kinds\n{found.kinds.receipt_}\n\nThe account: {data.ledger.balance()}.")
    return {
        "stays": found.stays["mean"].values.tolist(),
        "counts": found.stays["count"].values.tolist(),
        "kinds": kinds,
    }


def account(folder: str) -> SqliteLedger:
    """An account that is charged before anything is asked."""
    path = Path(folder) / "visits.ledger"
    return SqliteLedger.create(path, BUDGET, name="visits", neighbors=Neighbors.ADD_REMOVE, unit=PERSON)


def session(folder: str) -> Any:
    """A Spark of two threads on this machine; its workers run this very Python, in which discreet is installed."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings: dict[str, Any] = {
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": folder,
    }
    return SparkSession.builder.master("local[2]").appName("discreet").config(map=settings).getOrCreate()


def visits(spark: Any) -> Any:
    """A made-up table, made by the executors: mothers, people with an operation, and the old and frail."""
    people = spark.range(VISITS).selectExpr(
        f"id % {PEOPLE} AS person",
        f"id % {PEOPLE} % 3 AS kind",
        "randn(1) AS older",
        "randn(2) AS longer",
        "int(3 * rand(3)) AS place",
    )
    wards = "array(array(0, 0, 1), array(1, 1, 2), array(2, 3, 3))"
    names = f"array({', '.join(repr(ward) for ward in WARDS)})"
    return people.selectExpr(
        "person",
        "array(30, 52, 80)[kind] + 5 * older AS age",
        "array(4, 8, 20)[kind] * exp(longer / 4) AS stay_days",
        f"{names}[{wards}[kind][place]] AS ward",
    )


if __name__ == "__main__":
    main()
