"""A private low-rank approximation: right singular vectors, from one noisy sum of products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.learners.components.components import signed
from discreet.questions.vectors.center import distances_of, radius_of
from discreet.questions.vectors.coordinates import SHORTEST, Coordinates
from discreet.questions.vectors.second_moments import central_moments_of, unfolded
from discreet.releases.joint_plan import JointPlan, Stage, staged, vector_noise
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

BINS, INSIDE = 64, 0.95  # of the lengths of records, and the share of them that are not shrunk
RADIUS = 0.05  # its part of the budget: one place among few bins is known well where anything is. Set by hand.


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """The directions in which records are long: rows projected on them are a low-rank approximation.

    Unlike `PCA` it does not take the mean off. One release of the sum of all products of two features, after one of a
    radius where none is given; the rest is post-processing. A record with a missing value counts for nothing.

    Parameters
    ----------
    n_components : int
        Public. The rank; at most the number of features.
    radius : float, optional
        Public. The length that a record is shrunk to, scaled from its bounds to [-1, 1]; without one, a part of the
        budget is spent on a radius within which 95% of the records lie.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Released. The right singular vectors, orthonormal, those of the greatest singular values first.
    singular_values_ : array of shape (n_components,)
        Released. The singular values of the matrix of all records.
    explained_variance_ : array of shape (n_components,)
        Released. The variance of the coordinates along each component.
    explained_variance_ratio_ : array of shape (n_components,)
        Released. Its share in the variance of all features.

    Guarantee
    ---------
    `event_`: the composed releases of bounded sums, for the neighbors and the unit of the data set; add or remove one
    record for an array. Released: what is called so above, post-processing of them. `transform` computes from records
    that the caller already has, and what it gives is not private.
    Dwork, Talwar, Thakurta and Zhang 2014, Algorithm 1 and Theorem 7 (what a private subspace loses), with the noise
    of `second_moments`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(0, 0.02, (10_000, 4)) + rng.uniform(0, 1, (10_000, 1)) * [0.8, 0.6, 0.0, 0.0]
    >>> model = TruncatedSVD(1, bounds=(-1, 1), epsilon=1.0).fit(X)
    >>> model.components_.round(1) + 0.0
    array([[0.8, 0.6, 0. , 0. ]])
    """

    purpose: ClassVar[str] = "low-rank approximation"

    def __init__(
        self,
        n_components: int = 2,
        *,
        radius: float | None = None,
        columns: Sequence[str] | None = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.radius = radius
        self.columns, self.bounds = columns, bounds
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        check_whole(self.purpose, "n_components", self.n_components)
        if self.radius is not None:
            check_positive(self.purpose, "radius", self.radius, least=SHORTEST)

    def plan(self, task: Task) -> JointPlan:
        """The radius if it is not given, and the products."""
        task.check_enough(self.purpose, int(self.n_components))
        n = len(task.features)
        if self.n_components > n:
            obstacle = f"there are {n} features, and {self.n_components} components"
            raise ParameterError(self.purpose, obstacle, "Ask for at most as many as there are features.")
        products = Stage(central_moments_of(task.schema, task.features, np.zeros(n), 1.0), 1 - RADIUS)
        shares = [products] if self.radius is not None else [Stage(self._distances(task), RADIUS), products]
        return staged(task.data, shares, task.budget, vector_noise)

    def learn(self, task: Task, plan: JointPlan, permit: Permit) -> Artefact:
        """Ask for the radius and the products, and find the directions."""
        n, size, noises = len(task.features), int(self.n_components), iter(plan.mechanisms)
        radius = self.radius
        if radius is None:
            radius = radius_of(permit.ask(self._distances(task), next(noises)), math.sqrt(n), INSIDE)
        products = central_moments_of(task.schema, task.features, np.zeros(n), radius)
        coordinates = Coordinates.of(task.schema, task.features, radius, np.zeros(n))
        sums = coordinates.back(unfolded(permit.ask(products, next(noises)), coordinates))
        values, vectors = np.linalg.eigh(sums[1:, 1:])
        components = signed(vectors[:, ::-1][:, :size].T)
        count = max(float(sums[0, 0]), 1.0)
        covariance = sums[1:, 1:] / count - np.outer(sums[0, 1:], sums[0, 1:]) / count**2
        variances = np.maximum(np.einsum("ki,ij,kj->k", components, covariance, components), 0.0)
        total = max(float(np.maximum(np.linalg.eigvalsh(covariance), 0.0).sum()), np.finfo(float).tiny)
        return {
            "components_": components,
            "singular_values_": np.sqrt(np.maximum(values[::-1][:size], 0.0)),
            "explained_variance_": variances,
            "explained_variance_ratio_": np.minimum(variances / total, 1.0),
        }

    def transform(self, X: Any) -> Array:
        """The coordinates of each row along the components."""
        return np.asarray(self._rows(X) @ self.components_.T)

    def inverse_transform(self, X: Any) -> Array:
        """Rows with these coordinates along the components: after `transform`, the approximation of each row."""
        return np.asarray(X, dtype=np.float64) @ self.components_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _distances(self, task: Task) -> Any:
        n = len(task.features)
        return distances_of(task.schema, task.features, np.zeros((1, n)), math.sqrt(n), BINS)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
