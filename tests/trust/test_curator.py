"""What a curator shows to a question: every kind of answer says how many rows a unit has, and the relation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.answer import Answer, KeyedAnswer, Records
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.vectors.sphere_report import SphereReport
from discreet.questions.block_sum import BlockSum
from discreet.questions.question import AllRecords, BoundedSum, Question
from discreet.questions.tables.key_counts import CellCounts, KeyCounts
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source import Source
from discreet.trust.sources.source_of import source_of
from tests.trust import trial
from tests.trust.trial import TrustTrial

TRIAL = TrustTrial(lambda rows, bits: Curator(Matrix(rows, trial.SCHEMA), bits=bits))
PLAIN = {"ViewCurator": "it is printed with the names of classes alone"}
"""Why these print no texts of others: see `tests/conformance/test_plain_text.py`."""

SCHEMA = Schema({"x": Number(0, 1), "kind": Category(("a", "b")), "town": Text()})
VISITS = {
    "x": [0.1, 0.2, 0.3, 0.4],
    "kind": ["a", "b", "b", "a"],
    "town": ["Bern", "Bern", "Chur", "Bern"],
    "who": ["p", "p", "q", "r"],
}
PEOPLE = Unit("user", column="who", rows=3)
ONES = BoundedSum(lambda rows: np.ones((len(rows), 1)), Bound("l1", 1.0), ("x",), Grid(0))


class Spy:
    """Releases the exact answer: for tests alone."""

    event = Laplace(1.0).event

    def release(self, answer: Any, bits: Any) -> Any:
        return answer


def answered(question: Question, neighbors: Neighbors) -> Any:
    curator = Curator(source_of(VISITS, SCHEMA, PEOPLE), neighbors)
    return curator.ask(question, Spy())  # type: ignore[arg-type]


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_every_kind_of_answer_counts_all_rows_of_a_unit(neighbors: Neighbors) -> None:
    total = answered(ONES, neighbors)
    assert isinstance(total, Answer)
    assert (total.steps.tolist(), total.bound, total.neighbors) == ([4], Bound("l1", 3.0), neighbors)
    keys = answered(KeyCounts("town"), neighbors)
    assert isinstance(keys, KeyedAnswer)
    assert (keys.keys, keys.counts.tolist(), keys.rows, keys.neighbors) == (("Bern", "Chur"), [3, 1], 3, neighbors)
    cells = answered(CellCounts(lambda rows: rows.astype(np.intp), ("kind",)), neighbors)
    assert (cells.keys, cells.counts.tolist(), cells.rows, cells.neighbors) == (("0", "1"), [2, 2], 3, neighbors)
    records = answered(AllRecords(("x",)), neighbors)
    assert isinstance(records, Records)
    assert (sorted(records.values[:, 0]), records.rows, records.neighbors) == ([0.1, 0.2, 0.3, 0.4], 3, neighbors)
    blocks = answered(BlockSum(np.mean, ("x",), (0.0,), (1.0,), 2, seconds=0.5), neighbors)
    assert (blocks.bound, blocks.neighbors) == (Bound("linf", 3.0), Neighbors.REPLACE)


def test_a_question_of_one_s_own_needs_no_trust_model_to_be_changed() -> None:
    """A new kind: the records in reverse."""

    class Reversed:
        columns = ("x",)

        def answer(self, view: Any) -> Records:
            return Records(view.everything(self.columns)[::-1], view.unit.rows, view.neighbors)

    found = answered(Reversed(), Neighbors.ADD_REMOVE)
    assert sorted(found.values[:, 0]) == [0.1, 0.2, 0.3, 0.4]


def test_one_person_s_report_is_not_for_a_curator() -> None:
    data = PrivateData.of(VISITS, SCHEMA, Budget(1.0))
    with pytest.raises(NotPermitted, match=r"cannot keep the promise.*Nothing was released or spent"):
        data.permit(SphereReport(1.0).event, "report")
    assert data.ledger.balance().certified == 0


def test_all_records_reach_a_mechanism() -> None:
    schema = Schema.numeric(0.0, 1.0, 1)
    records = np.array([[0.3], [np.nan], [0.1], [7.0]])
    seen: Any = Curator(Matrix(records, schema)).ask(AllRecords(("x0",)), Spy())  # type: ignore[arg-type]
    np.testing.assert_array_equal(np.sort(seen.values[:, 0]), [0.1, 0.3, 1.0, np.nan])
    assert seen.copies == ()
    assert seen.stacked(3).copies == (3,)


def test_a_source_that_only_adds_up_hands_no_records_over() -> None:
    class Adding(Source):
        schema = Schema.numeric(0.0, 1.0, 1)
        unit = Matrix(np.zeros((1, 1)), schema).unit

        def sum(self, question: Any) -> Any: ...

        def keys(self, column: str, condition: Any = None) -> Any: ...

        def units(self) -> int:
            return 0

    with pytest.raises(NotPermitted, match="adds up where the records are"):
        Curator(Adding()).ask(AllRecords(("x0",)), Laplace(1.0))
