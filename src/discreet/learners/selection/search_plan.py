"""The plan of a search among candidates: what each fit and each score may cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from discreet.accounting import accountant
from discreet.accounting.calibration import HEADROOM
from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.core.budget import Budget
from discreet.core.events import Composed, Event, GaussianLoss
from discreet.core.mechanism import Noise
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.learners.selection.evaluate_regression import r2_of, residual_moments_of
from discreet.learners.selection.pipeline_plan import least_factor
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.trust.permit import Permit
from discreet.trust.random_stopping import Trial, stopped

SCORING = 0.1  # the part of a score in a trial, whose fit has 0.9; on made-up data, 0.01 to 0.3 are as good


@dataclass(frozen=True)
class Candidate:
    """A candidate with its plan, and the noise on its score."""

    estimator: Any
    task: Task
    plan: Any
    noise: Noise

    @property
    def event(self) -> Event:
        """What a trial costs."""
        return Composed((self.plan.event, self.noise.event))

    def tried(self, place: int, permit: Permit) -> Trial:
        """Fit the candidate, and score it: from releases alone."""
        learned = self.estimator.learn(self.task, self.plan, permit)
        model, data, target = clone(self.estimator), self.task.data, str(self.task.target)
        model.adopt(self.task, learned)
        if is_regressor(model):
            return Trial(r2_of(permit.ask(residual_moments_of(model, data, target), self.noise)), place, learned)
        counts = permit.ask(cells_of(model, data, target, 2), self.noise).reshape(len(model.classes_), -1)
        return Trial(float(np.trace(counts) / max(float(counts.sum()), 1.0)), place, learned)


@dataclass(frozen=True)
class SearchPlan:
    """All candidates, and how they are tried."""

    candidates: tuple[Candidate, ...]  # public: with their plans
    stop: float | None  # public: the chance to stop after a trial; None where every candidate is tried once

    @property
    def event(self) -> Event:
        events = tuple(one.event for one in self.candidates)
        if self.stop is None:
            return Composed(events)
        return stopped(events, self.stop)


def searched(estimators: Sequence[PrivateEstimator], task: Task, stop: float | None, budget: Budget) -> SearchPlan:
    """The plan with the least noise that fits the budget, all candidates having the same share of it."""
    runs = 1 if stop is not None else len(estimators)
    if budget.delta == 0:
        whole = budget.epsilon * (1 - HEADROOM) / (runs if stop is None else 3.0)
        return _with(estimators, task, stop, Budget(whole * (1 - SCORING)), Laplace(1 / (whole * SCORING)))
    least = gaussian_multiplier(budget.epsilon * (1 - HEADROOM), budget.delta) * math.sqrt(runs)

    def at(factor: float) -> SearchPlan:
        fit = accountant.epsilon(GaussianLoss(least * factor / math.sqrt(1 - SCORING)), budget.delta)
        return _with(estimators, task, stop, Budget(fit, budget.delta), Gaussian(least * factor / math.sqrt(SCORING)))

    return least_factor(at, budget)


def _with(
    estimators: Sequence[PrivateEstimator], task: Task, stop: float | None, fit: Budget, noise: Noise
) -> SearchPlan:
    own = replace(task, budget=fit)
    return SearchPlan(tuple(Candidate(one, own, one.plan(own), noise) for one in estimators), stop)
