"""Every source gives the same sums to the last bit, in any order, batch size and number of threads."""

from __future__ import annotations

import datetime
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Barrier
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet.core.neighbors import Unit
from discreet.questions.columns.moments import moments_of
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.dates import Date, Datetime
from discreet.schema.schema import Boolean, Number, Schema
from discreet.trust.sources import engine
from discreet.trust.sources import source as source_module
from discreet.trust.sources.source import Source
from discreet.trust.sources.source_of import source_of
from tests.trust.sources.tables import (
    FORMS,
    NUMBERS,
    PERSON,
    QUESTIONS,
    ROWS,
    SCHEMA,
    UNITS,
    Table,
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


WHO = [
    "7",
    "07",
    " 7.0",
    "+7",
    "8",
    "8.50",
    "08.5",
    "-0",
    "0",
    "1e3",
    "1000",
    "7a",
    "é7",
    None,
    str(2**70),
    f"0{2**70}",
]


def test_digits_name_one_person_however_they_are_written_and_read(tmp_path: Path) -> None:
    schema = Schema({"x": Number(0, 1)})
    people: Table = {"who": WHO, "x": [1.0] * len(WHO), "kind": WHO, "town": WHO}
    for form in FORMS:
        if "categories" not in form:
            records = FORMS[form](people, _made(tmp_path / form))
            assert source_of(records, schema, Unit("user", column="who")).units() == 9, form


@pytest.mark.parametrize("digits", [["7", "07", "7.0", "8"], ["7.5", "07.50", "8.0", "8"]])
def test_who_guesses_types_finds_as_many_people(digits: list[str], tmp_path: Path) -> None:
    path, one = tmp_path / "people.csv", Unit("user", column="who")
    path.write_text("\n".join(["who,x", *(f"{who},1" for who in digits), ""]))
    guessed = (pd.read_csv(path), pl.read_csv(path), duckdb.connect().read_csv(str(path)), str(path))
    assert {source_of(records, Schema({"x": Number(0, 1)}), one).units() for records in guessed} == {2}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


THREADS = 16
ASKED = ("by kind", "products", "rows")
IN_THREADS = ("mapping", "pandas, Arrow", "polars", "csv", "parquet", "parquet folder", "relation", "query")


@pytest.mark.parametrize("form", IN_THREADS)
def test_sixteen_threads_on_one_source_get_what_one_gets(form: str, tmp_path: Path) -> None:
    records = FORMS[form](numbers_table(), tmp_path)
    for unit in (UNITS["records"], PERSON):
        source, alone = source_of(records, NUMBERS, unit), sums(source_of(numbers_table(), NUMBERS, unit), ASKED)
        start = Barrier(THREADS)

        def asked(_: int, source: Source = source, start: Barrier = start) -> dict[str, Any]:
            start.wait()
            return sums(source, ASKED)

        with ThreadPoolExecutor(THREADS) as pool:
            assert all(found == alone for found in pool.map(asked, range(THREADS)))


DATES = Schema(
    {"day": Date("2019-06-01", "2020-12-31"), "time": Datetime("2020-01-01", "2020-01-02"), "ill": Boolean()}
)


@cache
def dates_table() -> Table:
    """Records with dates, times and truth values, some of them missing or out of bounds."""
    rng = np.random.default_rng(9)
    days = [datetime.date(2019, 1, 1) + datetime.timedelta(int(n)) for n in rng.integers(0, 900, ROWS)]
    later = [datetime.timedelta(microseconds=int(n)) for n in rng.integers(-(9**9), 9**12, ROWS)]
    times = [datetime.datetime(2020, 1, 1) + one for one in later]
    return {
        "who": [f"p{n % 250}" for n in rng.zipf(1.5, ROWS)],
        "day": [None if n % 7 == 0 else day for n, day in enumerate(days)],
        "time": [None if n % 5 == 0 else time for n, time in enumerate(times)],
        "ill": [[True, False, None][n] for n in rng.integers(0, 3, ROWS)],
    }


def dates_sums(records: Any, unit: Unit) -> dict[str, Any]:
    source = source_of(records, DATES, unit)
    asked = {name: moments_of(DATES, name, 2, False) for name in DATES.columns}
    asked["table"] = contingency_of(DATES, ("day", "ill"), (12, 0))
    return {name: source.sum(question).tolist() for name, question in asked.items()}


@cache
def expected_dates(units: str) -> dict[str, Any]:
    """Of texts; a data frame of pandas has the same."""
    texts = {name: [None if one is None else str(one) for one in values] for name, values in dates_table().items()}
    found, framed = (dates_sums(records, UNITS[units]) for records in (texts, pd.DataFrame(dates_table())))
    assert found == framed
    return found


@pytest.mark.parametrize("form", [form for form in FORMS if "categories" not in form and form != "arrow, dictionaries"])
def test_every_source_has_the_same_dates(form: str, tmp_path: Path) -> None:
    records = FORMS[form](dates_table(), tmp_path)
    for units in ("records", "three rows"):
        assert dates_sums(records, UNITS[units]) == expected_dates(units)
    days = moments_of(DATES, "day", 1, False)
    own = [day for day in dates_table()["day"] if day is not None]
    total, grid = source_of(records, DATES).sum(days), days.grid
    shares = [min(max((day - datetime.date(2019, 6, 1)).days / 579, 0), 1) for day in own]
    assert abs(total[1] * grid.step - sum(shares)) < 1e-3
    assert abs(total.sum() * grid.step - len(own)) < 1e-3


@pytest.mark.parametrize("form", ["mapping", "polars", "csv", "parquet folder", "relation"])
def test_order_and_batches_do_not_matter(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "BATCH", 41)
    records = FORMS[form](table(SHUFFLED), tmp_path)
    for units, unit in UNITS.items():
        assert sums(source_of(records, SCHEMA, unit)) == expected(units)


@pytest.mark.parametrize(("form", "threads"), [("arrow", 1), ("csv folder", 4)])
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
