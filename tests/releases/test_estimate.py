"""An estimate says what its interval holds, and how sure it is."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.ask import Released
from discreet.releases.estimate import Estimate, estimate_of, interval_inside
from discreet.releases.figure import Figure, Sampling
from discreet.releases.spread import Spread
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.mean import mean
from discreet.statistics.moments.variance import standard_deviation, variance
from discreet.trust.private_data import PrivateData

RECEIPT = Receipt("mean", PureLoss(1.0), 1.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
RELEASED = Released(np.zeros(1), Spread(Laplace(), math.sqrt(2)), RECEIPT)
VALUES = np.random.default_rng(0).normal(40, 10, 3000).clip(0, 100)
statistics = pytest.mark.parametrize("statistic", [mean, variance, standard_deviation])


def private(seed: int = 0, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    schema = Schema({"x": Number(0, 100)})
    return PrivateData.of({"x": VALUES}, schema, Budget(1.0), neighbors=neighbors, bits=DeterministicBits(seed))


def test_it_says_whose_value_its_interval_holds() -> None:
    population = Estimate.around("mean of age", 40.0, 0.5, confidence=0.999, receipt=RECEIPT, population=True)
    assert str(population) == "mean of age: 40.00 ± 0.50 (99.9% for the population)"
    assert "99.9% for the population" in population._repr_html_()


def test_an_interval_may_reach_farther_to_one_side() -> None:
    uneven = Estimate(name="deviation", value=4.0, low=3.5, high=4.2, confidence=0.95, receipt=RECEIPT)
    assert uneven.interval == (3.5, 4.2)
    assert uneven.half_width == 0.5
    assert str(uneven) == "deviation: 4.00 [3.50, 4.20] (95% for these data)"


def test_a_figure_makes_an_estimate_whose_interval_stays_between_its_ends() -> None:
    found = estimate_of("mean", Figure(20.0, np.ones(1)), RELEASED, 0.95, Number(0, 100))
    assert found.value == 20.0
    assert found.half_width == pytest.approx(math.log(20))
    assert found.interval == pytest.approx((20 - math.log(20), 20 + math.log(20)))
    assert found.standard_error == pytest.approx(math.sqrt(2))
    assert not found.population
    near = estimate_of("mean", Figure(0.5, np.ones(1)), RELEASED, 0.95, Number(0, 1))
    assert near.interval == (0.0, 1.0)
    assert near.half_width == 0.5
    sampled = Figure(2.0, np.ones(1), Sampling(math.inf, np.zeros(1), 0.0, 1.0))
    unknown = estimate_of("mean", sampled, RELEASED, 0.95, Number(-5, 7))
    assert unknown.interval == (-5.0, 7.0)
    assert unknown.population
    assert "[" in str(unknown)


def test_without_an_interval_there_is_no_promise() -> None:
    found = Estimate(name="median", value=2.5, confidence=None, receipt=RECEIPT)
    assert found.interval == (-math.inf, math.inf)
    assert str(found) == "median: 2.5"
    assert found.half_width == math.inf


@pytest.mark.parametrize("confidence", [0.6, 0.95])
@pytest.mark.parametrize("exact", [0.0, 1.0, 2.0, 2.9, 3.5, 6.0, 15.0, 27.5, 30.0])
def test_an_estimate_that_is_moved_inside_its_ends_covers_what_it_says(exact: float, confidence: float) -> None:
    """20,000 draws of Laplace noise; between ends that are ten widths apart. Where one side is hidden, half of what the
    other one leaves out may be covered. Three standard errors on either side."""
    drawn = np.clip(exact + np.random.default_rng(1).laplace(size=20_000), 0, 30)
    ends, half, side = Number(0, 30), -math.log(1 - confidence), -math.log(2 - 2 * confidence)

    def half_width(wanted: float, _: float) -> float:
        return half if wanted == confidence else side

    held = [low <= exact <= high for low, high in (interval_inside(x, half_width, confidence, ends) for x in drawn)]
    error = 3 * math.sqrt(confidence * (1 - confidence) / 20_000)
    assert confidence - error <= np.mean(held) <= (1 + confidence) / 2 + error


@pytest.mark.parametrize("share", [0.005, 0.1, 0.5])
@pytest.mark.parametrize("number", [2.5, 5.0, 20.0])
def test_a_ratio_of_noisy_sums_covers_what_it_says_even_where_its_number_is_hardly_known(
    share: float, number: float
) -> None:
    """1000 draws of two masses with Laplace noise of scale one: three standard errors below. Above, it may be all."""
    rng, hits = np.random.default_rng(2), 0
    for noise in rng.laplace(size=(1000, 2)):
        sums = number * np.array([1 - share, share]) + noise
        size = max(float(sums.sum()), 1.0)
        value = min(max(float(sums[1]) / size, 0.0), 1.0)
        figure = Figure(value, np.array([-value, 1 - value]) / size, bend=1 / size)
        low, high = estimate_of("mean", figure, RELEASED, 0.95, Number(0, 1)).interval
        hits += low <= share <= high
    assert hits / 1000 >= 0.95 - 3 * 0.0069


@statistics
@pytest.mark.parametrize("population", [False, True])
@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_more_confidence_is_a_wider_interval_around_the_same_value(
    statistic: Any, population: bool, neighbors: Neighbors
) -> None:
    found = [
        statistic(private(3, neighbors), "x", epsilon=1.0, population=population, confidence=confidence)
        for confidence in (0.01, 0.5, 0.95, 0.999999)
    ]
    assert len({one.value for one in found}) == 1
    assert all(one.half_width < more.half_width for one, more in pairwise(found))
    assert [one.confidence for one in found] == [0.01, 0.5, 0.95, 0.999999]
    assert found[0].population is population


@statistics
def test_an_interval_for_the_population_is_wider_than_for_these_data(statistic: Any) -> None:
    data, population = (statistic(private(1), "x", epsilon=1.0, population=whose) for whose in (False, True))
    assert population.half_width > data.half_width > 0
    assert population.standard_error > data.standard_error > 0


@statistics
@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 95, 1e-9, 0.9999999, math.nan])
@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_a_confidence_that_no_interval_has_is_refused(statistic: Any, confidence: float, neighbors: Neighbors) -> None:
    data = private(0, neighbors)
    with pytest.raises(ParameterError, match=r"the confidence is .* Nothing was released or spent"):
        statistic(data, "x", epsilon=1.0, confidence=confidence)
    statistic(data, "x", epsilon=1.0)


@statistics
@pytest.mark.parametrize("bounds", [(0.0, 1e100), (0.0, 1e-100), (-1e308, 0.0)])
@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_bounds_whose_powers_overflow_are_refused(
    statistic: Any, bounds: tuple[float, float], neighbors: Neighbors
) -> None:
    data = PrivateData.of({"x": VALUES}, Schema({"x": Number(*bounds)}), Budget(1.0), neighbors=neighbors)
    with pytest.raises(ParameterError, match="Rescale the column"):
        statistic(data, "x", epsilon=1.0)
    assert data.ledger.reserve(PureLoss(1.0), "all that there is", request="")
