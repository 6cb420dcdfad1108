"""Linear regression by the functional mechanism, as published."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.linear.functional_mechanism import FunctionalMechanism
from discreet.questions.vectors.coordinates import Coordinates
from discreet.releases.least_noise import SumPlan
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact


class FunctionalLinearRegression(RegressorMixin, FunctionalMechanism):
    """Least squares from the noisy coefficients of the sum of squared errors, as published; for study.

    Features and target are scaled from their bounds to [-1, 1], and the features, with a constant 1, to a length of at
    most 1; a record with a missing value counts for nothing. The sum of squared errors is a polynomial in the weights.
    Laplace noise is added to its coefficients, and the noisy polynomial is minimised. `LinearRegression` learns more
    from the same budget.

    Parameters
    ----------
    target : str, optional
        Public. The column to predict, of `PrivateData`.
    bounds : (lower, upper), optional
        Public. Of the features: two numbers, or two sequences with one number per feature; not for `PrivateData`, whose
        schema has them.
    target_bounds : (lower, upper), optional
        Public. Of the target; not for `PrivateData`.
    epsilon, delta : float
        Public. What one fit costs.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Released. The coefficients, in the units of the data.
    intercept_ : float
        Released. The intercept.
    event_ : Event
        What the fit cost.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.

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
        self.target = target
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.epsilon = epsilon
        self.delta = delta

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
