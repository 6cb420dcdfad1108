from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.fft import rfft

from discreet.accounting.composition import TRANSFORM, Composition
from discreet.accounting.pairs.pairs import AtomsPair, GaussianPair, LaplacePair
from discreet.accounting.pairs.tabulation import TabulatedLoss, convolved, table_above
from discreet.accounting.tilting import Summand, TiltedSum, log_moment, tilted
from tests.accounting import profiles


def brute_force(summands: list[Summand], epsilon: float) -> float:
    """Delta of the sum by convolution, term by term."""
    masses, first, origin, kept = np.ones(1), 0, 0.0, 0.0
    for summand in summands:
        for _ in range(summand.times):
            masses = np.convolve(masses, summand.table.masses)
            first, origin = first + summand.table.first, origin + summand.table.origin
            kept += math.log1p(-summand.table.infinity)
    losses = origin + summands[0].table.step * (first + np.arange(len(masses)))
    return -math.expm1(kept) + float(masses @ np.maximum(-np.expm1(epsilon - losses), 0.0))


def a_table(masses: list[float], first: int, infinity: float, origin: float = 0.0) -> TabulatedLoss:
    scaled = np.array(masses) / sum(masses) * (1 - infinity)
    return TabulatedLoss(0.1, first, scaled, infinity, 0.0, origin)


MASSES = st.lists(st.floats(1e-6, 1.0), min_size=5, max_size=5)


@given(MASSES, MASSES, st.integers(1, 30), st.integers(1, 5), st.floats(-1.0, 4.0), st.floats(0.2, 6.0))
def test_delta_is_that_of_the_convolution_whatever_the_tilt(
    one: list[float], other: list[float], times: int, more: int, epsilon: float, tilt: float
) -> None:
    summands = [Summand(a_table(one, -2, 0.0, 0.03), times), Summand(a_table(other, -3, 1e-4), more)]
    exact = brute_force(summands, epsilon)
    composition = Composition(summands, tilt, 40.0, tilt + 2)
    assert composition.log_delta_above(epsilon) >= math.log(exact) - 1e-12
    assert math.exp(composition.log_delta_below(epsilon)) <= exact * (1 + 1e-12)
    if epsilon < 0.4 * times and 1 < tilt < 2:  # neither images nor rounding weigh
        assert math.exp(composition.log_delta_above(epsilon)) == pytest.approx(exact, rel=1e-6, abs=1e-9)


@given(MASSES, st.integers(1, 30), st.floats(0.2, 6.0), st.sampled_from([0.0, 1e-4]))
def test_many_epsilons_at_once_have_the_bounds_of_each_or_a_little_more(
    masses: list[float], times: int, tilt: float, infinity: float
) -> None:
    """They come from one inverse transform, whose rounding they include: never below the exact delta."""
    summands = [Summand(a_table(masses, -2, infinity, 0.03), times)]
    composition = Composition(summands, tilt, 40.0, tilt + 2)
    epsilons = np.linspace(-1.0, 4.0, 23)
    found = composition.log_deltas_above(epsilons)
    for epsilon, log_delta in zip(epsilons.tolist(), found.tolist(), strict=True):
        rounding = 4 * math.exp(composition.log_excess(epsilon)) + 1e-12
        assert math.exp(log_delta) == pytest.approx(math.exp(composition.log_delta_above(epsilon)), rel=rounding)
        assert log_delta >= math.log(max(brute_force(summands, epsilon), 1e-300)) - 1e-12


def test_far_tails_keep_their_precision() -> None:
    table = a_table([0.5, 0.3, 0.2], -1, 0.0)
    summands = [Summand(table, 200)]
    exact = brute_force(summands, 10.0)
    assert exact < 1e-30
    composition = Composition(summands, 6.0, 60.0, 8.0)
    assert math.exp(composition.log_delta_above(10.0)) == pytest.approx(exact, rel=1e-6)
    assert math.exp(composition.log_delta_below(10.0)) == pytest.approx(exact, rel=1e-6)


