"""Noise on a secret sample: the price of sampling, and no other answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from discreet.core.answer import SampledAnswer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted
from discreet.core.events import Sampled
from discreet.core.grid import Array
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.bernoulli import bernoulli
from discreet.noise.deterministic import DeterministicBits
from discreet.trust.on_sample import OnSample
from tests.conformance.audits import Drawn
from tests.mechanisms.trial import MechanismTrial

HALF, FIXED = SecretSample(0.5), SecretSample(0.5, "fixed_size")
ONE = 2**20


def sampled(mechanism: OnSample, side: int, runs: int, bits: Bits) -> Array:
    """Releases where a unit is in the sample as often as it should be: nobody else, or another in its place."""
    replaced = mechanism.sample.scheme != "poisson"
    moved = ONE * ((1, -1)[side] if replaced else side)
    bound, relation = Bound("l2", float(ONE)), Neighbors.REPLACE if replaced else Neighbors.ADD_REMOVE
    answer = whole_numbers([0], bound, relation).stacked(runs)
    drawn = bernoulli(bits, runs, mechanism.sample.rate)[:, None]
    return mechanism.release(SampledAnswer(replace(answer, steps=moved * drawn), mechanism.sample), bits)


@dataclass(frozen=True)
class RateTwice(OnSample):
    """The price of a sample of a sample."""

    @property
    def event(self) -> Sampled:
        return Sampled(self.noise.event, self.sample.rate**2, self.sample.scheme)


TRIAL = MechanismTrial(
    twins=[Drawn("twin", RateTwice(), sampled, runs=60_000)],
    audits=[
        Drawn("a unit in half of all samples", OnSample(), sampled, runs=60_000),
        Drawn("a unit in most samples", OnSample(Laplace(1.0), SecretSample(0.8)), sampled, runs=60_000),
        Drawn("a unit in place of another", OnSample(Gaussian(1.0), FIXED), sampled, runs=60_000),
    ],
    alone="each way to sample is for units of one row and for one relation: the audits have both",
)


def test_answers_to_other_samples_and_to_all_records_are_refused() -> None:
    answer = whole_numbers([7], Bound("l1", 1.0))
    other = [SampledAnswer(answer, sample) for sample in (FIXED, SecretSample(1.0))]
    wrong: Any
    for wrong in (answer, *other):
        with pytest.raises(NotPermitted, match="it is priced for"):
            OnSample(Gaussian(1.0), HALF).release(wrong, DeterministicBits(0))


def test_neither_parties_nor_people_can_draw_one_sample() -> None:
    answer = whole_numbers([7], Bound("l1", 1.0))
    for refused in (lambda: OnSample().share(3), lambda: OnSample().report(answer, DeterministicBits(0))):
        with pytest.raises(NotPermitted, match="Nothing was released"):
            refused()


def test_the_deviation_is_that_of_the_noise_on_the_sample() -> None:
    bound = Bound("l2", 2.0)
    assert OnSample().stddev(bound, 3, Neighbors.ADD_REMOVE) == Gaussian().stddev(bound, 3, Neighbors.ADD_REMOVE)
    assert np.isclose(OnSample(Gaussian(2.0)).stddev(bound, 1, Neighbors.ADD_REMOVE), 4.0)
