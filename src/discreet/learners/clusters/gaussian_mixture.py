"""A private mixture of Gaussian laws, by expectation-maximisation on noisy sums."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state

from discreet.core.checks import check_one_of, check_whole
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.learners.clusters.cluster_start import ClusterStart
from discreet.learners.clusters.kmeans import shifted
from discreet.learners.clusters.mixture import CovarianceType, Mixture
from discreet.questions.vectors.clusters import Scaling, cluster_residuals_of
from discreet.releases.joint_plan import JointPlan, Stage, staged, vector_noise
from discreet.releases.spread import spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

START, STEP, ROUNDS = 0.3, 0.1, 0.6  # parts of the budget: the best by `benchmarks.tuning_clusters`


class GaussianMixture(DensityMixin, PrivateEstimator):
    """A mixture of Gaussian laws, whose every step is one bounded sum.

    It starts with the centers of private k-means. Each step releases the weights, the residuals from the means of the
    step before and their products in one vector; means move no farther than noise allows, and covariance matrices that
    are lost in noise are drawn to their average. Records are scaled from their bounds to [-1, 1] in every feature; one
    with a missing value counts for nothing.

    Parameters
    ----------
    n_components : int
        Public. How many parts.
    covariance_type : {"full", "tied", "diag"}
        Public. A covariance matrix for each part, one for all of them, or variances alone.
    max_iter : int
        Public. How many steps.
    random_state : int, RandomState instance or None
        Public. Seeds k-means on the noisy cells of the start; never the noise.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Released. The weight of each part.
    means_ : array of shape (n_components, n_features)
        Released. The mean of each part.
    covariances_ : array
        Released. Of shape (n_components, n_features, n_features), (n_features, n_features) if tied, or
        (n_components, n_features) if diagonal; positive definite.
    n_iter_ : int
        Public. The number of steps.

    Guarantee
    ---------
    `event_`: the composed releases of bounded sums, for the neighbors and the unit of the data set; add or remove one
    record for an array. Released: what is called so above, post-processing of them. Scores and probabilities are of
    records that the caller already has, and are not private.
    DP-EM of Park, Foulds, Chaudhuri and Welling 2017, with all moments of a step in one vector instead of one release
    for each, and around the means of the step before. `as_published.DPEM` releases each moment by itself.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(center, 0.1, (10_000, 2)) for center in (-0.5, 0.5)])
    >>> model = GaussianMixture(2, bounds=(-1, 1), epsilon=1.0).fit(X)
    >>> np.sort(model.means_[:, 0]).round(1), model.weights_.round(1)
    (array([-0.5,  0.5]), array([0.5, 0.5]))
    """

    purpose: ClassVar[str] = "Gaussian mixture"

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: CovarianceType = "full",
        max_iter: int = 3,
        columns: Sequence[str] | None = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.max_iter = max_iter
        self.columns, self.bounds = columns, bounds
        self.epsilon, self.delta = epsilon, delta
        self.random_state = random_state

    def check(self) -> None:
        check_one_of(self.purpose, "covariance_type", self.covariance_type, ("full", "tied", "diag"))
        for name, value in (("n_components", self.n_components), ("max_iter", self.max_iter)):
            check_whole(self.purpose, name, value)

    def plan(self, task: Task) -> JointPlan:
        """The start, one step of k-means, and the steps of expectation-maximisation."""
        task.check_enough(self.purpose, int(self.n_components))
        parts, times = int(self.n_components), int(self.max_iter)
        plain = Mixture.round(np.zeros((parts, len(task.features))), 1.0)
        step = cluster_residuals_of(task.schema, task.features, plain.means, 1.0, "l2")
        shares = [*ClusterStart(task, parts).shares(START), Stage(step, STEP)]
        rounds = Stage(plain.moments(task), ROUNDS, times)
        return staged(task.data, [*shares, rounds], task.budget, vector_noise)

    def learn(self, task: Task, plan: JointPlan, permit: Permit) -> Artefact:
        rng = check_random_state(permit.random_state(self.random_state))
        mixture = self._found(task, permit, iter(plan.mechanisms), rng)
        scale = Scaling(task.schema, task.features)
        return {
            "weights_": mixture.weights / mixture.weights.sum(),
            "means_": scale.back(mixture.means),
            "covariances_": self._given(mixture.covariances * np.outer(scale.half, scale.half)),
            "n_iter_": int(self.max_iter),
        }

    def _found(self, task: Task, permit: Permit, noises: Iterator[Any], rng: Any) -> Mixture:
        start = ClusterStart(task, int(self.n_components)).found(permit, noises, rng)
        step, noise = cluster_residuals_of(task.schema, task.features, start.centers, start.radius, "l2"), next(noises)
        means = shifted(start.centers, start.radius, permit.ask(step, noise), spread(task.data, step, noise).stddev)
        mixture = Mixture.round(means, start.radius**2 / (2 * len(task.features)))
        for noise in noises:
            moments = mixture.moments(task)
            stddev = spread(task.data, moments, noise).stddev
            mixture = mixture.moved(permit.ask(moments, noise), stddev, self.covariance_type)
        return mixture

    def score_samples(self, X: Any) -> Array:
        """The logarithm of the density at each row."""
        return np.asarray(np.logaddexp.reduce(self._mixture.log_densities(self._rows(X)), axis=1))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean logarithm of the density: of these records, and not private."""
        return float(self.score_samples(X).mean())

    def predict_proba(self, X: Any) -> Array:
        """The probability of each part for each row; a row with a missing value gets the weights."""
        rows = self._rows(X)
        shares = self._mixture.shares(np.nan_to_num(rows))
        return np.where(np.isnan(rows).any(axis=1, keepdims=True), self.weights_, shares)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The most probable part of each row."""
        return np.argmax(self.predict_proba(X), axis=1)

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion: of these records, and not private."""
        rows, n = len(self._rows(X)), self.n_features_in_
        sizes = {
            "full": len(self.weights_) * n * (n + 1) // 2,
            "tied": n * (n + 1) // 2,
            "diag": len(self.weights_) * n,
        }
        free = sizes[self.covariance_type] + len(self.weights_) * (n + 1) - 1
        return -2 * self.score(X) * rows + free * math.log(rows)

    @property
    def _mixture(self) -> Mixture:
        given = self.covariances_
        if self.covariance_type == "tied":
            given = np.stack([given] * len(self.weights_))
        elif self.covariance_type == "diag":
            given = np.stack([np.diag(one) for one in given])
        return Mixture(self.weights_, self.means_, given)

    def _given(self, covariances: Array) -> Array:
        if self.covariance_type == "tied":
            return np.asarray(covariances[0])
        return np.stack([np.diag(one) for one in covariances]) if self.covariance_type == "diag" else covariances
