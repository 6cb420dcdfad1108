"""One run of the whole trainer against its claim, and against that of trainers with a mistake in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from discreet.audit.one_run import OneRun, one_run
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.grid import Steps
from discreet.core.mechanism import SecretSample
from discreet.deep.checks.dirac_canaries import STEEP, DiracCanaries
from discreet.deep.questions.sampled_gradient import SampledGradient
from discreet.deep.questions.tensors_view import Chunk, TensorsView
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.deep.asked import view_of

SAMPLED = TrainingPlan(SecretSample(0.05), Gaussian(2.0), 20, 1.0, 50.0)
WHOLE = TrainingPlan(SecretSample(1.0), Gaussian(0.5), 1, 1.0, 1000.0)


def audited(plan: TrainingPlan, seed: int = 1) -> OneRun:
    canaries = DiracCanaries(2000, bits=DeterministicBits(seed))
    model = canaries.model()
    data = canaries.data(Budget(1e3, 1e-5), bits=DeterministicBits(seed + 100))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    Trainer(model, optimizer, canaries.losses, data, plan, chunk=100).run()
    return one_run(plan.event, canaries.scores(model), canaries.included)


def unclipped_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of the bias is left as long as it is."""
    sums = SampledGradient._sums

    def wrong(self: SampledGradient, chunks: Iterator[Chunk]) -> dict[str, Tensor]:
        found = sums(self, chunks)
        return {**found, "bias": STEEP * found["bias"]}

    monkeypatch.setattr(SampledGradient, "_sums", wrong)


def divided_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise is divided by the size of the batch before it is added to the sum, and with the sum again."""
    noise = Gaussian.noise

    def wrong(self: Gaussian, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return noise(self, bits, shape, scale / SAMPLED.batch)

    monkeypatch.setattr(Gaussian, "noise", wrong)


def same_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """One half of the records is every batch, and no coins are tossed."""

    def wrong(self: TensorsView, *_: object) -> Iterator[Chunk]:
        half = self.size // 2
        yield Chunk(self.inputs[:half], self.targets[:half], torch.ones(half, dtype=torch.bool))

    monkeypatch.setattr(TensorsView, "chunks", wrong)


def test_a_run_shows_less_than_it_claims_and_not_nothing() -> None:
    sampled, whole = audited(SAMPLED), audited(WHOLE)
    assert sampled.holds
    assert whole.holds
    assert whole.epsilon > 2  # of 14.6 at a delta of 3e-11: enough to tell that the audit looks at the right thing


@pytest.mark.parametrize("mistake", [unclipped_bias, divided_twice, same_records])
def test_a_trainer_with_a_mistake_is_refuted_by_one_run(
    mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake(monkeypatch)
    assert not audited(SAMPLED).holds


def test_coins_are_fair_and_only_canaries_that_are_in_are_data() -> None:
    canaries = DiracCanaries(4000, bits=DeterministicBits(0))
    assert abs(canaries.included.mean() - 0.5) < 0.04
    data = canaries.data(Budget(1.0, 1e-5))
    np.testing.assert_array_equal(view_of(data).targets.numpy(), np.flatnonzero(canaries.included))
