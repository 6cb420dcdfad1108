"""One figure of a column, released with its error bar."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from discreet.core.budget import Budget
from discreet.core.schema import Number
from discreet.questions.moments import moments_of
from discreet.releases.ask import ColumnOf, asked
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.figure import Figure
from discreet.releases.release import check_confidence
from discreet.statistics.moments.column_moments import Moments


@dataclass(frozen=True)
class Moment:
    """A figure of a column: from which sums it is computed, and how.

    Parameters
    ----------
    degree : int
        Public. Of the Bernstein polynomials that are added up.
    power : int
        Public. The power of the column's unit that the figure is in.
    most : float
        Public. The largest that it can be, in this power of the distance between the bounds, from the least.
    figure : callable
        Finds it in the noisy sums.
    """

    degree: int
    power: int
    most: float
    figure: Callable[[Moments], Figure]

    def released(self, of: ColumnOf, name: str, budget: Budget, key: str | None, confidence: float) -> Estimate:
        """Pay for the sums, and read the figure off their release."""
        title, size = f"{name} of {of.column}", of.data.public_size
        number = of.data.schema.number(of.column)
        check_confidence(title, confidence)
        question = moments_of(of.data.schema, of.column, self.degree, size is not None)
        released = asked(of.data, question, budget, title, key)
        moments = Moments(released.values, number, size)
        bend = 0.0 if size is not None else 1 / max(moments.count().value, 1.0)
        found = dataclasses.replace(self.figure(moments), bend=bend)
        ends = number if self.power == 1 else Number(0.0, self.most * (number.upper - number.lower) ** self.power)
        return estimate_of(title, found, released, confidence, ends)


MEAN = Moment(1, 1, 1.0, Moments.mean)
SAMPLED_MEAN = Moment(2, 1, 1.0, Moments.sampled_mean)
VARIANCE = Moment(2, 2, 0.25, Moments.variance)
SAMPLED_VARIANCE = Moment(4, 2, 0.25, Moments.sampled_variance)
