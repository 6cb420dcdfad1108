"""A sum of numbers with exact Gaussian noise."""

from __future__ import annotations

import math

import numpy as np
from torch import Tensor

from discreet.core.bits import Bits
from discreet.core.grid import Array, Grid
from discreet.mechanisms.additive.gaussian import Gaussian

FINENESS = 2.0**-30  # of the sensitivity: the grid that sums are rounded to, so that their noise is exact
WITHOUT_FLOAT64 = frozenset({"mps"})  # kinds of devices whose sums are brought to the processor


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
    return (sums.double() * (1 / step)).round().nan_to_num(0.0, 0.0, 0.0) * step  # 1 / step is exact


def rounding_on_grid(size: int, bands: int = 1) -> float:
    """How many steps of the grid neighbors are further apart, if two chunks differ and each was rounded by itself.

    Both move each number by half a step, with the record and without it. In a row of correlated noise these two steps
    are times a coefficient, of which the squares add up to 1, and each of the rows is rounded once more.
    """
    return math.sqrt(size) * (2.0 if bands == 1 else 2.0 + math.sqrt(bands))


def noisy_sum(sums: Array, sensitivity: float, noise: Gaussian, bits: Bits, rounding: float | None = None) -> Array:
    """The sums on a fine grid, with the noise of the real Gaussian variable, rounded: `noise.event`.

    Rounding moves each number by half a step at most, so neighbors are at most a step further apart in each.

    Parameters
    ----------
    sums : array
        Exact. Their l2 distance between neighbors is at most `sensitivity`.
    sensitivity : float
        Public.
    noise : Gaussian
        Public.
    bits : Bits
        Where noise comes from.
    rounding : float, optional
        Public. How many steps of the grid rounding moves neighbors apart; by default, for sums that are rounded once.
    """
    grid = fine_grid(sensitivity)
    reach = sensitivity / grid.step + (math.sqrt(sums.size) if rounding is None else rounding)
    drawn = noise.noise(bits, sums.shape, noise.multiplier * reach)
    return grid.values(np.rint(sums / grid.step).astype(np.int64) + drawn)
