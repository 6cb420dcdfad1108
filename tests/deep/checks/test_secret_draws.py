"""Dropout and augmentation from secret bits."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discreet.core.budget import Budget
from discreet.core.mechanism import SecretSample
from discreet.deep.checks.secret_draws import secret_draws
from discreet.deep.clipping.augmentation_multiplicity import AugmentationMultiplicity
from discreet.deep.questions.sampled_gradient import SampledGradient
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.deep.asked import draw

CPU = torch.device("cpu")
HARDLY = TrainingPlan(SecretSample(1.0), Gaussian(2.0**-20), 1, 1e3, 1.0)


def step(known: bool, views: AugmentationMultiplicity | None = None) -> Tensor:
    """What one step adds up with hardly any noise, of a program that begins with a known seed."""
    bits = DeterministicBits(1) if known else None
    data = PrivateTensors(torch.ones(1, 64), torch.ones(1), Budget(1.0, 1e-5), bits=bits)
    layer = nn.Linear(64, 1, bias=False)
    model = nn.Sequential(nn.Dropout(0.5 if views is None else 0.0), layer)
    gradients = SampledGradient(model, lambda given, wanted: given[:, 0] * wanted, data, HARDLY, chunk=1, views=views)
    torch.manual_seed(0)
    draw(gradients)
    found = layer.weight.grad
    assert found is not None
    return (found[0] > 0.5).to(torch.int8)


def test_who_knows_the_seed_of_the_program_does_not_know_what_is_dropped() -> None:
    noisy = AugmentationMultiplicity(lambda x: (torch.rand_like(x) < 0.5).to(x), 1)
    for views in (None, noisy):
        assert not torch.equal(step(known=False, views=views), step(known=False, views=views))
        assert torch.equal(step(known=True, views=views), step(known=True, views=views))


def test_each_step_draws_anew_and_the_programs_own_generator_is_untouched() -> None:
    bits, before = DeterministicBits(2), torch.get_rng_state()
    drawn = []
    for _ in range(2):
        with secret_draws(bits, CPU):
            drawn.append(torch.rand(8))
    assert not torch.equal(*drawn)
    assert torch.equal(torch.get_rng_state(), before)


def test_all_words_of_the_generator_are_secret_and_its_law_is_uniform() -> None:
    """MT19937 from a seed has 32 secret bits; here the first 624 outputs are as many words, each of its own."""
    with secret_draws(DeterministicBits(3), CPU):
        state = torch.get_rng_state().view(torch.int64)[3:627]
        values = torch.rand(200_000, dtype=torch.float64)
    words = torch.from_numpy(DeterministicBits(3).words(312).copy().view("uint32").astype("int64"))
    assert torch.equal(state, words)
    shares = torch.histc(values, 16, 0.0, 1.0) / len(values)
    assert float((shares - 1 / 16).abs().max()) < 5 * (1 / 16 / len(values)) ** 0.5
