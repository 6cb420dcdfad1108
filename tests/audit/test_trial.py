from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.audit.ratio import Values
from discreet.audit.trial import Verdict, judged, trial
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError, Unaccountable
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    Event,
    GaussianLoss,
    LaplaceLoss,
    NoPromise,
    PureLoss,
    Repeated,
)
from tests.audit.mechanisms import Lab, shares

PLAIN = {
    "Finding": "its measure is a word of the audit",
}
"""Why these print no texts of others: see `tests/conformance/test_plain_text.py`."""


def leaking(lab: Lab, answer: int, delta: float, runs: int) -> Values:
    """Randomized response at epsilon 1 that now and then tells the plain truth."""
    reports = lab.randomized_response(answer, 1.0, 2, runs)
    return np.where(lab.generator.random(runs) < delta, answer + 10, reports)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("kind", [PureLoss, lambda epsilon: LaplaceLoss(1 / epsilon)])
def test_a_true_claim_of_laplace_noise_stands(epsilon: float, kind: type[PureLoss]) -> None:
    lab = Lab(21)
    verdict = judged(kind(epsilon), *(lab.laplace(x, 1 / epsilon, 300_000) for x in (0, 1)))
    assert verdict.holds
    assert 0.6 < verdict.tightest.tightness <= 1


@pytest.mark.parametrize(("epsilon", "runs"), [(0.1, 10**6), (1.0, 50_000), (5.0, 50_000)])
def test_a_claim_that_mistakes_the_variance_for_the_scale_is_refuted(epsilon: float, runs: int) -> None:
    lab = Lab(22)
    outputs = [lab.laplace(x, 1 / (math.sqrt(2) * epsilon), runs) for x in (0, 1)]
    for claim in (PureLoss(epsilon), LaplaceLoss(1 / epsilon)):
        assert not judged(claim, *outputs).holds


def test_a_gaussian_claim_is_refuted_by_its_mu() -> None:
    lab = Lab(23)
    outputs = [lab.gaussian(x, 1.0, 300_000) for x in (0, 1)]
    assert judged(GaussianLoss(1.0), *outputs).holds
    wrong = judged(GaussianLoss(1.05), *outputs)
    assert {finding.measure: finding.stands for finding in wrong.findings}["mu"] is False
    assert not wrong.holds


def test_composed_gaussian_claims_are_one_gaussian_claim() -> None:
    lab = Lab(24)
    outputs = [lab.gaussian(x * 2 * shares(4), 2.0, 60_000) for x in (0, 1)]
    once = Repeated(GaussianLoss(4.0), 8), Composed((GaussianLoss(2.0), GaussianLoss(2.0)))
    for claim in once:  # each half of what is lost, in squares
        verdict = judged(claim, *outputs)
        mu = next(finding for finding in verdict.findings if finding.measure == "mu")
        assert mu.claimed == pytest.approx(math.sqrt(0.5))
        assert 0.9 < mu.shown <= 1.0
        assert not verdict.holds
    assert judged(Repeated(GaussianLoss(2.0), 4), *outputs).holds


def test_a_leak_with_probability_delta_stands_at_that_delta_and_falls_below() -> None:
    lab = Lab(25)
    outputs = [leaking(lab, x, 0.02, 100_000) for x in (0, 1)]
    assert judged(ApproximateLoss(1.0, 0.02), *outputs).holds
    assert judged(Composed((PureLoss(1.0), ApproximateLoss(0.0, 0.02))), *outputs).holds
    assert not judged(ApproximateLoss(1.0, 0.005), *outputs).holds
    assert not judged(PureLoss(1.0), *outputs).holds


def test_a_delta_beyond_the_usual_ones_is_tested_as_well() -> None:
    lab = Lab(26)
    outputs = [leaking(lab, x, 0.7, 20_000) for x in (0, 1)]
    assert judged(ApproximateLoss(1.0, 0.7), *outputs).holds
    assert not judged(ApproximateLoss(1.0, 0.6), *outputs).holds


@pytest.mark.parametrize("claim", [PureLoss(math.log(3)), ApproximateLoss(1.0, 0.01), GaussianLoss(2.0)])
def test_outputs_that_tell_nothing_refute_nothing(claim: Event) -> None:
    generator = np.random.default_rng(27)
    verdict = judged(claim, *generator.integers(0, 10, (2, 5000)), confidence=0.99)
    assert verdict.holds
    assert verdict.tightest.shown < 0.2


