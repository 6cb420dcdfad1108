"""A record that a model cannot compute counts for nothing, and nothing is heard of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.core.budget import Budget
from discreet.core.mechanism import SecretSample
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.questions.sampled_gradient import SampledGradient
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.deep.asked import draw

WRONG = (12345, -1, 2**40)
AMPLE = Budget(1e4, 1e-5)
HARDLY = TrainingPlan(SecretSample(1.0), Gaussian(2.0**-20), 1, 1.0, 1.0)


def crossed(given: Tensor, wanted: Tensor) -> Tensor:
    return functional.cross_entropy(given, wanted, reduction="none")


def by_row(given: Tensor, wanted: Tensor) -> Tensor:
    return -given.log_softmax(dim=1)[torch.arange(len(given)), wanted]


NOTHING = 1e-13  # lengths are bounds from above: squares that are read as zero might have been this
LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cross entropy": crossed,
    "gathered": lambda given, wanted: -given.log_softmax(dim=1).gather(1, wanted[:, None])[:, 0],
    "likelihood": lambda given, wanted: functional.nll_loss(given.log_softmax(dim=1), wanted, reduction="none"),
    "along": lambda given, wanted: -given.log_softmax(dim=1).take_along_dim(wanted[:, None], 1)[:, 0],
}


def reader(frozen: bool = False) -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(7, 3), nn.Flatten(), nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 3))
    model[0].weight.requires_grad_(not frozen)
    return model


def flat(found: dict[str, Tensor]) -> Tensor:
    return torch.cat([one.flatten() for one in found.values()])


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_a_label_or_token_out_of_range_has_a_gradient_of_zero(name: str, frozen: bool) -> None:
    model, losses = reader(frozen), LOSSES[name]
    x, y = torch.randint(7, (6, 2)), torch.randint(3, (6,))
    kept = torch.arange(6) != 2
    without = flat(clipped_sum(model, losses, x[kept], y[kept], clip=0.1).gradients)
    for wrong in WRONG:
        for token in (False, True):
            tokens, labels = x.clone(), y.clone()
            (tokens[2, 1:] if token else labels[2:3])[:] = wrong
            found = clipped_sum(model, losses, tokens, labels, clip=0.1)
            torch.testing.assert_close(flat(found.gradients), without, rtol=1e-5, atol=1e-7)
            assert float(found.norms[2]) < NOTHING


def test_a_word_out_of_range_in_one_place_takes_the_whole_record_out() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(7, 3), nn.Linear(3, 7))

    def each_word(given: Tensor, wanted: Tensor) -> Tensor:
        lost = functional.cross_entropy(given.flatten(0, 1), wanted.flatten(), reduction="none")
        return lost.view(wanted.shape).mean(dim=1)

    x, y = torch.randint(7, (4, 5)), torch.randint(7, (4, 5))
    y[1, 3] = 7
    assert float(clipped_sum(model, each_word, x, y).norms[1]) < NOTHING
    y[1, 3] = -100  # left out by the loss itself
    assert float(clipped_sum(model, each_word, x, y).norms[1]) > NOTHING


class Fussy(nn.Module):
    """A model that fails on some records, and quotes them."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        if bool((x > 50).any()):
            raise ValueError(f"what is {float(x.max())}?")
        return self.layer(x)


def released(x: Tensor, y: Tensor) -> Tensor:
    torch.manual_seed(0)
    model = Fussy()
    data = PrivateTensors(x, y, AMPLE, bits=DeterministicBits(1))
    gradients = SampledGradient(model, crossed, data, HARDLY, chunk=8)
    gradients.rehearse()
    draw(gradients)
    return torch.cat([one.grad.flatten() for one in model.parameters() if one.grad is not None])


def test_records_that_a_model_fails_on_count_for_nothing() -> None:
    torch.manual_seed(1)
    x, y = torch.randn(11, 3), torch.randint(2, (11,))
    wanted = released(x, y)
    strange = torch.cat([torch.full((1, 3), 99.0), x[:5], torch.full((2, 3), 77.0), x[5:]])
    labels = torch.cat([y[:1], y[:5], y[:2], y[5:]])
    torch.testing.assert_close(released(strange, labels), wanted, rtol=0.0, atol=1e-3)
    assert float(released(torch.full((3, 3), 99.0), y[:3]).norm()) < 1e-3


def test_a_run_goes_on_whatever_one_record_holds() -> None:
    x, y = torch.randint(7, (30, 2)), torch.randint(3, (30,))
    x[3, 0], y[7], y[8] = 12345, 12345, -7
    model, data = reader(), PrivateTensors(x, y, AMPLE)
    plan = TrainingPlan(SecretSample(1.0), Gaussian(1.0), 3, 1.0, 30.0)
    for compiler in (None, lambda graph: graph):
        run = Trainer(
            model, torch.optim.SGD(model.parameters(), lr=0.1), crossed, data, plan, chunk=8, compiler=compiler
        )
        assert run.run().number == 3
    assert all(bool(torch.isfinite(one).all()) for one in model.parameters())
