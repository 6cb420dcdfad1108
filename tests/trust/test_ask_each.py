"""Several questions that are put to a permit at once: paid for as a whole, replayed one by one, and lost by none."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import (
    EngineFailure,
    KeyReused,
    NotPermitted,
    ParameterError,
    SchemaError,
    UnplannedRelease,
)
from discreet.core.events import Composed
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger, account_of
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import count_of, total_of
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Number, Schema
from discreet.trust.curator import Curator
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.decoded_table import DecodedTable
from discreet.trust.sources.shielded import withheld
from tests.trust.same_bits import Exact
from tests.trust.test_permit import Slow

duckdb = pytest.importorskip("duckdb")
SCHEMA = Schema({"x": Number(0, 10), "y": Number(-5, 5)})
COUNT, TOTAL, MOMENTS = count_of(SCHEMA, None), total_of(SCHEMA, "x", 0.0), moments_of(SCHEMA, "y", 2, False)
FINE, COARSE = Laplace(2.0), Laplace(3.0)
ASKED: list[Any] = [(COUNT, FINE), (TOTAL, COARSE), (MOMENTS, FINE)]
PLAN = Composed(tuple(mechanism.event for _, mechanism in ASKED))


@pytest.fixture(params=[True, False], ids=["together", "one after the other"])
def data(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PrivateData:
    """Records of a curator who answers together, and of one who does not."""
    monkeypatch.setattr(Curator, "answers_together", request.param)
    path, rows = tmp_path / "visits.csv", np.random.default_rng(0).uniform(-5, 10, (300, 2))
    path.write_text("\n".join(["who,x,y", *(f"{i // 2},{x},{y}" for i, (x, y) in enumerate(rows))]))
    return PrivateData.of(path, SCHEMA, Budget(90.0), unit=Unit("user", "who", 2))


def listed(releases: Sequence[Any]) -> list[list[float]]:
    return [np.asarray(one).tolist() for one in releases]


@pytest.mark.parametrize(
    "unpaid",
    [[*ASKED, (COUNT, FINE)], [ASKED[0], ASKED[1], ASKED[1]], [ASKED[0], (COUNT, Laplace(1.0))]],
    ids=["one too many", "one twice", "of another price"],
)
def test_where_the_plan_does_not_pay_for_all_nothing_is_answered(unpaid: list[Any], data: PrivateData) -> None:
    with data.permit(PLAN, "sums", key="k") as permit:
        with pytest.raises(UnplannedRelease):
            permit.ask_each(unpaid)
        first = listed(permit.ask_each(ASKED))  # it still pays for all of these
    with data.permit(PLAN, "sums", key="k") as permit, pytest.raises(UnplannedRelease):
        permit.ask_each(unpaid)
    with data.permit(PLAN, "sums", key="k") as permit:
        assert listed(permit.ask_each(ASKED)) == first
    assert len(data.ledger.entries()) == 1


def test_a_column_that_is_not_there_is_refused_before_anything_is_answered(data: PrivateData) -> None:
    other = count_of(Schema({"z": Number(0, 1)}), "z")
    with data.permit(PLAN, "sums") as permit:
        with pytest.raises(SchemaError):
            permit.ask_each([ASKED[0], (other, COARSE)])
        assert len(permit.ask_each(ASKED)) == 3


def test_all_that_were_answered_are_counted(data: PrivateData) -> None:
    said: list[tuple[int, int, str]] = []
    with data.permit(PLAN, "sums") as permit:
        permit.progress = lambda *told: said.append(told)
        permit.ask_each(ASKED)
        assert said[-1] == (3, 3, "sums")


def test_a_permit_that_is_not_open_answers_none(data: PrivateData) -> None:
    permit = data.permit(PLAN, "sums")
    for _ in range(2):
        with pytest.raises(NotPermitted, match="not open"):
            permit.ask_each(ASKED)
        with permit:
            pass


def test_what_was_asked_one_by_one_is_given_again_together_in_any_order(data: PrivateData) -> None:
    with data.permit(PLAN, "sums", key="k") as permit:
        first = listed([permit.ask(*one) for one in ASKED])
    with data.permit(PLAN, "sums", key="k") as permit:
        assert listed(permit.ask_each(ASKED[::-1])) == first[::-1]
    with data.permit(PLAN, "sums", key="k") as permit:
        assert listed([permit.ask(*ASKED[1]), *permit.ask_each(ASKED[2:])]) == first[1:]
    with data.permit(PLAN, "sums", key="k") as permit, pytest.raises(KeyReused):
        permit.ask_each([ASKED[0], (count_of(SCHEMA, "x"), COARSE)])


def test_what_was_asked_together_is_given_again_one_by_one(data: PrivateData) -> None:
    twice = Composed((FINE.event, FINE.event))
    with data.permit(twice, "counts", key="k") as permit:
        first = listed(permit.ask_each([ASKED[0], ASKED[0]]))
    with data.permit(twice, "counts", key="k") as permit:
        assert listed([permit.ask(*ASKED[0]), permit.ask(*ASKED[0])]) == first
    assert first[0] != first[1]


def test_threads_take_turns_with_all_of_it(data: PrivateData) -> None:
    def asked(permit: Permit) -> list[list[float]]:
        try:
            return listed(permit.ask_each(ASKED))
        except UnplannedRelease:
            return []

    with data.permit(Composed((PLAN,) * 3), "sums", key="k") as permit, ThreadPoolExecutor(8) as threads:
        permit._unspent = Slow(permit._unspent)
        found = list(threads.map(asked, [permit] * 8))
    assert sorted(map(len, found)) == [0] * 5 + [3] * 3
    with data.permit(Composed((PLAN,) * 3), "sums", key="k") as permit:
        again = [listed(permit.ask_each(ASKED)) for _ in range(3)]
    assert sorted(again) == sorted(one for one in found if one)


@pytest.mark.parametrize(
    "made",
    [
        lambda one: one.where("x > 3"),
        lambda one: one.derive(z="x + y"),
        lambda one: one.where("x > 3").derive(z="y - x"),
    ],
)
def test_records_that_are_made_of_others_answer_each_as_they_answer_one(made: Any, data: PrivateData) -> None:
    own = made(data)
    asked = [count_of(own.schema, None), *(moments_of(own.schema, name, 2, False) for name in own.schema.features)]
    exact: Any = Exact()
    alone = [own._trust.ask(question, exact) for question in asked]
    assert own._trust.ask_each([(question, exact) for question in asked]) == alone
    assert alone[0] != data._trust.ask(asked[0], exact) or "z" in own.schema.columns


class Bounds:
    """Releases how far one unit may move the answer, and whether in one direction alone."""

    event = FINE.event

    def release(self, answer: Any, bits: Any) -> tuple[float, bool]:
        return answer.sensitivity("l1"), answer.monotone


def test_rows_of_several_units_are_asked_for_sums_that_move_either_way() -> None:
    ledger, unit = account_of(Budget(9.0), Neighbors.ADD_REMOVE, Unit("user", "who", 2)), Unit("user", "who", 2)
    visits = {"who": [1, 1, 2], "x": [1.0, 2.0, 3.0], "ward": ["a", "b", "a"]}
    described: Any = {"x": (0, 10), "ward": ["a", "b"]}
    one, other = (PrivateData.of(visits, described, ledger, unit=unit, name=name) for name in ("one", "other"))
    pairs: Any = one.join(other, "ward", most=2, prefix="other_")
    asked = [(count_of(pairs.schema, None), Bounds())] * 2
    assert pairs._trust.ask_each(asked) == [pairs._trust.ask(*asked[0])] * 2 == [(16.0, False)] * 2


def test_a_function_that_fails_on_made_up_records_is_refused_with_the_others(data: PrivateData) -> None:
    def broken(records: Any) -> Any:
        raise ValueError

    fails = BoundedSum(broken, Bound("l1", 1.0), ("x",), width=1)
    with data.permit(PLAN, "sums") as permit, pytest.raises(ParameterError, match="made-up"):
        permit.ask_each([ASKED[0], (fails, COARSE)])


class Breaking(DecodedTable):
    """Records that break after so many sums."""

    left = 0

    def sum(self, question: BoundedSum) -> Any:
        self.left -= 1
        if self.left < 0:
            raise withheld("read what breaks", OSError())
        return super().sum(question)

    def sums(self, questions: Sequence[BoundedSum]) -> list[Any]:
        return [self.sum(question) for question in questions]


def breaking() -> tuple[Breaking, PrivateData]:
    rows = "SELECT 1.0 AS c0, 2.0 AS c1 FROM range(50)"
    source = Breaking("example", lambda: duckdb.connect().sql(rows), SCHEMA)
    return source, PrivateData(Curator(source), MemoryLedger(Budget(9.0)))


def failed() -> PrivateData:
    """Records that could not be read for the last of three questions, and can be now."""
    source, data = breaking()
    source.left = 2
    with (
        pytest.raises(EngineFailure, match="nothing was released, and the same key goes on"),
        data.permit(PLAN, "sums", key="k") as permit,
    ):
        permit.ask_each(ASKED)
    source.left = 9
    return data


def test_where_records_cannot_be_read_none_is_released_and_the_same_key_goes_on() -> None:
    data = failed()
    with data.permit(PLAN, "sums", key="k") as permit:
        first = listed(permit.ask_each(ASKED))
    with data.permit(PLAN, "sums", key="k") as permit:
        assert listed(permit.ask_each(ASKED)) == first
    assert len(data.ledger.entries()) == 1


def test_the_key_goes_on_with_the_same_first_question_alone() -> None:
    with pytest.raises(KeyReused), failed().permit(PLAN, "sums", key="k") as permit:
        permit.ask_each(ASKED[1:])


def test_after_a_release_what_fails_together_does_not_go_on() -> None:
    source, data = breaking()
    source.left = 2
    with data.permit(PLAN, "sums", key="k") as permit:
        permit.ask(*ASKED[0])
        with pytest.raises(EngineFailure, match="this was not released"):
            permit.ask_each(ASKED[1:])
    source.left = 9
    with data.permit(PLAN, "sums", key="k") as permit, pytest.raises(KeyReused):
        permit.ask_each(ASKED)
    assert len(data.ledger.entries()) == 1
