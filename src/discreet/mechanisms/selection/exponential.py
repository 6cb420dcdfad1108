"""The index of a high score: the exponential mechanism, permute-and-flip, report noisy max, and the highest few."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss, RenyiLoss, Repeated
from discreet.core.grid import Array, Steps, upwards
from discreet.core.parameters import CheckedParameters
from discreet.noise.noisy_argmax import exponential_argmax, gumbel_argmax, laplace_argmax

ORDERS = (1.05, 1.1, 1.25, 1.5, 1.75, *range(2, 33), *range(34, 65, 2), *range(72, 257, 8), 512, 1024, math.inf)
FARTHEST = 2**52  # below the best score, in steps: all differences that float64 resolves


def below_best(answer: Answer) -> Array:
    """How many steps each score is below the best one, as exact floats.

    A score farther away than float64 resolves is raised to `FARTHEST` below: the greater of two scores of sensitivity
    s has sensitivity s, so the promise does not change.
    """
    steps = answer.limited().steps
    return np.maximum(steps - steps.max(axis=-1, keepdims=True, initial=-(2**61)), -FARTHEST).astype(np.float64)


def winner(answer: Answer, bits: Bits, epsilon: float, contest: Callable[[Bits, Array, float], Steps]) -> Steps:
    """The winner of a contest with noise of scale 2 sensitivity / epsilon, or half of it if monotone.

    The noise is real on any grid of scores: there are no ties.
    """
    multiplier = noise_multiplier(answer, epsilon)
    answer = answer.coarsened(multiplier, "linf")
    return contest(bits, below_best(answer), answer.scale(multiplier, "linf"))


def noise_multiplier(answer: Answer, epsilon: float) -> Fraction:
    """The noise scale in units of the sensitivity: half as much where nobody can lower a score."""
    return (1 if answer.monotone else 2) / Fraction(epsilon)


@dataclass(frozen=True)
class ScoreChoice(CheckedParameters):
    """What choices of a high score share: an epsilon."""

    epsilon: float = 1.0
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive(type(self).__name__, "epsilon", self.epsilon)


@dataclass(frozen=True)
class Exponential(ScoreChoice):
    """Release the index of a high score: P(i) is proportional to exp(epsilon score_i / (2 sensitivity)).

    Drawn exactly, as the argument of the maximum of the scores with Gumbel noise. Where nobody can lower a score (see
    `Answer.monotone`) the factor 2 is dropped, at the same price.

    Parameters
    ----------
    epsilon : float
        Public.

    Guarantee
    ---------
    Pure, `epsilon`; its loss lies in an interval of that width, so the Renyi divergence of order a is also at most
    a epsilon^2 / 8 (a `RenyiLoss` carries both). McSherry and Talwar 2007, Theorem 6; Cesar and Rogers 2021, Lemma 3.4:
    the cumulant function K of the loss has K(0) = K(1) = 0 and K'' <= epsilon^2 / 4.

    Examples
    --------
    >>> Exponential(epsilon=1.0).event.values[-1]
    1.0
    """

    @property
    def event(self) -> RenyiLoss:
        return _loss(self.epsilon)

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """The index of the chosen score; one per stacked answer."""
        return winner(answer, bits, self.epsilon, gumbel_argmax)

    def worst_neighbors(self) -> NeighborPair:
        """One score falls and all the others rise."""
        bound = Bound("linf", 1.0)
        return NeighborPair(whole_numbers([1] + 19 * [0], bound), whole_numbers([0] + 19 * [1], bound))


@lru_cache(maxsize=1024)
def _loss(epsilon: float) -> RenyiLoss:
    """The loss of both bounds, whichever is less at each order."""
    width = Fraction(epsilon) ** 2 / 8
    return RenyiLoss(
        ORDERS,
        tuple(epsilon if math.isinf(order) else min(epsilon, upwards(Fraction(order) * width)) for order in ORDERS),
    )


@dataclass(frozen=True)
class PermuteAndFlip(ScoreChoice):
    """Release the index of the largest score after adding exponential noise to each.

    Permute-and-flip (McKenna and Sheldon 2020) in the form of Ding et al. 2021: visiting candidates in random order and
    accepting i with probability exp(-(best - score_i) / scale) picks the same index as adding exponential noise of that
    scale. Scale 2 sensitivity / epsilon, or half of it where nobody can lower a score. The noise is real: as many bits
    of it are drawn as determine the winner, so the law is exact on every grid.

    Parameters
    ----------
    epsilon : float
        Public.

    Guarantee
    ---------
    `PureLoss(epsilon)`, and no more: its loss is not of bounded range, so a price of epsilon^2 / 8 in concentrated
    privacy would be four times too low. McKenna and Sheldon 2020, Theorem 1.

    Examples
    --------
    >>> PermuteAndFlip(epsilon=0.5).event
    PureLoss(epsilon=0.5)
    """

    @property
    def event(self) -> PureLoss:
        return PureLoss(self.epsilon)

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """The index of the winner; one per stacked answer."""
        return winner(answer, bits, self.epsilon, exponential_argmax)

    def worst_neighbors(self) -> NeighborPair:
        """Two scores that change places."""
        bound = Bound("linf", 1.0)
        return NeighborPair(whole_numbers([1, 0], bound), whole_numbers([0, 1], bound))


@dataclass(frozen=True)
class NoisyMax(ScoreChoice):
    """Release the index of the largest score after adding Laplace noise to each; the noisy score stays secret.

    Scale 2 sensitivity / epsilon, or half of it where nobody can lower a score (see `Answer.monotone`). The noise is
    the real Laplace variable, of which as many bits are drawn as determine the winner: there are no ties.

    Parameters
    ----------
    epsilon : float
        Public.

    Guarantee
    ---------
    `PureLoss(epsilon)`. Dwork and Roth 2014, Claim 3.9, in its general form: given the other scores' noise, index i
    wins if its own noise is above some r; between neighbors r moves by at most 2 sensitivities (one, if monotone), and
    P(noise > r + k) >= exp(-k / scale) P(noise > r) for Laplace noise and k >= 0.

    Examples
    --------
    >>> NoisyMax(epsilon=0.5).event
    PureLoss(epsilon=0.5)
    """

    @property
    def event(self) -> PureLoss:
        return PureLoss(self.epsilon)

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """The index of the winner; one per stacked answer."""
        return winner(answer, bits, self.epsilon, laplace_argmax)

    def worst_neighbors(self) -> NeighborPair:
        """One score falls and all the others rise."""
        bound = Bound("linf", 1.0)
        return NeighborPair(whole_numbers([1] + 19 * [0], bound), whole_numbers([0] + 19 * [1], bound))


@dataclass(frozen=True)
class TopK(ScoreChoice):
    """Release the indices of `count` high scores: the exponential mechanism, repeatedly on those that are left.

    One draw of Gumbel noise per score and its `count` largest sums have the same law (Durfee and Rogers 2019).

    Parameters
    ----------
    epsilon : float
        Public. Pure epsilon of all choices together.
    count : int
        Public. How many indices; at most the number of scores.

    Guarantee
    ---------
    `count` times the event of `Exponential(epsilon / count)`: Dwork and Roth 2014, Theorem 3.16, adaptively.

    Examples
    --------
    >>> TopK(epsilon=1.0, count=2).event.times
    2
    """

    count: int = 2

    def __post_init__(self) -> None:
        check_whole("TopK", "count", self.count)
        check_positive("TopK", "epsilon", self.epsilon / self.count)

    @property
    def event(self) -> Repeated:
        return Repeated(Exponential(self.epsilon / self.count).event, self.count)

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """The chosen indices, the first choice first; one row per stacked answer."""
        if self.count > answer.size:
            raise ParameterError(
                "TopK", f"count is {self.count} and there are {answer.size} scores", "Ask for fewer.", count=self.count
            )
        multiplier = noise_multiplier(answer, self.epsilon / self.count)
        answer = answer.coarsened(multiplier, "linf")
        scores, chosen = below_best(answer), []
        for _ in range(self.count):
            chosen.append(gumbel_argmax(bits, scores, answer.scale(multiplier, "linf")))
            np.put_along_axis(scores, np.expand_dims(chosen[-1], -1), -np.inf, axis=-1)
        return np.stack(chosen, axis=-1)

    def worst_neighbors(self) -> NeighborPair:
        """The scores that win fall and all the others rise."""
        bound = Bound("linf", 1.0)
        high, low = self.count * [1] + 5 * [0], self.count * [0] + 5 * [1]
        return NeighborPair(whole_numbers(high, bound), whole_numbers(low, bound))
