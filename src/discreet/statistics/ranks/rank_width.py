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
    values : array of shape (quantiles,)
        The quantiles.
    ends : array of shape (2, quantiles), optional
        The lower ends of their intervals and the upper ones, where asked for.
    sampling : array of shape (quantiles,), optional
        The part of each interval's squared width that is due to sampling.
    """

    values: Array
    ends: Array | None = None
    sampling: Array | None = None


@dataclass(frozen=True)
class RankWidth:
    """Half the width of an interval for a quantile, in ranks.

    The rank of what is found varies with the noise and, for a population, the number of a sample's values below the
    population's quantile varies by the binomial law. The half-width of a sum of independent variables is taken to be
    the root of the sum of squares of theirs: exact if one of them is zero, and close otherwise.

    Parameters
    ----------
    q : float
        The level of the quantile, in [0, 1].
    number : float
        Of all values.
    noise : float
        Half the width for noise alone, in ranks.
    confidence : float
        Of the interval.
    population : bool
        Whether the interval is for the population's quantile; else for that of these data.

    Examples
    --------
    >>> round(RankWidth(0.5, 10_000.0, 0.0, 0.95, True).ranks, 1)  # 1.96 deviations
    98.0
    """

    q: float
    number: float
    noise: float
    confidence: float
    population: bool

    @property
    def _square(self) -> float:
        if not self.population:
            return 0.0
        return float(ndtri(0.5 + self.confidence / 2)) ** 2 * self.number * self.q * (1 - self.q)

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
