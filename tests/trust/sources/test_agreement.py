"""Every source gives the same sums to the last bit, in any order, batch size and number of threads."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.trust.sources import engine
from discreet.trust.sources import source as source_module
from discreet.trust.sources.opening import source_of
from tests.trust.sources.tables import (
    FORMS,
    NUMBERS,
    PERSON,
    QUESTIONS,
    ROWS,
    SCHEMA,
    UNITS,
    numbers_table,
    sums,
    table,
)

SHUFFLED = np.random.default_rng(3).permutation(ROWS).tolist()


@cache
def expected(units: str) -> dict[str, Any]:
    return sums(source_of(table(), SCHEMA, UNITS[units]))


@pytest.mark.parametrize("form", FORMS)
def test_every_source_agrees_to_the_last_bit(form: str, tmp_path: Path) -> None:
    records = FORMS[form](table(), tmp_path)
    for units, unit in UNITS.items():
        assert sums(source_of(records, SCHEMA, unit)) == expected(units)


@cache
def expected_numbers(units: str) -> dict[str, Any]:
    return sums(source_of(numbers_table(), NUMBERS, UNITS[units]))


IN_ORDER = list(range(ROWS))
ORDERS = {"csv": IN_ORDER, "parquet": IN_ORDER, "parquet folder": SHUFFLED, "polars": SHUFFLED}
ORDERS |= {"query": SHUFFLED, "relation": SHUFFLED}


@pytest.mark.parametrize("form", ORDERS)
def test_what_an_engine_decodes_and_adds_is_what_arrays_give(form: str, tmp_path: Path) -> None:
    records = FORMS[form](numbers_table(ORDERS[form]), tmp_path)
    for units, unit in UNITS.items():
        assert sums(source_of(records, NUMBERS, unit)) == expected_numbers(units)


@pytest.mark.parametrize("form", ["mapping", "polars", "csv", "parquet folder", "relation"])
def test_order_and_batches_do_not_matter(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "BATCH", 41)
    records = FORMS[form](table(SHUFFLED), tmp_path)
    for units, unit in UNITS.items():
        assert sums(source_of(records, SCHEMA, unit)) == expected(units)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("form", ["arrow", "csv folder"])
def test_threads_do_not_matter(form: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "THREADS", threads)
    assert sums(source_of(FORMS[form](table(SHUFFLED), tmp_path), SCHEMA, PERSON)) == expected("three rows")


def test_the_sums_are_those_of_python_integers() -> None:
    """Without any source: decode by hand, choose by the formula, add integers."""
    records = table()
    kinds = [value.strip(" \t") if value else None for value in records["kind"]]
    places = {"f": 0, "F": 0, "m": 1, "it's; --": 2, 'a "b", c': 3, "Zoë": 4}
    counts = [sum(places.get(kind) == place for kind in kinds if kind) for place in range(5)]
    assert expected("records")["histogram"] == counts
    cost = next(iter(SCHEMA.columns))
    plain = [np.nan if v is None or not np.isfinite(v) else min(max(v, -20.0), 100.0) for v in records[cost]]
    steps = QUESTIONS["moments 2 False"].steps(np.array(plain)[:, None])
    assert expected("records")["moments 2 False"] == [sum(int(step) for step in column) for column in steps.T]
    by_kind = np.zeros((5, 2), dtype=object)
    for kind, one in zip(kinds, QUESTIONS["moments 1 False"].steps(np.array(plain)[:, None]), strict=True):
        if kind in places:
            by_kind[places[kind]] += [int(step) for step in one]
    assert expected("records")["by kind"] == by_kind.ravel().tolist()


def test_bounding_units_makes_a_difference() -> None:
    assert expected("one row")["rows"][0] < expected("three rows")["rows"][0] < expected("records")["rows"][0]
    assert expected("one row")["rows"] == [expected("one row")["units"]] == [expected("three rows")["units"]]
