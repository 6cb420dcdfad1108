"""Private principal components, from noisy products of records around a noisy center."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.knob import check_knob, check_one_of, check_whole
from discreet.learners.private_estimator import PrivateEstimator
from discreet.learners.task import Task
from discreet.questions.clusters import FINE, clusters_of, count_weight
from discreet.questions.coordinates import SHORTEST, Coordinates
from discreet.questions.directed_products import directed_products_of, on_grid
from discreet.questions.distances import distances_of, radius_of
from discreet.questions.second_moments import central_moments_of, unfolded
from discreet.releases.shares import Share, SharedPlan, shared
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

BINS, REACH = 64, 1.5  # of the distances from the center, up to so many square roots of n_features
INSIDE = 0.9  # the share of the records that are not shrunk
# Parts of the budget. The center and the radius may be rough: an error of the center far below the spread of the
# records makes them hardly longer. Set by hand; no study on data of its own has been made.
CENTER, RADIUS, PRODUCTS = 0.16, 0.04, 0.8


@dataclass(frozen=True)
class Place:
    """Where the records lie, scaled to [-1, 1]: released.

    Parameters
    ----------
    count : float
        How many there are.
    center : array of shape (n_features,)
        Their mean.
    radius : float
        The distance from it that they are shrunk to.
    """

    count: float
    center: Array
    radius: float


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """Principal components of records around their noisy mean, which are shrunk to a noisy radius.

    Records are scaled from their bounds to [-1, 1] in every feature and the noise is added there; components and
    variances are those of records in their own units. A record with a missing value counts for nothing.

    Parameters
    ----------
    n_components : int, optional
        Public. How many components; all where none is given.
    method : {"analyze_gauss", "sulq", "power"}
        Public. The products of which a sum is released after the center and the radius: each product of two features
        once; each of two different features twice, with noise of its own, as in SuLQ, which is for study (its noise
        under replace is greater by a factor of sqrt(2)); or, `max_iter` times, products with the coordinates along the
        components of the step before, which is for many features and few components.
    radius : float, optional
        Public. The distance from the center that a scaled record is shrunk to; without one, a part of the budget is
        spent on a radius within which 90% of the records lie.
    max_iter : int
        Public. How many steps the power method takes.
    bounds : (lower, upper), optional
        Public. Two numbers, or two sequences with one number per feature; not for `PrivateData`, whose schema has them.
    epsilon, delta : float
        Public. What one fit costs.
    random_state : int, RandomState instance or None
        Public. Seeds the directions that the power method starts with; never the noise.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Released. The components, orthonormal, those of greatest variance first.
    mean_ : array of shape (n_features,)
        Released. The mean.
    explained_variance_ : array of shape (n_components,)
        Released. The variance along each component, of records as they were shrunk.
    explained_variance_ratio_ : array of shape (n_components,) or None
        Released. Its share in the variance of all features; None for the power method, which does not release that.
    n_components_ : int
        Public. The number of components.
    n_iter_ : int
        Public. The number of steps: `max_iter` for the power method, else 1.
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
    `event_`: the composed releases of bounded sums, for the neighbors and the unit of the data set; add or remove one
    record for an array. Released: what is called so above, post-processing of them. `transform` computes from records
    that the caller already has, and what it gives is not private.
    Dwork, Talwar, Thakurta and Zhang 2014, Algorithm 1 (Analyze Gauss), with the noise of `second_moments`; Blum,
    Dwork, McSherry and Nissim 2005 (SuLQ); Hardt and Price 2014, Algorithm 1 (noisy power method).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(0, [0.3, 0.1, 0.02], (10_000, 3))
    >>> model = PCA(2, bounds=(-1, 1), epsilon=1.0).fit(X)
    >>> np.abs(model.components_).round(1)
    array([[1., 0., 0.],
           [0., 1., 0.]])
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    purpose: ClassVar[str] = "principal components"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        method: Literal["analyze_gauss", "sulq", "power"] = "analyze_gauss",
        radius: float | None = None,
        max_iter: int = 4,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.radius = radius
        self.max_iter = max_iter
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta
        self.random_state = random_state

    def check(self) -> None:
        """Refuse parameters that cannot be, before any data are looked at."""
        check_one_of(self.purpose, "method", self.method, ("analyze_gauss", "sulq", "power"))
        check_whole(self.purpose, "max_iter", self.max_iter)
        if self.n_components is not None:
            check_whole(self.purpose, "n_components", self.n_components)
        if self.radius is not None:
            check_knob(self.purpose, "radius", self.radius, least=SHORTEST)

    def plan(self, task: Task) -> SharedPlan:
        """The center, the radius if it is not given, and the products."""
        n = len(task.features)
        if self.n_components is not None and self.n_components > n:
            obstacle = f"there are {n} features, and {self.n_components} components"
            raise ParameterError(self.purpose, obstacle, "Ask for at most as many as there are features.")
        origin, place = np.zeros((1, n)), Place(1.0, np.zeros(n), 1.0)
        shares = [Share(clusters_of(task.schema, task.features, origin, "l2"), CENTER)]
        if self.radius is None:
            shares.append(Share(distances_of(task.schema, task.features, origin, REACH * math.sqrt(n), BINS), RADIUS))
        steps = int(self.max_iter) if self.method == "power" else 1
        products = self._products(task, place, np.eye(n)[:, : self._size(n)])
        return shared(task.data, task.budget, shares + [Share(products, PRODUCTS / steps)] * steps)

    def learn(self, task: Task, plan: SharedPlan, permit: Permit) -> Artefact:
        """Ask for the place of the records, then for their products around it."""
        noises = iter(plan.noises)
        place = self._placed(task, permit, noises)
        origin = Coordinates.of(task.schema, task.features, place.radius, place.center)
        half = origin.half[:, 0]
        if self.method == "power":
            rng = check_random_state(permit.random_state(self.random_state))
            return self._powered(task, permit, noises, place, half, rng) | {"mean_": origin.middle[:, 0]}
        released = permit.ask(self._products(task, place, np.eye(len(half))), next(noises))
        shift = np.zeros(len(half))
        if self.method == "sulq":
            products = released.reshape(len(half), -1) / place.count
        else:
            sums = unfolded(released, origin)
            count = max(float(sums[0, 0]), 1.0)
            shift = np.clip(sums[0, 1:] / count, -1 - place.center, 1 - place.center)
            products = sums[1:, 1:] / count - np.outer(shift, shift)
        own = 0.5 * (products + products.T) * np.outer(half, half)
        return self._principal(own) | {"mean_": origin.middle[:, 0] + half * shift}

    def transform(self, X: Any) -> Array:
        """The coordinates of each row along the components."""
        return np.asarray((self._rows(X) - self.mean_) @ self.components_.T)

    def inverse_transform(self, X: Any) -> Array:
        """Rows with these coordinates along the components."""
        return np.asarray(X, dtype=np.float64) @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _size(self, n_features: int) -> int:
        return n_features if self.n_components is None else int(self.n_components)

    def _placed(self, task: Task, permit: Permit, noises: Iterator[Any]) -> Place:
        n = len(task.features)
        origin = np.zeros((1, n))
        released = permit.ask(clusters_of(task.schema, task.features, origin, "l2"), next(noises))
        count = max(float(released[0]) / count_weight(n), 1.0)
        center = FINE.values(FINE.cut(np.clip(math.sqrt(n) * released[1:] / count, -1.0, 1.0)))
        if self.radius is not None:
            return Place(count, center, self.radius)
        farthest = REACH * math.sqrt(n)
        distances = distances_of(task.schema, task.features, center[None, :], farthest, BINS)
        return Place(count, center, radius_of(permit.ask(distances, next(noises)), farthest, INSIDE))

    def _products(self, task: Task, place: Place, directions: Array) -> Any:
        if self.method == "analyze_gauss":
            return central_moments_of(task.schema, task.features, place.center, place.radius)
        directions = np.eye(len(directions)) if self.method == "sulq" else on_grid(directions)
        return directed_products_of(task.schema, task.features, place.center, place.radius, directions)

    def _principal(self, covariance: Array) -> dict[str, Any]:
        """Post-processing: eigenvectors of a noisy covariance matrix, in their own units."""
        values, vectors = np.linalg.eigh(covariance)
        variances = np.maximum(values[::-1], 0.0)
        size = self._size(len(variances))
        total = max(float(variances.sum()), np.finfo(float).tiny)
        return {
            "components_": signed(vectors[:, ::-1][:, :size].T),
            "explained_variance_": variances[:size],
            "explained_variance_ratio_": variances[:size] / total,
            "n_components_": size,
            "n_iter_": 1,
        }

    def _powered(
        self, task: Task, permit: Permit, noises: Iterator[Any], place: Place, half: Array, rng: np.random.RandomState
    ) -> dict[str, Any]:
        """Steps of the noisy power method, with records in units of their widest feature."""
        relative, size = half / half.max(), self._size(len(half))
        basis = np.linalg.qr(rng.normal(size=(len(half), size)))[0]
        products = basis
        for noise in noises:
            basis = np.linalg.qr(products)[0]
            asked = self._products(task, place, relative[:, None] * basis)
            products = relative[:, None] * permit.ask(asked, noise).reshape(len(half), size) / place.count
        inner = basis.T @ products
        values, turn = np.linalg.eigh(0.5 * (inner + inner.T))
        return {
            "components_": signed((basis @ turn[:, ::-1]).T),
            "explained_variance_": np.maximum(values[::-1], 0.0) * half.max() ** 2,
            "explained_variance_ratio_": None,
            "n_components_": size,
            "n_iter_": int(self.max_iter),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


def signed(components: Array) -> Array:
    """Each component with the sign that makes its greatest coordinate positive."""
    largest = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1)
    return components * np.where(largest < 0, -1.0, 1.0)
