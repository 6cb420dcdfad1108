"""Correlated noise of steps in turn: a round costs what one step does. See also the tests of the factorisation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from discreet.core.answer import SampledAnswer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted
from discreet.core.events import Composed
from discreet.core.grid import Array
from discreet.core.mechanism import SecretSample
from discreet.deep.noise.banded_factorization import BandedFactorization
from discreet.deep.noise.noise_stream import NoiseStream, OnTurn
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.bernoulli import bernoulli
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Drawn
from tests.mechanisms.trial import MechanismTrial

ONE = 2**20
BANDS = BandedFactorization((0.8, 0.6))


class LongColumn(NoiseStream):
    """A column that was not made as long as 1."""

    def __init__(self, bands: BandedFactorization) -> None:
        super().__init__(bands)
        self._column = tuple(math.sqrt(2) * one for one in bands.coefficients)


def rounds(mechanism: OnTurn, side: int, runs: int, bits: Bits) -> Array:
    """What a round of two steps says about a unit whose turn is the first, where it is drawn then."""
    stream, answer = type(mechanism.stream)(BANDS), whole_numbers([0], Bound("l2", float(ONE))).stacked(runs)
    drawn = bernoulli(bits, runs, mechanism.sample.rate)[:, None]
    found: list[Any] = []
    for there in (1, 0):
        step = OnTurn(mechanism.noise, mechanism.sample, stream=stream)
        sums = SampledAnswer(replace(answer, steps=ONE * side * there * drawn), mechanism.sample)
        found.append(step.release(sums, bits))
    first, second = stream._column
    rows = first * found[0], first * found[1] + second * found[0]
    return first * rows[0] + second * rows[1]


def turn(noise: float = 1.0, rate: float = 0.5, kind: type[NoiseStream] = NoiseStream) -> OnTurn:
    return OnTurn(Gaussian(noise), SecretSample(rate), stream=kind(BandedFactorization((1.0,))))


TRIAL = MechanismTrial(
    twins=[Drawn("twin", turn(kind=LongColumn), rounds, runs=60_000)],
    audits=[
        Drawn("a unit in half of all samples of its group", turn(), rounds, runs=60_000),
        Drawn("a unit in most samples of its group", turn(1.3, 0.8), rounds, runs=60_000),
    ],
    usual=turn(),
    alone="groups are sampled by coins, for records that are added or removed: its sums have no other relation or rows",
)


def test_the_first_step_of_a_round_pays_for_it_and_no_other_does() -> None:
    stream, bits = NoiseStream(BANDS), DeterministicBits(1)
    empty = SampledAnswer(whole_numbers([0], Bound("l2", float(ONE))), SecretSample(0.5))
    steps = []
    for _ in range(4):
        steps.append(OnTurn(stream=stream))
        steps[-1].release(empty, bits)
    assert [step.pays for step in steps] == [True, False, True, False]
    assert [step.event for step in steps] == 2 * [steps[0].event, Composed(())]
    with pytest.raises(NotPermitted, match="no step of this round was paid for"):
        steps[1].release(empty, bits)
