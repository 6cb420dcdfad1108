"""Any other layer: the derivatives of each sample by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vjp, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from discreet.deep.clipping.indices_in_range import IndicesInRange
from discreet.deep.forms.explicit import Explicit
from discreet.deep.forms.form import Form

Given = tuple[tuple[Any, ...], dict[str, Any]]


def any_layer(
    module: nn.Module, names: list[str], given: Given, slopes: list[Tensor], apart: Sequence[bool] | None = None
) -> dict[str, Form]:
    """The gradients of a module's parameters, written out: one more forward and backward pass through it.

    Parameters
    ----------
    module : Module
        Works on the first axis of what it is given sample by sample, and draws no random numbers.
    names : list of str
        Those of the parameters, its own and of modules in it, that are trained.
    given : tuple and dict
        What it was called with, by place and by name.
    slopes : list of Tensor
        The derivatives of the loss by each tensor that went out.
    apart : sequence of bool, optional
        Public. Which parts of what it was called with have one entry for each sample; by default, as many as went out.
    """
    samples = len(slopes[0])
    parameters = {name: parameter.detach() for name, parameter in module.named_parameters() if name in names}
    flat, form = tree_flatten(given)
    if apart is None:
        apart = [isinstance(part, Tensor) and part.dim() > 0 and len(part) == samples for part in flat]

    def one(slopes: list[Tensor], *parts: Tensor) -> dict[str, Tensor]:
        rest = iter(parts)
        whole = [next(rest)[None] if taken else part for taken, part in zip(apart, flat, strict=True)]

        def run(trained: dict[str, Tensor]) -> list[Tensor]:
            args, named = tree_unflatten(whole, form)
            out = functional_call(module, trained, args, named)
            return [part for part in tree_flatten(out)[0] if isinstance(part, Tensor)]

        back = vjp(run, parameters)[1]
        found: dict[str, Tensor] = back([slope[None] for slope in slopes])[0]
        return found

    parts = [part.detach() for taken, part in zip(apart, flat, strict=True) if taken]
    with torch.no_grad(), IndicesInRange(), sdpa_kernel(SDPBackend.MATH):  # the only attention that vmap takes apart
        found = vmap(one)(tree_map(Tensor.detach, slopes), *parts)
    return {name: Explicit(values) for name, values in found.items()}
