"""Reports on the sphere: one person's vector, released with pure privacy and the least noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import DiscreteLoss, Event, LossTable
from discreet.core.grid import Array, Grid, Steps
from discreet.core.mechanism import NoiseContext, Share
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.additive.error_law import ErrorLaw, NormalError
from discreet.noise.cap import Cap, leaning_gaussian, tail

LARGEST = 2**20 - 1  # coordinates of a report
FINENESS = 29  # bits: a report's deviation is at least 2**28 steps of the grid that it is drawn on
ROUNDING = 2.0**-18  # deviations by which all rounding together can move a draw across the plane
FARTHEST = 2.15  # the plane: beyond it and its mirror image lies one draw in 32
SLACK = 2.0**-48  # of float64, in a loss
BLOCK = 2**20  # numbers at a time
LEAST, MOST = 2.0**-40, 700.0  # epsilon
NOTHING = "Nothing was released."


@lru_cache(maxsize=1024)
def cap_for(epsilon: float, rounding: float = ROUNDING) -> Cap:
    """The cap of the strongest pull that keeps the promise, if rounding moves no draw farther than this.

    The pull of weights e^epsilon and 1 grows with the threshold until the two are equal, so putting one in place of
    the other climbs to the maximum. The cap's mass may differ between directions, by what `rounding` allows, and with
    it the number that weights are divided by; that ratio is taken off the weights.
    """
    threshold, leaning = FARTHEST, math.expm1(epsilon)
    for _ in range(64):
        threshold = min(FARTHEST, Cap(threshold, 1 / (1 + math.exp(epsilon))).pull)
    low, high = tail(threshold + rounding), tail(threshold - rounding)
    uneven = math.log1p(leaning * (high - low) / (1 + leaning * low)) * (1 + 2.0**-20)
    return Cap(threshold, 1 / (1 + math.exp(epsilon * (1 - SLACK) - uneven - SLACK)))


def advantage(cap: Cap, rounding: float = ROUNDING) -> float:
    """The most by which the laws of two reports differ, in total variation; rounded up."""
    low, high = tail(cap.threshold + rounding), tail(cap.threshold - rounding)
    return (1 - 2 * cap.chance) * (3 * high - 2 * low) / cap.weight(low) * (1 + 2.0**-20)


@dataclass(frozen=True)
class Ball:
    """A small ball in l2 that holds every contribution: the smallest around a multiple of (1, ..., 1).

    Parameters
    ----------
    center : float
        Each coordinate of its middle.
    radius : float
        Its radius.
    """

    center: float
    radius: float

    @classmethod
    def around(cls, bound: Bound, size: int) -> Ball:
        """The ball of a bound.

        Nonnegative numbers fill half of an interval, or a box; nonnegative vectors bounded in l1 or l2 have
        |x - t|^2 = |x|^2 - 2 t sum(x) + size t^2, which is greatest at a corner since sum(x) >= |x|.

        Examples
        --------
        >>> Ball.around(Bound("l1", 1.0, nonnegative=True), 2)
        Ball(center=0.5, radius=0.7071067811865476)
        """
        size, radius = max(size, 1), bound.radius
        box = bound.norm == "linf" or size == 1
        whole = radius * math.sqrt(size) if box else radius
        if not bound.nonnegative:
            return cls(0.0, whole)
        return cls(radius / 2, whole / 2) if box else cls(radius / size, radius * math.sqrt(1 - 1 / size))

    def directions(self, contributions: Array) -> Array:
        """Contributions, moved into the ball where they are not, as points of the unit sphere of one dimension more."""
        with np.errstate(over="ignore"):
            inside = Bound("l2", 1.0).clip((contributions - self.center) / self.radius)
        height = np.sqrt(np.maximum(1 - np.square(inside).sum(axis=-1, keepdims=True), 0.0))
        return np.concatenate([inside, height], axis=-1)


@dataclass(frozen=True)
class SphereReport(CheckedParameters):
    """Report a Gaussian vector that leans towards one person's contribution.

    The contribution is moved into the ball of its bound and lifted to the sphere of one dimension more. The report is
    a Gaussian vector on the grid, drawn with weight e^epsilon where it lies in the cap around that direction, and
    with weight 1 elsewhere; it is scaled so that its mean is the contribution. Its deviation in each coordinate does
    not grow with the number of coordinates, as that of Laplace noise does.

    Whatever is answered, all of it is one person's: a sum over people would be moved into the ball of a single one.
    So this is for local trust. One report per stacked answer.

    Parameters
    ----------
    epsilon : float
        Public.

    Guarantee
    ---------
    Pure, `epsilon`, for any two contributions. The tabulated `DiscreteLoss` is that of two opposite ones,
    which dominate: loss epsilon in one cap, -epsilon in the other, 0 elsewhere. Bhowmick, Duchi, Freudiger, Kapoor and
    Rogers 2018 (PrivUnit); Asi, Feldman and Talwar 2022 (PrivUnitG, and why it is optimal); on a grid and with float64,
    `sphere_report.md`.

    Examples
    --------
    >>> round(SphereReport(epsilon=1.0).stddev(Bound("l2", 1.0), 64, Neighbors.REPLACE), 3)
    2.516
    """

    epsilon: float = 1.0
    calibrated: ClassVar[str] = "epsilon"
    law: ClassVar[ErrorLaw] = NormalError()
    refines: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("SphereReport", "epsilon", self.epsilon, LEAST, MOST)

    @property
    def cap(self) -> Cap:
        """Where reports are more likely."""
        return cap_for(self.epsilon)

    @property
    def event(self) -> DiscreteLoss:
        """The price of one report, from the very cap that it is drawn with: at most that of randomised response."""
        less = math.exp(-self.epsilon)
        towards = min(advantage(self.cap) / -math.expm1(-self.epsilon), 1 / (1 + less))
        table = LossTable(-1, (towards * less, max(0.0, 1 - towards - towards * less), towards))
        return DiscreteLoss(self.epsilon, table, table)

    def release(self, answer: Answer, bits: Bits) -> Array:
        """One report per stacked answer, on its grid."""
        self._check(answer)
        ball = Ball.around(answer.bound, answer.size)
        contributions = answer.steps.reshape(math.prod(answer.steps.shape[:-1]), answer.size)
        reports, rows = np.empty_like(contributions), max(1, BLOCK // (answer.size + 1))
        for start in range(0, len(reports), rows):
            values = answer.grid.values(contributions[start : start + rows])
            reports[start : start + rows] = self.draws(ball, values, bits)
        fine = self.fine_grid(ball)
        grid = Grid(max(fine.exponent, answer.grid.exponent))
        return grid.values(np.rint(np.ldexp(reports, fine.exponent - grid.exponent))).reshape(answer.steps.shape)

    def fine_grid(self, ball: Ball) -> Grid:
        """The grid on which reports are drawn."""
        return Grid(math.frexp(ball.radius / self.cap.pull)[1] - FINENESS)

    def draws(self, ball: Ball, contributions: Array, bits: Bits) -> Steps:
        """One report for each row, in steps of the fine grid."""
        fine = self.fine_grid(ball)
        deviation = math.ldexp(ball.radius / self.cap.pull, -fine.exponent)
        draws = leaning_gaussian(bits, ball.directions(contributions), deviation, self.cap)
        return np.asarray(draws[:, :-1] + round(math.ldexp(ball.center, -fine.exponent)))

    def share(self, honest: int) -> Share:
        """Refused: a report is one person's."""
        raise NotPermitted("SphereReport", "parties cannot share it", "Use Laplace or Gaussian noise.", NOTHING)

    def report(self, answers: Answer, bits: Bits) -> Array:
        """What people report of their own contributions."""
        return self.release(answers, bits)

    @classmethod
    def suits(cls, asked: NoiseContext) -> bool:
        """Where every person reports by itself."""
        return asked.local and asked.size <= LARGEST

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors, grid: Grid | None = None) -> float:
        """The standard deviation of a report on each coordinate, on a fine grid: public.

        It is the same in every direction and for every contribution while the threshold equals the pull, and at most
        this along the contribution where the threshold is less, from epsilon 6 on.
        """
        return Ball.around(bound, size).radius / self.cap.pull

    def worst_neighbors(self) -> NeighborPair:
        """Two opposite contributions."""
        bound = Bound("l2", 2.0**20)
        first, second = (whole_numbers([sign * 2**20], bound, Neighbors.REPLACE) for sign in (1, -1))
        return NeighborPair(first, second)

    def _check(self, answer: Answer) -> None:
        if answer.neighbors is not Neighbors.REPLACE:
            raise NotPermitted(
                "SphereReport",
                "it reports what one person holds, and this answer is a sum that people may join or leave",
                "Ask under local trust, or add Laplace or Gaussian noise.",
                NOTHING,
            )
        if answer.size > LARGEST:
            raise ParameterError(
                "SphereReport",
                f"{answer.size} coordinates are more than can be compared exactly enough",
                f"Report at most {LARGEST}.",
                NOTHING,
                size=answer.size,
            )


def promised(event: Event) -> bool:
    """Whether this is the price of a report on the sphere.

    Examples
    --------
    >>> promised(SphereReport(2.0).event)
    True
    """
    return isinstance(event, DiscreteLoss) and LEAST <= event.step <= MOST and SphereReport(event.step).event == event
