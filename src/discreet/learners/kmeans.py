"""Private k-means: Lloyd's steps on noisy counts and sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Event, Repeated
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.clusters import FINE, Scaling, _count_weight, counts_and_sums
from discreet.trust.as_private import as_private
from discreet.trust.private_data import PrivateData


class KMeans(ClusterMixin, BaseEstimator):
    """K-means whose every step is one bounded sum.

    Records are scaled from their bounds to [-1, 1] in every feature; a record with a missing value counts for nothing.

    Parameters
    ----------
    n_clusters : int
        Public. How many centers.
    bounds : (lower, upper), optional
        Public. Two numbers, or two sequences with one number per feature; not for `PrivateData`, whose schema has them.
    epsilon, delta : float
        Public. What one fit costs. Delta 0 makes every step a Laplace release, else Gaussian.
    n_iter : int
        Public. How many steps.
    random_state : int, RandomState instance or None
        Public. Seeds the starting centers and where empty ones move to, which do not depend on the data; never the
        noise.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        Released. The centers.
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
    `event_`: n_iter releases of one bounded sum each, composed. Neighbors and unit as the data set says; add or remove
    one record for an array. Released: `cluster_centers_` alone. Labels are not: `predict` gives them for records that
    the caller already has.
    The k-means of Blum, Dwork, McSherry and Nissim 2005, with the count and the sums of a step in one vector.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(center, 0.1, (5000, 2)) for center in (-0.5, 0.5)])
    >>> model = KMeans(2, bounds=(-1, 1), epsilon=1.0, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round(1)
    array([-0.5,  0.5])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        n_iter: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta
        self.n_iter = n_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, key: str | None = None) -> KMeans:
        """Find centers.

        Parameters
        ----------
        X : PrivateData, or array of shape (n, n_features)
            The records.
        y : None
            Ignored.
        key : str, optional
            Public. Makes a retry safe; see `PrivateData.permit`.
        """
        for name in ("n_clusters", "n_iter"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                raise ParameterError("k-means", f"{name} is {value!r}", "Give a whole number, at least 1.")
        budget = Budget(self.epsilon, self.delta)
        if not isinstance(X, PrivateData):
            X = validate_data(self, X, dtype=None, ensure_all_finite=False, ensure_min_samples=0)
        data = as_private(X, budget, self.bounds)
        scale = Scaling(data.schema)
        noise: Gaussian | Laplace
        noise = (
            calibrate(Gaussian(), budget, self.n_iter)
            if budget.delta > 0
            else calibrate(Laplace(), budget, self.n_iter)
        )
        norm: Norm = "l2" if budget.delta > 0 else "l1"
        plan = Repeated(noise.event, self.n_iter)
        with data.permit(plan, "k-means", key=key) as permit:
            rng = check_random_state(permit.random_state(self.random_state))
            centers = self._starting_centers(scale.n_features, rng)
            for _ in range(self.n_iter):
                steps = counts_and_sums(data.schema, centers, norm)
                one = noise.stddev(steps.bound.times(data.unit.rows), centers.size + len(centers), data.neighbors)
                threshold = one * math.sqrt(data.reports)
                centers = self._moved(permit.ask(steps, noise), scale.n_features, threshold, rng)
        self.n_features_in_ = scale.n_features
        self.cluster_centers_ = scale.back(centers)
        self.receipt_: Receipt = permit.receipt
        self.event_: Event = plan
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The nearest center of each row; a row with a missing value gets the first."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False)
        distances = ((X[:, None, :] - self.cluster_centers_) ** 2).sum(axis=2)
        return np.argmin(np.nan_to_num(distances), axis=1)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.intp]:
        """Fit, then tell the nearest center of each row. The labels are about these records and are not private."""
        return self.fit(X).predict(X)

    def _moved(self, noisy: Array, n_features: int, threshold: float, rng: np.random.RandomState) -> Array:
        """Post-processing: the mean of each block; a block below the noise moves beside the fullest, to split it."""
        blocks = noisy.reshape(self.n_clusters, -1)
        counts = blocks[:, :1] / _count_weight(n_features)
        means = math.sqrt(n_features) * blocks[:, 1:] / np.maximum(counts, 1.0)
        beside = means[np.argmax(counts)] + rng.normal(scale=0.2, size=means.shape)
        moved = np.where(blocks[:, :1] > 2 * threshold, means, beside)
        return FINE.values(FINE.cut(np.clip(moved, -1.0, 1.0)))

    def _starting_centers(self, n_features: int, rng: np.random.RandomState) -> Array:
        """Well apart: each the farthest from those before, among random points of the inner box."""
        points = FINE.values(FINE.cut(rng.uniform(-0.6, 0.6, size=(32 * self.n_clusters, n_features))))
        chosen = points[:1]
        for _ in range(self.n_clusters - 1):
            gaps = ((points[:, None, :] - chosen) ** 2).sum(axis=2).min(axis=1)
            chosen = np.vstack([chosen, points[np.argmax(gaps)]])
        return chosen

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
