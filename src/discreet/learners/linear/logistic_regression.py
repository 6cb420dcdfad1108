"""Private logistic regression, from noisy sums of gradients or by perturbed minimisers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.linear.erm_classifier import ERMClassifier
from discreet.learners.linear.linear_classifier import LinearClassifier, StepBasis, grown
from discreet.learners.linear.risk_minimizer import RiskPlan
from discreet.learners.linear.shrunk_residuals import ShrunkResiduals, softmax
from discreet.questions.columns.box import GUESS
from discreet.questions.gradients.gradients import contrasts, weighted_softmax_gradients_of
from discreet.questions.question import BoundedSum
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# Records times epsilon, for each coefficient of a score and each class, up to which a perturbed minimiser is better
# without a delta. From made-up data: rows of `method_pure` in benchmarks/tuning_linear.py, by n and epsilon.
MUCH = 500.0


class LogisticRegression(LinearClassifier):
    """Logistic regression for two classes or more, by Newton's steps on noisy sums of gradients, or by perturbation.

    Records are centred, scaled and whitened by noisy moments; one with a missing value, or of a class that is not
    listed, counts for nothing. A record that is long counts less: what it adds is shrunk, and not the record itself, so
    that coefficients of rare marks are not biased. A residual p - e, of probabilities p and a mark e at the record's
    class, is shrunk to the length `residual`: so a record that is on the wrong side pulls no harder than all would if
    nothing were known, for which a third to a half of the noise suffices. `predict_proba` takes this into account:
    where shrunk residuals average 0, the odds of the classes are p_k max(1, |p - e_k| / residual).

    Steps start from noisy counts of the classes. Each column's coefficients have a prior of a variance that is
    estimated from the releases: what cannot be told from noise is close to zero.

    Parameters
    ----------
    residual : float, optional
        Public. The length of a residual beyond which it is shrunk; sqrt(2) shrinks none, and is plain logistic
        regression. By default sqrt(1 - 1 / n_classes), the length of all residuals at coefficients 0, and up to
        sqrt(2) where noise is small for so many records and features.
    method : {"gradients", "objective"}, optional
        Public. Steps on noisy gradients, or the minimiser of a sum of losses that was perturbed, as in `ERMClassifier`,
        with standardised features; for that `residual`, `max_iter` and `class_weight` are of no use, and it takes a
        curator. Where not given, gradients; where delta is 0, the one that is more accurate for so many records,
        features, classes and this price.

    Attributes
    ----------
    intercept_ : array of shape (1,) or (n_classes,)
        Released. The intercepts.
    n_iter_ : int
        Public. The number of steps; 0 where the minimiser was perturbed.
    residual_ : float
        Released. The length that residuals were shrunk to; by default it depends on a noisy count.

    Guarantee
    ---------
    `event_`: two releases of moments, one of counts of classes and `max_iter` of gradients, each one bounded sum,
    composed, for the neighbors and the unit of the data set; add or remove one record for arrays. Released: `coef_`,
    `intercept_` and `residual_`, which follow from these. No minimiser is assumed to have been found. Or that of
    `ERMClassifier`, where `method` is "objective".
    Noisy gradient descent: Song, Chaudhuri and Sarwate 2013; Bassily, Smith and Thakurta 2014.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = X @ [2.0, -1.0] + rng.logistic(0, 0.2, 20_000) > 0
    >>> model = LogisticRegression(bounds=(-1, 1), classes=[False, True], epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.85), model.predict([[0.9, 0.0], [0.0, 0.9]])
    (True, array([ True, False]))
    """

    purpose: ClassVar[str] = "logistic regression"
    residual_: float

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        residual: float | None = None,
        max_iter: int | None = None,
        method: Literal["gradients", "objective"] | None = None,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        expected_size: int = GUESS,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.target, self.bounds, self.classes = target, bounds, classes
        self.residual = residual
        self.max_iter = max_iter
        self.method = method
        self.class_weight = class_weight
        self.expected_size = expected_size
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        super().check()
        check_one_of(self.purpose, "method", self.method, ("gradients", "objective", None))
        check_whole(self.purpose, "expected_size", self.expected_size)
        if self.residual is not None:
            check_positive(self.purpose, "residual", self.residual, 2.0**-6, 2.0**6)
        if self.method == "objective" and self.class_weight is not None:
            obstacle = "a perturbed minimiser has no weights of classes"
            raise ParameterError(self.purpose, obstacle, 'Set method to "gradients", or leave class_weight out.')

    def plan(self, task: Task) -> Any:
        """Moments and gradients, or moments and one minimiser for each score."""
        return self._minimizer().plan(task) if self._perturbs(task) else super().plan(task)

    def learn(self, task: Task, plan: Any, permit: Permit) -> Artefact:
        if isinstance(plan, RiskPlan):
            return {**self._minimizer().learn(task, plan, permit), "n_iter_": 0, "residual_": math.sqrt(2)}
        return super().learn(task, plan, permit)

    def learning(self, plan: Any) -> Callable[[Task, Any, Permit], Artefact]:
        return self.learn if isinstance(plan, RiskPlan) else super().learn

    def _perturbs(self, task: Task) -> bool:
        """Whether a perturbed minimiser is the better one.

        Noise of pure steps adds up by their number, which one release avoids. With a delta, steps on whitened records
        need less noise. Of several classes each needs a minimiser.
        """
        if self.method == "objective" and task.weight is not None:
            obstacle = "a perturbed minimiser has no weights of records"
            raise ParameterError(self.purpose, obstacle, 'Set method to "gradients", or leave sample_weight out.')
        if self.method is not None or not task.data.curated:
            return self.method == "objective"
        given = (self.residual, self.max_iter, self.class_weight, task.weight)
        if task.budget.delta > 0 or any(value is not None for value in given):
            return False
        classes, n = task.classes, task.data.public_size or self.expected_size
        return classes == 2 or n * task.budget.epsilon / (1 + len(task.features)) < MUCH * classes

    def _minimizer(self) -> ERMClassifier:
        return ERMClassifier(expected_size=self.expected_size)

    def gradients(self, task: Task, matrix: Array, coefficients: Array, longest: float, weights: Array) -> BoundedSum:
        """The sum of gradients of the logistic loss."""
        target = str(task.target)
        return weighted_softmax_gradients_of(task.schema, task.features, target, matrix, coefficients, longest, weights)

    def directions(self, classes: int) -> Array:
        return contrasts(classes)

    def pull(self, classes: int, moved: float) -> ShrunkResiduals:
        """Shrunk to `residual`; by default to the length of all at the start, and less where noise is small."""
        longest = grown(math.sqrt(1 - 1 / classes), math.sqrt(2), moved) if self.residual is None else self.residual
        return ShrunkResiduals(longest)

    def fitted(self, found: StepBasis) -> Artefact:
        return {"residual_": found.pull.longest}

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""
        scores = self.decision_function(X)
        scores = np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
        return ShrunkResiduals(self.residual_).odds(softmax(scores))
