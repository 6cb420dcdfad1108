"""Losses: their slopes are derivatives, steps are averages, thresholds are the usual ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from discreet.core.errors import ParameterError
from discreet.statistics.fits.losses import NAMED, Huber, Logistic, Loss, Pinball, Squared, Tukey, loss_of

LOSSES: list[Loss] = [Squared(), Pinball(0.3, 0.5), Huber(0.7), Tukey(1.3), Logistic()]
each = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


@each
def test_the_slope_is_the_derivative_by_the_prediction(loss: Loss) -> None:
    response = np.array([0.0, 1.0] * 50)
    prediction = np.linspace(-3.0, 3.0, 100)
    step = 1e-6
    numeric = (loss.of(response, prediction + step) - loss.of(response, prediction - step)) / (2 * step)
    np.testing.assert_allclose(loss.slope(response, prediction), numeric, atol=1e-6)


@each
def test_convex_is_what_is_so_called(loss: Loss) -> None:
    prediction = np.linspace(-4.0, 4.0, 801)
    bends = np.diff(loss.of(np.ones(801), prediction), 2)
    assert bool((bends >= -1e-12).all()) == loss.convex


@pytest.mark.parametrize("q", [0.1, 0.5, 0.75])
@pytest.mark.parametrize("residual", [-2.0, -0.2, 0.0, 0.1, 0.3, 1.0])
def test_a_step_is_an_average(q: float, residual: float) -> None:
    step = 0.6
    exact, _ = quad(
        lambda u: Pinball(q).of(np.array([residual + u]), np.zeros(1))[0], -step / 2, step / 2, points=[-residual]
    )
    assert Pinball(q, step).of(np.array([residual]), np.zeros(1))[0] == pytest.approx(exact / step, abs=1e-9)


def test_pinball_is_least_at_its_quantile() -> None:
    values, places = np.arange(100.0), np.arange(0.0, 99.0, 0.5)
    sums = [Pinball(0.25).of(values, np.full(100, place)).sum() for place in places]
    assert 24 <= places[int(np.argmin(sums))] <= 25


@pytest.mark.parametrize("loss", [Huber(), Tukey()], ids=lambda loss: type(loss).__name__)
def test_usual_thresholds_are_95_percent_efficient_at_a_normal_distribution(loss: Loss) -> None:
    """The efficiency is E[psi']^2 / E[psi^2]; by Stein's identity, E[psi'] = E[x psi]."""
    known = loss.completed(1.0)
    assert not loss.complete
    assert known.complete
    x = np.linspace(-9, 9, 200_001)
    density, slope = norm.pdf(x) * (x[1] - x[0]), -known.slope(x, np.zeros_like(x))
    efficiency = float((x * slope) @ density) ** 2 / float(slope**2 @ density)
    assert efficiency == pytest.approx(0.95, abs=5e-4)


def test_units_and_steps_are_taken_over() -> None:
    assert Huber(3.0).in_units(2.0, 0.1) == Huber(1.5)
    assert Huber().in_units(2.0, 0.1) == Huber()
    assert Huber(3.0).completed(9.0) == Huber(3.0)
    assert Pinball(0.9).in_units(2.0, 0.1) == Pinball(0.9, 0.1)
    assert Squared().in_units(2.0, 0.1) == Squared()


def test_losses_are_found_by_name() -> None:
    assert {loss_of(name) for name in NAMED} == {Pinball(), Huber(), Tukey(), Squared(), Logistic()}
    assert loss_of(Tukey(2.0)) == Tukey(2.0)


@pytest.mark.parametrize("wrong", ["cubic", 3, None, Huber])
def test_what_is_no_loss_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        loss_of(wrong)


@pytest.mark.parametrize("threshold", [0.0, -1.0, math.inf, math.nan])
def test_thresholds_are_positive(threshold: float) -> None:
    for kind in (Huber, Tukey):
        with pytest.raises(ParameterError, match="threshold"):
            kind(threshold)


def test_levels_are_between_0_and_1() -> None:
    for q in (0.0, 1.0, -0.5, math.nan):
        with pytest.raises(ParameterError, match="Give a level between 0 and 1"):
            Pinball(q)
