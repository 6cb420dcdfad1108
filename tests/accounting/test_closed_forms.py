from __future__ import annotations

import math
import random

import pytest

from discreet.accounting.accountant import delta, epsilon
from discreet.accounting.calibration import calibrate
from discreet.accounting.closed_forms import (
    SLACK,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_multiplier,
    laplace_delta,
    laplace_epsilon,
    laplace_multiplier,
    log_delta,
)
from discreet.accounting.loss_distribution import ACCURACY, delta_above, epsilon_above
from discreet.accounting.pairs.directions import directions
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss, Repeated
from discreet.mechanisms.additive.laplace import Laplace

mp = pytest.importorskip("mpmath")


def exact_log_delta(multiplier: float, epsilon: float) -> float:
    """Balle and Wang's formula in 80 digits, where nothing cancels."""
    with mp.workdps(80):
        mu, at = 1 / mp.mpf(multiplier), mp.mpf(epsilon)
        below = mp.erfc(-(mu / 2 - at / mu) / mp.sqrt(2)) / 2
        beyond = mp.erfc((mu / 2 + at / mu) / mp.sqrt(2)) / 2
        return float(mp.log(below - mp.exp(at) * beyond))


def test_rounding_of_ln_delta_stays_within_the_slack() -> None:
    choose = random.Random(1)
    for _ in range(400):
        multiplier = 10 ** choose.uniform(-1.7, 6)
        epsilon = max(0.0, (0.5 / multiplier + choose.uniform(-5, 35)) / multiplier)
        error = log_delta(multiplier, epsilon) - exact_log_delta(multiplier, epsilon)
        assert abs(error) < SLACK / 2, (multiplier, epsilon)


@pytest.mark.parametrize(
    ("epsilon", "delta", "multiplier"),
    [
        (1, 1e-5, 3.7306316348159),
        (1, 1e-6, 4.2246788893268),
        (0.1, 1e-6, 36.304690426196),
        (10, 1e-6, 0.54108683181837),
        (0.5, 1e-8, 9.8635337961738),
    ],
)
def test_the_multiplier_is_the_analytic_one_rounded_up(epsilon: float, delta: float, multiplier: float) -> None:
    found = gaussian_multiplier(epsilon, delta)
    assert multiplier * (1 - 1e-13) < found < multiplier * (1 + 1e-11)


@pytest.mark.parametrize(
    ("delta", "epsilon"),
    [(1e-6, 8.30622504995473), (1e-10, 10.907901956552), (1e-15, 13.449328831551), (1e-30, 19.08524694734)],
)
def test_epsilon_is_right_at_any_delta(delta: float, epsilon: float) -> None:
    assert gaussian_epsilon(20 / math.sqrt(1000), delta) == pytest.approx(epsilon, rel=1e-11)


def test_epsilon_delta_and_multiplier_agree_on_the_safe_side() -> None:
    for multiplier in (0.03, 0.7, 5.0, 3000.0):
        for level in (0.3, 1e-4, 1e-12, 1e-200):
            epsilon = gaussian_epsilon(multiplier, level)
            assert gaussian_delta(multiplier, epsilon) <= level * (1 + 1e-15)
            if epsilon > 0:
                assert gaussian_multiplier(epsilon, level) == pytest.approx(multiplier, rel=1e-9)


def test_the_classic_formula_would_be_a_violation_at_epsilon_10() -> None:
    classic = math.sqrt(2 * math.log(1.25 / 1e-6)) / 10
    assert gaussian_delta(classic, 10.0) > 1e-6


def test_no_gaussian_noise_gives_delta_zero() -> None:
    assert gaussian_epsilon(10.0, 0.0) == math.inf
    with pytest.raises(ParameterError, match="Laplace"):
        gaussian_multiplier(1.0, 0.0)


def test_epsilon_is_finite_at_the_least_delta_that_there_is() -> None:
    assert 30 < gaussian_epsilon(1.0, 5e-324) < 60


def test_closed_forms_are_rounded_up_and_by_little() -> None:
    choose = random.Random(1)
    for _ in range(400):
        multiplier, below = 10 ** choose.uniform(-2, 4), 10 ** choose.uniform(-12, -0.01)
        at = choose.choice([1 - below, below]) / multiplier
        with mp.workdps(60):
            loss = 1 / mp.mpf(multiplier)
            exact = -mp.expm1(-max(loss - mp.mpf(at), 0) / 2)
            exact_epsilon = max(loss + 2 * mp.log1p(-mp.mpf(below)), 0)
            exact_multiplier = 1 / (mp.mpf(at) - 2 * mp.log1p(-mp.mpf(below)))
            for found, true in (
                (laplace_delta(multiplier, at), exact),
                (laplace_epsilon(multiplier, below), exact_epsilon),
                (laplace_multiplier(at, below), exact_multiplier),
            ):
                assert true <= found <= true * (1 + 2.0**-48) + 2.0**-50 * loss * (true == exact_epsilon)


def test_it_agrees_with_the_loss_distribution() -> None:
    for multiplier, at in ((0.5, 1.5), (1.0, 0.9), (4.0, 0.1)):
        pairs = directions(LaplaceLoss(multiplier))
        assert delta(LaplaceLoss(multiplier), at) == pytest.approx(delta_above(pairs, at, ACCURACY), rel=1e-4)
        beyond = laplace_delta(multiplier, at)
        assert epsilon(LaplaceLoss(multiplier), beyond) == pytest.approx(
            epsilon_above(pairs, beyond, ACCURACY), rel=1e-4
        )


def test_only_a_single_release_has_this_price() -> None:
    assert epsilon(Repeated(LaplaceLoss(1.0), 2), 0.01) > 1.01 * laplace_epsilon(0.5, 0.3)
    assert delta(Repeated(LaplaceLoss(1.0), 2), 1.0) > laplace_delta(1.0, 1.0)


def test_calibration_finds_the_multiplier_without_a_search() -> None:
    for at, below in ((1.0, 1e-6), (50.0, 1e-6), (0.1, 0.01)):
        noise = calibrate(Laplace, Budget(at, below))
        assert noise.multiplier == pytest.approx(laplace_multiplier(at, below), rel=1e-6)
        assert epsilon(noise.event, below) <= at


def test_hardly_any_loss_is_never_seen() -> None:
    """Where formulas would overflow, or take the logarithm of nothing."""
    for multiplier in (1e100, 1e200, 1.7e308):
        assert gaussian_delta(multiplier, 1.0) == 0.0
        assert gaussian_delta(multiplier, 0.0) < 1 / multiplier
        assert gaussian_epsilon(multiplier, 1e-300) < 1e-80
