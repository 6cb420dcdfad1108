"""PF-LD: fair training that protects the attribute, after Tran, Fioretto and Van Hentenryck 2021, repaired."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.events import Composed, Event, Repeated
from discreet.core.grid import Array
from discreet.core.mechanism import SecretSample
from discreet.deep.fair.attribute_training import AttributeTraining
from discreet.deep.fair.descent import Walk
from discreet.deep.fair.fair_plan import SCHEMES, check_batch, steps_of
from discreet.deep.fair.multipliers import PublishedMultipliers, weights
from discreet.deep.questions.fair_sums import CentredSums, ConstraintGradient
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust.on_sample import OnSample
from discreet.trust.permit import Permit


@dataclass(frozen=True)
class PFLDPlan:
    """T n / |B| primal releases of samples, T dual releases of all records, and the counts before: in proportion.

    Parameters
    ----------
    sample : SecretSample
        Public. Of every primal step, |B| / n of the records.
    epochs : int
        Public. T, how many dual steps there are.
    steps : int
        Public. How many primal steps there are.
    multiplier : float
        Public. Of a primal step: what is calibrated.
    dual : float
        Public. What all dual steps cost, as a part of the primal ones, in 1 / multiplier squared.
    counts : float
        Public. What the counts cost, likewise.

    Examples
    --------
    >>> plan = PFLDPlan.of(Budget(1.0, 1e-5), batch=500, size=10_000, epochs=20)
    >>> plan.steps, plan.epochs
    (400, 20)
    """

    sample: SecretSample
    epochs: int
    steps: int
    multiplier: float = 1.0
    dual: float = 0.3
    counts: float = 0.05
    calibrated: ClassVar[str] = "multiplier"

    @classmethod
    def of(cls, budget: Budget, *, batch: int, size: int, epochs: int) -> PFLDPlan:
        """The plan with the least noise that fits a budget: see `FairPlan.of`."""
        check_batch(batch, size, epochs)
        sample = SecretSample(batch / size, SCHEMES["attribute"])
        return calibrate(cls(sample, int(epochs), steps_of(batch, size, epochs)), budget)

    @property
    def _whole(self) -> float:
        """What one release of all records costs like all primal steps, about: in units of the multiplier."""
        return self.multiplier / (self.sample.rate * math.sqrt(self.steps))

    @property
    def gradient_noise(self) -> Gaussian:
        """On the gradient of every primal step."""
        return Gaussian(self.multiplier)

    @property
    def dual_noise(self) -> Gaussian:
        """On the sums of every dual step."""
        return Gaussian(self._whole * math.sqrt(self.epochs / self.dual))

    @property
    def counts_noise(self) -> Gaussian:
        """On the number of records in each cell."""
        return Gaussian(self._whole / math.sqrt(self.counts))

    @property
    def event(self) -> Event:
        """What the whole run costs."""
        primal = Repeated(self.sample.event(self.gradient_noise.event), self.steps)
        return Composed((self.counts_noise.event, primal, Repeated(self.dual_noise.event, self.epochs)))


class PFLDTraining(AttributeTraining):
    """Primal steps on secret samples, and a dual step on all records after every epoch.

    Repaired where the publication proves nothing: each record's own part of the constraint is clipped, since the
    difference of group means has no part of a record in it; means are over released counts, since the exact ones are
    secret; samples are drawn by a coin for each record; they are priced for a group that is changed and not for a
    record that is added; and the loss is computed on other records, since the same ones would show the sample.

    Guarantee
    ---------
    `plan.event` for neighbors that differ in the group of one record; as `AttributeTraining`. In a dual step a record
    moves its score from one group to another, by sqrt(2) at most. After Tran, Fioretto and Van Hentenryck 2021.
    """

    plan: PFLDPlan  # type: ignore[assignment]

    @property
    def multipliers_stddev(self) -> Array:
        """How far noise may have moved each multiplier: the standard deviation of all dual steps together."""
        one = self.plan.dual_noise.multiplier * math.sqrt(0.5)
        moved = self.descent.multiplier_rate * math.sqrt(self.plan.epochs)
        return moved * one / (self._shares * len(self._attribute))

    def _train(self, permit: Permit) -> None:
        self._count(permit)
        self.multipliers = PublishedMultipliers(self._shares, self.descent.multiplier_rate, self.descent.most)
        walk = Walk(self.model, self.descent.learning_rate, self.plan.steps)
        duals = {round(epoch * self.plan.steps / self.plan.epochs) for epoch in range(1, self.plan.epochs + 1)}
        for step in range(1, self.plan.steps + 1):
            private = self._private_gradient(permit)
            public = self._public_gradient(np.zeros_like(self._shares))
            walk.step({name: one + private[name] for name, one in public.items()})
            if step in duals:
                self._dual_step(permit)
        walk.finish()

    def _private_gradient(self, permit: Permit) -> dict[str, Tensor]:
        """Of the multipliers times the violations, each record's part clipped after it is weighted."""
        question = ConstraintGradient(self._known, self.plan.sample, weights(self.multipliers))
        return self._mean(permit.ask(question, OnSample(self.plan.gradient_noise, self.plan.sample)))

    def _dual_step(self, permit: Permit) -> None:
        """Move the multipliers by noisy sums of the scores of all records."""
        scores = self._known.scores() - 0.5
        question = CentredSums(self._known.cells, self._strata, scores, 0.5)
        self._follow(permit.ask(question, self.plan.dual_noise), scores)
