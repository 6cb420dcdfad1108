"""Bounded noise: its price, its shape, its bound, and when it is the better one."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from discreet.accounting.accountant import delta, epsilon
from discreet.accounting.calibration import calibrate
from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import DiscreteLoss, Repeated
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive import bounded_noise as subject
from discreet.mechanisms.additive.bounded_noise import RADIUS, BoundedNoise, loss_of
from discreet.noise.bounded import exponent
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, varied
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class NarrowNoise(BoundedNoise):
    """Noise of two thirds of the radius that is paid for."""

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return super().noise(bits, shape, scale / 1.5)


def minus_log(x: float, radius: float) -> float:
    """Of the density, up to a constant."""
    y = 1 / (1 - (x / radius) ** 2) if abs(x) < radius else math.inf
    return math.exp(y) - math.e if y < 100 else math.inf


def density(x: float, radius: float) -> float:
    return math.exp(-minus_log(x, radius))


def hockey_stick(radius: float, shift: float, at: float) -> float:
    """By quadrature: the loss grows with x, so the divergence is an integral beyond one point, found by halving."""
    whole = quad(density, -radius, radius, args=(radius,), limit=400)[0]
    low, high = shift - radius, radius
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if minus_log(middle, radius) - minus_log(middle - shift, radius) > at else (middle, high)
        )

    def excess(x: float) -> float:
        return density(x - shift, radius) - math.exp(at) * density(x, radius)

    ends = np.linspace(high, radius + shift, 6)
    return sum(quad(excess, a, b, limit=200)[0] for a, b in itertools.pairwise(ends)) / whole


BOTH = NeighborPair(*(whole_numbers([value, value], Bound("linf", 2.0**20)) for value in (0, 2**20)))
TRIAL = MechanismTrial(
    twins=[NarrowNoise()],
    audits=[
        *varied(BoundedNoise()),
        Audit("two coordinates", BoundedNoise(3.0, 2), BOTH),
    ],
)


@pytest.mark.parametrize("radius", [0.7, 2.0, 8.0, 40.0])
def test_the_price_of_one_number_is_its_hockey_stick_divergence(radius: float) -> None:
    event = loss_of(radius)
    for at in (0.0, 0.1, 0.5, 2.0):
        exact = hockey_stick(radius, 1.0, at)
        assert exact * (1 - 1e-9) <= delta(event, at) <= exact * (1 + 4e-3) + 1e-9


def test_a_shorter_shift_costs_less() -> None:
    for at in (0.0, 0.2, 1.0):
        found = [hockey_stick(5.0, shift, at) for shift in (0.2, 0.5, 0.8, 1.0)]
        assert found == sorted(found)


def test_the_price_is_for_so_many_queries() -> None:
    one = BoundedNoise(50.0).event
    assert isinstance(one, DiscreteLoss)
    many = BoundedNoise(50.0, queries=20).event
    assert isinstance(many, Repeated)
    assert many.times == 20
    assert epsilon(many, 1e-6) > epsilon(one, 1e-6)


@pytest.mark.parametrize("queries", [10, 1000])
def test_finer_cells_would_change_little(queries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    radius = calibrate(BoundedNoise(queries=queries), Budget(1.0, 1e-6)).multiplier * RADIUS
    monkeypatch.setattr(subject, "CELLS", 2**13)
    finer = loss_of.__wrapped__(radius, queries)
    assert 0.997 < epsilon(Repeated(finer, queries), 1e-6) <= 1.0


def test_noise_smaller_than_the_shift_promises_nothing() -> None:
    assert delta(BoundedNoise(0.1).event, 10.0) == 1.0
    assert 0.999 < delta(loss_of(0.66), 0.0) <= 1.0


def test_the_radius_is_in_standard_deviations() -> None:
    whole = quad(density, -1, 1, args=(1.0,), limit=400)[0]
    square = quad(lambda x: x * x * density(x, 1.0), -1, 1, limit=400)[0]
    assert math.sqrt(whole / square) == pytest.approx(RADIUS, rel=1e-7)


def test_no_release_is_off_by_more_than_the_radius() -> None:
    bound, size = Bound("linf", 3.0), 100
    answer = Answer(np.zeros(size, dtype=np.int64), Grid.of_radius(3.0), bound, Neighbors.REPLACE)
    mechanism = BoundedNoise(2.0, queries=size)
    noise = mechanism.release(answer.stacked(5000), DeterministicBits(1))
    radius = mechanism.radius(bound, size, Neighbors.REPLACE)
    assert radius == pytest.approx(RADIUS * 2 * 6.0)
    assert 0.6 * radius < np.abs(noise).max() < radius
    assert noise.std() == pytest.approx(mechanism.stddev(bound, size, Neighbors.REPLACE), rel=0.01)


def greatest(share: float, queries: int) -> Array:
    """The size that the greatest of so many draws of radius one stays below, with this probability."""
    points = np.linspace(-1, 1, 200_001)
    below = np.cumsum(np.exp(-exponent(points)))
    return np.interp(0.5 + 0.5 * share ** (1 / queries), below / below[-1], points)


@pytest.mark.parametrize(("queries", "ratio"), [(10, 2.69), (100, 1.192), (1000, 0.870), (10_000, 0.768)])
def test_the_greatest_of_many_errors_is_less_than_with_gaussian_noise(queries: int, ratio: float) -> None:
    """Medians, at epsilon 1 and delta 1e-6. For ten queries Gaussian noise is better, for thousands this one is."""
    radius = RADIUS * calibrate(BoundedNoise(queries=queries), Budget(1.0, 1e-6)).multiplier
    gaussian = gaussian_multiplier(1.0, 1e-6) * math.sqrt(queries) * norm.ppf(0.5 + 0.5 * 0.5 ** (1 / queries))
    assert radius * greatest(0.5, queries) / gaussian == pytest.approx(ratio, rel=0.01)


def test_simulated_errors_of_a_thousand_queries_agree() -> None:
    mechanism = calibrate(BoundedNoise(queries=1000), Budget(1.0, 1e-6))
    answer = whole_numbers([0] * 1000, Bound("linf", 2.0**20)).stacked(500)
    worst = np.abs(mechanism.release(answer, DeterministicBits(2))).max(axis=1) / 2.0**20
    gaussian = gaussian_multiplier(1.0, 1e-6) * math.sqrt(1000)
    assert np.median(worst) == pytest.approx(394, rel=0.02)
    assert np.median(worst) < 0.9 * gaussian * norm.ppf(0.5 + 0.5 * 0.5**1e-3)


def test_more_coordinates_than_were_paid_for_are_refused_and_fewer_are_not() -> None:
    answer = whole_numbers([0, 0, 0], Bound("linf", 2.0**20))
    assert BoundedNoise(1.0, queries=4).release(answer, DeterministicBits(0)).shape == (3,)
    with pytest.raises(ParameterError, match="3 coordinates, and 2 are paid for"):
        BoundedNoise(1.0, queries=2).release(answer, DeterministicBits(0))


@pytest.mark.parametrize("field", [{"multiplier": 0.0}, {"multiplier": math.nan}, {"queries": 0}, {"queries": 1.5}])
def test_numbers_without_meaning_are_refused(field: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        BoundedNoise(**field)  # type: ignore[arg-type]
