"""The same text, asked of a data frame, of PostgreSQL and of Spark: visits by user, joined with a public table.

Run it as it is for the data frame. With POSTGRES=postgresql://user@host/database it writes the visits to a table there
and asks again; with SPARK=1 it asks a Spark data frame the same.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import discreet
from discreet import Budget, PrivateData, PublicTable, Unit

PER_USER = """
SELECT avg(visits) AS visits, avg(longest) AS longest
FROM (SELECT who, count(*) AS visits, max(stay) AS longest FROM visits GROUP BY who) AS users
"""
JOINED = "SELECT beds, count(*) AS n, avg(stay) AS stay FROM visits JOIN wards USING (ward) GROUP BY beds"
PLAIN = "SELECT ward, count(*) AS n, avg(stay * 24) AS hours FROM visits WHERE stay > 1 GROUP BY ward"
DESCRIBED: dict[str, Any] = {"ward": ["day", "icu"], "stay": (0, 60)}


def visits(size: int = 20_000) -> pd.DataFrame:
    """Made-up visits, a few of each user."""
    rng = np.random.default_rng(0)
    columns = {"who": rng.integers(0, size // 4, size), "ward": rng.choice(["day", "icu"], size, p=[0.8, 0.2])}
    return pd.DataFrame(columns | {"stay": rng.gamma(2.0, 3.0, size)})


def asked(records: Any, *texts: str) -> None:
    """Ask each text of records, wherever they are."""
    unit = Unit("user", "who", rows=6)
    data = PrivateData.of(records, DESCRIBED, Budget(1e3), unit=unit, name="visits")
    wards = PublicTable({"ward": ["day", "icu"], "beds": [20, 6]}, {"ward": ["day", "icu"], "beds": range(101)})
    for text in texts:
        edges = {"beds": [0, 10, 100]} if "beds" in text else None
        bounds = {"visits": (0.0, 20.0)} if text is PER_USER else None
        print(discreet.sql({"visits": data, "wards": wards}, text, epsilon=1.0, bounds=bounds, edges=edges))


def main() -> None:
    """Ask everywhere that is there."""
    asked(visits(), PER_USER, JOINED, PLAIN)
    if uri := os.environ.get("POSTGRES"):
        import adbc_driver_postgresql.dbapi

        from discreet.trust.sources.query import postgres_table

        with adbc_driver_postgresql.dbapi.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("visits", pa.Table.from_pandas(visits()), mode="replace")
        described = discreet.Schema({"ward": discreet.Category(["day", "icu"]), "stay": discreet.Number(0, 60)})
        asked(postgres_table(uri, "visits", described, Unit("user", "who", rows=6)), PER_USER, JOINED, PLAIN)
    if os.environ.get("SPARK"):
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        session = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "4").getOrCreate()
        asked(session.createDataFrame(pa.Table.from_pandas(visits())), PER_USER, JOINED, PLAIN)


if __name__ == "__main__":
    main()
