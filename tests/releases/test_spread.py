"""How far noise throws a weighted sum, against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import DiscreteLaplace, Laplace
from discreet.mechanisms.vectors.sphere_report import SphereReport
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import BoundedSum
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread, spread
from discreet.schema.schema import Schema
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix


def vectors(size: int) -> BoundedSum:
    return BoundedSum(lambda records: records, Bound("l2", 1.0), Schema.numeric(-1.0, 1.0, size).features)


VECTORS = vectors(64)


def phones(size: int, people: int = 400) -> PrivateData:
    records = np.full((people, size), 0.5 / np.sqrt(size))
    return PrivateData(
        Local(Matrix(records, Schema.numeric(-1.0, 1.0, size)), bits=DeterministicBits(1)), MemoryLedger(Budget(1.0))
    )


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.2, 0.5, 3.0], [1.0, 1.0, 1.0, 0.0], [0.1] * 20])
@pytest.mark.parametrize("noise", [Laplace(), Gaussian()], ids=["laplace", "gaussian"])
def test_the_half_width_covers_as_it_says(noise: Laplace | Gaussian, weights: list[float]) -> None:
    rng = np.random.default_rng(0)
    draws = (
        rng.laplace(size=(200_000, len(weights)))
        if isinstance(noise, Laplace)
        else rng.normal(size=(200_000, len(weights))) * np.sqrt(2)
    )
    half = Spread(noise, np.sqrt(2)).half_width(weights)
    assert (np.abs(draws @ weights) <= half).mean() == pytest.approx(0.95, abs=0.004)


def test_no_weights_no_width() -> None:
    assert Spread(Laplace(), 1.0).half_width([0.0, 0.0]) == 0.0


@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6)])
def test_long_vectors_of_everybody_s_own_are_reported_on_the_sphere(budget: Budget) -> None:
    """At 64 coordinates: a ninth of the deviation of Laplace noise, a third of that of Gaussian noise."""
    data = phones(64)
    least, laplace = least_noise(data, VECTORS, budget), spread(data, VECTORS, Laplace(1.0))
    assert isinstance(least.noise, SphereReport)
    assert pure_epsilon(least.noise.event) == pytest.approx(1.0, rel=1e-5)
    assert laplace.stddev / least.stddev == pytest.approx(8 * 2 * np.sqrt(2) / 2.516, rel=1e-3)
    assert least.stddev < spread(data, VECTORS, Gaussian(4.22)).stddev / 3


def test_the_sum_of_reports_spreads_as_far_as_it_says() -> None:
    """64 coordinates, none of which is off by five deviations; their mean square is within five of its own."""
    data = phones(64)
    least = least_noise(data, VECTORS, Budget(1.0))
    with data.permit(least.noise.event, "sum") as permit:
        off = (permit.ask(VECTORS, least.noise) - 400 * 0.5 / 8) / least.stddev
    assert np.abs(off).max() < 5
    assert np.square(off).mean() == pytest.approx(1.0, abs=5 * np.sqrt(2 / 64))


def test_laplace_noise_is_kept_where_it_is_less() -> None:
    number = BoundedSum(lambda records: records, Bound("l1", 1.0), ("x0",))
    assert isinstance(least_noise(phones(1), number, Budget(1.0)).noise, SphereReport)
    assert isinstance(least_noise(phones(1), number, Budget(10.0)).noise, Laplace)
    too_many = BoundedSum(lambda records: np.zeros((len(records), 2**20)), Bound("l1", 1.0), ("x0",))
    assert isinstance(least_noise(phones(1), too_many, Budget(1.0)).noise, Laplace)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_a_curator_adds_noise_as_ever(neighbors: Neighbors) -> None:
    data = PrivateData.of(np.zeros((5, 64)), Schema.numeric(-1.0, 1.0, 64), Budget(1.0), neighbors=neighbors)
    assert isinstance(least_noise(data, VECTORS, Budget(1.0)).noise, Laplace)
    assert isinstance(least_noise(data, VECTORS, Budget(1.0, 1e-6)).noise, Gaussian)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0, 2000.0])
def test_whole_noise_spreads_as_its_law_says(epsilon: float, confidence: float) -> None:
    """Against the law, number by number."""
    data = PrivateData.of(np.zeros((5, 1)), Schema.numeric(0.0, 1.0, 1), Budget(epsilon))
    counts = BoundedSum(lambda records: records, Bound("l1", 1.0), ("x0",), grid=Grid(0))
    found = least_noise(data, counts, Budget(epsilon))
    numbers = np.arange(-2000, 2001)
    chances = np.exp(-np.abs(numbers) * epsilon)
    chances /= chances.sum()
    assert isinstance(found.noise, DiscreteLaplace)
    assert found.stddev == pytest.approx(np.sqrt(chances @ numbers**2), rel=1e-5, abs=1e-300)
    half = found.half_width([1.0], confidence)
    assert chances[np.abs(numbers) <= half].sum() >= confidence - 1e-12
    assert half == 0 or chances[np.abs(numbers) <= half - 1].sum() < confidence


def test_whole_noise_is_not_for_what_it_does_not_fit() -> None:
    counts = BoundedSum(lambda records: records, Bound("l1", 1.0), ("x0",), grid=Grid(0))
    with_delta = PrivateData.of(np.zeros((5, 1)), Schema.numeric(0.0, 1.0, 1), Budget(1.0, 1e-6))
    assert isinstance(least_noise(with_delta, counts, Budget(1.0)).noise, Laplace)
    assert isinstance(least_noise(phones(1), counts, Budget(10.0)).noise, Laplace)
