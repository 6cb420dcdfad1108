"""Bounded noise: its law, its limits, the table that it is drawn from."""

from __future__ import annotations

import math
from decimal import Context, localcontext

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy.integrate import quad

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.noise.bounded import FlooredBoundedLaw, exponent, farthest, rounded_bounded
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.interval import Interval
from tests.noise import test_rejection_table
from tests.noise.fit import ALARM, chi_square

RADII = [64.0, 91.7, 1.3 * 2**31, 2.0**53]


def density(x: float, radius: float) -> float:
    return math.exp(-float(exponent(np.array([x / radius]))[0]))


@pytest.mark.parametrize("radius", [0.4, 2.5, 17.0])
def test_draws_have_the_probabilities_of_a_rounded_real(radius: float) -> None:
    whole = quad(density, -radius, radius, args=(radius,), limit=200)[0]
    reach = math.ceil(radius)

    def probability(values: Array) -> Array:
        ends = [(max(-radius, min(k - 0.5, radius)), max(-radius, min(k + 0.5, radius))) for k in values]
        return np.array([quad(density, *pair, args=(radius,), limit=200)[0] / whole for pair in ends])

    draws = rounded_bounded(DeterministicBits(1), 400_000, radius)
    assert chi_square(draws, probability, reach) > ALARM


def test_no_draw_is_beyond_the_radius() -> None:
    draws = rounded_bounded(DeterministicBits(2), 1_000_000, 2.0**40)
    assert np.abs(draws).max() < 2.0**40
    assert draws.std() == pytest.approx(0.2862747 * 2.0**40, rel=5e-3)


def test_the_exponent_is_that_of_the_density() -> None:
    for share in (0.0, 1e-9, 0.3, 0.77, 0.9):
        exact = mpmath.exp(1 / (1 - mpmath.mpf(share) ** 2)) - mpmath.e
        assert float(exponent(np.array([share]))[0]) == pytest.approx(float(exact), rel=1e-12, abs=1e-15)
        assert farthest(max(float(exact), 0.0)) == pytest.approx(share, abs=1e-7)
    assert np.isinf(exponent(np.array([0.999, 1.0, -1.0, 7.0]))).all()


@pytest.mark.parametrize("radius", RADII)
def test_the_float_exponent_is_as_near_to_the_exact_one_as_the_strips_need(radius: float) -> None:
    law = FlooredBoundedLaw(radius)
    for share in np.linspace(-0.93, 0.93, 41):
        k = math.floor(share * radius)
        with localcontext(Context(prec=50)):
            exact = float((-law.exact_exponent(k, Interval.of(0.5))).exp().lo)
        found = float(np.exp(-law.exponent(np.array([float(k)]), 0.5))[0])
        assert abs(found - exact) < 2.0**-45


@pytest.mark.parametrize("radius", RADII)
def test_strips_cover_the_density(radius: float) -> None:
    test_rejection_table.test_strips_cover_the_curve_and_those_taken_untested_lie_under_it(FlooredBoundedLaw(radius))
    test_rejection_table.test_the_tail_starts_below_its_blocks_and_falls_faster(FlooredBoundedLaw(radius))


def test_outside_nothing_is_ever_drawn() -> None:
    law = FlooredBoundedLaw(100.0)
    with localcontext(Context(prec=50)):
        assert (-law.exact_exponent(100, Interval.of(0.0))).exp().hi < 1e-300
    assert np.isinf(law.exponent(np.array([99.0]), 1.0)).all()


@pytest.mark.parametrize("radius", [0.0, -1.0, math.inf, math.nan])
def test_a_radius_without_meaning_is_refused(radius: float) -> None:
    with pytest.raises(ParameterError):
        rounded_bounded(DeterministicBits(0), 1, radius)
