"""Sums that are asked together are those that are asked one after the other, and are read once."""

from __future__ import annotations

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
from discreet.questions.columns.total import count_of, total_of
from discreet.questions.filtered import filtered
from discreet.questions.grouped import grouped
from discreet.questions.question import BoundedSum
from discreet.questions.tables.domain import Domain
from discreet.schema.condition_text import condition_of
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.cell_sums import CellSums, tallied
from discreet.trust.sources.decoded_table import DecodedTable
from discreet.trust.sources.several_sums import answers
from discreet.trust.sources.source_of import source_of

duckdb = pytest.importorskip("duckdb")
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


class Twice:
    """A question that asks for two sums, of which the second may depend on the first."""

    columns = ("age",)

    def answer(self, view: Any) -> Any:
        return [view.sum(question).tolist() for question in questions()[1:3]]


class OfASample:
    """A question about some of the records."""

    columns = ("age",)

    def answer(self, view: Any) -> Any:
        return view.sum(questions()[0], SecretSample(1.0, "poisson")).tolist()


@pytest.mark.parametrize("question", [Twice(), OfASample()])
def test_what_is_no_single_sum_of_all_records_is_asked_by_itself(question: Any, tmp_path: Path) -> None:
    view = CuratorsView(opened(tmp_path), Neighbors.ADD_REMOVE, DeterministicBits(0))
    assert answers(view, [question, question]) == [question.answer(view)] * 2
