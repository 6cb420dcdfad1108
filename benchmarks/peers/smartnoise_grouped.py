"""Count, sum and mean by group with bounded users, by SmartNoise SQL on a data frame that is loaded already.

Prints seconds, or what was released, as JSON; arguments: a file, a small one to warm up with, and how many statistics
to release instead.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pandas as pd
import snsql

from benchmarks.peers.rounds import timed

STATISTICS = ("COUNT(*) AS n", "SUM(value) AS s", "AVG(value) AS a", "VAR(value) AS v", "STDDEV(value) AS d")


def release(visits: pd.DataFrame, most: int = 20, statistics: int = 3, epsilon: float = 1.0) -> list[Any]:
    columns = {
        "person": {"type": "int", "private_id": True},
        "cell": {"type": "int"},
        "value": {"type": "float", "lower": 0.0, "upper": 60.0},
    }
    table = {"row_privacy": False, "max_ids": most, "censor_dims": True, "clamp_counts": True, "rows": len(visits)}
    meta = {"": {"People": {"Visits": {**table, **columns}}}}
    reader = snsql.from_df(visits, privacy=snsql.Privacy(epsilon=epsilon, delta=1e-8), metadata=meta)
    query = f"SELECT cell, {', '.join(STATISTICS[:statistics])} FROM People.Visits GROUP BY cell"
    return list(reader.execute(query))


def loaded(path: str) -> pd.DataFrame:
    return pd.read_parquet(path).rename(columns={"user": "person", "group": "cell"})  # these are words of SQL


def main(path: str, small: str, statistics: str = "") -> None:
    release(loaded(small))
    visits = loaded(path)
    if statistics:
        prices = {3: 4.0, 5: 5.0}  # what it is given is for each column: so much is charged for all of them
        found = release(visits, 10, int(statistics), 1 / prices[int(statistics)])[1:]
        print(json.dumps({str(group): list(map(float, numbers)) for group, *numbers in found}))
        return
    print(json.dumps(timed(lambda: release(visits))))


if __name__ == "__main__":
    main(*sys.argv[1:])
