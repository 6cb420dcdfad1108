"""A sum of numbers with exact Gaussian noise."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Grid
from discreet.mechanisms.additive.gaussian import Gaussian

FINENESS = 2.0**-30  # of the sensitivity: the grid that sums are rounded to, so that their noise is exact


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
    grid = Grid(math.floor(math.log2(sensitivity * FINENESS)))
    reach = sensitivity / grid.step + (math.sqrt(sums.size) if rounding is None else rounding)
    drawn = noise.noise(bits, sums.shape, noise.multiplier * reach)
    return grid.values(np.rint(sums / grid.step).astype(np.int64) + drawn)
