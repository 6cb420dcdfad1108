"""What a layer brings for the trial that all layers with rules of their own are put through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.forms.rounding import MARGIN, SLACK
from tests.deep.clipping.test_clipped_sum import squares


@dataclass(frozen=True)
class LayerTrial:
    """Models in which a layer is used.

    Parameters
    ----------
    models : list of callables
        Each makes a model and some samples for it; a seed was set before.
    """

    models: Sequence[Callable[[], tuple[nn.Module, Tensor]]]


def agrees(model: nn.Module, inputs: Tensor) -> None:
    """The clipped sum is that of gradients that PyTorch takes of one sample after another, by its own layers."""
    trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
    targets = torch.randn_like(model(inputs)).detach()
    each: list[list[Tensor]] = []
    for x, y in zip(inputs, targets, strict=True):
        loss = squares(model(x[None]), y[None])[0]
        each.append(list(torch.autograd.grad(loss, list(trained.values()), materialize_grads=True)))
    norms = torch.stack([torch.cat([part.flatten() for part in one]).norm() for one in each])
    clip = max(float(norms.median()), 1e-3)
    own = clip * (1 - MARGIN - SLACK)
    whole_sum = clipped_sum(model, squares, inputs, targets, clip=clip)
    found = whole_sum.gradients
    assert found.keys() == trained.keys()
    assert (whole_sum.norms >= norms * (1 - 1e-5)).all()
    assert (whole_sum.norms <= norms * (1 + 2.0**-6) + 1e-12).all()
    weights = own / whole_sum.norms.clamp(min=own)
    wanted = [torch.tensordot(weights, torch.stack(one), dims=1) for one in zip(*each, strict=True)]
    whole = float(torch.cat([one.flatten() for one in wanted]).norm())
    for name, one in zip(trained, wanted, strict=True):
        assert float((found[name] - one).norm()) <= 1e-5 * whole, name
