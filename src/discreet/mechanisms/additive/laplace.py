"""Laplace noise: a sum, released with pure privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss, PureLoss
from discreet.core.grid import Array, Grid, Steps, upwards
from discreet.core.mechanism import NoiseContext
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.error_law import ErrorLaw, GeometricError, LaplaceError
from discreet.noise.laplace import discrete_laplace, rounded_laplace
from discreet.noise.polya import MOST_PARTS, polya

FARTHEST = 700.0  # has an exponential in float64
SELDOM = 64 * math.log(2)  # the logarithm of one over the chance that noise is beyond its reach
MOST_INFLATION = 0.1  # a coarser grid is refused, as a waste of noise


@dataclass(frozen=True)
class Laplace(Additive):
    """Add Laplace noise to every coordinate of a sum.

    The noise is the real Laplace variable rounded to the answer's grid, which is the continuous mechanism followed
    by rounding: the textbook promise holds to the letter.

    Parameters
    ----------
    multiplier : float
        Public. Noise scale in units of the l1 sensitivity.

    Guarantee
    ---------
    `LaplaceLoss(multiplier)`, so pure with epsilon = 1 / multiplier, for the neighbors the answer was bounded for.
    Dwork, McSherry, Nissim and Smith 2006, Proposition 1; for vectors the loss is dominated by the one of a scalar
    with the same l1 sensitivity (`laplace.md`).

    Examples
    --------
    >>> Laplace(multiplier=2.0).event
    LaplaceLoss(multiplier=2.0)
    """

    norm: ClassVar[Norm] = "l1"
    law: ClassVar[ErrorLaw] = LaplaceError()
    deviation: ClassVar[float] = math.sqrt(2)

    @cached_property
    def event(self) -> LaplaceLoss:
        return LaplaceLoss(self.multiplier)

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return rounded_laplace(bits, shape, scale)

    def share(self, honest: int) -> LaplaceShare:
        return LaplaceShare(self.multiplier, honest)

    def report(self, answers: Answer, bits: Bits) -> Array:
        return self.release(answers, bits)

    @classmethod
    def suits(cls, asked: NoiseContext) -> bool:
        return True


@dataclass(frozen=True)
class DiscreteLaplace(Additive):
    """Add two-sided geometric noise, in grid steps, to every coordinate of a sum.

    P(k) is proportional to exp(-|k| / scale). For counts, whose step is 1, this is the geometric mechanism, the best
    pure one for a count under every loss that grows with the error.

    Parameters
    ----------
    multiplier : float
        Public. Noise scale in units of the l1 sensitivity.

    Guarantee
    ---------
    `PureLoss(1 / multiplier)`, for the neighbors the answer was bounded for. Ghosh, Roughgarden and Sundararajan 2012,
    section 2; for vectors by the triangle inequality in the exponent.

    Examples
    --------
    >>> DiscreteLaplace(multiplier=2.0).event
    PureLoss(epsilon=0.5)
    """

    norm: ClassVar[Norm] = "l1"
    law: ClassVar[ErrorLaw] = GeometricError()
    deviation: ClassVar[float] = math.sqrt(2)
    step: ClassVar[float] = 1.0

    @property
    def event(self) -> PureLoss:
        """The price of one release; its rounding is upwards."""
        return PureLoss(upwards(1 / Fraction(self.multiplier)))

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return discrete_laplace(bits, shape, scale)

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors, grid: Grid | None = None) -> float:
        """The standard deviation of the noise on each coordinate: less than sqrt(2) scales, where these are few steps.

        The variance of noise of scale s steps is 1 / (2 sinh(1 / (2 s))^2).
        """
        fine = super().stddev(bound, size, neighbors)
        if grid is None:
            return fine
        return grid.step * math.sqrt(0.5) / math.sinh(min(math.sqrt(0.5) * grid.step / fine, FARTHEST))

    def report(self, answers: Answer, bits: Bits) -> Array:
        return self.release(answers, bits)

    @classmethod
    def suits(cls, asked: NoiseContext) -> bool:
        """For whole numbers, where losses just add up: its loss is always the worst of its epsilon."""
        return asked.whole and asked.pure


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

    @classmethod
    def of(cls, event: LaplaceLoss, honest: int) -> LaplaceShare:
        """The shares that keep this promise."""
        return cls(event.multiplier, honest)

    @property
    def event(self) -> LaplaceLoss:
        return LaplaceLoss(self.multiplier)

    @property
    def excess(self) -> float:
        """None: shares are real numbers of the right variance, up to a grid."""
        return 1.0

    def masked(self, answer: Answer, bits: Bits) -> Steps:
        own = self.prepared(answer)
        return own.steps + self.drawn(own, bits)

    def drawn(self, prepared: Answer, bits: Bits) -> Steps:
        scale = self.own_scale(prepared)
        up, down = (polya(bits, prepared.steps.shape, scale, self.honest) for _ in range(2))
        return up - down

    def farthest(self, prepared: Answer, chance: float) -> int:
        """A Polya variable is part of a geometric one, which is x scales or more with a probability of exp(-x)."""
        return math.ceil(self.own_scale(prepared) * math.log(2 / chance))

    def prepared(self, answer: Answer) -> Answer:
        return answer.coarsened(self.multiplier, "l1").refined(self.multiplier, "l1")

    def own_scale(self, prepared: Answer) -> float:
        """The scale of this party's share, in grid steps; an error where it would be a waste of noise."""
        return self.scale(prepared.scale(self.multiplier, "l1"))

    def reach(self, prepared: Answer, parties: int) -> int:
        """By Chernoff's bound at s = 1 / (2 t): with p = exp(-1 / t), a Polya variable of shape r has E exp(s X) =
        ((1 - p) / (1 - sqrt(p)))^r = (1 + sqrt(p))^r <= 2^r, and what is taken away only lowers it. The shapes of n
        parties add up to n / honest.
        """
        exponent = math.log(2 * prepared.size) + SELDOM + parties / self.honest * math.log(2)
        return math.ceil(2 * self.own_scale(prepared) * exponent * (1 + 2.0**-40))

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
