"""Several releases that share one budget in fixed proportions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.events import Composed, Event
from discreet.questions.question import BoundedSum
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread, spread
from discreet.trust.private_data import PrivateData


def priced(mechanism: Any, factor: float) -> Any:
    """The same mechanism at so many times the price: that much more epsilon, or that much less noise.

    Examples
    --------
    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> priced(Laplace(6.0), 2.0)
    Laplace(multiplier=3.0)
    """
    value = getattr(mechanism, mechanism.calibrated)
    return dataclasses.replace(
        mechanism, **{mechanism.calibrated: value * factor if mechanism.calibrated == "epsilon" else value / factor}
    )


@dataclass(frozen=True)
class JointPlan:
    """Mechanisms that are paid for together, with one price for all.

    Parameters
    ----------
    parts : tuple
        Public. The mechanisms, as they are at `epsilon` 1.
    epsilon : float
        Public. How many times that price they have.

    Examples
    --------
    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> from discreet.accounting.calibration import calibrate
    >>> from discreet.core.budget import Budget
    >>> halves = calibrate(JointPlan((Laplace(2.0), Laplace(2.0))), Budget(0.5))
    >>> [round(part.multiplier, 4) for part in halves.mechanisms]
    [4.0, 4.0]
    """

    parts: tuple[Any, ...]
    epsilon: float = 1.0
    calibrated: ClassVar[str] = "epsilon"

    @cached_property
    def mechanisms(self) -> tuple[Any, ...]:
        """The mechanisms at their price; parts that are the same object are priced once."""
        made = {id(part): priced(part, self.epsilon) for part in {id(part): part for part in self.parts}.values()}
        return tuple([made[id(part)] for part in self.parts])

    @cached_property
    def event(self) -> Event:
        """What all of them cost."""
        made = {id(mechanism): mechanism.event for mechanism in self.mechanisms}
        events = tuple([made[id(mechanism)] for mechanism in self.mechanisms])
        return Composed(events) if len(events) > 1 else events[0]


@dataclass(frozen=True)
class Stage:
    """Releases of one question, which may depend on what was released before: only its form matters here.

    Parameters
    ----------
    question : BoundedSum
        Public. One that has the size and the bound of all of them.
    share : float
        Public. Of the information that the budget pays for; all shares add up to 1.
    times : int
        Public. How many releases.
    """

    question: BoundedSum
    share: float
    times: int = 1


@dataclass(frozen=True)
class StagedPlan:
    """The noise on the releases of each stage, and what all of them cost."""

    spreads: tuple[Spread, ...]
    event: Event


def staged(data: PrivateData, stages: Sequence[Stage], budget: Budget) -> StagedPlan:
    """Releases in stages that share a budget, each with the noise that moves it least in so many releases.

    Squared multipliers of Gaussian noise are inverse to shares. Where only epsilon is paid, what minimises a weighted
    sum of variances has epsilons in proportion to the cube roots of the weights, and with Gaussian noise shares in
    proportion to their square roots: hence the power 2/3.
    """
    power = 1 / 2 if budget.delta > 0 else 2 / 3
    best = [least_noise(data, stage.question, budget, stage.times).noise for stage in stages]
    noises = [calibrate(noise, budget) for noise in best]
    parts = [priced(noise, (stage.share / stage.times) ** power) for noise, stage in zip(noises, stages, strict=True)]
    every = tuple([part for part, stage in zip(parts, stages, strict=True) for _ in range(stage.times)])
    plan = calibrate(JointPlan(every), budget)
    ends = accumulate(stage.times for stage in stages)
    last = [plan.mechanisms[end - 1] for end in ends]
    spreads = tuple([spread(data, stage.question, noise) for stage, noise in zip(stages, last, strict=True)])
    return StagedPlan(spreads, plan.event)
