"""Private k-means: Lloyd's steps on noisy counts and sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from discreet.core.bound import Norm
from discreet.core.checks import check_one_of, check_whole
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.learners.clusters.cluster_start import ClusterStart, MeanStart, shortened
from discreet.questions.columns.box import GUESS
from discreet.questions.vectors.clusters import COUNT, Scaling, cluster_residuals_of, clusters_of, count_weight
from discreet.questions.vectors.directed_products import on_grid
from discreet.releases.joint_plan import JointPlan, Stage, staged, vector_noise
from discreet.releases.spread import spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# By `clusters` and `starts` in benchmarks/tuning_clusters.py.
START, STEPS = 0.5, 0.5  # parts of the budget; flat from 0.3 to 0.6
MEAN = 0.15  # the part of a start from the mean, beside that of the steps
LONGEST = 0.5  # radii that a center is expected to move by, at most


class KMeans(ClusterMixin, PrivateEstimator):
    """K-means whose every step is one bounded sum.

    It starts with the full cells of a noisy grid along the main axes of the records, or around their mean where noise
    would hide the axes, and then moves each center by the noisy mean of the differences between it and its records,
    which are much shorter than the records themselves. Records are scaled from their bounds to [-1, 1] in every
    feature; a record with a missing value is ignored.

    Parameters
    ----------
    n_clusters : int
        Public. How many centers.
    epsilon, delta : float
        Public. What one fit costs. Delta 0 makes every step a Laplace release, else Gaussian.
    init : {"grid", "mean", "random"}, optional
        Public. The start: a grid; or random directions around the noisy mean, which needs a much smaller part of the
        budget; or random centers, well apart, and steps on the records themselves, as it was published. Where none is
        given, a grid, unless noise would hide the main axes of so many records.
    max_iter : int, optional
        Public. How many steps; 5 after a random start and 2 after any other where none is given.
    random_state : int, RandomState instance or None
        Public. Seeds random centers, where empty ones move to, and k-means on the cells of the grid; never the noise.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        Released. The centers.
    scale_ : array of shape (n_features,)
        Public. Half the distance between the bounds of each feature: distances are measured in these units.
    n_iter_ : int
        Public. The number of steps.

    Guarantee
    ---------
    `event_`: the composed releases of bounded sums, one for each step and three for the grid or one for the mean, for
    the neighbors and the unit of the data set; add or remove one record for an array. Released: `cluster_centers_`
    alone. Labels are not: `predict` gives them for records that the caller already has.
    The k-means of Blum, Dwork, McSherry and Nissim 2005, with the count and the sums of a step in one vector; a start
    from a grid is that of Su, Cao, Li, Bertino and Jin 2016, here along few axes.

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
        columns: Sequence[str] | None = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        init: Literal["grid", "mean", "random"] | None = None,
        max_iter: int | None = None,
        expected_size: int = GUESS,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.columns, self.bounds = columns, bounds
        self.epsilon, self.delta = epsilon, delta
        self.init = init
        self.max_iter = max_iter
        self.expected_size = expected_size
        self.random_state = random_state

    def check(self) -> None:
        check_one_of(self.purpose, "init", self.init, ("grid", "mean", "random", None))
        sizes = ("n_clusters", self.n_clusters), ("max_iter", self._steps), ("expected_size", self.expected_size)
        for name, value in sizes:
            check_whole(self.purpose, name, value)

    def plan(self, task: Task) -> JointPlan:
        """The sums of the start, and one for every step; a start from the mean where noise would hide the axes."""
        task.check_enough(self.purpose, int(self.n_clusters))
        centers, times = np.zeros((int(self.n_clusters), len(task.features))), int(self._steps)
        if self.init == "random":
            step = clusters_of(task.schema, task.features, centers, self._norm)
            return staged(task.data, [Stage(step, 1.0, times)], task.budget, vector_noise)
        step = cluster_residuals_of(task.schema, task.features, centers, 1.0, self._norm)
        steps = [Stage(step, STEPS, times)]
        grid, mean = ClusterStart(task, int(self.n_clusters)), MeanStart(task, int(self.n_clusters))
        if self.init != "mean":
            plan = staged(task.data, grid.shares(START) + steps, task.budget, vector_noise)
            if self.init == "grid" or not grid.hidden(plan.mechanisms[0], task.data.public_size or self.expected_size):
                return plan
        return staged(task.data, mean.shares(MEAN) + steps, task.budget, vector_noise)

    def learn(self, task: Task, plan: JointPlan, permit: Permit) -> Artefact:
        scale = Scaling(task.schema, task.features)
        rng = check_random_state(permit.random_state(self.random_state))
        centers = (self._from_random if self.init == "random" else self._from_start)(task, plan, permit, rng)
        return {"cluster_centers_": scale.back(centers), "n_iter_": int(self._steps), "scale_": scale.half}

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The nearest center of each row, with features scaled as in the fit; a missing value gives the first."""
        distances = np.square((self._rows(X)[:, None, :] - self.cluster_centers_) / self.scale_).sum(axis=2)
        return np.argmin(np.nan_to_num(distances), axis=1)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.intp]:
        """Fit, then give the nearest center of each row. The labels are about these records and are not private."""
        return self.fit(X).predict(X)

    @property
    def _steps(self) -> int:
        return (5 if self.init == "random" else 2) if self.max_iter is None else self.max_iter

    @property
    def _norm(self) -> Norm:
        """A row has few numbers that are not zero: so Laplace noise is the least without a delta."""
        return "l2" if self.delta > 0 else "l1"

    def _from_start(self, task: Task, plan: JointPlan, permit: Permit, rng: np.random.RandomState) -> Array:
        noises, kind = iter(plan.mechanisms), MeanStart if len(plan.mechanisms) == 1 + self._steps else ClusterStart
        start = kind(task, int(self.n_clusters)).found(permit, noises, rng)
        centers = start.centers
        for noise in noises:
            step = cluster_residuals_of(task.schema, task.features, centers, start.radius, self._norm)
            stddev = spread(task.data, step, noise).stddev
            centers = shifted(centers, start.radius, permit.ask(step, noise), stddev)
        return centers

    def _from_random(self, task: Task, plan: JointPlan, permit: Permit, rng: np.random.RandomState) -> Array:
        centers = self._starting_centers(len(task.features), rng)
        for noise in plan.mechanisms:
            step = clusters_of(task.schema, task.features, centers, self._norm)
            threshold = spread(task.data, step, noise).stddev
            centers = self._moved(permit.ask(step, noise), len(task.features), threshold, rng)
        return centers

    def _moved(self, noisy: Array, n_features: int, threshold: float, rng: np.random.RandomState) -> Array:
        """Post-processing: the mean of each cluster; one with fewer records than noise restarts beside the largest."""
        blocks = noisy.reshape(self.n_clusters, -1)
        counts = blocks[:, :1] / count_weight(n_features)
        means = math.sqrt(n_features) * blocks[:, 1:] / np.maximum(counts, 1.0)
        beside = means[np.argmax(counts)] + rng.normal(scale=0.2, size=means.shape)
        moved = np.where(blocks[:, :1] > 2 * threshold, means, beside)
        return on_grid(np.clip(moved, -1.0, 1.0))

    def _starting_centers(self, n_features: int, rng: np.random.RandomState) -> Array:
        """Each is the farthest from those before, among random points of the inner box."""
        points = on_grid(rng.uniform(-0.6, 0.6, size=(32 * self.n_clusters, n_features)))
        chosen = points[:1]
        for _ in range(self.n_clusters - 1):
            gaps = ((points[:, None, :] - chosen) ** 2).sum(axis=2).min(axis=1)
            chosen = np.vstack([chosen, points[np.argmax(gaps)]])
        return chosen


def shifted(centers: Array, radius: float, noisy: Array, stddev: float) -> Array:
    """Post-processing: each center moved by its mean residual, shortened by what the noise could feign."""
    blocks = noisy.reshape(len(centers), -1)
    counts = np.maximum(blocks[:, :1], max(4 * stddev, COUNT)) / COUNT  # a cluster that noise could feign hardly moves
    return on_grid(np.clip(centers + radius * shortened(blocks[:, 1:] / counts, stddev / counts, LONGEST), -1.0, 1.0))
