"""Noise and counts as they could have been, drawn in public: what error bars and p-values are read off.

Nothing here comes near an answer. The draws are the same every time, so that whoever has a release finds the same bars.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import pdtr

from discreet.core.grid import Array, Grid
from discreet.core.held import unheld
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.gaussian import rounded_gaussian
from discreet.releases.spread import Spread

SEED = 2007
CELLS = 40  # bits between the scale of noise and the step of its grid, at most
FINE = 2.0**20  # steps of a grid so fine that its rounding does not matter
MANY = 1000.0  # expected counts from which on a normal variable is close enough


@unheld("releases")
class Simulation:
    """A stream of public draws.

    Parameters
    ----------
    seed : int
        Public. Which of the streams.

    Examples
    --------
    >>> Simulation().poisson(np.array([0.0, 4.0]), 3).shape
    (3, 2)
    """

    def __init__(self, seed: int = SEED) -> None:
        self._bits = DeterministicBits(seed)

    def noise(self, spread: Spread, shape: tuple[int, ...], grid: Grid) -> Array:
        """Noise as a release on this grid has on its coordinates; normal, where many have added theirs."""
        return spread.law.drawn(self._bits, shape, spread.stddev, grid)

    def normal(self, stddev: float, shape: tuple[int, ...]) -> Array:
        """Normal variables of mean zero."""
        return rounded_gaussian(self._bits, shape, FINE).astype(np.float64) * (stddev / FINE)

    def uniform(self, shape: tuple[int, ...]) -> Array:
        """Numbers between 0 and 1."""
        words = self._bits.words(math.prod(shape)).copy()
        return ((words >> np.uint64(11)).astype(np.float64) + 0.5).reshape(shape) * 2.0**-53

    def poisson(self, means: Array, draws: int) -> Array:
        """Counts of records that come independently, with these expected counts; one row for each draw."""
        counts = np.empty((draws, means.size))
        for place, mean in enumerate(means.ravel()):
            counts[:, place] = self._poisson(float(mean), draws)
        return counts.reshape((draws, *means.shape))

    def _poisson(self, mean: float, draws: int) -> Array:
        if mean > MANY:
            return np.maximum(np.rint(mean + self.normal(math.sqrt(mean), (draws,))), 0.0)
        below = pdtr(np.arange(mean + 12 * math.sqrt(mean) + 20), mean)
        return np.searchsorted(below, self.uniform((draws,))).astype(np.float64)
