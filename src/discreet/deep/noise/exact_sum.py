"""Exact sums of gradients, before noise: secret. Only what asks and what adds noise may import this module."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.grid import Array
from discreet.core.held import Secret
from discreet.core.neighbors import Neighbors
from discreet.deep.noise.fine_grid import WITHOUT_FLOAT64, fine_grid


@dataclass(frozen=True)
class DeviceAnswer(Secret):
    """An exact sum as a tensor on a device that is no processor, and how far one unit can move it: see `Answer`.

    Parameters
    ----------
    sums : Tensor of shape (size,)
        In float64, on a grid.
    bound : Bound
        The most one unit adds to the sum.
    neighbors : Neighbors
        The relation of the data set.
    step : float
        What one step of the grid is worth.
    slack : float
        How many more steps any coordinate may move, from rounding.
    """

    sums: Tensor = field(repr=False)
    bound: Bound
    neighbors: Neighbors
    step: float
    slack: float

    @property
    def sensitivity(self) -> float:
        """The farthest one unit can move the sum, in l2."""
        size = self.sums.numel()
        return self.bound.sensitivity("l2", size, self.neighbors) + self.slack * self.step * math.sqrt(size)


ExactSum = Answer | DeviceAnswer


def exact_sum(flat: Tensor, radius: float, slack: float, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Answer:
    """Sums that were put on the fine grid of what one unit moves them by, as an answer.

    Parameters
    ----------
    flat : Tensor of shape (size,)
        The sums.
    radius : float
        Public. The greatest l2 length of what one unit adds.
    slack : float
        Public. How many steps of the grid any coordinate may move beyond that, where neighbors are rounded otherwise.
    neighbors : Neighbors
        Public. The relation of the data set.
    """
    grid = fine_grid(radius * neighbors.reach)
    steps = np.rint(flat.numpy() / grid.step).astype(np.int64)
    return Answer(steps, grid, Bound("l2", radius), neighbors, slack)


def device_sum(flat: Tensor, radius: float, slack: float) -> DeviceAnswer:
    """The same of sums that stay on their device, for neighbors that differ by one record, added or removed."""
    return DeviceAnswer(flat, Bound("l2", radius), Neighbors.ADD_REMOVE, fine_grid(radius).step, slack)


def on_processor(device: torch.device) -> bool:
    """Whether sums of this device are added up on the processor, and get exact noise."""
    return device.type in WITHOUT_FLOAT64 | {"cpu"}


def numbers(answer: ExactSum) -> Any:
    """The exact sums as numbers."""
    return answer.sums if isinstance(answer, DeviceAnswer) else answer.grid.values(answer.steps)


def with_numbers(answer: ExactSum, row: Array | Tensor, slack: float) -> ExactSum:
    """Other numbers with the bound of an answer, rounded to its grid."""
    if isinstance(answer, DeviceAnswer):
        return dataclasses.replace(answer, sums=torch.as_tensor(row), slack=slack)
    return dataclasses.replace(answer, steps=np.rint(row / answer.grid.step).astype(np.int64), slack=slack)
