"""How far noise throws the coordinates of a release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.grid import Array
from discreet.core.mechanism import Noise
from discreet.mechanisms.additive.error_law import ErrorLaw, NormalError
from discreet.questions.question import BoundedQuestion
from discreet.trust.private_data import PrivateData

CONFIDENCE = 0.95
NORMAL = NormalError()


@dataclass(frozen=True)
class Spread:
    """How noise on the coordinates of a sum spreads: all of it public.

    Parameters
    ----------
    noise : Noise
        The mechanism.
    stddev : float
        Standard deviation on each coordinate.
    reports : float
        How many noises of a curator it amounts to.
    """

    noise: Noise
    stddev: float
    reports: float = 1

    @cached_property
    def law(self) -> ErrorLaw:
        """The law of the noise: the mechanism's own, or the normal one, where several have added theirs."""
        law: ErrorLaw = self.noise.law if self.reports == 1 else NORMAL
        return law

    def half_width(self, weights: ArrayLike, confidence: float = CONFIDENCE) -> float:
        """How far the noise moves a weighted sum of coordinates, with this confidence.

        Examples
        --------
        >>> from discreet.mechanisms.additive.gaussian import Gaussian
        >>> round(Spread(Gaussian(1.0), 2.0).half_width([1.0]), 2)
        3.92
        """
        return self.law.half_width(self.stddev, weights, confidence)


def spread(data: PrivateData, question: BoundedQuestion, noise: Noise) -> Spread:
    """How this noise spreads on the release, under the trust model of the data."""
    if data.ranged:  # a call less for all others
        data.check_range(question, noise)
    grid = None if data.unit.pooled else question.grid
    one = noise.stddev(question.bound.times(data.unit.rows), question.size, data.neighbors, grid)
    reports = data.reports_of(noise) if data.coins else data.reports
    return Spread(noise, one * math.sqrt(reports), reports)


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
    rounded = spread.reports == 1 and spread.law.rounded
    return float(max(np.ceil(spread.half_width(weights, confidence) - 0.5 * rounded), 0.0))
