"""Report noisy max: the index of the largest score with Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive
from discreet.core.events import PureLoss
from discreet.core.grid import Steps
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.selection.exponential import winner
from discreet.noise.contest import laplace_argmax


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
        """The price of one release."""
        return PureLoss(self.epsilon)

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """The index of the winner; one per stacked answer."""
        return winner(answer, bits, self.epsilon, laplace_argmax)

    def worst_neighbors(self) -> NeighborPair:
        """One score falls and all the others rise."""
        bound = Bound("linf", 1.0)
        return NeighborPair(whole_numbers([1] + 19 * [0], bound), whole_numbers([0] + 19 * [1], bound))
