"""The clipped sum as one graph, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.utils.stateless import _reparametrize_module

from discreet.core.errors import ParameterError
from discreet.deep.capture import layers
from discreet.deep.clipped_sum import Losses, clipped_sum_of

Compiler = Callable[[nn.Module], Any]


class CompiledSum:
    """The clipped sum of batches of one shape: forward pass, backward pass, lengths and sums in one compiled graph.

    What `clipped_sum` does step by step is traced once, so that a compiler sees all of it. The parameters are read anew
    at every call, and every batch has the shape of the first: fill smaller ones up.

    Parameters
    ----------
    model : Module
        Public. As for `clipped_sum`.
    losses : callable
        Public. One loss for each sample.
    inputs, targets : Tensor
        Public, and made up: a batch of the shape and on the device of all later ones.
    clip : float
        Public. The greatest length of a gradient.
    compiler : callable, optional
        Public. What compiles the graph: by default `torch.compile`.
    """

    def __init__(
        self,
        model: nn.Module,
        losses: Losses,
        inputs: Tensor,
        targets: Tensor,
        *,
        clip: float = 1.0,
        compiler: Compiler | None = None,
    ) -> None:
        self._parameters = dict(model.named_parameters())
        self._names = [name for name, one in self._parameters.items() if one.requires_grad]
        self._shapes = inputs.shape, targets.shape
        taken = list(layers(model))

        def run(parameters: list[Tensor], inputs: Tensor, targets: Tensor, there: Tensor) -> list[Tensor]:
            given = dict(zip(self._parameters, parameters, strict=True))
            with _reparametrize_module(model, given, tie_weights=True):
                found = clipped_sum_of(model, taken, losses, inputs, targets, clip, there)
            return [found.gradients[name] for name in self._names]

        there = torch.ones(len(inputs), dtype=torch.bool, device=inputs.device)
        self._run = (compiler or torch.compile)(make_fx(run)(self._now(), inputs, targets, there))

    def __call__(self, inputs: Tensor, targets: Tensor, there: Tensor) -> dict[str, Tensor]:
        """The sums of gradients, by the names of the parameters."""
        if (inputs.shape, targets.shape) != self._shapes:
            obstacle = f"the graph is for {tuple(self._shapes[0])}, and this batch is {tuple(inputs.shape)}"
            raise ParameterError("compiled sum", obstacle, "Fill the batch up, and say which samples are there.")
        with torch.no_grad():
            found = self._run(self._now(), inputs, targets, there)
        return dict(zip(self._names, found, strict=True))

    def _now(self) -> list[Tensor]:
        return [one.detach() for one in self._parameters.values()]
