"""Two releases of one secret sample: both are paid for, and no other sample is released."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from discreet.core.answer import Answer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted
from discreet.core.events import Sampled
from discreet.core.grid import Array
from discreet.core.mechanism import SecretSample
from discreet.deep.noise.histogram_then_gradient import HistogramThenGradient, TwoSums
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.bernoulli import bernoulli
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Drawn
from tests.mechanisms.trial import MechanismTrial

HALF = SecretSample(0.5)
ONE = 2**20


def itself(noisy: Array) -> Array:
    return noisy


USUAL = HistogramThenGradient(HALF, Gaussian(3.0), Gaussian(1.2), itself)
COARSE = HistogramThenGradient(SecretSample(0.8), Gaussian(1.2), Gaussian(3.0), itself)


class Released:
    """Weights that are the noisy histogram itself; it is noted."""

    def __init__(self) -> None:
        self.noted: list[Array] = []

    def __call__(self, noisy: Array) -> Array:
        self.noted.append(noisy)
        return noisy


def seen(mechanism: HistogramThenGradient, side: int, runs: int, bits: Bits) -> Array:
    """What both releases say together about a unit that moves both sums by the whole bound, where it is drawn."""
    drawn = bernoulli(bits, runs, mechanism.sample.rate)[:, None]
    sums = replace(whole_numbers([0], Bound("l2", float(ONE))).stacked(runs), steps=ONE * side * drawn)
    released = Released()
    found = replace(mechanism, weights=released).release(TwoSums(sums, sums, mechanism.sample), bits)
    return released.noted[0] / mechanism.histogram.multiplier**2 + found / mechanism.gradient.multiplier**2


def with_a_sharper_histogram(mechanism: HistogramThenGradient, less: float) -> HistogramThenGradient:
    return replace(mechanism, histogram=Gaussian(mechanism.histogram.multiplier / less))


@dataclass(frozen=True)
class ForgetsTheHistogram(HistogramThenGradient):
    """The price of the gradient alone."""

    @property
    def event(self) -> Sampled:
        return self.sample.event(self.gradient.event)


TRIAL = MechanismTrial(
    twins=[Drawn("twin", ForgetsTheHistogram(HALF, Gaussian(1.2), Gaussian(1.2), itself), seen, runs=60_000)],
    audits=[
        Drawn("a unit in half of all samples", USUAL, seen, runs=60_000),
        Drawn("the histogram", COARSE, seen, runs=60_000, weaker=with_a_sharper_histogram),
    ],
    usual=USUAL,
    alone="relations and grids are those of the questions about a sample, which has one row of each unit",
)


def test_weights_follow_from_the_released_histogram_alone() -> None:
    class Noting(TwoSums):
        given: Any = None

        def gradient(self, weights: Array) -> Answer:
            type(self).given = weights
            return self.second

    exact, released = whole_numbers([7], Bound("l2", float(ONE))), Released()
    replace(USUAL, weights=released).release(Noting(exact, exact, HALF), DeterministicBits(0))
    assert released.noted[0] != 7
    np.testing.assert_array_equal(Noting.given, released.noted[0])


def test_answers_of_other_samples_are_refused() -> None:
    exact = whole_numbers([7], Bound("l2", 1.0))
    wrong: Any
    for wrong in (exact, TwoSums(exact, exact, SecretSample(0.4))):
        with pytest.raises(NotPermitted, match="it is priced for"):
            USUAL.release(wrong, DeterministicBits(0))
