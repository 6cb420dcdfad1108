"""Count, sum and mean by group with bounded users, by SmartNoise SQL on a data frame that is loaded already.

Prints seconds as JSON; arguments: a file, and a small one to warm up with.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pandas as pd
import snsql

from benchmarks.peers.rounds import timed

QUERY = "SELECT cell, COUNT(*) AS n, SUM(value) AS s, AVG(value) AS a FROM People.Visits GROUP BY cell"


def release(visits: pd.DataFrame) -> list[Any]:
    columns = {
        "person": {"type": "int", "private_id": True},
        "cell": {"type": "int"},
        "value": {"type": "float", "lower": 0.0, "upper": 60.0},
    }
    table = {"row_privacy": False, "max_ids": 20, "censor_dims": True, "clamp_counts": True, "rows": len(visits)}
    meta = {"": {"People": {"Visits": {**table, **columns}}}}
    reader = snsql.from_df(visits, privacy=snsql.Privacy(epsilon=1.0, delta=1e-8), metadata=meta)
    return list(reader.execute(QUERY))


def loaded(path: str) -> pd.DataFrame:
    return pd.read_parquet(path).rename(columns={"user": "person", "group": "cell"})  # these are words of SQL


def main(path: str, small: str) -> None:
    release(loaded(small))
    visits = loaded(path)
    print(json.dumps(timed(lambda: release(visits))))


if __name__ == "__main__":
    main(*sys.argv[1:])
