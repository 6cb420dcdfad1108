"""Propose-test-release: a figure is released if it is far from any jump; otherwise there is no answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import LEAST_SCALE, NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, Composed, LaplaceLoss
from discreet.core.grid import Array, Steps, upwards
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.stable.stable_figures import Measured, SpreadClass, StableFigure
from discreet.noise.laplace import rounded_laplace
from discreet.noise.request import LARGEST

FINENESS = 10  # bits after the point of a noisy distance


@dataclass(frozen=True)
class ProposeTestRelease(CheckedParameters):
    """Propose how far one row can move a figure, test it in private, and release the figure if the test passes.

    The number of rows that can change before the proposal could be wrong gets Laplace noise. Where it passes a
    threshold, the figure is released, with Laplace noise for what was proposed (none, if that is 0); otherwise there
    is no answer (nan), which is an ordinary outcome. Of several figures the first that passes is released. All tests
    and releases are paid for, used or not: asking again after no answer is another release.

    Parameters
    ----------
    epsilon, delta : float
        Public. Of all figures together.
    figures : tuple of StableFigure
        Public. Figures with their bounds: by default the class of the interquartile range on two scales, whose classes
        have no end in common.

    Guarantee
    ---------
    Laplace noise for each test, and for each release that has noise, and `ApproximateLoss(0, delta)` for figures that
    are released though they are close to a jump. Dwork and Lei 2009; proof in `propose_test_release.md`.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> ages = Records(np.arange(1000.0)[:, None], 1, Neighbors.ADD_REMOVE)
    >>> ProposeTestRelease(1.0).release(ages, DeterministicBits(1)).round(1)
    np.float64(512.0)
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    figures: tuple[StableFigure, ...] = (SpreadClass(), SpreadClass(offset=0.5))
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        object.__setattr__(self, "figures", tuple(self.figures))
        if not self.figures:
            raise ParameterError("ProposeTestRelease", "there are no figures", "Give at least one.")
        check_positive("ProposeTestRelease", "epsilon", self.epsilon / len(self.figures))
        if not 1e-300 <= self.delta < 0.5:
            raise ParameterError("ProposeTestRelease", f"delta is {self.delta}", "Give 1e-300 <= delta < 0.5.")

    @property
    def multiplier(self) -> float:
        """Laplace noise of each test and each release, in units of what one unit can change; rounded up."""
        parts = sum(1 if figure.bound == 0 else 2 for figure in self.figures)
        return upwards(parts / Fraction(self.epsilon))

    @property
    def event(self) -> Composed:
        each = LaplaceLoss(self.multiplier)
        noisy = sum(1 if figure.bound == 0 else 2 for figure in self.figures)
        return Composed((*noisy * (each,), ApproximateLoss(0.0, self.delta)))

    def threshold(self, rows: int) -> float:
        """The noisy distance that passes, in rows; rounded up.

        Where a unit of `rows` rows could move the figure beyond its bound, the distance is below `rows`, and Laplace
        noise passes what is left with probability exp(-left / scale) / 2, the share in delta of a single test.
        """
        risk = 2 * self.delta / len(self.figures)
        return (rows - 1 + rows * self.multiplier * max(0.0, -math.log(risk))) * (1 + 1e-12) + 2.0**-FINENESS

    def check(self, rows: int, bound: int = 0) -> None:
        """Refuse what could need more noise than the samplers draw for units of `rows` rows, for any records.

        Call it before anything is charged: for these figures, and for others of up to this bound.
        """
        widest = max(2**FINENESS, bound, *(figure.bound for figure in self.figures))
        if Fraction(self.multiplier) * rows * widest * (1 + Fraction(1, 2**40)) > LARGEST:
            raise ParameterError(
                "ProposeTestRelease",
                f"noise of {self.multiplier:.3g} for each of {rows} rows, on steps so fine, is more than can be drawn",
                "Ask with a larger epsilon, for units of fewer rows, or on coarser steps.",
            )

    def release(self, answer: Records, bits: Bits) -> Array:
        """The first figure that passes its test, or nan; one for each copy."""
        self.check(answer.rows)
        released: Array = np.full(answer.copies, np.nan)
        for figure in reversed(self.figures):
            measured = figure.measured(answer)
            passed = self._passed(bits, measured, answer)
            released = np.where(passed, figure.said(self._noisy(bits, measured, figure.bound, answer)), released)
        return released[()]

    def _passed(self, bits: Bits, measured: Measured, answer: Records) -> NDArray[np.bool_]:
        scale = max(math.ldexp(upwards(Fraction(self.multiplier) * answer.rows), FINENESS), LEAST_SCALE)
        noisy = (measured.distance << FINENESS) + rounded_laplace(bits, answer.copies, scale)
        return noisy >= math.ceil(math.ldexp(self.threshold(answer.rows), FINENESS))

    def _noisy(self, bits: Bits, measured: Measured, bound: int, answer: Records) -> Steps:
        if bound == 0:
            return np.full(answer.copies, measured.steps)
        scale = max(upwards(Fraction(self.multiplier) * answer.rows * bound), LEAST_SCALE)
        return measured.steps + rounded_laplace(bits, answer.copies, scale)

    def worst_neighbors(self) -> NeighborPair:
        """Classes of spread that are about as far from a jump as the tests ask for, and one row farther."""
        number = math.ceil(1.5 * self.threshold(1)) + 3
        first, second = (np.array(number * [0.0] + more * [725.0])[:, None] for more in (number, number + 1))
        return NeighborPair(Records(first, 1, Neighbors.ADD_REMOVE), Records(second, 1, Neighbors.ADD_REMOVE))
