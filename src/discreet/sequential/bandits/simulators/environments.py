"""Invented users: arms with known laws of rewards, to measure regret in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Arms

ASKED = "environment of a bandit"


class Environment(ABC):
    """Arms that pay rewards, and what is lost by not pulling the best one."""

    arms: int

    @abstractmethod
    def rewards(self, step: int, arms: Arms, rng: np.random.Generator) -> Array:
        """A reward for the arm of each run, in round number `step`, from 0."""

    @abstractmethod
    def losses(self, step: int, arms: Arms) -> Array:
        """By how much the best arm is better, in the mean, than that of each run."""


class MeanArms(Environment):
    """Arms whose rewards are independent, each with a mean of its own.

    Parameters
    ----------
    means : sequence of float
        Of each arm.

    Attributes
    ----------
    gaps : array of shape (arms,)
        By how much the best mean exceeds each.
    """

    def __init__(self, means: Sequence[float]) -> None:
        self.means: Array = np.array(means, np.float64)
        if self.means.ndim != 1 or not self.means.size or not np.isfinite(self.means).all():
            raise ParameterError(ASKED, f"the means are {means}", "Give a finite mean for each arm.")
        self.arms = len(self.means)
        self.gaps: Array = np.asarray(self.means.max() - self.means)

    def losses(self, step: int, arms: Arms) -> Array:
        """The gap of each arm."""
        return np.asarray(self.gaps[arms])


class BernoulliArms(MeanArms):
    """Rewards of 0 or 1.

    Examples
    --------
    >>> arms = BernoulliArms([0.9, 0.5])
    >>> arms.gaps
    array([0. , 0.4])
    >>> arms.rewards(0, np.array([0, 1, 1]), np.random.default_rng(0))
    array([1., 1., 1.])
    """

    def __init__(self, means: Sequence[float]) -> None:
        super().__init__(means)
        if self.means.min() < 0 or self.means.max() > 1:
            raise ParameterError(ASKED, f"the means are {means}", "Give means from 0 to 1.")

    def rewards(self, step: int, arms: Arms, rng: np.random.Generator) -> Array:
        """A coin of each arm's own bias."""
        return (rng.random(arms.shape) < self.means[arms]).astype(np.float64)


class BoundedArms(MeanArms):
    """Rewards in [0, 1] with laws Beta(c mean, c (1 - mean)).

    Parameters
    ----------
    means : sequence of float
        Above 0 and below 1.
    concentration : float
        c: the larger, the closer rewards are to their mean.

    Examples
    --------
    >>> arms = BoundedArms([0.2, 0.7])
    >>> bool(0 <= arms.rewards(0, np.array([1]), np.random.default_rng(0))[0] <= 1)
    True
    """

    def __init__(self, means: Sequence[float], concentration: float = 4.0) -> None:
        super().__init__(means)
        check_positive(ASKED, "concentration", concentration)
        if self.means.min() <= 0 or self.means.max() >= 1:
            raise ParameterError(ASKED, f"the means are {means}", "Give means between 0 and 1.")
        self.concentration = float(concentration)

    def rewards(self, step: int, arms: Arms, rng: np.random.Generator) -> Array:
        """A draw from each arm's law."""
        means = self.means[arms]
        return rng.beta(self.concentration * means, self.concentration * (1 - means))


class GaussianArms(MeanArms):
    """Unbounded rewards: normal, with one standard deviation.

    Parameters
    ----------
    means : sequence of float
        Of each arm.
    stddev : float
        Of all rewards.

    Examples
    --------
    >>> arms = GaussianArms([0.0, 5.0], stddev=0.5)
    >>> bool(3 < arms.rewards(0, np.array([1]), np.random.default_rng(0))[0] < 7)
    True
    """

    def __init__(self, means: Sequence[float], stddev: float = 1.0) -> None:
        super().__init__(means)
        check_positive(ASKED, "stddev", stddev)
        self.stddev = float(stddev)

    def rewards(self, step: int, arms: Arms, rng: np.random.Generator) -> Array:
        """A draw from each arm's law."""
        return rng.normal(self.means[arms], self.stddev)


class AdversarialArms(Environment):
    """Rewards that were written down beforehand; losses are against the best fixed arm in hindsight.

    Parameters
    ----------
    table : array of shape (rounds, arms)
        The reward of each arm in each round, in [0, 1]. After the last round it starts again.

    Examples
    --------
    >>> arms = AdversarialArms([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> arms.losses(1, np.array([0, 1]))
    array([ 0., -1.])
    """

    def __init__(self, table: Any) -> None:
        self.table: Array = np.array(table, np.float64)
        if self.table.ndim != 2 or not self.table.size or not ((self.table >= 0) & (self.table <= 1)).all():
            raise ParameterError(ASKED, f"a table of shape {self.table.shape}", "Give rounds by arms, from 0 to 1.")
        self.arms, self.best = self.table.shape[1], int(self.table.mean(axis=0).argmax())

    def rewards(self, step: int, arms: Arms, rng: np.random.Generator) -> Array:
        """What is written down."""
        return np.asarray(self.table[step % len(self.table)][arms])

    def losses(self, step: int, arms: Arms) -> Array:
        """What the arm that is best over all rounds pays more in this one; negative where it pays less."""
        row = self.table[step % len(self.table)]
        return np.asarray(row[self.best] - row[arms])


class LinearArms:
    """Rewards of 0 or 1 with mean theta'x, for contexts x of length 1 with coordinates of at least 0.

    Parameters
    ----------
    theta : sequence of float
        At least 0, of length at most 1.
    arms : int
        How many contexts each user has to choose from, drawn anew.

    Examples
    --------
    >>> LinearArms([0.6, 0.8], arms=3).contexts(5, np.random.default_rng(0)).shape
    (5, 3, 2)
    """

    def __init__(self, theta: Sequence[float], arms: int = 10) -> None:
        self.theta: Array = np.array(theta, np.float64)
        check_whole(ASKED, "arms", arms)
        if self.theta.ndim != 1 or not self.theta.size or self.theta.min() < 0 or np.linalg.norm(self.theta) > 1 + 1e-9:
            raise ParameterError(ASKED, f"theta is {theta}", "Give numbers of at least 0, of length at most 1.")
        self.arms = int(arms)

    def contexts(self, runs: int, rng: np.random.Generator) -> Array:
        """The contexts of one user for each run, of shape (runs, arms, dimension)."""
        drawn = np.abs(rng.standard_normal((runs, self.arms, len(self.theta))))
        return np.asarray(drawn / np.linalg.norm(drawn, axis=-1, keepdims=True))

    def rewards(self, means: Array, rng: np.random.Generator) -> Array:
        """A coin for each mean."""
        return (rng.random(means.shape) < means).astype(np.float64)
