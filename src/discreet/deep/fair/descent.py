"""How fair training moves: public settings, and steps along given gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn

from discreet.core.checks import check_positive
from discreet.core.held import unheld

MOMENTUM = 0.9
KEPT = 0.25  # of the steps, the last of which are averaged


@dataclass(frozen=True)
class Descent:
    """Public settings of a run.

    Parameters
    ----------
    learning_rate : float
        Public. Of the weights.
    multiplier_rate : float
        Public. Of the multipliers of the constraint.
    tolerance : float
        Public. How far the mean of a group may be from that of all.
    clip : float
        Public. The greatest length of the gradient of a record: of its score where the attribute is protected, of all
        that it adds where the record is.
    smallest_share : float
        Public. The least share of a group in its stratum that is reckoned with: a smaller one has less weight.
    most : float
        Public. The greatest multiplier.
    """

    learning_rate: float = 0.05
    multiplier_rate: float = 0.05
    tolerance: float = 0.02
    clip: float = 1.0
    smallest_share: float = 0.05
    most: float = 5.0

    def __post_init__(self) -> None:
        for one in fields(self):
            least = 0.0 if one.name == "tolerance" else 2.0**-40
            most = 0.5 if one.name == "smallest_share" else 2.0**40
            check_positive("fair training", one.name, getattr(self, one.name), least, most)


@unheld("releases")
class Walk:
    """Gradient descent with momentum, and the average of the weights over the last quarter of the steps.

    Parameters
    ----------
    model : Module
        Public. What moves.
    learning_rate : float
        Public.
    steps : int
        Public. How many there will be.
    """

    def __init__(self, model: nn.Module, learning_rate: float, steps: int) -> None:
        self.trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
        self._optimizer = torch.optim.SGD(self.trained.values(), lr=learning_rate, momentum=MOMENTUM)
        self._first, self._done = int(steps * (1 - KEPT)), 0
        self._averages = {name: torch.zeros_like(one) for name, one in self.trained.items()}

    def step(self, gradients: Mapping[str, Tensor]) -> None:
        """Move against these gradients."""
        for name, one in self.trained.items():
            one.grad = gradients[name]
        self._optimizer.step()
        if self._done >= self._first:
            with torch.no_grad():
                for name, one in self.trained.items():
                    self._averages[name] += (one - self._averages[name]) / (self._done - self._first + 1)
        self._done += 1

    def finish(self) -> None:
        """Put the averages in the place of the weights."""
        with torch.no_grad():
            for name, one in self.trained.items():
                one.copy_(self._averages[name])


def mean_gradients(model: nn.Module, objective: Tensor) -> dict[str, Tensor]:
    """The gradients of a number, by the names of the parameters."""
    trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
    return dict(zip(trained, torch.autograd.grad(objective, list(trained.values())), strict=True))
