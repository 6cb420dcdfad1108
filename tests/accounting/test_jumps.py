from __future__ import annotations

import math
import random

import numpy as np
import pytest

from discreet.accounting.composition import Composition
from discreet.accounting.jumps import CompositionWithJumps, Jumping, Jumps, Profile
from discreet.accounting.loss_distribution import delta_above, delta_below, epsilon_above, epsilon_below
from discreet.accounting.pairs.directions import directions
from discreet.accounting.pairs.pairs import GaussianPair
from discreet.accounting.pairs.sampled_pairs import addition
from discreet.accounting.pairs.tabulation import TabulatedLoss, Window, table_above
from discreet.accounting.tilting import Summand
from discreet.core.events import Composed, GaussianLoss, Repeated, Sampled
from tests.accounting import profiles


def test_a_heavy_tail_meets_convolutions_in_positive_numbers() -> None:
    """One jump makes up delta: the transform of the whole law would lose it in rounding."""
    for times, cells, top in ((2, 8192, 0.3), (5, 4096, 0.3)):
        direction = directions(Repeated(Sampled(GaussianLoss(0.85), 2e-5), times))[:1]
        exact = profiles.convolved_epsilon(0.85, 2e-5, times, 5e-14, top, cells)
        above, below = epsilon_above(direction, 5e-14), epsilon_below(direction, 5e-14)
        assert below <= above <= below * (1 + 2e-4)
        assert exact == pytest.approx(above, rel=2e-4)


def test_many_releases_with_a_heavy_tail_meet_the_fourier_integral() -> None:
    """0.299724 and 0.299728 come from the integral of `profiles.sampled_gaussian_epsilon` in 64-bit mantissas."""
    direction = directions(Repeated(Sampled(GaussianLoss(0.74), 1.2e-5), 147_087))
    above, below = epsilon_above(direction, 6e-13), epsilon_below(direction, 6e-13)
    assert 0.299724 <= above <= 0.299730
    assert 0.997 * above <= below <= above


def test_the_tilt_is_one_at_which_rounding_does_not_hide_delta() -> None:
    direction = directions(Repeated(Sampled(GaussianLoss(1.0), 0.01), 1000))
    above, below = epsilon_above(direction, 1e-100), epsilon_below(direction, 1e-100)
    assert below <= above <= below * (1 + 5e-5)
    assert above == pytest.approx(29.599, abs=1e-3)


def test_delta_and_epsilon_are_inverse_where_a_jump_makes_up_delta() -> None:
    direction = directions(Repeated(Sampled(GaussianLoss(0.85), 2e-5), 23))
    epsilon = epsilon_above(direction, 5e-14)
    assert delta_above(direction, epsilon) == pytest.approx(5e-14, rel=1e-3)
    assert 0.99 * 5e-14 < delta_below(direction, epsilon) <= 5e-14


def test_parts_jump_one_at_a_time() -> None:
    parts = (Repeated(Sampled(GaussianLoss(0.85), 2e-5), 11), Repeated(Sampled(GaussianLoss(0.85), 2.0001e-5), 12))
    above = epsilon_above(directions(Composed(parts)), 5e-14)
    alike = epsilon_above(directions(Repeated(Sampled(GaussianLoss(0.85), 2e-5), 23)), 5e-14)
    assert alike < above < alike * (1 + 1e-3)


def _law(masses: list[float], first: int) -> TabulatedLoss:
    return TabulatedLoss(0.1, first, np.array(masses), 0.0, 0.0)


