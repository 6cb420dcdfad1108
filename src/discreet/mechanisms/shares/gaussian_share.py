"""A party's share of Gaussian noise: whole numbers that add up, among the honest, to what the event promises."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import GaussianLoss
from discreet.core.grid import Steps
from discreet.noise.gaussian import discrete_gaussian

LEAST = 8.0  # of a share's standard deviation, in grid steps
MILLS = 1.31  # at least (1 - Phi(z)) / phi(z) for z >= -1/20


@dataclass(frozen=True)
class GaussianShare:
    """What each of several parties adds to its own sum, before the sums are added modulo 2**64.

    Parameters
    ----------
    multiplier : float
        Public. Of the noise whose event is promised.
    honest : int
        Public. The fewest parties whose shares are surely in the sum and unknown to everybody else.

    Guarantee
    ---------
    `event`, whatever other parties add: the sum of at least `honest` independent discrete Gaussian shares, of a
    standard deviation that is larger by `inflation`, is dominated by the Gaussian pair (`gaussian_share.md`; sums of
    discrete Gaussians after Kairouz, Liu and Steinke 2021).

    Examples
    --------
    >>> GaussianShare(2.0, honest=3).stddev(2.0**30, size=10) / 2.0**30 * math.sqrt(3)  # doctest: +ELLIPSIS
    1.00000000...
    """

    multiplier: float
    honest: int
    promises: ClassVar[type[GaussianLoss]] = GaussianLoss

    def __post_init__(self) -> None:
        check_positive("share of noise", "multiplier", self.multiplier)
        if self.honest < 1:
            raise ParameterError(
                "share of noise",
                f"{self.honest} honest parties are sure to be in the sum",
                "Allow fewer parties to collude or to drop out.",
                honest=self.honest,
            )

    @property
    def event(self) -> GaussianLoss:
        """What is promised."""
        return GaussianLoss(self.multiplier)

    def masked(self, answer: Answer, bits: Bits) -> Steps:
        """A party's own sum with its share of the noise, on the grid of the `prepared` answer, modulo 2**64."""
        own = self.prepared(answer)
        return own.steps + discrete_gaussian(bits, own.steps.shape, self.own_scale(own))

    def prepared(self, answer: Answer) -> Answer:
        """The answer on the grid that its noise is drawn on: the same for all parties."""
        return answer.coarsened(self.multiplier, "l2").refined(self.multiplier, "l2")

    def own_scale(self, prepared: Answer) -> float:
        """The standard deviation of this party's share, in grid steps; an error where no promise could be proved."""
        return self.stddev(prepared.scale(self.multiplier, "l2"), prepared.size)

    def stddev(self, scale: float, size: int) -> float:
        """The standard deviation of one share, in grid steps, for a total of at least `scale`; rounded up."""
        mu, grown = 1 / self.multiplier, self.inflation(scale, size)
        share = scale * (1 + grown) / math.sqrt(self.honest) * (1 + 2.0**-50)
        if share < LEAST or math.sqrt(size) > scale / 10 or grown > min(0.5 / mu, 1 / mu**2):
            raise ParameterError(
                "share of noise",
                f"its standard deviation would be {share:.3g} grid steps, too few for a proof of the promise",
                "Use a finer grid, or more noise.",
                stddev=share,
            )
        return share

    def inflation(self, scale: float, size: int) -> float:
        """By how much the noise must grow, as a share of itself, for being on a grid; see `gaussian_share.md`."""
        mu = 1 / self.multiplier
        tail = 8 * self.honest * size * math.exp(-(math.pi**2) * scale**2 / self.honest)
        moved = math.sqrt(size) * mu / (2 * scale) + tail
        grown = math.expm1(size / (24 * scale**2) + tail)
        factor = math.sqrt(2 * math.pi) * math.exp(min(mu**2 / 8, 700.0))
        return (MILLS * moved + 2.2 * grown * factor) / mu * (1 + 2.0**-20)