def test_a_period_that_is_too_short_only_overstates() -> None:
    summands = [Summand(a_table([0.2, 0.5, 0.3], -1, 0.0), 50)]
    exact = brute_force(summands, 1.0)
    short = Composition(summands, 1.0, 2.0, 3.0)
    assert math.exp(short.log_delta_above(1.0)) > exact * 1.01
    assert math.exp(short.log_delta_below(1.0)) < exact


def test_the_transform_errs_by_less_than_its_bound() -> None:
    noise = np.random.default_rng(3)
    for length in (2**4, 2**11, 2**16, 2**19):
        spread = noise.exponential(size=length) * np.exp(-np.arange(length) / 50)
        for masses in (spread / spread.sum(), np.eye(1, length, 3)[0], np.full(length, 1 / length)):
            error = np.abs(rfft(masses) - rfft(masses.astype(np.longdouble))).max()
            assert error < TRANSFORM * math.log2(length) / 4


def test_tilting_survives_losses_that_overflow() -> None:
    table = TabulatedLoss(10.0, -5, np.array([0.1] * 10), 0.0, 0.0)
    law = tilted(table, 300.0)
    assert law.masses[-1] == pytest.approx(1.0)
    assert law.log == pytest.approx(math.log(0.1) + 300.0 * 40.0)


def test_moments_at_doubled_tilts_are_those_at_each() -> None:
    """Those of losses without mass on top, of losses that overflow, and of several summands."""
    empty = TabulatedLoss(10.0, -5, np.array([0.1] * 9 + [0.0]), 0.0, 0.0)
    summands = [Summand(a_table([0.5, 0.3, 0.2], -1, 1e-3, 0.03), 7), Summand(empty, 2)]
    for tilt in (0.0, 1.5, 300.0):
        tilts = tilt + 0.25 * 2.0 ** np.arange(12)
        found = TiltedSum(summands, tilt)
        assert found.doubled(0.25, 12) == pytest.approx([log_moment(summands, each) for each in tilts], rel=1e-12)
        assert found.log == pytest.approx(log_moment(summands, tilt), rel=1e-12, abs=1e-15)


def test_a_thousand_gaussians_are_one_at_any_delta() -> None:
    """Through the lattice, not through the closed form that they are compared with."""
    table = table_above(GaussianPair(20.0), 2e-4, math.log(1e-50))
    for epsilon, tilt in ((8.30622504995473, 3.1), (13.449328831551, 5.2), (19.08524694734, 7.5)):
        exact = profiles.gaussian(20 / math.sqrt(1000), epsilon)
        found = math.exp(Composition([Summand(table, 1000)], tilt, 25.0, 2 * tilt).log_delta_above(epsilon))
        assert exact * (1 - 1e-3) < found < exact * (1 + 1e-3)
        assert found > exact * (1 - 1e-10) or exact < 1e-15  # the formula used here loses digits below that


def test_convolved_pairs_dominate_what_they_are_made_of() -> None:
    pair = convolved([(GaussianPair(3.0), 4), (GaussianPair(2.0), 1)])
    alone = 1 / math.sqrt(4 / 9 + 1 / 4)
    for epsilon in (-0.5, 0.0, 0.5, 2.0, 4.0):
        exact = profiles.gaussian(alone, epsilon)
        found = profiles.of_atoms(pair.p.tolist(), pair.q.tolist(), epsilon) + pair.p_alone
        assert exact - 1e-15 <= found <= exact + 1e-4


def test_convolved_responses_are_binomial() -> None:
    pair = convolved([(AtomsPair.of_response(0.5, 0.01), 3), (LaplacePair(1e-9), 1)])
    often, seldom = 1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(0.5))
    p, q = profiles.product([often, seldom], 3), profiles.product([seldom, often], 3)
    for epsilon in (0.1, 0.7, 1.2):
        exact = 1 - 0.99**3 + 0.99**3 * profiles.of_atoms(p, q, epsilon)
        found = profiles.of_atoms(pair.p.tolist(), pair.q.tolist(), epsilon) + pair.p_alone
        assert exact - 1e-13 <= found <= exact + 1e-4
