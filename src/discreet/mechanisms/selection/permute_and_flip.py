"""Permute-and-flip: the index of a high score, never worse than the exponential mechanism."""

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
from discreet.noise.contest import exponential_argmax


@dataclass(frozen=True)
class PermuteAndFlip(CheckedParameters):
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

    epsilon: float = 1.0
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("PermuteAndFlip", "epsilon", self.epsilon)

    @property
    def event(self) -> PureLoss:
        """The price of one release."""
        return PureLoss(self.epsilon)

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """The index of the winner; one per stacked answer."""
        return winner(answer, bits, self.epsilon, exponential_argmax)

    def worst_neighbors(self) -> NeighborPair:
        """Two scores that change places."""
        bound = Bound("linf", 1.0)
        return NeighborPair(whole_numbers([1, 0], bound), whole_numbers([0, 1], bound))
