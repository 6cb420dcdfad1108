"""Report noisy max: the index of the largest score with Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss, Repeated
from discreet.core.grid import Steps
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.selection.exponential import Exponential, below_best, winner
from discreet.noise.contest import gumbel_argmax, laplace_argmax


@dataclass(frozen=True)
class NoisyMax(CheckedParameters):
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

    epsilon: float = 1.0
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("NoisyMax", "epsilon", self.epsilon)

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
class TopK(CheckedParameters):
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

    epsilon: float = 1.0
    count: int = 2
    calibrated: ClassVar[str] = "epsilon"

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
        multiplier = (1 if answer.monotone else 2) / Fraction(self.epsilon / self.count)
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
