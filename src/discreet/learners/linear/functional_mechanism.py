"""The functional mechanism: linear and logistic regression by noise on the polynomial that is minimised."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet.accounting.calibration import calibrate
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.scored_classifier import LinearScores, own_units
from discreet.fitting.task import Task
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.learning.penalized_loss import LogisticLoss
from discreet.questions.gradients.signed_records import squared_loss_of, targets_of
from discreet.questions.vectors.coordinates import Coordinates
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

DEVIATIONS = 4.0  # of the noise, that are added to all squares: as published


class FunctionalMechanism(PrivateEstimator):
    """The minimiser of a polynomial of degree two, to whose coefficients Laplace noise was added."""

    def plan(self, task: Task) -> SumPlan:
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


class FunctionalLinearRegression(RegressorMixin, FunctionalMechanism):
    """Least squares from the noisy coefficients of the sum of squared errors, as published; for study.

    Features and target are scaled from their bounds to [-1, 1], and the features, with a constant 1, to a length of at
    most 1; a record with a missing value counts for nothing. The sum of squared errors is a polynomial in the weights.
    Laplace noise is added to its coefficients, and the noisy polynomial is minimised. `LinearRegression` learns more
    from the same budget.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Released. The coefficients, in the units of the data.
    intercept_ : float
        Released. The intercept.

    Guarantee
    ---------
    `event_`: one release of a sum bounded in l1, for the neighbors and the unit of the data set; add or remove one
    record for arrays. Released: `coef_` and `intercept_`, which follow from it. The functional mechanism of Zhang,
    Zhang, Xiao, Yang and Winslett 2012, with their regularisation and spectral trimming; the bound is that of the code
    that scales and clips coefficients, and not a formula beside it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> model = FunctionalLinearRegression(bounds=(-1, 1), target_bounds=(-3, 3), epsilon=1.0)
    >>> model.fit(X, X @ [2.0, -1.0] + 0.5).coef_.round(0)
    array([ 2., -1.])
    """

    purpose: ClassVar[str] = "functional mechanism, linear regression"
    supervised: ClassVar[bool] = True
    coef_: Array
    intercept_: float

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
    ) -> None:
        self.target, self.bounds, self.target_bounds = target, bounds, target_bounds
        self.epsilon, self.delta = epsilon, delta

    def learn(self, task: Task, plan: SumPlan, permit: Permit) -> Artefact:
        """Minimise, and go back to the units of the data."""
        weights = self.minimizers(task, plan, permit)[0]
        columns = Coordinates.of(task.schema, task.columns, 1.0)
        middle, half = columns.middle[:, 0], columns.half[:, 0]
        coef = weights[1:] * half[-1] / half[:-1]
        return {"coef_": coef, "intercept_": float(middle[-1] + weights[0] * half[-1] - coef @ middle[:-1])}

    def predict(self, X: Any) -> Array:
        """The prediction for each row."""
        return np.asarray(self._rows(X) @ self.coef_ + self.intercept_)


class FunctionalLogisticRegression(FunctionalMechanism, LinearScores):
    """Logistic regression from noisy coefficients of its loss, up to degree two, as published; for study.

    Features are scaled from their bounds to [-1, 1], and, with a constant 1, to a length of at most 1; a record with a
    missing value, or of a class that is not listed, counts for nothing. The loss ln(1 + exp(-m)) of a margin m is
    replaced by its Taylor polynomial, ln 2 - m / 2 + m^2 / 8: an eighth of (m - 2)^2, but for a constant. Laplace noise
    is added to the coefficients of its sum, and the noisy polynomial is minimised. `LogisticRegression` learns more
    from the same budget. Of more than two classes each has a score, against the others.


    Guarantee
    ---------
    `event_`: one release of a sum bounded in l1, for the neighbors and the unit of the data set; add or remove one
    record for arrays. Released: `coef_` and `intercept_`, which follow from it. The functional mechanism of Zhang,
    Zhang, Xiao, Yang and Winslett 2012, with their regularisation and spectral trimming; the bound is that of the code
    that scales and clips coefficients, and not a formula beside it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = X @ [2.0, -1.0] > 0
    >>> model = FunctionalLogisticRegression(bounds=(-1, 1), classes=[False, True], epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "functional mechanism, logistic regression"

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
    ) -> None:
        self.target, self.bounds, self.classes = target, bounds, classes
        self.epsilon, self.delta = epsilon, delta

    def learn(self, task: Task, plan: SumPlan, permit: Permit) -> Artefact:
        """Minimise, and go back to the units of the data."""
        weights = 2 * self.minimizers(task, plan, permit)
        return own_units(Coordinates.of(task.schema, task.features, 1.0), weights)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class; of more than two, those against the others, scaled to add up to 1."""
        chances = LogisticLoss().pull(-self.decision_function(X))
        if chances.ndim == 1:
            return np.column_stack([1 - chances, chances])
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))
