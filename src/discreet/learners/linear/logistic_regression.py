"""Private logistic regression, from noisy sums of gradients or by perturbed minimisers."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.linear.erm_classifier import ERMClassifier
from discreet.learners.linear.linear_classifier import LinearClassifier
from discreet.learners.linear.risk_minimizer import RiskPlan
from discreet.questions.columns.box import GUESS
from discreet.questions.gradients.gradients import contrasts, softmax_gradients_of
from discreet.questions.question import BoundedSum
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# Records times epsilon, for each coefficient of a score. From made-up data: `method` and `method_pure` in
# benchmarks/tuning_linear.py, where rows by n and epsilon say which is better.
HARDLY = 3000.0  # from which, with a delta, a perturbed minimiser of two classes is the better
MUCH = 500.0  # for each class, up to which it is without one


class LogisticRegression(LinearClassifier):
    """Logistic regression for two classes or more, by Newton's steps on noisy sums of gradients, or by perturbation.

    Records are centred, scaled and whitened by noisy moments, and shrunk where they are long; one with a missing value,
    or of a class that is not listed, counts for nothing. A residual p - e, of probabilities p and a mark e at the
    record's class, is shrunk to the length `residual`: so a record that is on the wrong side pulls no harder than all
    did at the start, for which a third to a half of the noise suffices. `predict_proba` takes this into account: where
    shrunk residuals average 0, the odds of the classes are p_k max(1, |p - e_k| / residual).

    Parameters
    ----------
    residual : float, optional
        Public. The length of a residual beyond which it is shrunk; sqrt(2) shrinks none, and is plain logistic
        regression. By default sqrt(1 - 1 / n_classes), the length of all residuals at coefficients 0.
    method : {"gradients", "objective"}, optional
        Public. Steps on noisy gradients, or the minimiser of a sum of losses that was perturbed, as in `ERMClassifier`,
        with standardised features; for that `residual` and `max_iter` are of no use, and it takes a curator. Where not
        given, the one that is more accurate for so many records, features, classes and this price.

    Attributes
    ----------
    intercept_ : array of shape (1,) or (n_classes,)
        Released. The intercepts, which are penalised like coefficients.
    n_iter_ : int
        Public. The number of steps; 0 where the minimiser was perturbed.

    Guarantee
    ---------
    `event_`: two releases of moments and `max_iter` of gradients, each one bounded sum, composed, for the neighbors and
    the unit of the data set; add or remove one record for arrays. Released: `coef_` and `intercept_`, which follow
    from these. No minimiser is assumed to have been found. Or that of `ERMClassifier`, where `method` is "objective".
    Noisy gradient descent: Song, Chaudhuri and Sarwate 2013; Bassily, Smith and Thakurta 2014. The bound on second
    derivatives that the steps start from is the one of Böhning 1992.

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

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        residual: float | None = None,
        max_iter: int | None = None,
        method: Literal["gradients", "objective"] | None = None,
        expected_size: int = GUESS,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.target, self.bounds, self.classes = target, bounds, classes
        self.residual = residual
        self.max_iter = max_iter
        self.method = method
        self.expected_size = expected_size
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        super().check()
        check_one_of(self.purpose, "method", self.method, ("gradients", "objective", None))
        check_whole(self.purpose, "expected_size", self.expected_size)
        if self.residual is not None:
            check_positive(self.purpose, "residual", self.residual, 2.0**-6, 2.0**6)

    def plan(self, task: Task) -> Any:
        """Moments and gradients, or moments and one minimiser for each score."""
        return self._minimizer().plan(task) if self._perturbs(task) else super().plan(task)

    def learn(self, task: Task, plan: Any, permit: Permit) -> Artefact:
        if isinstance(plan, RiskPlan):
            return {**self._minimizer().learn(task, plan, permit), "n_iter_": 0}
        return super().learn(task, plan, permit)

    def _perturbs(self, task: Task) -> bool:
        """Whether a perturbed minimiser is the better one.

        Noise of pure steps adds up by their number, which one release avoids. With a delta, steps on whitened records
        need less noise; but residuals are shrunk, which is worse where noise hardly counts. Of several classes each
        needs a minimiser.
        """
        if self.method is not None or not task.data.curated:
            return self.method == "objective"
        if self.residual is not None or self.max_iter is not None:
            return False
        classes, n = task.classes, task.data.public_size or self.expected_size
        known = n * task.budget.epsilon / (1 + len(task.features))
        if task.budget.delta > 0:
            return classes == 2 and known > HARDLY
        return classes == 2 or known < MUCH * classes

    def _minimizer(self) -> ERMClassifier:
        return ERMClassifier(expected_size=self.expected_size)

    def gradients(self, task: Task, matrix: Array, coefficients: Array) -> BoundedSum:
        """The sum of gradients of the logistic loss."""
        residual = self._residual(len(coefficients))
        return softmax_gradients_of(task.schema, task.features, str(task.target), matrix, coefficients, residual)

    def directions(self, classes: int) -> Array:
        return contrasts(classes)

    def curvature(self, variance: float, classes: int) -> float:
        """That of uniform probabilities, 1 / classes, less where scores vary.

        The derivative of the logistic function is nearly a normal density of variance 8 / pi (MacKay 1992); the
        difference of two scores has twice their variance.
        """
        return 1 / (classes * math.sqrt(1 + math.pi * variance / 4))

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""
        scores = self.decision_function(X)
        scores = np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        p = weights / weights.sum(axis=1, keepdims=True)
        lengths = np.sqrt(np.maximum(1 - 2 * p + np.square(p).sum(axis=1, keepdims=True), 0.0))
        odds = p * np.maximum(1.0, lengths / self._residual(p.shape[1]))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def _residual(self, classes: int) -> float:
        """What residuals were shrunk to; those of a minimiser are as they are."""
        if getattr(self, "n_iter_", 1) == 0:
            return math.sqrt(2)
        return math.sqrt(1 - 1 / classes) if self.residual is None else self.residual
