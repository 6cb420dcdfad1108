"""One Laplace release: against many digits, against its loss distribution, and rounded to the safe side."""

from __future__ import annotations

import random

import pytest

from discreet.accounting.accountant import delta, epsilon
from discreet.accounting.calibration import calibrate
from discreet.accounting.laplace import laplace_delta, laplace_epsilon, laplace_multiplier
from discreet.accounting.loss_distribution import ACCURACY, delta_above, epsilon_above
from discreet.accounting.pairs.directions import directions
from discreet.core.budget import Budget
from discreet.core.events import LaplaceLoss, Repeated
from discreet.mechanisms.additive.laplace import Laplace

mp = pytest.importorskip("mpmath")


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
