"""Which noise a statistic adds, and how far it throws the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtri

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.question import BoundedSum
from discreet.mechanisms.additive.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.vectors.sphere_report import LARGEST, SphereReport
from discreet.trust.private_data import PrivateData

Additive = Laplace | Gaussian
Noise = Additive | DiscreteLaplace | SphereReport
CONFIDENCE = 0.95
REPORT = SphereReport().event
FARTHEST = 700.0  # that has an exponential in float64


@dataclass(frozen=True)
class Spread:
    """How noise on the coordinates of a sum spreads: all of it public.

    Parameters
    ----------
    noise : Laplace, Gaussian, DiscreteLaplace or SphereReport
        The mechanism.
    stddev : float
        Standard deviation on each coordinate.
    reports : float
        How many noises of a curator it amounts to.
    """

    noise: Noise
    stddev: float
    reports: float = 1

    def half_width(self, weights: ArrayLike, confidence: float = CONFIDENCE) -> float:
        """How far the noise moves a weighted sum of coordinates, at this confidence.

        A weighted sum of independent Laplace variables of scales b_i has P(|S| > t) = sum_i A_i exp(-t / b_i) with
        A_i = prod_{j != i} b_i^2 / (b_i^2 - b_j^2), by partial fractions of its characteristic function; beyond six
        coordinates, or for a sum of reports, the normal law is close enough. Discrete Laplace noise on a whole number
        is beyond t with probability 2 a^(t + 1) / (1 + a), if each number is a times as likely as the one before; sums
        of it are as sums of Laplace variables with its variance.

        Examples
        --------
        >>> round(Spread(Gaussian(1.0), 2.0).half_width([1.0]), 2)
        3.92
        >>> round(Spread(Laplace(1.0), math.sqrt(2)).half_width([1.0]), 3)  # ln 20
        2.996
        """
        sizes = np.abs(np.atleast_1d(np.asarray(weights, dtype=np.float64)))
        sizes = sizes[sizes > 1e-9 * sizes.max(initial=0.0)]
        if isinstance(self.noise, DiscreteLaplace) and len(sizes) == 1:
            return float(sizes[0]) * self._whole_half_width(confidence)
        normal = float(ndtri(0.5 + confidence / 2) * self.stddev * math.hypot(*sizes.tolist()))
        if not isinstance(self.noise, Laplace | DiscreteLaplace) or self.reports != 1 or not 0 < len(sizes) <= 6:
            return normal
        return _laplace_half_width(self.stddev / math.sqrt(2) * sizes, confidence)

    @property
    def whole_scale(self) -> float:
        """Of discrete Laplace noise: -1 / ln(a), from the variance 2 a / (1 - a)^2 = 1 / (2 sinh(ln(a) / 2)^2)."""
        return 0.5 / math.asinh(math.sqrt(0.5) / self.stddev)

    def _whole_half_width(self, confidence: float) -> float:
        log = -1 / self.whole_scale
        return max(0.0, math.ceil(math.log((1 - confidence) * (1 + math.exp(log)) / 2) / log - 1))


def _laplace_half_width(scales: np.ndarray, confidence: float) -> float:
    if len(scales) == 1:
        return float(-math.log(1 - confidence) * scales[0])
    scales = np.sort(scales) * (1 + 1e-3 * np.arange(len(scales)))  # no two alike
    squares = np.square(scales)
    gaps = squares[:, None] - squares[None, :]
    factors = np.where(gaps == 0, 1.0, squares[:, None] / np.where(gaps == 0, 1.0, gaps)).prod(axis=1)

    def outside(t: float) -> float:
        return float((factors * np.exp(-t / scales)).sum()) - (1 - confidence)

    return float(brentq(outside, 0.0, 60 * float(scales.sum())))


def least_noise(data: PrivateData, question: BoundedSum, size: int, budget: Budget, times: int = 1) -> Spread:
    """The noise that moves each coordinate least, for `times` such releases within the budget.

    Of Laplace and Gaussian noise and, where people report by themselves, reports on the sphere: those that the trust
    model can keep the promise of. On whole numbers, discrete Laplace noise has a lesser variance than rounded Laplace
    noise, by more than half at epsilon 3; its loss is the worst of its epsilon, so it is there only where losses just
    add up.
    """
    noises: list[Noise] = [calibrate(Laplace(), budget, times)]
    if question.grid.exponent == 0 and pure(data, budget) and not data.unit.pooled:
        noises.append(calibrate(DiscreteLaplace(), budget, times))
    if budget.delta > 0:
        noises.append(calibrate(Gaussian(), budget, times))
    if size <= LARGEST and data.keeps(REPORT):
        noises.append(calibrate(SphereReport(), budget, times))
    kept = [noise for noise in noises if data.keeps(noise.event)]
    return min((spread(data, question, size, noise) for noise in kept or noises), key=lambda spread: spread.stddev)


def pure(data: PrivateData, budget: Budget) -> bool:
    """Whether nothing but epsilon is paid, now and ever: then all that a release costs is its pure loss."""
    return budget.delta == 0 and data.ledger.budget.delta == 0


def spread(data: PrivateData, question: BoundedSum, size: int, noise: Noise) -> Spread:
    """How this noise spreads on the release, under the trust model of the data."""
    one = noise.stddev(question.bound.times(data.unit.rows), size, data.neighbors)
    if isinstance(noise, DiscreteLaplace):
        one = math.sqrt(0.5) / math.sinh(min(math.sqrt(0.5) / one, FARTHEST))
    return Spread(noise, one * math.sqrt(data.reports), data.reports)


def whole_half_width(spread: Spread, weights: Array, confidence: float) -> float:
    """How far the noise moves a sum of whole counts, at this confidence: the least whole number that will do.

    A curator's noise on a whole number is whole, or a variable that is rounded: then k holds it if k + 1/2 holds the
    variable. So an interval covers more than it says, and much more where it is a few steps wide.

    Examples
    --------
    >>> import math
    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> whole_half_width(Spread(Laplace(2.0), 2 * math.sqrt(2)), np.ones(1), 0.95)  # 2 ln 20 is 5.99
    6.0
    """
    rounded = spread.reports == 1 and not isinstance(spread.noise, DiscreteLaplace)
    return float(max(np.ceil(spread.half_width(weights, confidence) - 0.5 * rounded), 0.0))
