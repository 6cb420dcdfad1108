"""Private k-means: Lloyd's steps on noisy counts and sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.events import Event, Repeated
from discreet.core.grid import Array
from discreet.core.knob import check_whole
from discreet.learners.private_estimator import PrivateEstimator
from discreet.learners.task import Task
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.clusters import FINE, Scaling, clusters_of, count_weight
from discreet.releases.spread import spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact


@dataclass(frozen=True)
class StepsPlan:
    """Steps of one release each, all with the same noise."""

    noise: Additive
    times: int

    @property
    def event(self) -> Event:
        """What all of them cost."""
        return Repeated(self.noise.event, self.times)


class KMeans(ClusterMixin, PrivateEstimator):
    """K-means whose every step is one bounded sum.

    Records are scaled from their bounds to [-1, 1] in every feature; a record with a missing value is ignored.

    Parameters
    ----------
    n_clusters : int
        Public. How many centers.
    bounds : (lower, upper), optional
        Public. Two numbers, or two sequences with one number per feature; not for `PrivateData`, whose schema has them.
    epsilon, delta : float
        Public. What one fit costs. Delta 0 makes every step a Laplace release, else Gaussian.
    max_iter : int
        Public. How many steps.
    random_state : int, RandomState instance or None
        Public. Seeds the starting centers and where empty ones move to, which do not depend on the data; never the
        noise.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        Released. The centers.
    n_iter_ : int
        Public. The number of steps, `max_iter`.
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
    `event_`: `max_iter` releases of one bounded sum each, composed, for the neighbors and the unit of the data set; add
    or remove one record for an array. Released: `cluster_centers_` alone. Labels are not: `predict` gives them for
    records that the caller already has.
    The k-means of Blum, Dwork, McSherry and Nissim 2005, with the count and the sums of a step in one vector.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(center, 0.1, (5000, 2)) for center in (-0.5, 0.5)])
    >>> model = KMeans(2, bounds=(-1, 1), epsilon=1.0, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round(1)
    array([-0.5,  0.5])
    """

    purpose: ClassVar[str] = "k-means"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        max_iter: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta
        self.max_iter = max_iter
        self.random_state = random_state

    def check(self) -> None:
        """Refuse invalid parameters, before any data are read."""
        for name in ("n_clusters", "max_iter"):
            check_whole(self.purpose, name, getattr(self, name))

    def plan(self, task: Task) -> StepsPlan:
        """Every iteration is one release, with the same noise."""
        times = int(self.max_iter)
        kind = Gaussian() if task.budget.delta > 0 else Laplace()
        return StepsPlan(calibrate(kind, task.budget, times), times)

    def learn(self, task: Task, plan: StepsPlan, permit: Permit) -> Artefact:
        """Lloyd's steps."""
        noise, scale = plan.noise, Scaling(task.schema, task.features)
        norm: Norm = "l2" if task.budget.delta > 0 else "l1"
        rng = check_random_state(permit.random_state(self.random_state))
        centers = self._starting_centers(scale.n_features, rng)
        for _ in range(plan.times):
            steps = clusters_of(task.schema, task.features, centers, norm)
            threshold = spread(task.data, steps, noise).stddev
            centers = self._moved(permit.ask(steps, noise), scale.n_features, threshold, rng)
        return {"cluster_centers_": scale.back(centers), "n_iter_": plan.times}

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The nearest center of each row; a row with a missing value gets the first."""
        distances = ((self._rows(X)[:, None, :] - self.cluster_centers_) ** 2).sum(axis=2)
        return np.argmin(np.nan_to_num(distances), axis=1)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.intp]:
        """Fit, then give the nearest center of each row. The labels are about these records and are not private."""
        return self.fit(X).predict(X)

    def _moved(self, noisy: Array, n_features: int, threshold: float, rng: np.random.RandomState) -> Array:
        """Post-processing: the mean of each cluster; one with fewer records than noise restarts beside the largest."""
        blocks = noisy.reshape(self.n_clusters, -1)
        counts = blocks[:, :1] / count_weight(n_features)
        means = math.sqrt(n_features) * blocks[:, 1:] / np.maximum(counts, 1.0)
        beside = means[np.argmax(counts)] + rng.normal(scale=0.2, size=means.shape)
        moved = np.where(blocks[:, :1] > 2 * threshold, means, beside)
        return FINE.values(FINE.cut(np.clip(moved, -1.0, 1.0)))

    def _starting_centers(self, n_features: int, rng: np.random.RandomState) -> Array:
        """Each is the farthest from those before, among random points of the inner box."""
        points = FINE.values(FINE.cut(rng.uniform(-0.6, 0.6, size=(32 * self.n_clusters, n_features))))
        chosen = points[:1]
        for _ in range(self.n_clusters - 1):
            gaps = ((points[:, None, :] - chosen) ** 2).sum(axis=2).min(axis=1)
            chosen = np.vstack([chosen, points[np.argmax(gaps)]])
        return chosen
