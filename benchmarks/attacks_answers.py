"""Secrets from answers: how many bits a reconstruction finds, and in which time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.rows import Row, at_least, at_most, printed
from discreet.attacks import LinearReconstruction


def rows() -> Iterator[Row]:
    """What was promised of reconstruction."""
    for method, records, goal in (
        ("linear programming", 300, 0.95),
        ("least squares", 1000, 0.99),
        ("least squares", 3000, 0.99),
    ):
        rng = np.random.default_rng(records)
        bits, error = rng.integers(0, 2, records), np.sqrt(records) / 4
        attack = LinearReconstruction(bits, method)  # type: ignore[arg-type]
        result = attack.run(lambda queries: queries @ bits + rng.uniform(-error, error, len(queries)))  # noqa: B023
        yield at_least(f"bits found of {records}, errors of sqrt(n) / 4, {method}", result.success, goal)
        yield printed(f"seconds of it, {records}", result.seconds)
    bits, rng = np.random.default_rng(7).integers(0, 2, 1000), np.random.default_rng(8)
    private = LinearReconstruction(bits).run(lambda queries: queries @ bits + rng.laplace(0, 8000, len(queries)))
    yield at_most("epsilon that is shown where 8,000 answers cost epsilon 1 together", private.epsilon, 1.0)
    yield printed("bits found there, of 1,000", private.success)
