"""Staircase noise: a number, released with pure privacy and the least error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array, upwards
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.noise.staircase import discrete_staircase

Error = Literal["absolute", "squared"]


@dataclass(frozen=True)
class Staircase(CheckedParameters):
    """Add noise to a number whose probability falls in steps as wide as the sensitivity.

    The steps are whole numbers of grid steps: the law is discrete and the promise exact. Where the grid is fine this is
    the pure mechanism of the least error, which matters when epsilon is large: its variance is 0.96, 0.37 and 0.042 of
    that of Laplace noise at epsilon 1, 5 and 10. For a count, whose step is its sensitivity, it is the geometric
    mechanism. It is for single numbers: two coordinates that share a sensitivity could both cross a step and spend
    epsilon twice, so no norm of a vector bounds its loss.

    Parameters
    ----------
    epsilon : float
        Public.
    error : {"squared", "absolute"}
        Public. Whose mean is the least, that of the squared error or that of its size.

    Guarantee
    ---------
    `PureLoss(epsilon)`, for the neighbors the answer was bounded for. Geng and Viswanath 2016: of all pure mechanisms
    that add noise to a real number it has the least mean error. That the discrete law keeps the promise:
    `staircase.md`.

    Examples
    --------
    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> asked = Bound("l1", 1.0), 1, Neighbors.ADD_REMOVE
    >>> round(Staircase(epsilon=5.0).stddev(*asked) / Laplace(multiplier=0.2).stddev(*asked), 3)
    0.609
    """

    epsilon: float = 1.0
    error: Error = "squared"
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("Staircase", "epsilon", self.epsilon, most=700.0)
        if self.error not in ("absolute", "squared"):
            raise ParameterError("Staircase", f"there is no {self.error!r} error", "Use 'squared' or 'absolute'.")

    @property
    def event(self) -> PureLoss:
        return PureLoss(self.epsilon)

    @property
    def tread(self) -> float:
        """The share of a step that lies before its fall: the best one.

        With b = exp(-epsilon), the mean square error is least at ((b (1 + b) / 2)^(1/3) - b) / (1 - b), the mean size
        at 1 / (1 + exp(epsilon / 2)).
        """
        if self.error == "absolute":
            return 1 / (1 + math.exp(self.epsilon / 2))
        b = math.exp(-self.epsilon)
        return (math.cbrt(b * (1 + b) / 2) - b) / -math.expm1(-self.epsilon)

    def release(self, answer: Answer, bits: Bits) -> Array:
        """The number with noise, on the answer's grid."""
        if answer.size != 1:
            raise ParameterError(
                "Staircase",
                f"the answer has {answer.size} coordinates",
                "Ask for one number at a time, or add Laplace noise.",
                "Nothing was released.",
                size=answer.size,
            )
        answer = answer.coarsened(upwards(1 / Fraction(self.epsilon)), "l1")
        period = math.ceil(answer.scale(1.0, "l1"))
        tread = min(math.floor(self.tread * period) + 1, period)
        return answer.noised(discrete_staircase(bits, answer.steps.shape, period, tread, self.epsilon))

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors) -> float:
        """The standard deviation of the noise, except for the grid: public."""
        return math.sqrt(_second_moment(self.tread, self.epsilon)) * bound.sensitivity("l1", size, neighbors)

    def worst_neighbors(self) -> NeighborPair:
        """A number that moves by its whole bound."""
        bound = Bound("l1", 2.0**20)
        return NeighborPair(whole_numbers([0], bound), whole_numbers([2**20], bound))


def _second_moment(tread: float, epsilon: float) -> float:
    """The mean square of staircase noise with steps of one.

    A step that starts at k has the integral of x^2 over it, k^2 g + k g^2 + g^3 / 3 for its tread g and what is left of
    k^2 + k + 1/3 beyond, b times as dense. The means of k and k^2 over the geometric law are b / (1 - b) and
    b (1 + b) / (1 - b)^2.
    """
    b, gap = math.exp(-epsilon), -math.expm1(-epsilon)
    k, square = b / gap, b * (1 + b) / gap**2
    before = square * tread + k * tread**2 + tread**3 / 3
    return (gap * before + b * (square + k + 1 / 3)) / (tread + b * (1 - tread))
