"""Several releases that share one budget in fixed proportions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import Any, ClassVar

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.events import Composed, Event
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.vectors.spherical_laplace import SphericalLaplace
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
        return events[0] if len(events) == 1 else Composed(events)


@dataclass(frozen=True)
class Stage:
    """Releases of one question, which may depend on what was released before: only its form matters here.

    Parameters
    ----------
    question : BoundedSum
        Public. One that has the size and the bound of all of them.
    share : float
        Public. Of the information that the budget pays for, in proportion to the shares of the others.
    times : int
        Public. How many releases share it, each alike.
    """

    question: BoundedSum
    share: float
    times: int = 1


@dataclass(frozen=True)
class StagedPlan(JointPlan):
    """The mechanisms of all releases, one stage after another, and how the noise of each stage spreads."""

    spreads: tuple[Spread, ...] = ()


NoiseFor = Callable[[PrivateData, BoundedSum, Budget, int], Spread]
"""The noise for so many releases of a question within a budget."""


def staged(data: PrivateData, stages: Sequence[Stage], budget: Budget, noise_for: NoiseFor = least_noise) -> StagedPlan:
    """Releases in stages that share a budget, each by default with the noise that moves it least in so many releases.

    Squared multipliers of Gaussian noise are inverse to shares. Where only epsilon is paid, what minimises a weighted
    sum of variances has epsilons in proportion to the cube roots of the weights, and with Gaussian noise shares in
    proportion to their square roots: hence the power 2/3.
    """
    power = 1 / 2 if budget.delta > 0 else 2 / 3
    whole = sum(stage.share for stage in stages)
    parts = {}
    for stage in {id(stage): stage for stage in stages}.values():
        noise = calibrate(noise_for(data, stage.question, budget, stage.times).noise, budget)
        parts[id(stage)] = priced(noise, (stage.share / whole / stage.times) ** power)
    every = tuple([parts[id(stage)] for stage in stages for _ in range(stage.times)])
    plan = calibrate(StagedPlan(every), budget)
    ends = accumulate(stage.times for stage in stages)
    last = [plan.mechanisms[end - 1] for end in ends]
    spreads = tuple([spread(data, stage.question, noise) for stage, noise in zip(stages, last, strict=True)])
    return dataclasses.replace(plan, spreads=spreads)


def vector_noise(data: PrivateData, question: BoundedSum, budget: Budget, times: int) -> Spread:
    """Gaussian noise; without a delta the least, noise on spheres included, which parties cannot share."""
    if budget.delta > 0:
        return spread(data, question, calibrate(Gaussian(), budget, times))
    least = least_noise(data, question, budget, times)
    if not (data.curated or data.local):
        return least
    return min(least, spread(data, question, calibrate(SphericalLaplace(), budget, times)), key=attrgetter("stddev"))
