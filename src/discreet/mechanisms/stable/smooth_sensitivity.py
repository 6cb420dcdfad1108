"""Quantiles with noise in proportion to their smooth sensitivity."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.core.answer import LEAST_SCALE, NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, Event, PureLoss
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.ranks.rank_grid import OrderStatistic, RankGrid
from discreet.noise.request import LARGEST
from discreet.noise.scaled import LARGEST as MOST
from discreet.noise.scaled import rounded_student, scaled_gaussian, scaled_laplace

LEAST = 2.0**-32  # epsilon


def inside(epsilon: float) -> float:
    """The part of slide and beta that is used; the rest is more than enough for rounding."""
    return 1 - 2.0**-30 - 2.0**-36 / epsilon


def laplace_shrunk(beta: float, epsilon: float) -> float:
    """The delta, at this epsilon, of Laplace noise against the same shrunk by the factor exp(-beta).

    The loss at |z| scales is |z| (e**beta - 1) - beta, above epsilon for |z| > t = (epsilon + beta) / (e**beta - 1);
    the first law has the mass e**-t there, and e**epsilon times the second the mass e**(-t - beta).
    """
    return math.exp(-(epsilon + beta) / math.expm1(beta)) * -math.expm1(-beta)


def gaussian_shrunk(beta: float, epsilon: float) -> float:
    """The delta, at this epsilon, of Gaussian noise against the same shrunk by the factor exp(-beta)."""
    edge = math.sqrt(2 * (epsilon + beta) / math.expm1(2 * beta))
    return math.erfc(edge / math.sqrt(2)) - math.exp(epsilon) * math.erfc(edge * math.exp(beta) / math.sqrt(2))


def gaussian_shifted(slide: float, epsilon: float) -> float:
    """The delta, at this epsilon, of Gaussian noise against the same shifted by `slide` deviations.

    Balle and Wang 2018, Theorem 8.
    """
    near, far = (epsilon / slide + side * slide / 2 for side in (-1, 1))
    return (math.erfc(near / math.sqrt(2)) - math.exp(epsilon) * math.erfc(far / math.sqrt(2))) / 2


@lru_cache(maxsize=1024)
def greatest(delta_at: Callable[[float, float], float], epsilon: float, delta: float) -> float:
    """The greatest argument up to epsilon, except for some rounding, at which a delta that grows with it is allowed."""
    low, high = 0.0, epsilon
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if delta_at(middle, epsilon) <= delta * (1 - 1e-9 - 2.0**-46 / epsilon) else (low, middle)
        )
    return low * inside(epsilon)


@dataclass(frozen=True)
class SmoothSensitivity(CheckedParameters, ABC):
    """Add noise to a quantile in proportion to a smooth bound on how far one unit could move it.

    Where records lie close together around the quantile, one unit moves it little, and the noise is small. The bound
    follows the data so slowly that the noise hardly shows it; it is never released. The noise is rounded to a
    grid that is chosen without the data, and the result stays between the bounds.

    Parameters
    ----------
    epsilon : float
        Public.
    q : float
        Public. The share of the values that are at or below the quantile.
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. The number of grid steps from one to the other.
    """

    epsilon: float = 1.0
    q: float = 0.5
    lower: float = 0.0
    upper: float = 1024.0
    cells: int = 1024
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive(type(self).__name__, "epsilon", self.epsilon, LEAST, 600.0)
        RankGrid(self.lower, self.upper, self.cells)
        if not 0 <= self.q <= 1:
            raise ParameterError(type(self).__name__, f"q is {self.q}", "Give a number in [0, 1].")

    @property
    @abstractmethod
    def event(self) -> Event:
        """The price of one release."""

    @property
    @abstractmethod
    def slide(self) -> float:
        """The noise scale is the smooth bound over this: how far one unit moves the quantile, in noise scales."""

    @property
    @abstractmethod
    def beta(self) -> float:
        """One unit changes the noise scale by at most this factor, as an exponent."""

    @abstractmethod
    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        """Independent draws of this scale, which is secret, in grid steps."""

    def release(self, answer: Records, bits: Bits) -> Array:
        """The quantile with noise, on the grid; one for each copy."""
        grid = RankGrid(self.lower, self.upper, self.cells)
        self.check(answer.rows)
        found = OrderStatistic(np.sort(grid.nearest(answer.values[:, 0])), self.q, self.cells)
        scale = max(self.bound(found, answer.rows) / self.slide, LEAST_SCALE)
        noise = self.noise(bits, answer.copies, scale)
        return grid.values(np.clip(found.value + noise, 0, self.cells))[()]

    def bound(self, found: OrderStatistic, rows: int) -> float:
        """The smooth bound for a unit of `rows` rows, in grid steps: the sum of those for one row after the other."""
        one = self.beta / rows
        return found.smooth_bound(one) * math.fsum(math.exp(one * i) for i in range(rows))

    def check(self, rows: int) -> None:
        """Refuse what could need more noise than the samplers draw for units of `rows` rows, for any records.

        Call it before anything is charged.
        """
        if self.cells * rows * math.exp(self.beta) / self.slide > LARGEST:
            raise ParameterError(
                type(self).__name__, f"{self.cells} cells are too fine for so much noise", "Ask for fewer cells."
            )

    def worst_neighbors(self) -> NeighborPair:
        """Half of the records are low and half high, and one more makes the quantile change sides."""
        low, high = (self.lower + part * (self.upper - self.lower) for part in (0.25, 0.75))
        first, second = (np.array(60 * [low] + more * [high])[:, None] for more in (60, 61))
        return NeighborPair(Records(first, 1, Neighbors.ADD_REMOVE), Records(second, 1, Neighbors.ADD_REMOVE))


@dataclass(frozen=True)
class SmoothStudent(SmoothSensitivity):
    """Add Student's noise to a quantile in proportion to its smooth sensitivity.

    Parameters
    ----------
    epsilon : float
        Public.
    q : float
        Public. The share of the values that are at or below the quantile.
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. The number of grid steps from one to the other.
    degrees : int
        Public. Degrees of freedom: 1 is Cauchy's noise, and from 3 on the noise has a variance.

    Guarantee
    ---------
    `PureLoss(epsilon)`. Nissim, Raskhodnikova and Smith 2007, with the exact constants of Student's law
    (`smooth_sensitivity.md`): half of epsilon for the quantile and half for the bound.

    Examples
    --------
    >>> round(SmoothStudent(epsilon=0.6).beta, 6)
    0.1
    """

    degrees: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("SmoothStudent", "degrees", self.degrees, most=MOST)

    @property
    def event(self) -> PureLoss:
        return PureLoss(self.epsilon)

    @property
    def slide(self) -> float:
        """Where (degrees + 1) asinh(slide / (2 sqrt(degrees))) is epsilon / 2."""
        return 2 * math.sqrt(self.degrees) * math.sinh(self.epsilon / 2 / (self.degrees + 1)) * inside(self.epsilon)

    @property
    def beta(self) -> float:
        """Where degrees * beta is epsilon / 2."""
        return self.epsilon / (2 * self.degrees) * inside(self.epsilon)

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return rounded_student(bits, shape, scale, self.degrees)


@dataclass(frozen=True)
class _SmoothWithDelta(SmoothSensitivity):
    delta: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1e-50 <= self.delta < 0.5:
            remedy = "Give 1e-50 <= delta < 0.5, or use SmoothStudent."
            raise ParameterError(type(self).__name__, f"delta is {self.delta}", remedy)

    @property
    def event(self) -> ApproximateLoss:
        return ApproximateLoss(self.epsilon, self.delta)


@dataclass(frozen=True)
class SmoothLaplace(_SmoothWithDelta):
    """Add Laplace noise to a quantile in proportion to its smooth sensitivity.

    Parameters
    ----------
    epsilon, delta : float
        Public.
    q : float
        Public. The share of the values that are at or below the quantile.
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. The number of grid steps from one to the other.

    Guarantee
    ---------
    `ApproximateLoss(epsilon, delta)`. Nissim, Raskhodnikova and Smith 2007, with the exact divergence of two
    Laplace laws of different scales (`smooth_sensitivity.md`): half of epsilon for the quantile and half for the bound.

    Examples
    --------
    >>> SmoothLaplace(epsilon=1.0, delta=1e-6).slide < 0.5
    True
    """

    @property
    def slide(self) -> float:
        return self.epsilon / 2 * inside(self.epsilon)

    @property
    def beta(self) -> float:
        """The greatest shrinking of the noise that costs epsilon / 2 and delta, as an exponent."""
        return greatest(laplace_shrunk, self.epsilon / 2, self.delta)

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return scaled_laplace(bits, shape, scale)


@dataclass(frozen=True)
class SmoothGaussian(_SmoothWithDelta):
    """Add Gaussian noise to a quantile in proportion to its smooth sensitivity.

    Parameters
    ----------
    epsilon, delta : float
        Public.
    q : float
        Public. The share of the values that are at or below the quantile.
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. The number of grid steps from one to the other.

    Guarantee
    ---------
    `ApproximateLoss(epsilon, delta)`. Nissim, Raskhodnikova and Smith 2007, with the exact divergences of two
    Gaussian laws of different means, and of different scales (`smooth_sensitivity.md`): half of epsilon for each.

    Examples
    --------
    >>> SmoothGaussian(epsilon=1.0, delta=1e-6).slide < 0.2
    True
    """

    @property
    def slide(self) -> float:
        """The greatest shift of the noise that costs epsilon / 2 and what is left of delta."""
        return greatest(gaussian_shifted, self.epsilon / 2, self.delta / 2 * math.exp(-self.epsilon / 2))

    @property
    def beta(self) -> float:
        """The greatest shrinking of the noise that costs epsilon / 2 and delta / 2, as an exponent."""
        return greatest(gaussian_shrunk, self.epsilon / 2, self.delta / 2)

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return scaled_gaussian(bits, shape, scale)
