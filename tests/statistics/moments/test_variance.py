"""The standard deviation is the root of the private variance, and so are the ends of its interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import PureLoss
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.estimate import Estimate
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.variance import root, standard_deviation, variance
from discreet.trust.private_data import PrivateData

RECEIPT = Receipt("variance", PureLoss(1.0), 1.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
VALUES = np.random.default_rng(0).gamma(4, 5, 4000).clip(0, 100)


def private(seed: int, neighbors: Neighbors) -> PrivateData:
    schema = Schema({"x": Number(0, 100)})
    return PrivateData.of({"x": VALUES}, schema, Budget(1.0), neighbors=neighbors, bits=DeterministicBits(seed))


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("population", [False, True])
def test_it_is_the_root_of_the_variance_with_the_same_noise(neighbors: Neighbors, population: bool) -> None:
    square = variance(private(5, neighbors), "x", epsilon=1.0, population=population)
    found = standard_deviation(private(5, neighbors), "x", epsilon=1.0, population=population)
    assert found.value**2 == pytest.approx(square.value)
    assert [end**2 for end in found.interval] == pytest.approx(square.interval)
    assert found.receipt.event == square.receipt.event
    assert found.name == "standard deviation of x"
    assert str(found).startswith("standard deviation of x: ")
    assert found.population is population


def square_of(value: float, half_width: float, error: float | None) -> Estimate:
    return Estimate.around("x", value, half_width, confidence=0.95, receipt=RECEIPT, standard_error=error)


def test_the_error_is_the_longer_side() -> None:
    found = root(square_of(4.0, 3.0, 1.5))
    assert found.interval == (1.0, math.sqrt(7))
    assert found.half_width == 1.0
    assert found.standard_error == pytest.approx(1.5 / 4)


def test_the_root_of_nothing_is_nothing() -> None:
    found = root(square_of(0.0, 4.0, 9.0))
    assert (found.value, found.interval, found.half_width, found.standard_error) == (0.0, (0.0, 2.0), 2.0, 3.0)
    assert root(square_of(4.0, 3.0, None)).standard_error is None


def test_the_noise_is_that_of_a_variance_and_not_of_a_deviation() -> None:
    """A deviation can move by (upper - lower) sqrt(n - 1) / n, which is 1.6 here; this is off by a tenth of that."""
    found = [standard_deviation(private(seed, Neighbors.REPLACE), "x", epsilon=1.0).value for seed in range(40)]
    assert np.sqrt(np.mean(np.square(np.array(found) - VALUES.std()))) < 0.3


def test_bad_input_is_refused_before_anything_is_spent() -> None:
    data = private(0, Neighbors.ADD_REMOVE)
    for wrong in ({"column": "y"}, {"column": "x", "bounds": (0, 1)}, {"column": "x", "epsilon": -1.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            standard_deviation(data, **wrong)
    for bounds in ((1, 0), (1, 1), (0, math.nan), (0, math.inf)):
        with pytest.raises(DiscreetError, match="bound"):
            standard_deviation(VALUES, bounds=bounds)
    standard_deviation(data, "x", epsilon=1.0)


@pytest.mark.parametrize("records", [[], [50.0], [math.nan] * 5, ["x", None]], ids=["none", "one", "nan", "odd"])
@pytest.mark.parametrize("population", [False, True])
def test_hardly_any_data_is_an_answer_within_its_range(records: list[object], population: bool) -> None:
    for seed in range(20):
        data = PrivateData.of({"x": records}, Schema({"x": Number(0, 100)}), Budget(1.0), bits=DeterministicBits(seed))
        found = standard_deviation(data, "x", epsilon=1.0, population=population)
        assert 0 <= found.value <= 75
        assert 0 <= found.interval[0] <= found.value <= found.interval[1]


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_that_of_a_sample_divides_by_one_less(neighbors: Neighbors) -> None:
    few = VALUES[:20]
    data = PrivateData.of(
        {"x": few}, Schema({"x": Number(0, 100)}), Budget(1e9), neighbors=neighbors, bits=DeterministicBits(3)
    )
    plain, sample = (variance(data, "x", epsilon=1e8, ddof=ddof) for ddof in (0, 1))
    assert plain.value == pytest.approx(few.var(), rel=1e-3)
    assert sample.value == pytest.approx(few.var(ddof=1), rel=1e-3)
    root_of_it = standard_deviation(data, "x", epsilon=1e8, ddof=1)
    assert root_of_it.value == pytest.approx(few.std(ddof=1), rel=1e-3)
    assert not sample.population
    with pytest.raises(DiscreetError, match="ddof"):
        variance(data, "x", epsilon=1.0, ddof=2)


def test_the_interval_of_a_sample_holds_its_variance_as_often_as_it_says() -> None:
    few, held = VALUES[:30], 0
    for seed in range(200):
        data = PrivateData.of({"x": few}, Schema({"x": Number(0, 100)}), Budget(50.0), bits=DeterministicBits(seed))
        low, high = variance(data, "x", epsilon=50.0, ddof=1).interval
        held += low <= few.var(ddof=1) <= high
    assert held >= 178  # of 200 at 95 %: fewer once in 10,000 such tests
