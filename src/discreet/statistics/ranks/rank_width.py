"""How many ranks away from a quantile its interval ends, and what is found there."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtri

from discreet.core.grid import Array


@dataclass(frozen=True)
class Found:
    """Quantiles and their intervals.

    Parameters
    ----------
    values : array of shape (shares,)
        The quantiles.
    ends : array of shape (2, shares), optional
        The lower ends of their intervals and the upper ones, where asked for.
    sampling : array of shape (shares,), optional
        The part of each interval's squared width that is due to sampling.
    """

    values: Array
    ends: Array | None = None
    sampling: Array | None = None


@dataclass(frozen=True)
class RankWidth:
    """Half the width of an interval for the population's quantile, in ranks.

    The number of a sample's values below the population's quantile varies as sampling does, and the rank of what is
    found varies as noise does. The half-width of a sum of independent variables is taken to be the root of the sum of
    squares of theirs: exact where one of them is all there is, and close between.

    Parameters
    ----------
    share : float
        In [0, 1].
    number : float
        Of all values.
    noise : float
        Half the width for noise alone, in ranks.
    confidence : float
        Of the interval.

    Examples
    --------
    >>> round(RankWidth(0.5, 10_000.0, 0.0, 0.95).ranks, 1)  # 1.96 deviations
    98.0
    """

    share: float
    number: float
    noise: float
    confidence: float

    @property
    def _square(self) -> float:
        return float(ndtri(0.5 + self.confidence / 2)) ** 2 * self.number * self.share * (1 - self.share)

    @property
    def ranks(self) -> float:
        """Half the width."""
        return math.sqrt(self._square + self.noise**2)

    @property
    def away(self) -> float:
        """The same as a share of all values."""
        return self.ranks / self.number

    @property
    def sampling(self) -> float:
        """The part of its square that is due to sampling."""
        return self._square / max(self.ranks**2, 1e-300)