def test_jumps_and_the_rest_add_up_to_the_whole_law() -> None:
    """Beside a brute-force convolution of the law with its jumps in place."""
    chance = random.Random(5)
    for _ in range(20):
        half = [chance.random() for _ in range(3)]
        raw = [mass * math.exp(loss / 20) for mass, loss in zip([*half, *half[1::-1]], range(-2, 3), strict=True)]
        high = [1e-7 * chance.random() for _ in range(3)]
        low = [mass / sum(raw) * (1 - sum(high)) for mass in raw]
        times = chance.randint(1, 9)
        whole = np.ones(1)
        for _ in range(times):
            whole = np.convolve(whole, np.array([*low, *[0.0] * 11, *high]))
        losses = 0.1 * (np.arange(len(whole)) - 2 * times)
        table, rest = _law(low, -2), [Summand(_law(low, -2), times - 1)] if times > 1 else []
        jumps = Jumps(np.array([1.4, 1.5, 1.6]), np.array(high), 0.0, times)
        if not rest:
            rest = [Summand(_law([1.0], 0), 1)]
        seen = [Composition(rest, tilt, 40.0, tilt + 6) for tilt in (2.0, 8.0)]
        steady = Composition([Summand(table, times)], 8.0, 40.0, 14.0)
        above = CompositionWithJumps(steady, [Jumping(jumps, [Profile.above(each) for each in seen])])
        below = CompositionWithJumps(steady, [Jumping(jumps, [Profile.below(each) for each in seen])])
        for epsilon in (0.33, 1.0, 1.77):
            exact = float(whole @ np.maximum(-np.expm1(epsilon - losses), 0.0))
            high_end, low_end = (
                math.exp(found) for found in (above.log_delta_above(epsilon), below.log_delta_below(epsilon))
            )
            assert low_end * (1 - 1e-13) <= exact <= high_end * (1 + 1e-13)
            if epsilon <= 1:  # above, the lattice is too coarse for one that is near
                assert high_end <= 1.02 * exact + 1e-11
                assert low_end >= 0.7 * exact - 1e-11


def test_several_jumps_are_counted() -> None:
    """Releases say nothing, or jump by 1: an epsilon of 1.5 needs two jumps."""
    often, times = 0.03, 5
    jumps = Jumps(np.array([1.0]), np.array([often]), 0.0, times)
    point = [Composition([Summand(_law([1 - often], 0), count)], 1.0, 40.0, 3.0) for count in (times, times - 1)]
    found = CompositionWithJumps(point[0], [Jumping(jumps, [Profile.above(point[1])])])
    chances = [math.comb(times, k) * often**k * (1 - often) ** (times - k) for k in range(times + 1)]
    for epsilon in (0.5, 1.5):
        exact = sum(chance * max(0.0, -math.expm1(epsilon - k)) for k, chance in enumerate(chances))
        assert exact <= math.exp(found.log_delta_above(epsilon))


def test_losses_moved_into_a_window_are_overstated() -> None:
    pair = addition(GaussianPair(0.7), 0.01)
    whole, cut = (table_above(pair, 1e-3, -40.0, 0.0, window) for window in (Window(), Window(-0.02)))
    assert cut.masses.sum() == pytest.approx(whole.masses.sum(), abs=1e-12)
    assert cut.losses[0] > whole.losses[0] + 0.1
    for epsilon in (-0.01, 0.0, 0.005):
        one, other = (
            float(table.masses @ np.maximum(-np.expm1(epsilon - table.losses), 0.0)) for table in (whole, cut)
        )
        assert one <= other * (1 + 1e-12)


def test_a_single_release_needs_no_lattice() -> None:
    for rate, multiplier, delta in ((1e-5, 1.0, 1e-6), (0.3, 2.0, 1e-9), (1e-3, 0.4, 1e-12)):
        direction = directions(Sampled(GaussianLoss(multiplier), rate))[:1]

        def exact(epsilon: float, rate: float = rate, multiplier: float = multiplier) -> float:
            return profiles.removed(lambda inner: profiles.gaussian(multiplier, inner), rate, epsilon)

        above, below = epsilon_above(direction, delta), epsilon_below(direction, delta)
        assert below <= above <= below * (1 + 1e-7)
        assert exact(above) == pytest.approx(delta, rel=1e-5)
        assert delta_below(direction, above) <= delta
        assert delta_above(direction, below) >= delta * (1 - 1e-12)
