"""The clipped sum as one graph, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.fx.experimental.proxy_tensor import make_fx

from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.deep.checks.model_state import replaced_parameters
from discreet.deep.clipping.capture import Layer
from discreet.deep.clipping.clipped_sum import ClippedSum, Losses, clipped_sum_of, rehearsed_layers
from discreet.deep.noise.fine_grid import fine_grid, in_steps

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
    views : int
        Public. How many inputs, one after another, are views of one sample.
    compiler : callable, optional
        Public. What compiles the graph: by default `torch.compile`.
    taken : list of Layer, optional
        Public. The layers as a rehearsal found them; by default there is one now.
    """

    def __init__(
        self,
        model: nn.Module,
        losses: Losses,
        inputs: Tensor,
        targets: Tensor,
        *,
        views: int = 1,
        compiler: Compiler | None = None,
        taken: list[Layer] | None = None,
    ) -> None:
        self._parameters = dict(model.named_parameters())
        self._names = [name for name, one in self._parameters.items() if one.requires_grad]
        self._shapes = inputs.shape, targets.shape
        taken = taken or rehearsed_layers(model, losses, inputs, targets, views)

        def run(
            parameters: list[Tensor], inputs: Tensor, targets: Tensor, there: Tensor, *scales: Tensor
        ) -> list[Tensor]:
            clip, step = scales
            given = dict(zip(self._parameters, parameters, strict=True))
            with replaced_parameters(model, given):
                found = clipped_sum_of(model, taken, losses, inputs, targets, clip, there, views)
            fine = [in_steps(found.gradients[name], step) for name in self._names]
            return [found.norms, found.losses, *fine]

        there = torch.ones(len(targets), dtype=torch.bool, device=inputs.device)
        scales = _scales(1.0, 1.0, inputs.device)
        self._run = (compiler or torch.compile)(make_fx(run)(self._now(), inputs, targets, there, *scales))

    def __call__(
        self, inputs: Tensor, targets: Tensor, there: Tensor, clip: float = 1.0, sensitivity: float | None = None
    ) -> ClippedSum:
        """As `clipped_sum`, and put on the grid of the sensitivity.

        Parameters
        ----------
        inputs, targets : Tensor
            The samples.
        there : Tensor of shape (samples,)
            Which of them count.
        clip : float
            Public. The greatest length of a gradient.
        sensitivity : float, optional
            Public. Of all that noise is added to; the clip by default.
        """
        check_positive("compiled sum", "clip", clip)
        if (inputs.shape, targets.shape) != self._shapes:
            obstacle = f"the graph is for {tuple(self._shapes[0])}, and this batch is {tuple(inputs.shape)}"
            raise ParameterError("compiled sum", obstacle, "Fill the batch up, and say which samples are there.")
        with torch.no_grad():
            scales = _scales(clip, clip if sensitivity is None else sensitivity, inputs.device)
            norms, lost, *sums = self._run(self._now(), inputs, targets, there, *scales)
        return ClippedSum(dict(zip(self._names, sums, strict=True)), norms, lost)

    def _now(self) -> list[Tensor]:
        return [one.detach() for one in self._parameters.values()]


def _scales(clip: float, sensitivity: float, device: torch.device) -> tuple[Tensor, Tensor]:
    """The clip and a step of the grid, where a graph reads them: so they may change."""
    return torch.full((), clip, device=device), torch.full((), fine_grid(sensitivity).step, device=device)
