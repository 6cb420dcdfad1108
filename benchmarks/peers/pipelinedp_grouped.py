"""Count, sum and mean by group with bounded users, by PipelineDP's local runner on rows that are loaded already.

Prints seconds, or what was released, as JSON; arguments: a file, a small one to warm up with, and how many statistics
to release instead.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pipeline_dp
import pyarrow.parquet

from benchmarks.peers.rounds import timed


def release(rows: list[tuple[int, int, float]], most: int = 4, statistics: int = 3) -> list[Any]:
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-8)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    metrics = pipeline_dp.Metrics
    parameters = pipeline_dp.AggregateParams(
        metrics=[metrics.COUNT, metrics.SUM, metrics.MEAN, metrics.VARIANCE][:statistics],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=5,
        max_contributions_per_partition=most,
        min_value=0.0,
        max_value=60.0,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    found = engine.aggregate(rows, parameters, extractors)
    accountant.compute_budgets()
    return list(found)


def loaded(path: str) -> list[tuple[int, int, float]]:
    table = pyarrow.parquet.read_table(path)
    return list(zip(*(table[name].to_pylist() for name in ("user", "group", "value")), strict=True))


def named(found: Any, statistics: int) -> list[float]:
    """In the order of the others; the standard deviation is the root of the variance."""
    numbers = [found.count, found.sum, found.mean]
    return numbers if statistics == 3 else [*numbers, found.variance, max(found.variance, 0.0) ** 0.5]


def main(path: str, small: str, statistics: str = "") -> None:
    release(loaded(small))
    rows = loaded(path)
    if statistics:
        found = release(rows, 2, int(statistics))
        print(json.dumps({str(group): named(own, int(statistics)) for group, own in found}))
        return
    print(json.dumps(timed(lambda: release(rows))))


if __name__ == "__main__":
    main(*sys.argv[1:])
