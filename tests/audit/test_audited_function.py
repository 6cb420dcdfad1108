"""How a function is called, and what becomes of what it returns."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from discreet.audit.audited_function import AuditedFunction, Outputs, aligned

Rng = np.random.Generator
RECORDS = np.array([1.0, 2.0])


def drawn(function: Any, runs: int = 300, grid: float | None = None) -> Outputs:
    return AuditedFunction.of(function, grid).outputs(RECORDS, runs, np.random.default_rng(1))


def test_parameters_are_found_by_name_or_by_place() -> None:
    def scaled(scale: float, records: Any, runs: int, rng: Rng) -> Any:
        return scale + rng.random(runs)

    class Held:
        def __call__(self, records: Any, rng: Any = None) -> float:
            return float(rng.random())

    for function in (
        partial(scaled, 3.0),
        Held(),
        lambda records, generator: generator.random(),
        lambda records, anything: anything.random(),
        lambda records, scale=2.0, *, rng: scale * rng.random(),
    ):
        assert len(np.unique(drawn(function).values)) == 300
    assert drawn(len).values.tolist() == [2] * 300


def test_runs_that_raise_are_nan_and_the_others_keep_their_place() -> None:
    def seldom(records: Any, rng: Rng) -> Any:
        value = rng.random()
        if value < 0.2:
            raise ValueError
        return [value, 1.0]

    found = drawn(seldom)
    assert 20 < found.raised.sum() < 120
    assert np.isnan(found.values[found.raised]).all()
    assert (found.values[~found.raised, 0] >= 0.2).all()
    assert not found.fell_back
    again = drawn(lambda records, runs: 1 / 0)
    assert again.raised.all()
    assert again.fell_back
    assert aligned(found, again)[1].shape == (300, 2)


def test_outputs_are_rounded_to_a_grid_and_none_is_not_a_number() -> None:
    assert drawn(lambda records: 0.3, grid=0.25).values[0] == 0.25
    assert drawn(lambda records: 7, grid=2.0).values[0] == 7
    assert math.isnan(drawn(lambda records: None).values[0])
