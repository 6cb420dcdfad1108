"""A table whose rows may move: whom its account protects, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.core.receipt import Receipt
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.vectors.moved_row_sketch import MovedRowSketch
from discreet.questions.question import AllRecords
from discreet.schema.schema import Schema
from discreet.trust.moving_table import MovingTable
from discreet.trust.private_data import PrivateData
from tests.trust.holding import MARK, HolderTrial

TRIAL = HolderTrial(
    lambda: MovingTable([[MARK, MARK]] * 9, 1e4, Budget(1.0, 1e-6)), {"sketch": MovedRowSketch(1e4, 2, 1e4)}
)

ROWS = np.arange(6.0).reshape(3, 2)
BUDGET = Budget(5.0, 1e-5)
POSITION = Unit("position", reach=0.5)


@pytest.mark.parametrize(
    "account",
    [
        MemoryLedger(BUDGET),
        MemoryLedger(BUDGET, Neighbors.ADD_REMOVE, RECORD),
        MemoryLedger(BUDGET, Neighbors.REPLACE, RECORD),
        MemoryLedger(BUDGET, Neighbors.ADD_REMOVE, POSITION),
        MemoryLedger(BUDGET, Neighbors.REPLACE, Unit("position", reach=0.25)),
    ],
    ids=[
        "any relation",
        "records join and leave",
        "records are replaced",
        "positions join and leave",
        "a shorter reach",
    ],
)
def test_no_account_that_promises_anything_else_is_charged(account: MemoryLedger) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        MovingTable(ROWS, 0.5, account)
    assert account.balance().certified == 0


def test_an_account_of_positions_pays_for_nothing_about_records() -> None:
    account = MemoryLedger(BUDGET, Neighbors.REPLACE, POSITION)
    schema = Schema.numeric(0.0, 10.0, 2)
    for unit in (RECORD, POSITION):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            PrivateData.of(ROWS, schema, account, neighbors=Neighbors.REPLACE, unit=unit)
    assert account.balance().certified == 0


def test_private_data_do_not_release_a_sketch_of_moves() -> None:
    data, sketch = PrivateData.of(ROWS, Schema.numeric(0.0, 10.0, 2), BUDGET), MovedRowSketch(100.0, 4, 0.5)
    with data.permit(sketch.event, "misuse") as permit, pytest.raises(NotPermitted, match="it hides a move by"):
        permit.ask(AllRecords(("x0", "x1")), sketch)


def test_the_receipt_says_in_words_what_is_hidden_and_can_be_read_again() -> None:
    table = MovingTable(ROWS, 0.5, BUDGET, columns=("east", "north"))
    paid = table.projected(MovedRowSketch(100.0, 4, 0.5), "where they are")
    assert "one position (of one row, to within 0.5; whether and about where the row is, is not protected)" in str(
        paid.receipt
    )
    assert Receipt.read(paid.receipt.to_json()) == paid.receipt
    assert table.ledger.unit == POSITION
    assert table.ledger.balance().certified > 0


def test_the_account_is_spent() -> None:
    table, sketch = MovingTable(ROWS, 0.5, Budget(5.0, 1e-5)), MovedRowSketch(1000.0, 4, 0.5)
    first = table.projected(sketch, "once").vectors
    assert not np.array_equal(first, table.projected(sketch, "twice").vectors)
    assert table.ledger.balance().certified > 1.3 * table.projected(sketch, "thrice").receipt.epsilon
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        table.projected(MovedRowSketch(1000.0, 4, 0.25), "a nearer reach")


@pytest.mark.parametrize(
    "given",
    [
        {"rows": [[1.0, np.nan]]},
        {"rows": [1.0, 2.0]},
        {"rows": [["a", "b"]]},
        {"rows": np.empty((3, 0))},
        {"rows": np.zeros((1, 4097))},
        {"reach": 0.0},
        {"reach": np.inf},
        {"columns": ("one",)},
        {"columns": ("one", "one")},
    ],
    ids=str,
)
def test_what_has_no_position_or_name_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        MovingTable(**{"rows": ROWS, "reach": 0.5, "ledger": BUDGET, **given})


def test_a_position_has_a_reach_and_nothing_else() -> None:
    mistakes: list[dict[str, Any]] = [{}, {"reach": 1.0, "rows": 2}, {"reach": 1.0, "column": "x"}]
    for mistake in mistakes:
        with pytest.raises(ParameterError):
            Unit("position", **mistake)
    with pytest.raises(ParameterError):
        Unit(reach=1.0)
    assert not POSITION.protects_as(Unit("position", reach=1.0))
