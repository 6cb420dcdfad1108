"""A running average of weights."""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import nn

from discreet.core.checks import check_positive


class WeightAverage:
    """The exponential moving average of the weights of a model: post-processing, which costs nothing.

    After step t the average moves by 1 - d of the way to the weights, where d is the lesser of `decay` and
    (1 + t) / (10 + t): early weights are soon forgotten (De et al. 2022).

    Parameters
    ----------
    model : Module
        Public. It is trained elsewhere, and read after every step.
    decay : float
        Public. In (0, 1): about 1 / (1 - decay) steps are averaged.

    Examples
    --------
    >>> model = nn.Linear(1, 1, bias=False)
    >>> average = WeightAverage(model, 0.999)
    >>> for step in range(50):
    ...     _ = nn.init.constant_(model.weight, 1.0 if step % 2 else 3.0)
    ...     average.update(step)
    >>> 1.8 < average.model.weight.item() < 2.2
    True
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        check_positive("average weights", "decay", decay, least=2.0**-40, most=1 - 2.0**-40)
        self.decay, self.model, self._source = decay, deepcopy(model).requires_grad_(False), model

    @torch.no_grad()
    def update(self, done: int) -> None:
        """Move towards the weights as they are after so many steps; what is not a weight is copied."""
        moved = 1 - min(self.decay, (1 + done) / (10 + done))
        for mine, theirs in zip(self.model.parameters(), self._source.parameters(), strict=True):
            mine.lerp_(theirs, moved)
        for kept, now in zip(self.model.buffers(), self._source.buffers(), strict=True):
            kept.copy_(now)
