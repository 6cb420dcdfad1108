"""Noise for several sums that share one budget in fixed proportions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.events import Composed, Event
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.vectors.spherical_laplace import SphericalLaplace
from discreet.questions.question import BoundedSum
from discreet.releases.joint_plan import JointPlan
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import spread
from discreet.trust.private_data import PrivateData


@dataclass(frozen=True)
class BudgetShare:
    """A sum, and its part of the budget.

    Parameters
    ----------
    question : BoundedSum
        Public. One of the size and the bound of the sum that will be asked.
    part : float
        Public. In proportion to the parts of the others.
    """

    question: BoundedSum
    part: float


@dataclass(frozen=True)
class SharedPlan:
    """One noise for each of several sums."""

    noises: tuple[Any, ...]

    @property
    def event(self) -> Event:
        """What all of them cost."""
        events = tuple(noise.event for noise in self.noises)
        return events[0] if len(events) == 1 else Composed(events)


def shared(data: PrivateData, budget: Budget, shares: Sequence[BudgetShare]) -> SharedPlan:
    """Noises for sums that are released one after another, all within the budget.

    With a delta, the parts are those of the squares of 1 / multiplier, which add up for Gaussian noise. Without one,
    epsilons add up. They are in proportion to the parts to the power of 2/3: if the square of the error of sum i is
    a_i / epsilon_i^2, its total is least where epsilon_i is proportional to a_i^(1/3), and for Gaussian noise where
    the squares of 1 / multiplier are proportional to a_i^(1/2).
    """
    if budget.delta > 0:
        total = sum(share.part for share in shares)
        parts = tuple(Gaussian(math.sqrt(total / share.part)) for share in shares)
        return SharedPlan(calibrate(JointPlan(parts), budget).mechanisms)
    parts_of_epsilon = [share.part ** (2 / 3) for share in shares]
    whole = sum(parts_of_epsilon) * (1 + 2.0**-40)
    return SharedPlan(
        tuple(
            _pure_noise(data, share.question, Budget(budget.epsilon * part / whole))
            for share, part in zip(shares, parts_of_epsilon, strict=True)
        )
    )


def _pure_noise(data: PrivateData, question: BoundedSum, budget: Budget) -> Any:
    """The least noise of those without a delta; spherical noise cannot be shared by parties."""
    least = least_noise(data, question, budget)
    if not (data.curated or data.local):
        return least.noise
    spherical = spread(data, question, calibrate(SphericalLaplace(), budget))
    return min(least, spherical, key=lambda one: one.stddev).noise
