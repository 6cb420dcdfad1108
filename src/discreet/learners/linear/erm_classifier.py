"""Private empirical risk minimisation: logistic regression and support vectors by perturbed minimisers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from discreet.core.checks import check_positive
from discreet.core.grid import Array
from discreet.fitting.scored_classifier import LinearScores, own_units
from discreet.fitting.task import Task
from discreet.learners.linear.risk_minimizer import Perturbed, RiskMinimizer, RiskPlan
from discreet.mechanisms.learning.penalized_loss import LOSSES, LogisticLoss, LossName
from discreet.questions.columns.box import GUESS
from discreet.questions.columns.column_moments import ColumnMoments, column_moments_of
from discreet.questions.gradients.signed_records import Combined
from discreet.questions.vectors.coordinates import Coordinates
from discreet.releases.whitening import standardising
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data: `constant`, `share` and `reach` in benchmarks/tuning_linear.py. The first two hardly matter.
CONSTANT = 0.35  # the coordinate of the intercept, in units of the radius
REACH = 0.7  # of the typical length of standardised records, beyond which they count less
STILL, FARTHEST = 0.03, 2.0  # noise on scores below which none is shortened, and they reach farther; how far at most


class ERMClassifier(RiskMinimizer, LinearScores):
    """Linear classification by objective or output perturbation.

    Features are scaled from their bounds to [-1, 1], then by noisy moments. A record that is longer than `radius`, with
    a constant, counts less: its loss is weighted, and not the record shortened, so that coefficients of rare marks are
    not biased. Where noise is large for so many records and features, it is shortened after all, so that none counts
    less. One with a missing value counts for nothing, one of a class that is not listed in moments only.
    The minimiser of the sum of losses with a penalty is perturbed: by a random linear function that is added to the
    sum, or by noise on itself. Of more than two classes each has a minimiser, against the others.

    `LogisticRegression` uses this where it learns more than steps on noisy gradients do, which need no curator.

    Parameters
    ----------
    loss : {"logistic", "huber_hinge"}
        Public. Logistic regression, or support vectors.
    penalty : float, optional
        Public. Half of it times the squared length of the coefficients is added to the sum of losses, for records that
        are `radius` long; the intercept's coefficient is one of them. By default in proportion to the noise, and so
        great that no more than a tenth of epsilon is for the change of densities.
    radius : float, optional
        Public. The length beyond which records count less, from 0 to sqrt(1 + n_features). By default
        sqrt(1 + n_features / 3), the length of records that are uniform in their bounds. Of use without `standardize`.
    standardize : bool, optional
        Public. Whether a tenth of the budget is for noisy means and squares of all columns, by which they are centred
        and scaled, or scaled alike where noise hides single ones. By default unless a radius is given.

    Guarantee
    ---------
    `event_`: of `ObjectivePerturbation` or `OutputPerturbation`, once for each score, and of the bounded sum of moments
    before them, composed, for the neighbors and the unit of the data set; add or remove one record for arrays.
    Released: `coef_` and `intercept_`. The guarantee is that of what the solver returns, and not of an exact minimiser.
    Chaudhuri, Monteleoni and Sarwate 2011; Iyengar et al. 2019.
    A curator alone can fit it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = X @ [2.0, -1.0] + rng.logistic(0, 0.2, 20_000) > 0
    >>> model = ERMClassifier(bounds=(-1, 1), classes=[False, True], epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.85), model.predict([[0.9, 0.0], [0.0, 0.9]])
    (True, array([ True, False]))
    """

    purpose: ClassVar[str] = "empirical risk minimisation"

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        loss: LossName = "logistic",
        perturbed: Perturbed = "objective",
        penalty: float | None = None,
        radius: float | None = None,
        standardize: bool | None = None,
        expected_size: int = GUESS,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.target, self.bounds, self.classes = target, bounds, classes
        self.loss = loss
        self.perturbed = perturbed
        self.penalty = penalty
        self.radius = radius
        self.standardize = standardize
        self.expected_size = expected_size
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        super().check()
        if self.radius is not None:
            check_positive(self.purpose, "radius", self.radius, 2.0**-10, 2.0**10)

    def standardized(self, task: Task) -> bool:
        return self.radius is None if self.standardize is None else self.standardize

    def size(self, task: Task) -> int:
        return 1 + len(task.features)

    def reach(self, task: Task) -> float:
        longest = math.sqrt(1 + len(task.features))
        return math.sqrt(1 + len(task.features) / 3) if self.radius is None else min(self.radius, longest)

    def learn(self, task: Task, plan: RiskPlan, permit: Permit) -> Artefact:
        columns = Coordinates.of(task.schema, task.features, 1.0)
        if plan.moments is None:
            return own_units(columns, self.minimizers(task, plan, permit))
        released = permit.ask(column_moments_of(task.schema, task.features), plan.moments.noise)
        moved, radius = self._moved(task, plan), self.reach(task) * (1 - 2.0**-20)
        reach = float(np.clip(REACH * (STILL / moved) ** 0.25, REACH, FARTHEST))
        constant, rest = radius * CONSTANT, radius * math.sqrt(1 - CONSTANT**2)
        matrix = rest * standardising(ColumnMoments.of(released, plan.moments.stddev), reach)
        whole = moved < STILL
        found = self.minimizers(task, plan, permit, Combined(matrix, constant, math.inf if whole else rest))
        scores = (1.0 if whole else min(reach, 1.0)) * found[:, 1:] @ matrix  # no record is shortened where these are
        scores[:, 0] += constant * found[:, 0]
        return own_units(columns, scores)

    def _moved(self, task: Task, plan: RiskPlan) -> float:
        """About by how much noise moves scores."""
        bend = self.known_size(task) * LOSSES[self.loss].bend / self.size(task)
        return plan.mechanism.multiplier * plan.mechanism.units / bend

    @available_if(lambda self: self.loss == "logistic")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class; of more than two, those against the others, scaled to add up to 1."""
        scores = self.decision_function(X)
        chances = LogisticLoss().pull(-scores)
        if chances.ndim == 1:
            return np.column_stack([1 - chances, chances])
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))
