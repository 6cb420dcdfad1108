"""Report noisy max: the index of the largest score with Laplace noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, Apart, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import PureLoss
from discreet.core.grid import Steps
from discreet.core.knob import check_knob
from discreet.noise.laplace import rounded_laplace


def winner(answer: Answer, bits: Bits, epsilon: float, draw: Callable[[Bits, tuple[int, ...], float], Steps]) -> Steps:
    """The index of the largest score after noise of scale 2 sensitivity / epsilon, or half of it if monotone."""
    multiplier = (1 if answer.monotone else 2) / Fraction(epsilon)
    answer = answer.coarsened(multiplier, "linf")
    return np.argmax(answer.steps + draw(bits, answer.steps.shape, answer.scale(multiplier, "linf")), axis=-1)


@dataclass(frozen=True)
class NoisyMax:
    """Release the index of the largest score after adding Laplace noise to each; the noisy score stays secret.

    Scale 2 sensitivity / epsilon, or half of it where nobody can lower a score (see `Answer.monotone`). Ties go to
    the lowest index.

    Parameters
    ----------
    epsilon : float
        Public.

    Guarantee
    ---------
    `PureLoss(epsilon)`. Dwork and Roth 2014, Claim 3.9, in its general form: given the other scores' noise, index i
    wins if and only if its own noise is at least some integer r; between neighbors r moves by at most 2 sensitivities
    (one, if monotone), and P(noise >= r + k) >= exp(-k / scale) P(noise >= r) for rounded Laplace noise.

    Examples
    --------
    >>> NoisyMax(epsilon=0.5).event
    PureLoss(epsilon=0.5)
    """

    epsilon: float = 1.0
    knob: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_knob("NoisyMax", "epsilon", self.epsilon)

    @property
    def event(self) -> PureLoss:
        """The price of one release."""
        return PureLoss(self.epsilon)

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """The index of the winner; one per stacked answer."""
        return winner(answer, bits, self.epsilon, rounded_laplace)

    def worst_neighbors(self) -> Apart:
        """One score falls and all the others rise."""
        bound = Bound("linf", 1.0)
        return Apart(whole_numbers([1] + 19 * [0], bound), whole_numbers([0] + 19 * [1], bound))
