"""Variances in all directions from one sketch: the price, the law of their errors, what refuses."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.events import Composed, DiscreteLoss, GaussianLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.vectors.johnson_lindenstrauss import JohnsonLindenstrauss
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.vectors.directed_products import CoordinateRecords
from discreet.schema.schema import Schema
from discreet.statistics.moments.sketched_variances import SketchedVariances
from discreet.statistics.moments.variance_sketch import variance_sketch
from discreet.trust.curator import CuratorsView
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source_of import source_of
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial(
    {"radius": 1.0}, {"radius": [0.0, -1.0], "projections": [0, 2, 2**60]}, extreme={"projections": [3, 10**9]}
)

BUDGET = Budget(2.0, 1e-5)
RUNS = 150


def table(rows: int = 2000) -> Array:
    """Three columns between 0 and 10, far from the middle, of unlike spread, two of which go together."""
    rng = np.random.default_rng(0)
    one, two, three = rng.normal(size=(3, rows))
    return np.clip(np.column_stack([8 + one, 7.5 + one + 0.5 * two, 3 + 2 * three]), 0.0, 10.0)


def private(rows: Array, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    return PrivateData.of(rows, Schema.numeric(0.0, 10.0, 3), Budget(8.0, 1e-5), neighbors=neighbors)


def sketch(rows: Array) -> SketchedVariances:
    return variance_sketch(private(rows), projections=40, epsilon=8.0, delta=1e-5)


def sketches(rows: Array) -> list[SketchedVariances]:
    """Many independent ones of the same records, by the mechanism alone, with noise of its own on the number."""
    one, schema = sketch(rows), Schema.numeric(0.0, 10.0, 3)
    question = CoordinateRecords(schema, ("x0", "x1", "x2"), math.sqrt(3))
    view = CuratorsView(source_of(rows, schema), Neighbors.ADD_REMOVE, DeterministicBits(0))
    mechanism = JohnsonLindenstrauss(one.regularization / question.longest**2, 40, question.longest)
    many = mechanism.release(question.answer(view).stacked(RUNS), DeterministicBits(1))
    errors = np.random.default_rng(1).normal(0.0, one.number.standard_error or 0.0, RUNS)
    exact = float(np.isfinite(rows).all(axis=1).sum())
    numbers = [dataclasses.replace(one.number, value=exact + error) for error in errors]
    return [dataclasses.replace(one, vectors=each, number=n) for each, n in zip(many, numbers, strict=True)]


@pytest.mark.parametrize("neighbors", Neighbors)
def test_the_price_is_one_sketch_for_the_units_of_the_data_and_one_count(neighbors: Neighbors) -> None:
    rows = np.column_stack([np.repeat(np.arange(700), 3)[:2000], table()])
    unit = Unit("user", column="who", rows=3)
    schema = Schema.numeric(0.0, 10.0, 3)
    columns = {"who": rows[:, 0].astype(int).astype(str)} | {f"x{i}": rows[:, 1 + i] for i in range(3)}
    data = PrivateData.of(columns, schema, BUDGET, neighbors=neighbors, unit=unit)
    found = variance_sketch(data, projections=30, epsilon=2.0, delta=1e-5)
    event = found.receipt.event
    assert isinstance(event, Composed)
    sketch, count = event.events
    assert isinstance(count, GaussianLoss)
    assert isinstance(sketch, DiscreteLoss)
    longest = math.sqrt(3 + found.constant**2)
    multiplier = found.regularization / longest**2
    again = JohnsonLindenstrauss(multiplier, 30, longest, 3, neighbors).event
    assert isinstance(again, DiscreteLoss)
    assert sketch.step == pytest.approx(again.step, rel=1e-3)
    assert 1.9 < found.receipt.epsilon <= 2.0


def test_variances_are_unbiased_and_intervals_hold_as_often_as_they_say() -> None:
    """Correlated directions of one sketch, so each direction is looked at by itself, over independent sketches."""
    rows = table()
    exact, found = np.cov(rows.T, bias=True), sketches(rows)
    for direction in np.array([[1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.5], [0.0, 0.3, 1.0]]):
        ones = [each.variance(direction, confidence=0.9) for each in found]
        true = direction @ exact @ direction
        values, errors = np.array([[one.value, one.standard_error] for one in ones]).T
        assert abs(values.mean() - true) < 5 * values.std() / math.sqrt(RUNS)
        assert values.std() == pytest.approx(np.sqrt(np.mean(errors**2)), rel=5 / math.sqrt(2 * RUNS) + 0.1)
        held = np.mean([one.low <= true <= one.high for one in ones])
        assert 0.9 - 5 * math.sqrt(0.09 / RUNS) <= held


def test_columns_and_the_matrix_say_what_directions_say() -> None:
    """Of so many records that noise leaves all eigenvalues far above zero."""
    found = sketch(table(40_000))
    matrix = found.covariance()
    assert np.linalg.eigvalsh(matrix).min() >= -1e-12
    for place, column in enumerate(np.eye(3)):
        one = found.variance(column)
        assert [one.value, one.low, one.high] == pytest.approx(
            [found.values[place], found.interval.low[place], found.interval.high[place]]
        )
    direction = np.array([0.2, -0.5, 1.0])
    assert direction @ matrix @ direction == pytest.approx(found.variance(direction).value)


def test_a_matrix_hidden_by_noise_is_positive_semidefinite_all_the_same() -> None:
    found = variance_sketch(table(50), bounds=(0, 10), projections=30, epsilon=0.5)
    assert np.linalg.eigvalsh(found.covariance()).min() >= -1e-12


def test_a_record_with_a_missing_value_counts_for_nothing() -> None:
    rows = table(4000)
    rows[2000:, 1] = np.nan
    number = sketch(rows).number
    assert number.standard_error is not None
    assert abs(number.value - 2000) < 6 * number.standard_error
    values = np.array([one.values for one in sketches(rows)])
    assert (np.abs(values.mean(axis=0) - rows[:2000].var(axis=0)) < 5 * values.std(axis=0) / math.sqrt(RUNS)).all()


def test_no_records_have_any_variance() -> None:
    for rows in (np.empty((0, 3)), table(1)):
        found = variance_sketch(private(rows), projections=30)
        assert found.interval.low.tolist() == [0.0] * 3
        assert found.interval.high.tolist() == [25.0] * 3


@pytest.mark.parametrize(
    "mistake",
    [{"projections": 2}, {"projections": 2**21}, {"delta": 0.0}, {"population": True}, {"radius": 0.0}],
    ids=str,
)
def test_mistakes_cost_nothing(mistake: dict[str, Any]) -> None:
    data = private(table(10))
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        variance_sketch(data, **mistake)
    assert data.ledger.balance().certified == 0


@pytest.mark.parametrize("direction", [[1.0], [1.0, math.nan, 0.0], "up"])
def test_what_is_no_direction_is_refused(direction: Any) -> None:
    found = sketch(table(10))
    with pytest.raises(ParameterError, match="The release is as it was"):
        found.variance(direction)
