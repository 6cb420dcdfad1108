"""Real numbers of mean 0 and variance 1, to thirty bits: for what is changed without a promise."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array
from discreet.noise.gaussian import rounded_gaussian
from discreet.noise.uniform import uniform_integers

NoiseLaw = Literal["gaussian", "uniform"]
FINE = 30  # bits of a deviation
FARTHEST = 8.0  # deviations: beyond, a Gaussian has probability 1e-15, and is cut
REACH: dict[NoiseLaw, float] = {"gaussian": FARTHEST, "uniform": math.sqrt(3)}


def unit_gaussians(bits: Bits, size: tuple[int, ...]) -> Array:
    """Gaussian reals, cut at 8 deviations.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> unit_gaussians(DeterministicBits(1), (3,)).round(3)
    array([0.412, 1.514, 0.587])
    """
    drawn = rounded_gaussian(bits, size, 2.0**FINE) * 2.0**-FINE
    return np.clip(drawn, -FARTHEST, FARTHEST)


def unit_noise(bits: Bits, size: tuple[int, ...], law: NoiseLaw) -> Array:
    """Gaussian reals, or uniform ones between minus and plus the root of 3.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> unit_noise(DeterministicBits(1), (3,), "uniform").round(3)
    array([1.089, 1.666, 1.603])
    """
    if law == "gaussian":
        return unit_gaussians(bits, size)
    middle = (uniform_integers(bits, size, 1 << 52).astype(np.float64) + 0.5) * 2.0**-51 - 1.0
    return REACH[law] * middle
