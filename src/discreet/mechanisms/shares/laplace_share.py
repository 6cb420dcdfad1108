"""A party's share of Laplace noise: whole numbers that add up, among the honest, to what the event promises."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss
from discreet.core.grid import Steps
from discreet.noise.polya import MOST_PARTS, polya

MOST_INFLATION = 0.1  # a coarser grid is refused, as a waste of noise


@dataclass(frozen=True)
class LaplaceShare:
    """What each of several parties adds to its own sum, before the sums are added modulo 2**64.

    A share is the difference of two Polya variables. Those of `honest` parties add up to the difference of two
    geometric variables, which is discrete Laplace noise.

    Parameters
    ----------
    multiplier : float
        Public. Of the noise whose event is promised.
    honest : int
        Public. The fewest parties whose shares are surely in the sum and unknown to everybody else; at most 2**20.

    Guarantee
    ---------
    `event`, whatever other parties add: the sum of at least `honest` independent shares, of a scale that is
    larger by `inflation`, is dominated by the Laplace pair, in every dimension (`laplace_share.md`; discrete Laplace
    noise from negative binomial shares as in Harrison and Manurangsi 2025).

    Examples
    --------
    >>> LaplaceShare(2.0, honest=3).scale(2.0**30) / 2.0**30  # doctest: +ELLIPSIS
    1.00000000...
    """

    multiplier: float
    honest: int
    promises: ClassVar[type[LaplaceLoss]] = LaplaceLoss

    def __post_init__(self) -> None:
        check_positive("share of noise", "multiplier", self.multiplier)
        if not 1 <= self.honest <= MOST_PARTS:
            raise ParameterError(
                "share of noise",
                f"{self.honest} honest parties are sure to be in the sum; it must be 1 to {MOST_PARTS}",
                "Allow fewer parties to collude or to drop out, or count on fewer of them.",
                honest=self.honest,
            )

    @property
    def event(self) -> LaplaceLoss:
        """What is promised."""
        return LaplaceLoss(self.multiplier)

    def masked(self, answer: Answer, bits: Bits) -> Steps:
        """A party's own sum with its share of the noise, on the grid of the `prepared` answer, modulo 2**64."""
        own = self.prepared(answer)
        scale = self.own_scale(own)
        up, down = (polya(bits, own.steps.shape, scale, self.honest) for _ in range(2))
        return own.steps + up - down

    def prepared(self, answer: Answer) -> Answer:
        """The answer on the grid that its noise is drawn on: the same for all parties."""
        return answer.coarsened(self.multiplier, "l1").refined(self.multiplier, "l1")

    def own_scale(self, prepared: Answer) -> float:
        """The scale of this party's share, in grid steps; an error where it would be a waste of noise."""
        return self.scale(prepared.scale(self.multiplier, "l1"))

    def scale(self, least: float) -> float:
        """The scale of the honest shares' sum, in grid steps, for a promise of noise of scale `least`; rounded up."""
        grown = self.inflation(least)
        if grown > MOST_INFLATION:
            raise ParameterError(
                "share of noise",
                f"its scale is {least:.3g} grid steps, so few that it would have to grow by {grown:.0%}",
                "Use a finer grid, or more noise.",
                scale=least,
            )
        return least * (1 + grown) * (1 + 2.0**-50)

    def inflation(self, least: float) -> float:
        """By how much the noise must grow, as a share of itself, for being on a grid; see `laplace_share.md`.

        K with K (1 + K) = multiplier / (4 least**2), rounded up.
        """
        product = self.multiplier / (4 * least**2)
        return 2 * product / (1 + math.sqrt(1 + 4 * product)) * (1 + 2.0**-48)
