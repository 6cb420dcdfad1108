"""What both learners by the functional mechanism share: a noisy polynomial, repaired and minimised."""

from __future__ import annotations

import math

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.gradients.squared_loss import squared_loss_of, targets_of
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import spread
from discreet.trust.permit import Permit

DEVIATIONS = 4.0  # of the noise, that are added to all squares: as published


class FunctionalMechanism(PrivateEstimator):
    """The minimiser of a polynomial of degree two, to whose coefficients Laplace noise was added."""

    def plan(self, task: Task) -> SumPlan:
        """All coefficients at once."""
        question = squared_loss_of(task.schema, task.features, str(task.target))
        return SumPlan(question, spread(task.data, question, calibrate(Laplace(), task.budget)))

    def minimizers(self, task: Task, plan: SumPlan, permit: Permit) -> Array:
        """One row of weights of (1, x) for each y, where x is scaled to [-1, 1].

        Noise may leave a polynomial without a minimum. So all squares get a penalty, and directions in which the
        polynomial still does not rise are left out: regularisation and spectral trimming, as published. Both follow
        from what was released.
        """
        size = 1 + len(task.features)
        released = permit.ask(plan.question, plan.spread.noise)
        linear = released[: -size * (size + 1) // 2].reshape(targets_of(task.schema, str(task.target)), size)
        half = np.zeros((size, size))
        half[np.triu_indices(size)] = released[linear.size :] / 2
        values, directions = np.linalg.eigh(half + half.T + DEVIATIONS * plan.spread.stddev * np.eye(size))
        rising = values > 0
        inverse = np.divide(1.0, values, out=np.zeros(size), where=rising)
        return np.asarray(-linear / 2 @ (directions * inverse) @ directions.T / math.sqrt(size))
