"""An interval for a quantile, from a noisy histogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.releases.spread import CONFIDENCE, Spread


@dataclass(frozen=True)
class Enclosure:
    """Two values between which another one lies."""

    low: float
    high: float

    def error(self, value: float) -> float:
        """The half-width around `value` of the least interval that holds this one."""
        return max(value - self.low, self.high - value)


def quantile_interval(
    counts: Array, edges: Array, share: float, spread: Spread, confidence: float = CONFIDENCE
) -> Enclosure:
    """Two edges between which a quantile of the exact values lies, with this confidence.

    The quantile is the least value with at least `share` of the values at or below it. With D_j the number of values
    below edge j less `share` times the number of all, it is at or above the edge where D_j < 0, and below it where
    D_j >= 0. D_j grows with j, so the hypotheses "D_j >= 0" are nested. Test them in order from the lowest edge, each
    at half the level of both sides, and stop at the first that stands: an error needs the first true one to be
    rejected, so it has at most that probability in all. The same from the highest edge down. D_j is a weighted sum of
    cells, so the noise in it is known.

    Parameters
    ----------
    counts : array of shape (cells,)
        Noisy counts.
    edges : array of shape (cells + 1,)
        Public.
    share : float
        Public. In [0, 1].
    spread : Spread
        Public. The noise of each count.
    confidence : float
        Public. Of the interval.

    Examples
    --------
    >>> from discreet.mechanisms.additive.gaussian import Gaussian
    >>> quantile_interval(np.full(10, 100.0), np.arange(11.0), 0.5, Spread(Gaussian(1.0), 2.0))
    Enclosure(low=4.0, high=6.0)
    """
    surplus = np.cumsum(counts)[:-1] - share * counts.sum()
    below = np.tril(np.ones((len(counts), len(counts))))[:-1]
    noise = np.array([spread.half_width(row - share, confidence) for row in below])
    from_below = int(np.argmin(np.r_[surplus < -noise, False]))
    from_above = int(np.argmin(np.r_[(surplus > noise)[::-1], False]))
    return Enclosure(float(edges[from_below]), float(edges[len(counts) - from_above]))
