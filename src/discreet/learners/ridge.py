"""Private ridge regression, from one noisy matrix of second moments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.knob import check_knob
from discreet.core.question import BoundedSum
from discreet.learners.private_estimator import PrivateEstimator
from discreet.learners.task import Task
from discreet.questions.coordinates import Coordinates
from discreet.questions.second_moments import second_moments_of, unfolded
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact


@dataclass(frozen=True)
class MomentsPlan:
    """The question, and the noise on its answer."""

    question: BoundedSum
    spread: Spread

    @property
    def event(self) -> Event:
        """What the fit costs."""
        return self.spread.noise.event


class Ridge(RegressorMixin, PrivateEstimator):
    """Linear least squares with an l2 penalty, from the noisy sum of all products of two columns.

    Records are scaled from their bounds to [-1, 1] in every column; one with a missing value is ignored.

    Parameters
    ----------
    alpha : float
        Public. The penalty on squared coefficients of scaled features. The size of the noise is added to it, so that
        the problem stays convex.
    target : str, optional
        Public. The column to predict, of `PrivateData`.
    bounds : (lower, upper), optional
        Public. Of the features: two numbers, or two sequences with one number per feature; not for `PrivateData`, whose
        schema has them.
    target_bounds : (lower, upper), optional
        Public. Of the target; not for `PrivateData`.
    radius : float, optional
        Public. The length that a scaled record is shrunk to, target included; sqrt(n_features + 1) shrinks nothing, and
        is the radius where none is given. The noise grows with its square.
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
    `event_`: one release of one bounded sum, for the neighbors and the unit of the data set; add or remove one record
    for arrays. Released: `coef_` and `intercept_`, post-processing of it.
    Sufficient statistics perturbation: Vu and Slavkovic 2009; Foulds, Geumlek, Welling and Chaudhuri 2016. The products
    and their bound are those of `second_moments`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> model = Ridge(bounds=(-1, 1), target_bounds=(-3, 3), epsilon=1.0).fit(X, X @ [2.0, -1.0] + 0.5)
    >>> model.coef_.round(1), round(model.intercept_, 1)
    (array([ 2., -1.]), 0.5)
    """

    purpose: ClassVar[str] = "ridge regression"
    supervised: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        radius: float | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.alpha = alpha
        self.target = target
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.radius = radius
        self.epsilon = epsilon
        self.delta = delta

    def check(self) -> None:
        """Refuse invalid parameters, before any data are read."""
        check_knob(self.purpose, "alpha", self.alpha, least=0.0)

    def plan(self, task: Task) -> MomentsPlan:
        """One release of all second moments."""
        question = second_moments_of(task.schema, task.columns, self._radius(task))
        return MomentsPlan(question, least_noise(task.data, question, task.budget))

    def learn(self, task: Task, plan: MomentsPlan, permit: Permit) -> Artefact:
        """Solve the normal equations of the noisy moments."""
        coordinates = Coordinates.of(task.schema, task.columns, self._radius(task))
        sums = unfolded(permit.ask(plan.question, plan.spread.noise), coordinates)
        slopes, constant = self._solved(sums, plan.spread.stddev)
        middle, half = coordinates.middle[:, 0], coordinates.half[:, 0]
        own = slopes * half[-1] / half[:-1]
        return {"coef_": own, "intercept_": float(middle[-1] + half[-1] * constant - own @ middle[:-1])}

    def predict(self, X: Any) -> Array:
        """The prediction for each row."""
        return np.asarray(self._rows(X) @ self.coef_ + self.intercept_)

    def _solved(self, sums: Array, stddev: float) -> tuple[Array, float]:
        """Slopes and constant for scaled records, from the noisy sums of (1, z, t)(1, z, t)'.

        The noise on a symmetric matrix of d features has a spectral norm of about 2 stddev sqrt(d).
        """
        count = max(float(sums[0, 0]), 1.0)
        means = sums[0, 1:] / count
        centered = sums[1:, 1:] - count * np.outer(means, means)
        noise = 2 * stddev * math.sqrt(len(means))
        values, vectors = np.linalg.eigh(centered[:-1, :-1])
        penalised = np.maximum(values, 0.0) + self.alpha + noise
        slopes = vectors @ ((vectors.T @ centered[:-1, -1]) / penalised)
        return slopes, float(means[-1] - slopes @ means[:-1])

    def _radius(self, task: Task) -> float:
        return math.sqrt(len(task.columns)) if self.radius is None else self.radius
