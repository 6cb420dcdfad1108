"""Randomised response over k categories: the truth, or anything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import ULP, Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.events import DiscreteLoss, LossTable
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers


@dataclass(frozen=True)
class RandomizedResponse(CheckedParameters):
    """Report a category truthfully, or, with a known probability, a uniformly random one.

    The answer holds the category's number, 0 to categories - 1, in its only coordinate; numbers outside are moved to
    the nearest category. Its sensitivity plays no part.

    Parameters
    ----------
    epsilon : float
        Public.
    categories : int
        Public. At least 2.

    Guarantee
    ---------
    Pure, epsilon; the tabulated `DiscreteLoss` is exact: loss epsilon with the probability of the truth, -epsilon with
    that of one given lie, 0 otherwise. Warner 1965; Kairouz, Bonawitz and Ramage 2016, section 2.

    Examples
    --------
    >>> survey = RandomizedResponse(epsilon=1.0, categories=3)
    >>> survey.estimated(np.array([50, 30, 20])).sum().round(6)
    np.float64(100.0)
    """

    epsilon: float = 1.0
    categories: int = 2
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("RandomizedResponse", "epsilon", self.epsilon, most=700.0)
        check_whole("RandomizedResponse", "categories", self.categories, least=2)

    @property
    def chance(self) -> float:
        """The probability that the report is a uniformly random category."""
        return self.categories / (math.exp(self.epsilon) + self.categories - 1)

    @property
    def event(self) -> DiscreteLoss:
        """The price of one report, from the probability that is drawn; rounded up."""
        lie = self.chance / self.categories
        truth = min(1.0, (1 - self.chance + lie) * (1 + 4 * ULP))
        loss = math.log1p(self.categories * (1 - self.chance) / self.chance) * (1 + 16 * ULP)
        table = LossTable(-1, (lie, max(0.0, 1 - truth - lie), truth))
        return DiscreteLoss(loss, table, table)

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """The reported category; one per stacked answer."""
        truth = np.clip(answer.steps[..., 0], 0, self.categories - 1)
        anything = uniform_integers(bits, truth.shape, self.categories)
        return np.where(bernoulli(bits, truth.shape, self.chance), anything, truth)

    def estimated(self, counts: Array) -> Array:
        """An unbiased estimate of the true counts from the reported ones: post-processing."""
        counts = np.asarray(counts, dtype=np.float64)
        return (counts - counts.sum(axis=-1, keepdims=True) * self.chance / self.categories) / (1 - self.chance)

    def worst_neighbors(self) -> NeighborPair:
        """A person who changes category."""
        bound = Bound("linf", float(self.categories))
        return NeighborPair(whole_numbers([0], bound, Neighbors.REPLACE), whole_numbers([1], bound, Neighbors.REPLACE))
