"""The plan of several steps that are paid for together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from discreet import learners
from discreet.accounting import accountant
from discreet.accounting.calibration import HEADROOM
from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event, GaussianLoss
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task, features_of

CLOSE = 0.005  # of epsilon that may stay unspent: finding the rest would take longer than it is worth
ROUNDING = 1 + 4e-6  # of a multiplier: each step is calibrated to a millionth
TURNS = 40
PASSED_ON = ("bounds", "classes", "columns", "target", "target_bounds")


class Priced(Protocol):
    """A plan that knows its price."""

    @property
    def event(self) -> Event: ...


@dataclass(frozen=True)
class PipelineStep:
    """A step, its own task, and its plan."""

    name: str  # public: of the step
    estimator: Any  # public: its parameters
    task: Task  # what it learns from: the records as the steps before make them
    plan: Any = None  # public: what it will ask

    def planned(self, budget: Budget) -> PipelineStep:
        """The step with a plan within this budget."""
        task = replace(self.task, budget=budget)
        return replace(self, task=task, plan=self.estimator.plan(task))


@dataclass(frozen=True)
class PipelinePlan:
    """All steps with their plans."""

    steps: tuple[PipelineStep, ...]

    @property
    def event(self) -> Event:
        """What all of them cost."""
        events = tuple(step.plan.event for step in self.steps if not step.estimator.free)
        return events[0] if len(events) == 1 else Composed(events)


def check_step(asked: str, name: str, step: Any) -> None:
    """Refuse a step that learns without noise, and one that has public facts of its own."""
    kind = type(step).__name__
    if not isinstance(step, PrivateEstimator):
        fitted = any(
            attribute.endswith("_") and not attribute.startswith("_") for attribute in getattr(step, "__dict__", ())
        )
        how = "was fitted to records" if fitted else "learns from records"
        rooms = "Use steps of discreet.learners, discreet.deep or discreet.local."
        there = f"Use discreet.learners.{kind}." if kind in learners.__all__ else rooms
        raise ParameterError(asked, f"step {name!r}, a {type(step).__module__}.{kind}, {how} without noise", there)
    given = [parameter for parameter in PASSED_ON if getattr(step, parameter, None) is not None]
    if given:
        obstacle = f"step {name!r} has {given[0]} of its own, and gets what the step before it passes on"
        remedy = "Leave them out." if given[0] == "columns" else f"Give {given[0]} to the pipeline alone."
        raise ParameterError(asked, obstacle, remedy)


def chained(asked: str, steps: Sequence[tuple[str, PrivateEstimator]], task: Task) -> tuple[PipelineStep, ...]:
    """Each step with its own task: the schema that a step makes, from public facts alone, is that of the next."""
    found, schema = [], task.schema
    for name, estimator in steps:
        taken = features_of(schema, estimator.categories, estimator.texts)
        features = tuple(column for column in taken if column not in (task.target, *task.others))
        left = [column for column in features_of(schema, True) if column not in (*features, task.target, *task.others)]
        if left:
            raise ParameterError(
                asked,
                f"step {name!r} takes numbers alone, and {left[0]!r} is a category",
                "Put a OneHotEncoder or an OrdinalEncoder before it, or leave the column out of the schema.",
            )
        found.append(PipelineStep(name, estimator, replace(task, features=features, transformed=schema)))
        if len(found) < len(steps):
            schema = estimator.transformation(schema, features, None).after
    return tuple(found)


def calibrated(steps: Sequence[PipelineStep], parts: Sequence[float], budget: Budget) -> PipelinePlan:
    """Plans for all steps that fit the budget together, in proportion to their parts of it.

    Parts are those of the squares of 1 / multiplier, which add up for Gaussian noise. Without a delta, epsilons add up,
    and are in proportion to the parts to the power of 2/3; see `releases.joint_plan`. A step that asks nothing gets
    nothing.
    """
    own = [0.0 if step.estimator.free else part for step, part in zip(steps, parts, strict=True)]
    if sum(part > 0 for part in own) <= 1:
        return PipelinePlan(tuple(step.planned(budget) for step in steps))
    if budget.delta == 0:
        shares = [part ** (2 / 3) for part in own]
        whole = budget.epsilon * (1 - HEADROOM) / math.fsum(shares)
        return _with([budget.epsilon if not share else share * whole for share in shares], steps, budget)
    least = gaussian_multiplier(budget.epsilon * (1 - HEADROOM), budget.delta) * ROUNDING

    def at(factor: float) -> PipelinePlan:
        """All steps, with so many times the noise that would do if all of it were Gaussian."""
        multipliers = [math.sqrt(sum(own) / part) * least * factor if part else 0.0 for part in own]
        epsilons = [
            accountant.epsilon(GaussianLoss(one), budget.delta) if one else budget.epsilon for one in multipliers
        ]
        return _with(epsilons, steps, budget)

    return least_factor(at, budget)


def _with(epsilons: Sequence[float], steps: Sequence[PipelineStep], budget: Budget) -> PipelinePlan:
    """Each step within its own epsilon, and the whole delta: what they cost together is computed from their events."""
    own = zip(steps, epsilons, strict=True)
    return PipelinePlan(tuple(step.planned(Budget(epsilon, budget.delta)) for step, epsilon in own))


P = TypeVar("P", bound=Priced)


def least_factor(at: Callable[[float], P], budget: Budget) -> P:
    """The plan with nearly the least factor that fits the budget: epsilon is nearly in proportion to 1 / factor."""
    low, high, factor = 0.0, math.inf, 1.0
    for _ in range(TURNS):
        plan = at(factor)
        spent = accountant.epsilon(plan.event, budget.delta)
        fits = spent <= budget.epsilon and accountant.delta(plan.event, budget.epsilon) <= budget.delta
        if fits and spent >= (1 - CLOSE) * budget.epsilon:
            return plan
        low, high = (low, factor) if fits else (factor, high)
        factor *= max(spent, 1e-9 * budget.epsilon) / ((1 - CLOSE / 2) * budget.epsilon)
        if not low < factor < high:
            factor = math.sqrt(low * high) if low > 0 and high < math.inf else 2 * low or high / 2
    raise ParameterError("plan", f"no noise is found that costs {budget}", "Allow another epsilon or delta.")
