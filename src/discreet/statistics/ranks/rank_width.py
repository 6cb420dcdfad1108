"""How many ranks away from a quantile its interval ends, and what is found there."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
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
    most : float
        Half the width that is enough for another reason; see `beside`.

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
    most: float = math.inf

    @property
    def _square(self) -> float:
        if not self.population:
            return 0.0
        return float(ndtri(0.5 + self.confidence / 2)) ** 2 * self.number * self.q * (1 - self.q)

    @property
    def ranks(self) -> float:
        """Half the width."""
        return min(math.sqrt(self._square + self.noise**2), self.most)

    @property
    def away(self) -> float:
        """The same as a share of all values."""
        return self.ranks / self.number

    @property
    def sampling(self) -> float:
        """The part of its square that is due to sampling."""
        return min(self._square / max(self.ranks**2, 1e-300), 1.0)

    def beside(self, value: float, end: float) -> RankWidth:
        """The same, if an end is searched for on its own side of the value alone, with noise of these scales in ranks.

        Then it misses the quantile only if it falls between quantile and value. Let the value be d ranks above the
        quantile of these data, by Laplace noise, and the population's z ranks below it, by the normal law of the sample
        (zero for these data). A lower end has a law G around -a, cut off at d, so that it is above -z with probability
        1 - G(-z) / G(d), if -z is below d. The least a for which this happens as rarely as it may is searched for.

        Examples
        --------
        >>> round(RankWidth(0.5, 1000.0, 90.0, 0.95, False).beside(2.0, 30.0).ranks, 1)
        2.9
        >>> round(RankWidth(0.5, 1e6, 90.0, 0.95, True).beside(2.0, 30.0).ranks)
        984
        """
        deviation = math.sqrt(self.number * self.q * (1 - self.q)) if self.population else 0.0
        d, z = value * LAPLACE, deviation * NORMAL
        possible = (-z < d[:, None]).astype(np.float64)
        places = possible.sum()

        def miss(a: float) -> float:
            inside, outside = laplace_cdf((a + d) / end), laplace_cdf((a - z) / end)  # where possible, none is greater
            shares = np.divide(possible @ outside, inside, out=np.zeros_like(inside), where=inside > 1e-300)
            return 2 * float(places - shares.sum()) / possible.size

        low, high = 0.0, 6 * deviation + 20 * end
        for _ in range(SEARCHED):
            middle = (low + high) / 2
            low, high = (middle, high) if miss(middle) > 1 - self.confidence else (low, middle)
        return dataclasses.replace(self, most=high + 1)


PLACES = (np.arange(101) + 0.5) / 101
LAPLACE: Array = np.sign(PLACES - 0.5) * -np.log1p(-np.abs(2 * PLACES - 1) * (1 - 1e-9))
NORMAL: Array = ndtri(PLACES)
SEARCHED = 40


def laplace_cdf(x: Array) -> Array:
    """The distribution function of a Laplace variable of scale one."""
    beyond = 0.5 * np.exp(-np.abs(x))
    return np.where(x < 0, beyond, 1 - beyond)
