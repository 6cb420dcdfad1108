"""Count and sum by group with bounded users, by OpenDP's Polars context.

Prints seconds, or what was released, as JSON; arguments: a file, a small one to warm up with, and how many statistics
to release instead.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import opendp.prelude as dp
import polars as pl

from benchmarks.peers.rounds import timed

GROUPS, MOST_ROWS = 5, 4  # of one user: groups, and rows in each


def release(path: str, rows: int, most: int = MOST_ROWS, groups: int = GROUPS) -> Any:
    context = dp.Context.compositor(
        data=pl.scan_parquet(path),
        privacy_unit=dp.unit_of(contributions=1, identifier="user"),
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-8),
        split_evenly_over=1,
        margins=[
            dp.polars.Margin(by=[], max_length=rows),
            dp.polars.Margin(by=["group"], max_groups=100, max_length=rows),
        ],
    )
    bounded = context.query().truncate_per_group(most, by=["group"])
    bounded = bounded.truncate_num_groups(groups, by=["group"], keep="first")
    column: Any = pl.col("value").fill_nan(0.0).fill_null(0.0)
    value = column.dp.sum((0.0, 60.0))
    return bounded.group_by("group").agg(dp.len().alias("count"), value.alias("sum")).release().collect()


def released(path: str, rows: int) -> dict[str, list[float]]:
    """Count, sum and mean of each group that is named.

    Of k groups OpenDP keeps k - 1, and pays for k: it keeps ranks below k, and these begin at 1.
    """
    found = release(path, rows, 2, GROUPS + 1).iter_rows()
    return {str(group): [float(count), float(total), float(total / max(count, 1))] for group, count, total in found}


def main(path: str, small: str, statistics: str = "") -> None:
    dp.enable_features("contrib", "honest-but-curious")
    warnings.simplefilter("ignore", FutureWarning)
    rows = pl.scan_parquet(path).select(pl.len()).collect().item()
    release(small, rows)
    if statistics:
        print(json.dumps(released(path, rows)))
        return
    print(json.dumps(timed(lambda: release(path, rows))))


if __name__ == "__main__":
    main(*sys.argv[1:])
