"""Gaussian vectors on the integers that lean towards a direction, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.noise.bernoulli import bernoulli
from discreet.noise.gaussian import rounded_gaussian


def tail(distance: float) -> float:
    """The probability that a standard Gaussian variable exceeds this.

    Examples
    --------
    >>> tail(0.0)
    0.5
    """
    return math.erfc(distance / math.sqrt(2)) / 2


@dataclass(frozen=True)
class Cap:
    """The part of space beyond a plane, and how much less likely draws are elsewhere.

    Parameters
    ----------
    threshold : float
        Public. How far the plane is from the middle, in standard deviations; above 0.
    chance : float
        Public. The weight of a draw elsewhere; that of one in the cap is 1 - chance. Above 0, at most 1/2.

    Examples
    --------
    >>> Cap(threshold=1.0, chance=0.5).pull
    0.0
    """

    threshold: float
    chance: float

    def __post_init__(self) -> None:
        if not (0 < self.threshold < math.inf and 0 < self.chance <= 0.5):
            remedy = "Give a threshold above 0, and a chance above 0 and at most 1/2."
            raise ParameterError("cap", f"its threshold is {self.threshold} and its chance {self.chance}", remedy)

    def weight(self, mass: float) -> float:
        return self.chance + (1 - 2 * self.chance) * mass

    @property
    def pull(self) -> float:
        """The mean of a draw along the direction, in standard deviations; across it the mean is 0.

        For a Gaussian variable g with density f, the mean of g over g >= t is f(t).
        """
        density = math.exp(-(self.threshold**2) / 2) / math.sqrt(2 * math.pi)
        return (1 - 2 * self.chance) * density / self.weight(tail(self.threshold))


def leaning_gaussian(bits: Bits, directions: Array, stddev: float, cap: Cap) -> Steps:
    """Draw vectors of rounded Gaussian reals, more likely where they lie in the cap of their direction.

    The probability of v is in proportion to that of `rounded_gaussian`, times 1 - chance where the product of v and the
    direction is at least threshold * stddev, and times chance elsewhere. The product is computed in float64: it is off
    by less than size * 2**-52 times the lengths of its factors.

    A draw that lies in the cap or in the opposite one is kept: turned into the cap, or with probability `chance` out
    of it. A draw between the two is kept with probability 2 * chance; if not, it is drawn again. Since v and -v are
    equally likely, v in the cap comes from two draws, each with weight 1 - chance, and so on: von Neumann's rejection
    (1951). How often one is drawn does not depend on what is kept, and on the direction only through the rounding;
    all coins are tossed whether they count or not.

    Parameters
    ----------
    directions : array, shape (n, size)
        Of length one.
    stddev : float
        Public. In steps.
    cap : Cap
        Public. For all directions.

    Returns
    -------
    array of int64, shape (n, size)

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> leaning_gaussian(DeterministicBits(1), np.array([[0.6, 0.8], [0.0, -1.0]]), 100.0, Cap(1.0, 0.01))
    array([[  40,  147],
           [  31, -111]])
    """
    out = np.empty(directions.shape, np.int64)
    left = np.arange(len(directions))
    while left.size:
        draws = rounded_gaussian(bits, (left.size, directions.shape[1]), stddev)
        along = np.einsum("ij,ij->i", draws.astype(np.float64), directions[left])
        beyond = np.abs(along) >= cap.threshold * stddev
        away, kept = (bernoulli(bits, left.size, chance) for chance in (cap.chance, 2 * cap.chance))
        kept |= beyond
        np.negative(draws, out=draws, where=(beyond & ((along < 0) != away))[:, None])
        out[left[kept]] = draws[kept]
        left = left[~kept]
    return out
