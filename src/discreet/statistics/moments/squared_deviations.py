"""The variance of a public number of records, as the mean of their squared distances from a centre that is found first.

A part of the budget finds the mean, roughly. The rest goes to the sum of squared distances from there: numbers between
0 and far^2, if `far` is the distance of the farther bound. By noise that centre c is off the exact mean m, and the mean
squared distance by (m - c)^2 only, which is of second order. What is left is the noise of one sum, times far^2 / n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.receipt import Receipt
from discreet.questions.columns.moments import moments_of, squared_deviations_of, squares_between
from discreet.releases.ask import ColumnOf
from discreet.releases.figure import Figure
from discreet.releases.joint_plan import JointPlan, priced
from discreet.releases.law import Law, LawWithSquare
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread, spread
from discreet.statistics.moments.column_moments import Moments

SMALL = 0.1  # of a standard deviation: what hardly changes the shape of its law


@dataclass(frozen=True)
class SquaredDeviations:
    """A released centre and the mean squared distance of the values from it.

    Parameters
    ----------
    centre, mean : Figure
        Both, with how they change with the sums that they come from.
    rough, fine : Spread
        Public. The noise on the sums of the one, and of the other.
    receipt : Receipt
        What they cost.
    """

    centre: Figure
    mean: Figure
    rough: Spread
    fine: Spread
    receipt: Receipt

    @property
    def excess(self) -> float:
        """By how much squared distances from the centre exceed those from the exact mean, on average over the noise."""
        return self.centre.standard_error(self.rough) ** 2

    @property
    def variance(self) -> float:
        """The variance, which noise may make negative."""
        return self.mean.value - self.excess

    @property
    def law(self) -> Law:
        """What the variance is off by: the error of the mean, and the squared error of the centre less its mean."""
        of_mean = self.mean.law(self.fine)
        return LawWithSquare(of_mean.stddev, of_mean.scales, self.excess, not self.centre.law(self.rough).normal)

    def half_width(self, confidence: float) -> float:
        """Half the width of an interval that holds the exact variance.

        Where the squared error of the centre is small it makes the law wider, and hardly changes its shape.
        """
        alone = self.mean.standard_error(self.fine)
        if self.excess <= SMALL * alone:
            return self.mean.half_width(self.fine, confidence) * self.law.deviation / alone
        return self.mean.reach(self.law, self.fine, confidence)


def centre_share(of: ColumnOf, size: int, budget: Budget) -> float:
    """What part of the budget is best spent on the centre.

    If the noise on a single sum has scale b, and N = size / b, a part p of the budget leaves a noise whose square is
    proportional to 1 / (1 - p)^2 + 10 / (N^2 p^4): of the sum, and of the squared noise on the centre. It is least near
    (20 / N^2)^(1/5).
    """
    question = moments_of(of.data.schema, of.column, 1, True)
    scale = least_noise(of.data, question, budget).stddev / math.sqrt(2)
    return (20 * (scale / max(size, 1)) ** 2) ** 0.2


def squared_deviations(
    of: ColumnOf, size: int, degree: int, title: str, budget: Budget, key: str | None
) -> SquaredDeviations:
    """Pay for a centre and for squared distances from it, and release both; degree 2 also shows their own variance."""
    schema, number = of.data.schema, of.data.schema.number(of.column)
    question, share = moments_of(schema, of.column, 1, True), centre_share(of, size, budget)
    noise = least_noise(of.data, question, budget).noise
    plan = calibrate(JointPlan(tuple(priced(noise, part / budget.epsilon) for part in (share, 1 - share))), budget)
    first, second = plan.mechanisms
    with of.data.permit(plan.event, title, key=key) as permit:
        centre = Moments(permit.ask(question, first), number, size).mean()
        around = squared_deviations_of(schema, of.column, centre.value, degree)
        squares = Moments(permit.ask(around, second), squares_between(number, centre.value), size)
    mean = squares.mean() if degree == 1 else squares.sampled_mean()
    rough, fine = spread(of.data, question, first), spread(of.data, around, second)
    return SquaredDeviations(centre, mean, rough, fine, permit.receipt)
