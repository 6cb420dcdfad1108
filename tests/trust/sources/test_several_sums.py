"""Sums that are asked together are those that are asked one after the other, and are read once."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Grid
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors, Unit
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.moments import grouped_moments_of, moments_of
from discreet.questions.columns.moments_of_all import moments_of_all_of
from discreet.questions.columns.total import count_of, total_of
from discreet.questions.filtered import OfListed, filtered
from discreet.questions.grouped import grouped
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.tables.domain import Domain
from discreet.schema.condition_text import condition_of
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.curator import CuratorsView
from discreet.trust.exact_sum import exact_sum
from discreet.trust.sources.cell_sums import CellSums, tallied
from discreet.trust.sources.decoded_table import DecodedTable
from discreet.trust.sources.several_sums import answers
from discreet.trust.sources.source_of import source_of

duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
SCHEMA = Schema({"stay": Number(0, 60), "ward": Category(("a", "b", "c")), "age": Number(0, 100)})
WARDS = Domain(("ward",), (("a", "b", "c"),))


def questions() -> list[Any]:
    old = condition_of("age >= 50", SCHEMA)
    by_ward: list[Any] = [
        grouped(one, WARDS, SCHEMA)
        for one in (count_of(SCHEMA, None), moments_of(SCHEMA, "stay", 2, False), total_of(SCHEMA, "age", 0.0))
    ]
    return [*by_ward, *(filtered(one, old, SCHEMA) for one in by_ward), grouped_moments_of(SCHEMA, "ward", "age", 1)]


def opened(folder: Path) -> Any:
    rng, path = np.random.default_rng(0), folder / "visits.csv"
    stays, wards = rng.uniform(-9, 70, 400), rng.choice(list("abcd"), 400)
    rows = zip(rng.integers(0, 90, 400), stays, wards, rng.integers(0, 99, 400), strict=True)
    lines = [f"{who},{stay if stay > -5 else ''},{ward},{age}" for who, stay, ward, age in rows]
    path.write_text("\n".join(["who,stay,ward,age", *lines]))
    return source_of(path, SCHEMA, Unit("user", column="who", rows=3))


def test_sums_that_are_made_together_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, asked = opened(tmp_path), questions()
    read: list[int] = []
    alone = [source.sum(question) for question in asked]
    added = CellSums.added

    def noted(*given: Any, **named: Any) -> Any:
        read.append(1)
        return added(*given, **named)

    monkeypatch.setattr(CellSums, "added", noted)
    for found, expected in zip(source.sums(asked), alone, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(read) == 2  # of all records, and of those that a condition chooses


ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1e-310, 2.0**53, -(2.0**53), 1e308]


IDS: list[list[Any]] = [[0, 1, 2, 3], [-(2**62), -1, 0, 2**40], ["a", "b", "", None]]


def cells(number: Number, bins: int) -> tuple[float, ...]:
    return tuple(np.linspace(number.lower, number.upper, bins + 1).tolist())


def hostile(number: Number, ends: tuple[float, ...], size: int, rng: np.random.Generator) -> list[float | None]:
    """Values at all ends of cells, beside them, and such as few expect."""
    beside = np.nextafter(ends, [[-np.inf], [np.inf]]).ravel()
    inside = rng.uniform(number.lower, number.upper, 20)
    found = rng.choice([*ends, *beside, *inside, *ODD], size).tolist()
    return [None if rng.random() < 0.1 else float(one) for one in found]


@pytest.mark.parametrize("bins", [1, 9, 10, 33])
@pytest.mark.parametrize("number", [Number(0, 60), Number(-100, -3), Number(-1e50, 1e49), Number(0, 2e-50)], ids=str)
def test_sums_in_an_engine_are_those_of_numpy_to_the_last_bit(number: Number, bins: int) -> None:
    rng, ends = np.random.default_rng(bins), cells(number, bins)
    wards = tuple(f"ward {place}" for place in range(30 if bins == 9 else 3))
    schema = Schema({"stay": number, "ward": Category(wards), "age": Number(-5, 100)})
    by: list[Any] = [Domain(("stay",), (np.array(ends),)), Domain(("ward", "stay"), (wards, np.array(ends)))]
    conditions = [condition_of(text, schema) for text in (f"stay >= {ends[1]!r} or age < 3", "not stay is missing")]
    plain = [moments_of(schema, "stay", 4, False), moments_of(schema, "age", 2, True), total_of(schema, "age", 7.0)]
    plain += [count_of(schema, None), moments_of_all_of(schema, "stay", 4), total_of(schema, "stay", number.lower)]
    every: list[Any] = [*plain, *(grouped(one, domain, schema) for one in plain for domain in by)]
    every += [filtered(one, condition, schema) for one in every for condition in conditions]
    for size, ids in ((0, IDS[0]), (90, IDS[bins % 3])):
        who, names = [ids[place] for place in rng.integers(0, 4, size)], rng.choice([*wards, "another"], size).tolist()
        stays, ages = (hostile(*one, size, rng) for one in ((number, ends), (Number(-5, 100), (-5.0, 100.0))))
        columns = {"stay": pa.array(stays, pa.float64()), "age": pa.array(ages, pa.float64())}
        table = pa.table({"who": pa.array(who), "ward": pa.array(names, pa.string()), **columns})
        source: Any = source_of(table, schema, Unit("user", column="who", rows=9))
        for question, found in zip(every, source.sums(every), strict=True):
            expected = exact_sum(dataclasses.replace(question, total=None), source.batches(question.columns))
            np.testing.assert_array_equal(found, expected, str(question.recipe))


def test_a_sum_that_floats_cannot_hold_is_made_of_whole_numbers() -> None:
    steps = 2.0**29 + 1
    rows = duckdb.sql("SELECT 0 AS c0 FROM range(40000)")
    tally = Tally(Formula.constant(0), 1, (Formula.column(0) + steps * 2**10,))
    large = BoundedSum(lambda r: r, Bound("l1", 2.0**40, nonnegative=True), ("stay",), Grid(0), tally=tally)
    assert tallied(rows, large, floats=True) is None
    expected = [40000 * int(steps * 2**10)]
    assert tallied(rows, large, floats=False).tolist() == expected  # type: ignore[union-attr]
    table = DecodedTable("example", lambda: rows, Schema({"stay": Number(0, 60)}))
    assert table.sum(large).tolist() == table.sum(large).tolist() == expected


def test_floats_add_no_numbers_that_cancel() -> None:
    rows = duckdb.sql("SELECT CASE WHEN range < 30000 THEN 2**39 + 1 ELSE -(2**39) END AS c0 FROM range(60000)")
    tally = Tally(Formula.constant(0), 1, (Formula.column(0) * 1,))
    signed = BoundedSum(lambda r: r, Bound("l1", 2.0**40), ("stay",), Grid(0), tally=tally)
    assert tallied(rows, signed, floats=True).tolist() == [30000]  # type: ignore[union-attr]


class Twice:
    """A question that asks for two sums, of which the second may depend on the first."""

    columns = ("age",)

    def answer(self, view: Any) -> Any:
        return [view.sum(question).tolist() for question in questions()[1:3]]


class OfASample:
    """A question about some of the records."""

    columns = ("age",)

    def answer(self, view: Any) -> Any:
        return view.sum(questions()[0], SecretSample(0.5, "poisson")).tolist()


@pytest.mark.parametrize("question", [Twice(), OfASample()])
def test_what_is_no_single_sum_of_all_records_is_asked_by_itself(question: Any, tmp_path: Path) -> None:
    source = opened(tmp_path)
    view, again = (CuratorsView(source, Neighbors.ADD_REMOVE, DeterministicBits(0)) for _ in range(2))
    assert answers(view, [question, question]) == [question.answer(again) for _ in range(2)]


def test_texts_that_are_read_by_different_lists_are_counted_by_their_own() -> None:
    schema = Schema({"town": Text()})
    source = source_of({"town": ["Ulm", "Ulm", "Bern"]}, schema)
    view, asked = CuratorsView(source, Neighbors.ADD_REMOVE, DeterministicBits(0)), []
    for towns in (("Ulm", "Bern"), ("Bern", "Ulm"), ("Ulm", "Bern")):
        lists = {"town": Category(towns)}
        asked.append(OfListed(contingency_of(schema.listing(lists), ("town",), (0,)), tuple(lists.items())))
    found: list[Any] = answers(view, asked)
    assert [one.steps.tolist() for one in found] == [[2, 1], [1, 2], [2, 1]]