def test_a_claim_of_no_loss_falls_with_any_loss() -> None:
    generator = np.random.default_rng(28)
    verdict = judged(PureLoss(0.0), *(generator.random((2, 10_000)) < [[0.6], [0.4]]))
    assert not verdict.holds
    assert verdict.tightest.tightness == math.inf


def test_a_claim_that_promises_nothing_cannot_be_audited() -> None:
    with pytest.raises(ParameterError, match="promises nothing"):
        judged(ApproximateLoss(1.0, 1 - 1e-8), np.zeros(100), np.zeros(100))
    with pytest.raises(Unaccountable):
        judged(NoPromise("swapped rows"), np.zeros(100), np.zeros(100))


def test_a_verdict_reads_as_text_and_as_a_table() -> None:
    coins = np.random.default_rng(29).random((2, 10_000)) < [[0.75], [0.25]]
    refuted, standing = (judged(PureLoss(epsilon), *coins) for epsilon in (0.5, 2.0))
    assert isinstance(refuted, Verdict)
    assert str(refuted).startswith("PureLoss(epsilon=0.5): REFUTED with confidence 0.999999.")
    assert "epsilon at delta 0 is claimed to be at most 0.5 and shown to be at least 0.9" in str(refuted)
    assert "of 5000 outputs" in str(refuted)
    assert "not refuted" in str(standing)
    assert "<td>REFUTED</td>" in refuted._repr_html_()
    assert "<td>stands</td>" in standing._repr_html_()


@pytest.mark.parametrize("claim", [GaussianLoss(1.0), Repeated(GaussianLoss(2.0), 4)])
def test_true_gaussian_claims_are_refuted_no_more_often_than_the_confidence_says(claim: Event) -> None:
    lab = Lab(30)
    verdicts = [judged(claim, *(lab.gaussian(x, 1.0, 400) for x in (0, 1)), confidence=0.9) for _ in range(200)]
    assert sum(not verdict.holds for verdict in verdicts) <= 20


class SeededBits:
    """Words of a fixed generator: enough for a trial, not for a promise."""

    secret = False

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        return self.generator.integers(0, 2**64, count, dtype=np.uint64)

    def integer(self, width: int) -> int:
        return int.from_bytes(self.generator.bytes((width + 7) // 8)) >> (-width % 8)


@dataclass(frozen=True)
class Truth:
    value: int
    copies: int = 1

    def stacked(self, count: int) -> Truth:
        return Truth(self.value, count)


@dataclass(frozen=True)
class Pair:
    first: Truth = field(default_factory=lambda: Truth(0))
    second: Truth = field(default_factory=lambda: Truth(1))


@dataclass(frozen=True)
class Coin:
    """Tell the bit with probability 3/4, whatever epsilon is claimed."""

    epsilon: float

    @property
    def event(self) -> Event:
        return PureLoss(self.epsilon)

    def release(self, answer: Truth, bits: Bits) -> Values:
        honest = bits.words(answer.copies) < np.uint64(3 << 62)
        return np.where(honest, answer.value, 1 - answer.value)

    def worst_neighbors(self) -> Any:
        return Pair()


def test_a_mechanism_is_tried_on_its_worst_neighbors_against_its_own_event() -> None:
    verdict = trial(Coin(np.log(3)), SeededBits(31), runs=50_000)
    assert verdict.holds
    assert verdict.claim == PureLoss(np.log(3))
    assert verdict.tightest.tightness > 0.9
    assert not trial(Coin(0.9), SeededBits(32), runs=50_000).holds


def test_neighbors_may_be_given() -> None:
    verdict = trial(Coin(0.1), SeededBits(33), runs=10_000, neighbors=Pair(Truth(1), Truth(1)))
    assert verdict.holds
    assert verdict.tightest.shown < 0.1


def test_a_trial_keeps_its_confidence() -> None:
    bits = SeededBits(34)
    verdicts = [trial(Coin(np.log(3)), bits, runs=400, confidence=0.9) for _ in range(300)]
    assert sum(not verdict.holds for verdict in verdicts) <= 30
