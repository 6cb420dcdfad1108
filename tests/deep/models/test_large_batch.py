"""The recipe of De et al. 2022: its kernels, its views, its plan, and a short run."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.deep.clipping.augmentation_multiplicity import AugmentationMultiplicity
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.forms.rounding import MARGIN, SLACK
from discreet.deep.layers.standardized_convolution import StandardizedConv2d
from discreet.deep.models.large_batch import LargeBatch, flipped_and_shifted, wide_residual_network
from discreet.deep.training.private_tensors import PrivateTensors


def images(samples: int, size: int = 8) -> Tensor:
    return torch.randn(samples, 3, size, size, generator=torch.Generator().manual_seed(0))


def crossed(given: Tensor, wanted: Tensor) -> Tensor:
    return functional.cross_entropy(given, wanted, reduction="none")


def test_a_standardised_kernel_does_not_depend_on_scale_or_shift() -> None:
    layer, given = StandardizedConv2d(3, 4, 3, bias=False), images(2)
    before = layer(given)
    kernel = layer.standardized()
    torch.testing.assert_close(kernel.flatten(1).pow(2).sum(dim=1), torch.ones(4), atol=1e-3, rtol=0)
    with torch.no_grad():
        layer.weight.mul_(5.0).add_(3.0)
    torch.testing.assert_close(layer(given), before, atol=1e-3, rtol=0)


def test_its_gradients_are_clipped_by_what_is_trained_and_not_by_what_is_applied() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(StandardizedConv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))
    given, wanted, clip = images(6), torch.tensor([0, 1, 0, 1, 1, 0]), 0.5
    weights = {name: one.detach() for name, one in model.named_parameters()}

    def loss(now: dict[str, Tensor], one: Tensor, target: Tensor) -> Tensor:
        return crossed(functional_call(model, now, (one[None],)), target[None])[0]

    each = vmap(grad(loss), in_dims=(None, 0, 0))(weights, given, wanted)
    norms = torch.stack([one.flatten(1).pow(2).sum(dim=1) for one in each.values()]).sum(dim=0).sqrt()
    own = clip * (1 - MARGIN - SLACK)
    factor = own / norms.clamp(min=own)
    found = clipped_sum(model, crossed, given, wanted, clip=clip)
    torch.testing.assert_close(found.norms, norms, rtol=1e-4, atol=0)
    for name, one in each.items():
        torch.testing.assert_close(
            found.gradients[name].float(), torch.einsum("n,n...->...", factor, one), rtol=1e-3, atol=1e-5
        )


def test_views_are_the_image_shifted_and_flipped_by_itself() -> None:
    torch.manual_seed(0)
    given = images(100, 32)
    found = flipped_and_shifted(given)
    assert found.shape == given.shape
    padded = functional.pad(given, (4,) * 4, mode="reflect")
    flips = 0
    for one, whole in zip(found, padded, strict=True):
        crops = whole.unfold(1, 32, 1).unfold(2, 32, 1).permute(1, 2, 0, 3, 4).flatten(0, 1)
        plain = bool((crops == one).flatten(1).all(dim=1).any())
        mirrored = bool((crops.flip(3) == one).flatten(1).all(dim=1).any())
        assert plain or mirrored
        flips += not plain
    assert 25 < flips < 75
    AugmentationMultiplicity(flipped_and_shifted, 2).check(given)


def test_the_plan_fits_and_a_run_goes_through() -> None:
    torch.manual_seed(0)
    budget = Budget(8.0, 1e-5)
    recipe = LargeBatch.of(budget, expected_size=40, batch=10, epochs=0.5, multiplicity=2)
    assert 0.999 * budget.epsilon < epsilon(recipe.plan.event, budget.delta) <= budget.epsilon
    model = wide_residual_network(10, 1, classes=2)
    data = PrivateTensors(images(40), torch.zeros(40, dtype=torch.int64), budget)
    trainer = replace(recipe, learning_rate=0.1).trainer(model, data, chunk=10)
    assert trainer.run().number == 2
    assert trainer.average(images(3)).shape == (3, 2)
    assert trainer.average(images(3)).isfinite().all()


def test_depths_that_make_no_blocks_are_refused() -> None:
    with pytest.raises(ParameterError, match="depth is 12"):
        wide_residual_network(12)
