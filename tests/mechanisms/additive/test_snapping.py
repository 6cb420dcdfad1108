"""The snapping mechanism: its price, its shape, its bound."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
import pytest

from discreet.core.answer import Answer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.additive.snapping import Snapping, power_above, snapped
from discreet.noise.deterministic import DeterministicBits
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class UnitVariance(Snapping):
    """Noise of unit variance where unit scale is due: it spends sqrt(2) epsilon."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        return snapped(answer.steps.astype(np.float64), 2.0**20 / math.sqrt(2), 2.0**40, bits)


TRIAL = MechanismTrial(twins=[UnitVariance()])


def test_the_price_is_that_of_laplace_noise_and_a_little_more() -> None:
    assert Snapping(2.0, limit=2.0**20).event.epsilon == pytest.approx(0.5 * (1 + 2.0**-27), rel=1e-12)
    assert Snapping(2.0, limit=2.0**20).event.epsilon > 0.5


def rounded(values: Array, precision: int) -> Array:
    """The nearest floats of so many bits."""
    mantissas, exponents = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissas, precision)), exponents - precision)


@functools.cache
def outputs(x: float, scale: float, limit: float, precision: int) -> dict[float, float]:
    """The probability of every output, in a float format of `precision` bits, from all uniform numbers."""
    digits = np.arange(2 ** (precision - 1), 2**precision, dtype=np.float64)
    step, zeros = math.ldexp(1.0, power_above(scale)), np.arange(1.0, 60.0)[:, None]
    noise = rounded(scale * rounded(np.log(digits * 2.0 ** (1 - precision - zeros)), precision), precision)
    noisy = rounded(x + np.array([-1, 1])[:, None, None] * noise, precision)
    results = np.clip(step * np.rint(noisy / step) + 0.0, -limit, limit)
    values, places = np.unique(results, return_inverse=True)
    masses = np.bincount(places.ravel(), np.broadcast_to(2.0 ** (-zeros - precision), results.shape).ravel())
    return dict(zip(values.tolist(), masses.tolist(), strict=True))


@pytest.mark.parametrize(("scale", "limit"), [(1.0, 6.0), (1.4, 12.0), (3.0, 25.0)])
def test_in_a_float_format_of_few_bits_the_loss_is_as_proved(scale: float, limit: float) -> None:
    """Answers one apart, all outputs: more than 1 / scale is lost, less than snapping.md and Mironov 2012 allow."""
    precision = 11
    unit, step = 2.0**-precision, math.ldexp(1.0, power_above(scale))
    error = unit * (5 * limit + 2 * scale + 1.5 * step) * (1 + 4 * unit)
    proved = (1 + 2 * error) / scale + math.log((step + 2 * error) / (step - 2 * error))
    published = (1 + 12 * limit * unit + 2 * unit * scale) / scale
    worst = 0.0
    for x in np.arange(-limit, limit, 1.0):
        first, second = outputs(x, scale, limit, precision), outputs(x + 1, scale, limit, precision)
        assert first.keys() == second.keys()
        worst = max(worst, max(abs(math.log(first[z] / second[z])) for z in first))
    assert 1 / scale < worst <= min(proved, published)
    assert proved <= (1 + 30 * unit * (limit + scale) * 1.02) / scale


def test_releases_are_on_a_power_of_two_and_inside_the_limit() -> None:
    answer = Answer(np.array([2**40]), Grid.of_radius(3.0), Bound("l1", 3.0), Neighbors.ADD_REMOVE)
    noisy = Snapping(2.0, limit=100.0).release(answer.stacked(10_000), DeterministicBits(1))
    assert noisy.max() == 300.0
    assert (noisy[noisy < 300] % 8 == 0).all()
    assert not np.signbit(noisy[noisy == 0]).any()


@pytest.mark.parametrize("radius", [1.0, 3.0])
def test_the_noise_has_the_deviation_that_it_states(radius: float) -> None:
    bound = Bound("l1", radius)
    answer = Answer(np.zeros(1, dtype=np.int64), Grid.of_radius(radius), bound, Neighbors.ADD_REMOVE)
    noise = Snapping(1.0).release(answer.stacked(200_000), DeterministicBits(2))
    stated = Snapping(1.0).stddev(bound, 1, Neighbors.ADD_REMOVE)
    assert noise.std() == pytest.approx(stated, rel=0.03)
    assert stated > Laplace(1.0).stddev(bound, 1, Neighbors.ADD_REMOVE)


def test_low_bits_of_the_answer_do_not_show() -> None:
    bound = Bound("l1", 1.0)
    for steps in (0, 1, 12345):
        answer = Answer(np.array([steps]), Grid(-30), bound, Neighbors.ADD_REMOVE)
        noisy = Snapping(1.0).release(answer.stacked(1000), DeterministicBits(3))
        assert (noisy == np.rint(noisy)).all()


def test_vectors_are_refused() -> None:
    with pytest.raises(ParameterError, match="3 coordinates"):
        Snapping().release(whole_numbers([0, 0, 0], Bound("l1", 1.0)), DeterministicBits(0))


@pytest.mark.parametrize("field", [{"multiplier": 0.0}, {"limit": 0.5}, {"limit": 2.0**39}, {"limit": math.nan}])
def test_numbers_without_meaning_are_refused(field: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        Snapping(**field)


def test_zero_has_no_sign() -> None:
    found = snapped(np.zeros(1000), 3.0, 100.0, DeterministicBits(5))
    assert np.sum(found == 0) > 100
    assert not np.signbit(found[found == 0]).any()
