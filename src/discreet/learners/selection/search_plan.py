"""The plan of a search among candidates: what each fit and each score may cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from discreet.accounting import accountant
from discreet.accounting.calibration import HEADROOM
from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.core.budget import Budget
from discreet.core.events import Composed, Event, GaussianLoss
from discreet.core.mechanism import Noise
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.learners.selection.evaluate_regression import residual_moments_of
from discreet.learners.selection.pipeline_plan import least_factor
from discreet.learners.selection.score_cells import Scored, score_schema, scored
from discreet.learners.selection.score_table import ScorePlan, score_plan_with
from discreet.learners.selection.search_scores import REGRESSION_SCORES, SCORES
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.trust.permit import Permit
from discreet.trust.random_stopping import Trial, stopped

SCORING = 0.1  # the part of a score in a trial, whose fit has 0.9; on made-up data, 0.01 to 0.3 are as good


@dataclass(frozen=True)
class Candidate:
    """A candidate with its plan, and that of its score."""

    estimator: Any
    task: Task
    plan: Any
    score: ScorePlan | ResidualMomentsPlan
    scoring: str

    @property
    def event(self) -> Event:
        """What a trial costs."""
        return Composed((self.plan.event, self.score.event))

    def tried(self, place: int, permit: Permit) -> Trial:
        """Fit the candidate, and score it: from releases alone."""
        learned = self.estimator.learn(self.task, self.plan, permit)
        model, data, target = clone(self.estimator), self.task.data, str(self.task.target)
        model.adopt(self.task, learned)
        if isinstance(self.score, ResidualMomentsPlan):
            sums = permit.ask(residual_moments_of(model, data, target), self.score.noise)
            return Trial(REGRESSION_SCORES[self.scoring](sums), place, learned)
        table = replace(self.score, scored=scored(model, data, target)).released(permit)
        return Trial(SCORES[self.scoring].of(table), place, learned)


@dataclass(frozen=True)
class ResidualMomentsPlan:
    """The noise on the moments of residuals."""

    noise: Noise

    @property
    def event(self) -> Event:
        return self.noise.event


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


def searched(
    estimators: Sequence[PrivateEstimator], task: Task, stop: float | None, budget: Budget, scoring: str
) -> SearchPlan:
    """The plan with the least noise that fits the budget, all candidates having the same share of it."""

    def with_(fit: Budget, noise: Laplace | Gaussian) -> SearchPlan:
        own, score = replace(task, budget=fit), _score(task, noise, scoring)
        return SearchPlan(tuple(Candidate(one, own, one.plan(own), score, scoring) for one in estimators), stop)

    runs = 1 if stop is not None else len(estimators)
    if budget.delta == 0:
        whole = budget.epsilon * (1 - HEADROOM) / (runs if stop is None else 3.0)
        return with_(Budget(whole * (1 - SCORING)), Laplace(1 / (whole * SCORING)))
    least = gaussian_multiplier(budget.epsilon * (1 - HEADROOM), budget.delta) * math.sqrt(runs)

    def at(factor: float) -> SearchPlan:
        fit = accountant.epsilon(GaussianLoss(least * factor / math.sqrt(1 - SCORING)), budget.delta)
        return with_(Budget(fit, budget.delta), Gaussian(least * factor / math.sqrt(SCORING)))

    return least_factor(at, budget)


def _score(task: Task, noise: Laplace | Gaussian, scoring: str) -> ScorePlan | ResidualMomentsPlan:
    """The plan of a score, for any model: all of them have the same questions about classes and scores."""
    if scoring in REGRESSION_SCORES:
        return ResidualMomentsPlan(noise)
    target, classes = str(task.target), task.data.schema.category(str(task.target))
    schema = score_schema(target, classes)
    any_model = Scored(schema, target, tuple(schema.columns)[1], lambda question: question, lambda place: place)
    return score_plan_with(any_model, task.data, SCORES[scoring].bins, noise)
