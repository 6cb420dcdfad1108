"""Counts that noise of a known law has moved, and how far it moves sums of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from discreet.core.grid import Array
from discreet.releases.law import Law

FEW = 64  # Laplace variables that are taken one by one; smaller ones add up to a normal one


@dataclass(frozen=True)
class KnownCounts:
    """A table of counts, each a weighted sum of counts that have independent noise.

    Parameters
    ----------
    counts : array
        The counts.
    noises : tuple of tuples
        What the noise on each count is a sum of: for each part the deviation of a noise, and how many there are.
    """

    counts: Array
    noises: tuple[tuple[float, int], ...]

    @property
    def stddev(self) -> float:
        """The deviation of each count."""
        return math.sqrt(sum(stddev**2 * number for stddev, number in self.noises))

    def half_width(self, shares: Array, confidence: float, laplace: bool) -> float:
        """How far the noise moves a sum of shares of the counts, with this confidence."""
        parts = [np.repeat(shares.ravel() * stddev, number) for stddev, number in self.noises]
        return half_width(np.concatenate(parts), confidence, laplace)


def half_width(stddevs: Array, confidence: float, laplace: bool) -> float:
    """How far from zero a sum of independent noises of these deviations is, with this confidence.

    Examples
    --------
    >>> [round(half_width(np.sqrt([2.0]), 0.95, laplace), 3) for laplace in (False, True)]  # the latter is ln 20
    [2.772, 2.996]
    """
    falling = np.sort(np.abs(stddevs[stddevs != 0]))[::-1]
    if not (laplace and len(falling)):
        return float(ndtri(0.5 + confidence / 2) * np.linalg.norm(falling))
    scales, unit = falling / math.sqrt(2), float(falling[0])
    if len(scales) == 1:
        return float(-math.log(1 - confidence) * scales[0])
    law = Law(float(np.linalg.norm(falling[FEW:] / unit)), scales[:FEW] / unit)
    return unit * law.half_width(1 - confidence)
