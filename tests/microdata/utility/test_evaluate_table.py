"""Distances of a table for a price: near the exact ones, with intervals that hold."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta as delta_of
from discreet.audit.trial import judged
from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.utility.evaluate_table import TableEvaluation, evaluate_table
from discreet.microdata.utility.utility_report import utility_report
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.coded_tables import TableCodes
from discreet.questions.tables.grouped_distances import GroupedDistances
from discreet.schema.schema import Category, Schema
from discreet.trust.private_data import PrivateData
from tests.conformance.audits import outputs
from tests.microdata.utility.made_tables import PEOPLE, SAME, SCHEMA, people, shuffled, table_of
from tests.statistics.trial import SCHEMA as COMMON
from tests.statistics.trial import StatisticTrial, table

COLUMNS = Schema({name: column for name, column in COMMON.columns.items() if name != "name"})


def common(rows: int) -> PublishedTable:
    return table_of({name: own for name, own in table(rows, 7).items() if name != "name"}, COLUMNS)


MISSING = dataclasses.replace(common(9), records=np.full((9, 3), np.nan))
ENDS = dataclasses.replace(common(9), records=np.tile([[-20.0, 5e-324, 0.0], [20.0, 1.0, 2.0]], (5, 1)))
TRIAL = StatisticTrial(
    {"table": common(200)},
    hostile={"table": [None, {}, "table", common(0)]},
    extreme={"table": [common(1), MISSING, ENDS]},
    arrays=False,
)


def evaluated(released: Any, seed: int = 1, price: float = 1.0, delta: float = 0.0, **options: Any) -> TableEvaluation:
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(price, delta), bits=DeterministicBits(seed), **options)
    return evaluate_table(data, table=released, epsilon=price, delta=delta)


def exact(released: Any) -> np.ndarray:
    figures = utility_report(released, PEOPLE, bounds=SCHEMA, target=()).figures["distances"]
    return np.array([*figures[:4], figures[4:10].mean(), figures[10:].mean()])


def test_distances_are_near_the_exact_ones() -> None:
    for delta in (0.0, 1e-6):
        found = evaluated(shuffled(), price=20.0, delta=delta)
        assert found.about == ("age", "income", "sex", "ill", "all pairs (6)", "all triples (4)")
        np.testing.assert_allclose(found.distances.values, exact(shuffled()), atol=0.004)


def test_intervals_hold_for_the_noise_and_for_the_number_of_records() -> None:
    other = table_of(people(1000, 9))
    truth, held = exact(other), []
    for seed in range(60):
        options = {"neighbors": Neighbors.REPLACE} if seed % 3 == 2 else {}
        series = evaluated(other, seed, 0.3, 1e-6 if seed % 2 else 0.0, **options).distances
        assert series.low is not None
        assert series.high is not None
        held += ((series.low - 1e-3 <= truth) & (truth <= series.high + 1e-3)).tolist()
    assert np.mean(held) >= 0.95


def test_the_interval_of_one_column_holds_although_the_number_of_records_is_known_badly() -> None:
    """Of the data themselves: the distance is none, and all that is seen is noise, most of it on their number."""
    sex = table_of({"sex": PEOPLE["sex"]}, Schema({"sex": SCHEMA.columns["sex"]}))
    found = [evaluated(sex, seed, 0.3) for seed in range(60)]
    assert np.mean([one.interval.low[0] <= 1e-3 for one in found]) >= 0.95


def test_the_price_is_the_one_that_was_asked_for_and_a_key_gives_it_again() -> None:
    for delta in (0.0, 1e-6):
        receipt = evaluated(SAME, delta=delta).receipt
        assert receipt.epsilon == pytest.approx(1.0, rel=1e-3)
        assert delta_of(receipt.event, 1.0) <= delta + 1e-12
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(1.0))
    first, again = (evaluate_table(data, table=SAME, epsilon=1.0, key="k") for _ in range(2))
    np.testing.assert_array_equal(first.distances.values, again.distances.values)
    assert len(data.ledger.entries()) == 1


def test_users_with_several_rows_pay_in_noise() -> None:
    rows = {**PEOPLE, "who": np.repeat(np.arange(1000), 3).astype(str)}
    data = PrivateData.of(rows, SCHEMA, Budget(1.0), unit=Unit("user", "who", 3))
    users, one = evaluate_table(data, table=SAME, epsilon=1.0), evaluated(SAME)
    assert users.standard_error is not None
    assert one.standard_error is not None
    assert users.standard_error[0] == pytest.approx(3 * one.standard_error[0], rel=0.05)


def test_skipped_columns_are_named_and_nothing_to_compare_is_refused_before_a_charge() -> None:
    part = Schema({"sex": SCHEMA.columns["sex"], "extra": Category(("x",))})
    found = evaluated(table_of({"sex": PEOPLE["sex"], "extra": ["x"] * 3000}, part))
    assert found.about == ("sex",)
    assert set(found.skipped) == {"age", "income", "ill", "extra"}
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(1.0))
    other = table_of({"town": ["x"]}, Schema({"town": Category(("x",))}))
    for wrong in (other, table_of(people(0)), None):
        with pytest.raises(ParameterError):
            evaluate_table(data, table=wrong, epsilon=1.0)
    assert not data.ledger.entries()


class Shown:
    """What a question sees of these records."""

    neighbors, unit = Neighbors.ADD_REMOVE, RECORD

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    def batches(self, columns: object) -> list[np.ndarray]:
        return [self.rows]


def test_an_audit_holds_and_refutes_a_bound_that_forgets_that_a_record_moves_all_distances() -> None:
    """One record more in cells that are expected to be empty; the twin has the noise for a single distance."""
    schema = Schema({name: Category(("a", "b")) for name in "xyz"})
    codes = TableCodes.of(schema, tuple("xyz"), ((), (), ()))
    question = GroupedDistances(codes, ((0,), (1,), (2,), (0, 1), (1, 2)), (0, 1, 2, 3, 3), np.zeros(3 * 3 + 2 * 9))
    pair = [question.answer(Shown(np.zeros((n, 3)))) for n in (5, 6)]  # type: ignore[arg-type]
    noise = Gaussian(1.0)
    for bound, holds in ((question.bound, True), (Bound("l2", 1.0), False)):
        own = [Answer(one.steps, one.grid, bound, one.neighbors) for one in pair]
        seen = [outputs(noise, one, 40_000, seed).sum(axis=1) for seed, one in enumerate(own)]
        assert judged(noise.event, *seen).holds is holds
