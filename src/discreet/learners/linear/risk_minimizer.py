"""What learners by perturbed minimisers have in common: one minimiser for each class against the others."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.events import Composed, Event, Repeated
from discreet.core.grid import Array
from discreet.fitting.scored_classifier import ScoredClassifier
from discreet.fitting.task import Task
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.learning.objective_perturbation import ObjectivePerturbation
from discreet.mechanisms.learning.penalized_loss import LOSSES, LossName
from discreet.mechanisms.learning.perturbation import OutputPerturbation
from discreet.mechanisms.vectors.spherical_laplace import SphericalLaplace
from discreet.questions.columns.column_moments import column_moments_of
from discreet.questions.gradients.signed_records import Combined, SignedRecords, Waves
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread
from discreet.trust.permit import Permit

Perturbed = Literal["objective", "output"]
KINDS: dict[Perturbed, Any] = {"objective": ObjectivePerturbation, "output": OutputPerturbation}
JACOBIAN = 0.1  # of epsilon, that the logarithm may cost at most
# Set on made-up data: see benchmarks/tuning_linear.py.
SHARE = 0.1  # of the budget, for moments
FLAT = 0.005  # curvature that a record adds in each of d directions, in units of 1 / d
LIGHTEST = 0.05  # for each root of a coordinate: with less, the noise that hides the solver's error is felt
STIFFNESS = {"objective": 0.1, "output": 0.5}  # penalty in units of the length of the noise


@dataclass(frozen=True)
class RiskPlan:
    """The mechanism that releases each minimiser, the noise on moments before them, and what all of it costs."""

    mechanism: ObjectivePerturbation | OutputPerturbation
    event: Event
    moments: Spread | None = None


class RiskMinimizer(ScoredClassifier):
    """Minimisers of the sum of a loss of margins, with a penalty, each perturbed.

    Parameters
    ----------
    perturbed : {"objective", "output"}
        Public. What the noise is added to.
    epsilon, delta : float
        Public. What one fit costs. Where delta is 0, noise has a length of the Gamma law; else it is Gaussian.
    """

    loss: LossName
    perturbed: Perturbed
    penalty: float | None
    expected_size: int

    @abstractmethod
    def size(self, task: Task) -> int:
        """The number of coordinates of a vector."""

    @abstractmethod
    def reach(self, task: Task) -> float:
        """The length that vectors are shortened to."""

    def check(self) -> None:
        check_one_of(self.purpose, "loss", self.loss, tuple(LOSSES))
        check_one_of(self.purpose, "perturbed", self.perturbed, tuple(KINDS))
        check_whole(self.purpose, "expected_size", self.expected_size)
        if self.penalty is not None:
            check_positive(self.purpose, "penalty", self.penalty, 2.0**-20)

    @abstractmethod
    def standardized(self, task: Task) -> bool:
        """Whether columns are scaled by noisy moments."""

    def lightest(self, task: Task) -> float:
        """The least penalty that is chosen where none is given."""
        return LIGHTEST * math.sqrt(self.size(task))

    def plan(self, task: Task) -> RiskPlan:
        """One minimiser for two classes, or one for each class; and moments of columns before, where they pay."""
        task.data.check_curated(self.purpose)
        if not self.standardized(task):
            return self._plan(task)
        question, budget = column_moments_of(task.schema, task.features), task.budget
        rough = least_noise(task.data, question, Budget(SHARE * budget.epsilon, SHARE * budget.delta))
        rest = Budget((1 - SHARE) * budget.epsilon, (1 - SHARE) * budget.delta)
        plan = self._plan(dataclasses.replace(task, budget=rest))
        return dataclasses.replace(plan, event=Composed((rough.noise.event, plan.event)), moments=rough)

    def _plan(self, task: Task) -> RiskPlan:
        times = len(self._places(task))
        mechanism = self._mechanism(task, times)
        return RiskPlan(mechanism, Repeated(mechanism.event, times) if times > 1 else mechanism.event)

    def minimizers(self, task: Task, plan: RiskPlan, permit: Permit, mapping: Waves | Combined | None = None) -> Array:
        """One row of coefficients for each score."""
        target = str(task.target)
        questions = [SignedRecords(task.schema, task.features, target, place, mapping) for place in self._places(task)]
        return np.array([permit.ask(question, plan.mechanism) for question in questions])

    def known_size(self, task: Task) -> int:
        """The number of records, or about."""
        return task.data.public_size or self.expected_size

    def _places(self, task: Task) -> range:
        """The places of the classes that have a score."""
        classes = task.classes
        return range(1 if classes == 2 else 0, classes)

    def stiff(self, task: Task, length: float) -> float:
        """The penalty for noise of this length."""
        bent = FLAT * self.known_size(task) / self.size(task) if self.perturbed == "objective" else 0.0
        return STIFFNESS[self.perturbed] * length - bent

    def _mechanism(self, task: Task, times: int) -> ObjectivePerturbation | OutputPerturbation:
        """With the least noise for the penalty; by default one that grows with the noise.

        A tilt of length b adds up to b^2 / (2 L) to the sum of losses where nothing but the penalty L bends it, and the
        penalty adds L |w|^2 / 2: the best L is in proportion to b, and less by what n records bend the sum in any
        direction. Objective perturbation pays for a logarithm, too.
        """
        noise = Gaussian() if task.budget.delta > 0 else SphericalLaplace()
        units, size = task.data.unit.rows * task.data.neighbors.reach, self.size(task)
        length = calibrate(noise, task.budget, times).multiplier * units * _length(noise, size)
        least = LOSSES[self.loss].bend / math.expm1(JACOBIAN * task.budget.epsilon / (times * task.data.unit.rows))
        penalty = max(self.stiff(task, length), least, self.lightest(task)) if self.penalty is None else self.penalty
        mechanism = KINDS[self.perturbed](
            noise=noise,
            loss=self.loss,
            penalty=penalty,
            radius=self.reach(task),
            rows=task.data.unit.rows,
            neighbors=task.data.neighbors,
        )
        return calibrate(mechanism, task.budget, times)


def _length(noise: SphericalLaplace | Gaussian, size: int) -> float:
    """The typical length of noise of scale one."""
    return math.sqrt(size) if isinstance(noise, Gaussian) else float(size)
