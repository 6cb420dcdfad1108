"""A limit of rows: paid for by the unit, near the one of least error, and refused where it could not be private."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.answer import NeighborPair
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.rows_per_unit import CrowdedUnits, LimitScores
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.count import count
from discreet.statistics.ranks.choose_rows import choose_rows
from discreet.trust.curator import CuratorsView
from discreet.trust.permit import releases
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.frame import Frame

SCHEMA, POOLED = Schema({"cost": Number(0, 10)}), Unit("user", "person", pooled=True)


def visits(sizes: np.ndarray) -> dict[str, np.ndarray]:
    """So many rows of each person."""
    people = np.repeat(np.arange(len(sizes)), sizes)
    return {"person": people, "cost": np.ones(len(people))}


def view(sizes: np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> CuratorsView:
    return CuratorsView(Frame(visits(sizes), SCHEMA, POOLED), neighbors, DeterministicBits(1))


def test_the_price_is_for_all_rows_of_a_unit_and_within_the_budget() -> None:
    data = PrivateData.of(visits(np.full(500, 3)), SCHEMA, Budget(0.3), unit=POOLED)
    found = choose_rows(data, epsilon=0.3)
    assert 0.299 < found.receipt.epsilon <= 0.3
    assert found.receipt.unit.pooled
    with_delta = PrivateData.of(visits(np.full(500, 3)), SCHEMA, Budget(0.3, 1e-6), unit=POOLED)
    assert Exponential(1.0).event.orders in [
        getattr(event, "orders", ()) for event in releases(choose_rows(with_delta, epsilon=0.1).receipt.event)
    ]


def test_one_person_more_moves_every_score_and_count_by_one_at_most() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        sizes = rng.geometric(0.2, 30)
        more = np.append(sizes, rng.integers(1, 1000))
        for question in (LimitScores((1, 2, 3, 5, 9, 40), 7), CrowdedUnits((1, 2, 3, 5, 9, 40))):
            pair = NeighborPair(question.answer(view(sizes)), question.answer(view(more)))
            moved = np.abs(pair.first.steps - pair.second.steps)  # type: ignore[union-attr]
            assert moved.max() <= pair.first.bound.radius == 1.0  # type: ignore[union-attr]


def test_the_limit_is_near_the_one_of_least_error() -> None:
    sizes = np.minimum(np.random.default_rng(1).geometric(0.1, 20_000), 300)
    data = PrivateData.of(visits(sizes), SCHEMA, Budget(100.0), unit=POOLED)
    errors = {k: np.maximum(sizes - k, 0).sum() + k / 0.05 for k in range(1, 301)}
    for _ in range(5):
        rows = choose_rows(data, spend=0.05, epsilon=2.0).rows
        assert errors[rows] < 1.5 * min(errors.values())
        assert rows < 150


def test_what_it_cuts_is_told_with_an_interval() -> None:
    sizes = np.r_[np.ones(5000, int), np.full(1000, 8)]
    found = choose_rows(PrivateData.of(visits(sizes), SCHEMA, Budget(4.0), unit=POOLED), most=50, epsilon=4.0)
    assert found.rows == 8
    assert found.cut.value <= found.cut.half_width
    assert str(found).startswith("rows of each user: rows 8, cut ")


def test_the_same_account_then_pays_for_questions_with_the_limit() -> None:
    account = MemoryLedger(Budget(3.0), Neighbors.ADD_REMOVE, POOLED)
    records = visits(np.full(2000, 4))
    found = choose_rows(PrivateData.of(records, SCHEMA, account, unit=POOLED), epsilon=1.0)
    limited = PrivateData.of(records, SCHEMA, account, unit=found.unit)
    assert abs(count(limited, epsilon=2.0).value - 8000) < 100
    assert len(account.entries()) == 2
    with pytest.raises(ParameterError, match="unit"):
        PrivateData.of({**records, "house": records["person"]}, SCHEMA, account, unit=Unit("user", "house"))


def test_mistakes_are_found_before_any_charge() -> None:
    pooled = PrivateData.of(visits(np.full(50, 2)), SCHEMA, Budget(1.0), unit=POOLED)
    limited = PrivateData.of(visits(np.full(50, 2)), SCHEMA, Budget(1.0), unit=Unit("user", "person", rows=2))
    records = PrivateData.of(visits(np.full(50, 2)), SCHEMA, Budget(1.0))
    for data in (limited, records, pooled.where("cost > 1")):
        with pytest.raises(ParameterError, match="pooled=True"):
            choose_rows(data)
    for wrong in ({"most": 0}, {"spend": 0.0}, {"spend": float("nan")}, {"confidence": 1.0}):
        with pytest.raises(ParameterError):
            choose_rows(pooled, **wrong)
    for data in (pooled, limited, records):
        assert data.ledger.entries() == ()
