"""Bounds that are bought: tight where many values are, and ready for a schema."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.display.digits import exact
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.column_cells import magnitude_edges, magnitudes_of
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.mean import mean
from discreet.statistics.ranks.bounds import bounds
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial(hostile={"least": [0.0, -1.0]})

INCOMES = np.random.default_rng(0).lognormal(10, 0.5, 20_000)


def test_the_bounds_hold_nearly_all_values_and_little_more() -> None:
    """Noise alone fills a cell in one run of a hundred: more than 5 of 30 have probability below 1e-6."""
    tight = 0
    for seed in range(30):
        private = PrivateData.of(
            {"x": INCOMES}, Schema({"x": Number(-1e9, 1e9)}), Budget(0.5), bits=DeterministicBits(seed)
        )
        found = bounds(private, "x", epsilon=0.5)
        inside = ((found.lower <= INCOMES) & (found.upper >= INCOMES)).mean()
        assert inside > 0.99
        assert abs(found.outside.value - (1 - inside) * len(INCOMES)) <= 3 * found.outside.half_width
        tight += found.lower >= 0 and found.upper <= 4 * INCOMES.max()
    assert tight >= 25
    assert pure_epsilon(found.receipt.event) <= 0.5


def test_they_go_into_a_schema_and_make_a_mean_much_better() -> None:
    private = PrivateData.of({"x": INCOMES}, Schema({"x": Number(-1e9, 1e9)}), Budget(0.2), bits=DeterministicBits(2))
    found = bounds(private, "x", epsilon=0.2)
    wide, tight = (
        mean(INCOMES, bounds=(-1e9, 1e9), epsilon=1.0),
        mean(INCOMES, bounds=(found.number.lower, found.number.upper), epsilon=1.0),
    )
    assert tight.half_width < wide.half_width / 1000


def test_one_record_far_out_does_not_show() -> None:
    """It takes more than noise could be: for a cell of one record, that has probability below 0.05."""
    values = np.append(np.full(1000, 3.0), 1e12)
    uppers = [bounds(values, epsilon=0.5).upper for _ in range(20)]
    assert np.median(uppers) <= 8


@pytest.mark.parametrize("values", [[], [np.nan], [3.0]], ids=["none", "missing", "one"])
def test_too_few_records_leave_the_bounds_as_they_were(values: list[float]) -> None:
    found = [bounds(np.array(values), bounds=(-100, 50), epsilon=0.1) for _ in range(20)]
    assert sorted((one.lower, one.upper) for one in found)[10] == (-100, 50)
    assert all(-100 <= one.lower < one.upper <= 50 for one in found)


@pytest.mark.parametrize("ends", [(-100.0, 50.0), (0.0, 1.0), (3.0, 1e6), (-5.0, -2.0)])
def test_cells_reach_from_bound_to_bound_and_each_is_twice_as_wide(ends: tuple[float, float]) -> None:
    edges = magnitude_edges(Number(*ends), 2.0**-10)
    assert (edges[0], edges[-1]) == ends
    assert (np.diff(edges) > 0).all()
    sizes = np.abs(edges[1:-1])
    np.testing.assert_array_equal(np.log2(sizes), np.rint(np.log2(sizes)))


def test_a_fused_sum_is_the_sum_of_its_clipped_rows() -> None:
    question = magnitudes_of(Schema({"x": Number(-100, 1e5)}), "x", 1.0)
    records = np.clip(np.append(INCOMES, [np.nan, 0.0, -0.0, -100.0, 1e5, 1.0, 2.0]), -100, 1e5)[:, None]
    assert question.total is not None
    np.testing.assert_array_equal(question.total(records), question.steps(records).sum(axis=0))


def test_people_who_report_by_themselves_have_bounds_too() -> None:
    phones = Matrix(np.full((20_000, 1), 3.0), Schema.numeric(-1e6, 1e6, 1))
    private = PrivateData(Local(phones, bits=DeterministicBits(1)), MemoryLedger(Budget(4.0)))
    found = bounds(private, "x0", least=1.0, epsilon=4.0)
    assert (found.lower, found.upper) == (2.0, 4.0)


def test_it_prints_its_ends_and_its_receipt() -> None:
    found = bounds(INCOMES, epsilon=0.2)
    assert str(found).startswith(f"bounds of value: lower {exact(float(f'{found.lower:.6g}'))}, upper ")
    assert f"outside {found.outside.value:,.0f} ± " in str(found)


LEAST: list[dict[str, Any]] = [{"least": wrong} for wrong in (0.0, 1e20, -1.0, np.nan)]
MISTAKES: list[dict[str, Any]] = [{"epsilon": 0.0}, {"bounds": (1, 0)}, {"population": True}, *LEAST]


def test_a_mistake_is_refused() -> None:
    for fields in MISTAKES:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            bounds(INCOMES, **fields)
