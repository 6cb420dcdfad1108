"""What publications say that noise costs: the numbers that they print, and how far these are from what is proved."""

from __future__ import annotations

import math

import pytest

from discreet.accounting.accountant import epsilon
from discreet.accounting.calibration import calibrate
from discreet.as_published.published_prices import moments_epsilon, published_epsilon, published_pad
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import GaussianLoss, Repeated, Sampled
from discreet.deep.fair.pf_ld import PFLDPlan
from discreet.mechanisms.graphs.laplacian_sketch import LaplacianSketch


def test_the_moments_accountant_is_the_published_one() -> None:
    """Figure 2 of the paper: rate 0.01, noise 4, delta 1e-5; 1.26 after 100 epochs."""
    training = Repeated(Sampled(GaussianLoss(4.0), 0.01, "poisson"), 10_000)
    assert moments_epsilon(training, 1e-5) == pytest.approx(1.26, abs=0.005)
    once = moments_epsilon(GaussianLoss(2.0), 1e-5)
    assert once == pytest.approx(min((k * (k + 1) / 8 + math.log(1e5)) / k for k in range(1, 33)))
    assert moments_epsilon(training, 1e-5, moments=4) > moments_epsilon(training, 1e-5)
    for wrong in (0.0, 1.0):
        with pytest.raises(ParameterError, match="delta is"):
            moments_epsilon(training, wrong)


def test_the_publication_understates_what_its_noise_costs() -> None:
    plan = PFLDPlan.of(Budget(1.0, 1e-5), batch=500, size=10_000, epochs=20)
    claimed = published_epsilon(
        batch=500,
        size=10_000,
        epochs=20,
        primal_multiplier=2 * plan.gradient_noise.multiplier,  # in clips, of which the sensitivity is two
        dual_multiplier=2 * plan.dual_noise.multiplier,
        delta=1e-5,
    )
    assert isinstance(claimed, float)
    assert claimed < 0.7 * epsilon(plan.event, 1e-5)


def test_the_published_pad_of_a_sketch_is_80_times_what_is_needed() -> None:
    """Algorithm 1 of Blocki, Blum, Datta and Sheffet 2012; every factor of it counts."""
    needed = calibrate(LaplacianSketch(projections=2952), Budget(1.0, 1e-6)).pad
    assert 80 * needed < published_pad(1.0, 1e-6, 2952) < 82 * needed
    assert published_pad(0.5, 1e-6, 2952) == 2 * published_pad(1.0, 1e-6, 2952)
