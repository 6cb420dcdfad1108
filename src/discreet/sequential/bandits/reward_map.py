"""How a reward becomes a number from 0 to 1, on the user's side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.parameters import CheckedParameters
from discreet.sequential.reading import rewards_of


class RewardMap(Protocol):
    """A public, increasing map of rewards."""

    def unit(self, rewards: ArrayLike) -> Array:
        """Each reward as a number in [0, 1]; one that is no finite number as 0."""


@dataclass(frozen=True)
class Clipped(CheckedParameters):
    """Clip rewards to public bounds, and scale these to [0, 1].

    For rewards that stay within the bounds, the arm with the best mean stays the best.

    Parameters
    ----------
    lower, upper : float
        Public. Finite, lower < upper.

    Examples
    --------
    >>> Clipped(0.0, 10.0).unit([-3.0, 5.0, float("nan")])
    array([0. , 0.5, 0. ])
    """

    lower: float = 0.0
    upper: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and 0 < self.upper - self.lower < math.inf):
            obstacle = f"the bounds are {self.lower} and {self.upper}"
            raise ParameterError("clipped rewards", obstacle, "Give finite, public bounds, the lower one first.")

    def unit(self, rewards: ArrayLike) -> Array:
        inside = np.clip(rewards_of(rewards), self.lower, self.upper)
        scaled = (inside - self.lower) / (self.upper - self.lower)
        return np.where(np.isnan(scaled), 0.0, scaled)


@dataclass(frozen=True)
class Sigmoid(CheckedParameters):
    """Map unbounded rewards by s(r) = 1 / (1 + exp(-(r - center) / scale)).

    An agent then looks for the arm with the largest mean of s(r), not of r, and the order of arms can differ: an arm
    that pays 10 or -6 with equal chances has the mean 2, more than one that always pays 1, but its mean of s(r) is 0.50
    against 0.73. Where bounds are known, `Clipped` is better.

    Parameters
    ----------
    center, scale : float
        Public. The reward that is mapped to 1/2, and the unit of distances from it.

    Examples
    --------
    >>> Sigmoid().unit([-1e9, 0.0, 1e9])
    array([0. , 0.5, 1. ])
    """

    center: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.center):
            raise ParameterError("sigmoid of rewards", f"the center is {self.center}", "Give a finite number.")
        check_positive("sigmoid of rewards", "scale", self.scale)

    def unit(self, rewards: ArrayLike) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            found = expit((rewards_of(rewards) - self.center) / self.scale)
        return np.where(np.isnan(found), 0.0, found)
