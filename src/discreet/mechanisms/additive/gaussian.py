"""Gaussian noise: a sum, released with Gaussian differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Norm
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import ConcentratedLoss, GaussianLoss
from discreet.core.grid import Array, Steps, upwards
from discreet.core.mechanism import NoiseContext
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.error_law import ErrorLaw, NormalError
from discreet.noise.gaussian import discrete_gaussian, rounded_gaussian

LEAST = 8.0  # of a share's standard deviation, in grid steps
SELDOM = 64 * math.log(2)  # the logarithm of one over the chance that noise is beyond its reach
MILLS = 1.31  # at least (1 - Phi(z)) / phi(z) for z >= -1/20


@dataclass(frozen=True)
class Gaussian(Additive):
    """Add Gaussian noise to every coordinate of a sum.

    The noise is the real Gaussian variable rounded to the answer's grid: the continuous mechanism followed by
    rounding, so no discrete correction is needed.

    Parameters
    ----------
    multiplier : float
        Public. Noise standard deviation in units of the l2 sensitivity.

    Guarantee
    ---------
    `GaussianLoss(multiplier)`: Gaussian differential privacy with mu = 1 / multiplier, for the neighbors the answer
    was bounded for. Dong, Roth and Su 2022, Theorem 2.7; the exact (epsilon, delta) curve is that of Balle and Wang
    2018, Theorem 8.

    Examples
    --------
    >>> Gaussian(multiplier=1.1).event
    GaussianLoss(multiplier=1.1)
    """

    norm: ClassVar[Norm] = "l2"
    law: ClassVar[ErrorLaw] = NormalError()
    deviation: ClassVar[float] = 1.0

    @property
    def event(self) -> GaussianLoss:
        return GaussianLoss(self.multiplier)

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return rounded_gaussian(bits, shape, scale)

    def share(self, honest: int) -> GaussianShare:
        return GaussianShare(self.multiplier, honest)

    def report(self, answers: Answer, bits: Bits) -> Array:
        return self.release(answers, bits)

    @classmethod
    def suits(cls, asked: NoiseContext) -> bool:
        """Where delta may be paid."""
        return asked.delta > 0


@dataclass(frozen=True)
class DiscreteGaussian(Additive):
    """Add discrete Gaussian noise, in grid steps, to every coordinate of a sum.

    P(k) is proportional to exp(-k^2 / (2 stddev^2)). For sums that must stay whole numbers, as among parties who add
    modulo a power of two.

    Parameters
    ----------
    multiplier : float
        Public. Noise parameter in units of the l2 sensitivity.

    Guarantee
    ---------
    `ConcentratedLoss(1 / (2 multiplier^2))`, for the neighbors the answer was bounded for.
    Canonne, Kamath and Steinke 2020, Theorem 14 (any dimension).

    Examples
    --------
    >>> DiscreteGaussian(multiplier=2.0).event
    ConcentratedLoss(rho=0.125)
    """

    norm: ClassVar[Norm] = "l2"
    law: ClassVar[ErrorLaw] = NormalError()
    deviation: ClassVar[float] = 1.0
    step: ClassVar[float] = 1.0

    @property
    def event(self) -> ConcentratedLoss:
        """The price of one release; its rounding is upwards."""
        return ConcentratedLoss(upwards(1 / (2 * Fraction(self.multiplier) ** 2)))

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return discrete_gaussian(bits, shape, scale)

    def report(self, answers: Answer, bits: Bits) -> Array:
        return self.release(answers, bits)


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

    @classmethod
    def of(cls, event: GaussianLoss, honest: int) -> GaussianShare:
        """The shares that keep this promise."""
        return cls(event.multiplier, honest)

    @property
    def event(self) -> GaussianLoss:
        return GaussianLoss(self.multiplier)

    @property
    def excess(self) -> float:
        """None: shares are real numbers of the right variance, up to a grid."""
        return 1.0

    def masked(self, answer: Answer, bits: Bits) -> Steps:
        own = self.prepared(answer)
        return own.steps + self.drawn(own, bits)

    def drawn(self, prepared: Answer, bits: Bits) -> Steps:
        return discrete_gaussian(bits, prepared.steps.shape, self.own_scale(prepared))

    def farthest(self, prepared: Answer, chance: float) -> int:
        """Chernoff's bound for Gaussian noise, exp(-x^2 / 2) at x deviations to either side, holds on the integers too.

        The mean of exp(u k) is exp(u^2 stddev^2 / 2) times a sum of exp(-(k - v)^2 / (2 stddev^2)) over integers k, by
        the same sum at v = 0. That is at most 1: by Poisson's summation, v only turns the phases of positive terms.
        """
        return math.ceil(self.own_scale(prepared) * math.sqrt(2 * math.log(2 / chance)))

    def prepared(self, answer: Answer) -> Answer:
        return answer.coarsened(self.multiplier, "l2").refined(self.multiplier, "l2")

    def own_scale(self, prepared: Answer) -> float:
        """The standard deviation of this party's share, in grid steps; an error where no promise could be proved."""
        return self.stddev(prepared.scale(self.multiplier, "l2"), prepared.size)

    def reach(self, prepared: Answer, parties: int) -> int:
        """By Chernoff's bound, since E exp(s X) <= exp(s^2 t^2 / 2) for one share X of parameter t: completing a square
        leaves the ratio of two sums of exp(-k^2 / (2 t^2)), over integers moved by s t^2 and over integers, and no move
        makes it larger (Poisson's summation). So n shares are beyond x with chance at most 2 exp(-x^2 / (2 n t^2)).
        """
        exponent = math.log(2 * prepared.size) + SELDOM
        return math.ceil(self.own_scale(prepared) * math.sqrt(2 * parties * exponent) * (1 + 2.0**-40))

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
