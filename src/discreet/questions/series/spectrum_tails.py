"""How much of a series each number of frequencies would leave out: scores, for mechanisms that choose one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bound import ULP, Bound
from discreet.core.errors import ParameterError
from discreet.questions.question import BoundedSum, View

FARTHEST = 2**60  # steps: the lesser of a length and this moves no farther than the length


@dataclass(frozen=True)
class SpectrumTails:
    """Minus the length of the coefficients that are left out, minus the length of noise on those that are not.

    These are the errors that Rastogi and Nath 2010 weigh against each other. A curator alone can ask this, with a
    mechanism that chooses the index of a high score.

    A choice depends on the differences of scores alone, and these are of sensitivity sqrt(2) bounds. For what a larger
    number of frequencies leaves out is a part b of what a smaller one does, (a, b); the gradient of |(a, b)| - |b| is
    (a, b) / |(a, b)| - (0, b / |b|), the difference of two unit vectors at an acute angle, so no longer than sqrt(2).
    Scores to which a suitable constant is added, the same for all, therefore move by at most 1 / sqrt(2) of the l2
    bound of the whole spectrum. Lengths are the whole parts of exact square roots of sums of squared grid steps, so
    that rounding adds less than one step. This holds for up to 2**33 records, whose sums do not wrap around.

    Parameters
    ----------
    spectrum : BoundedSum
        Public. All coefficients that may be taken, bounded in l2.
    sizes : tuple of int
        Public. How many numbers of the spectrum each candidate takes, from the first on.
    noises : tuple of float
        Public. The expected length of the noise on them.
    """

    spectrum: BoundedSum
    sizes: tuple[int, ...]
    noises: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.spectrum.bound.norm != "l2" or len(self.sizes) != len(self.noises):
            obstacle = "the spectrum is not bounded in l2, or not every candidate has a noise"
            raise ParameterError("choice of frequencies", obstacle, "Give a spectrum in l2, and one noise for each.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.spectrum.columns

    def answer(self, view: View) -> Answer:
        """The scores, and how far one unit can move them, up to a constant that no choice depends on."""
        question = self.spectrum.for_unit(view.unit)
        steps = [int(step) for step in view.sum(question)]
        squares = [step * step for step in steps]
        left = [sum(squares[size:]) for size in self.sizes]
        noises = [noise / question.grid.step for noise in self.noises]
        lost = [
            min(math.isqrt(rest), FARTHEST) + int(min(own, FARTHEST)) for rest, own in zip(left, noises, strict=True)
        ]
        longest = question.bound.radius * question.bound.rounding(question.size) * (1 + 8 * ULP)
        bound = Bound("linf", longest / math.sqrt(2) * (1 + 8 * ULP)).times(view.unit.rows)
        return Answer(-np.array(lost, dtype=np.int64), question.grid, bound, view.neighbors, slack=1.0)
