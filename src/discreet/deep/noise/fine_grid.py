"""The grid that sums of gradients are put on before they are added up."""

from __future__ import annotations

import math

from torch import Tensor

from discreet.core.grid import Grid

FINENESS = 2.0**-30  # of the sensitivity: the grid that sums are rounded to, so that their noise is exact
WITHOUT_FLOAT64 = frozenset({"mps"})  # kinds of devices whose sums are brought to the processor
OF_CHUNKS = 2.0  # steps that neighbors are further apart in each number: two chunks differ, each rounded by itself


def fine_grid(sensitivity: float) -> Grid:
    """The grid of sums with this sensitivity."""
    return Grid(math.floor(math.log2(sensitivity * FINENESS)))


def on_grid(sums: Tensor, sensitivity: float) -> Tensor:
    """Sums of a chunk on the fine grid, in float64: so chunks add up without rounding, in whatever order.

    That is so below 2**53 steps, or 2**22 records of the greatest length; what is not finite counts as 0.

    Examples
    --------
    >>> import torch
    >>> on_grid(torch.tensor([0.1, torch.inf]), 1.0) * 2.0**30
    tensor([1.0737e+08, 0.0000e+00], dtype=torch.float64)
    """
    return in_steps(sums, fine_grid(sensitivity).step)


def in_steps(sums: Tensor, step: float | Tensor) -> Tensor:
    """The nearest multiples of a power of two, in float64; what is not finite counts as 0."""
    sums = sums.cpu() if sums.device.type in WITHOUT_FLOAT64 else sums
    return (sums.double() / step).round().nan_to_num(0.0, 0.0, 0.0) * step
