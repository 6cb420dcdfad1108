"""Private Gaussian naive Bayes as it was published: an equal share of the budget for each statistic."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.mechanism import Noise
from discreet.fitting.task import Task
from discreet.learners.bayes.gaussian_nb import GaussianNB, MomentsPlan, moments_of
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.question import BoundedSum
from discreet.releases.spread import spread


class PublishedNB(GaussianNB):
    """Gaussian naive Bayes as it was published, with what gave records away repaired; for study.

    Independent Laplace noise is added to each attribute's statistics, with an equal share of the budget, and they are
    taken as they come: `GaussianNB` asks for them in one vector, shrinks them by the share of noise in them, and
    chooses what is worth its noise. No delta is paid.

    The paper divides by the exact number of records of a class. That number is secret here, so sums have the noise:
    means that are divided by it have no smaller sensitivity.

    Parameters
    ----------
    radius : float, optional
        Public. The length that a scaled record is shrunk to; sqrt(n_features) where none is given, which shrinks
        nothing.

    Guarantee
    ---------
    `event_`: one release of one bounded sum, of a pure loss, for the neighbors and the unit of the data set; add or
    remove one record for arrays. Released: `theta_`, `var_` and `class_prior_`, post-processing of it.
    Vaidya, Shafiq, Basu and Hong 2013, with noise on sums.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 5000)
    >>> X = rng.normal(np.where(y == 1, 1.0, -1.0)[:, None], 1.0, (5000, 2))
    >>> model = PublishedNB(classes=[0, 1], bounds=(-5, 5), epsilon=10.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "naive Bayes as published"

    def __init__(
        self,
        *,
        radius: float | None = None,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
    ) -> None:
        super().__init__(radius=radius, target=target, classes=classes, bounds=bounds, epsilon=epsilon, delta=delta)

    def plan(self, task: Task) -> MomentsPlan:
        """An equal share of epsilon for each statistic: Laplace noise in l1."""
        radius = math.sqrt(len(task.features)) if self.radius is None else self.radius
        question = moments_of(task, task.features, radius, "l1")
        noise = calibrate(Laplace(), Budget(task.budget.epsilon))
        found = spread(task.data, question, noise)
        return MomentsPlan(task.features, radius, radius, False, "l1", found, None, noise.event)

    def _stddev(self, task: Task, question: BoundedSum, noise: Noise) -> float:
        """None is known: nothing is shrunk by it."""
        return 0.0
