"""The plan of one bounded sum, asked in whichever form needs the least noise."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.budget import Budget
from discreet.core.events import Event
from discreet.questions.question import BoundedSum
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread
from discreet.trust.private_data import PrivateData


@dataclass(frozen=True)
class SumPlan:
    """A question, and the noise on its answer.

    Parameters
    ----------
    question : BoundedSum
        Public. What is asked.
    spread : Spread
        Public. The noise, and how far it throws each number.
    """

    question: BoundedSum
    spread: Spread

    @property
    def event(self) -> Event:
        """What it costs."""
        return self.spread.noise.event


def planned(data: PrivateData, budget: Budget, *questions: BoundedSum) -> SumPlan:
    """The question whose numbers get the least noise, of several that ask for the same numbers in different norms.

    A record whose numbers are few and many of them zero is short in l1, and Laplace noise suits it where no delta is
    paid; Gaussian noise, and noise on spheres, suit a bound in l2.
    """
    plans = [SumPlan(question, least_noise(data, question, budget)) for question in questions]
    return min(plans, key=lambda plan: plan.spread.stddev)
