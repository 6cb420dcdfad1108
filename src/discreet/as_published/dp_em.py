"""A private Gaussian mixture as DP-EM was published: one release for each parameter of each part."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.clusters.gaussian_mixture import GaussianMixture
from discreet.learners.clusters.mixture import NARROWEST, CovarianceType, Mixture, definite
from discreet.questions.vectors.mixture_moments import part_moments_of, part_shares_of
from discreet.releases.joint_plan import JointPlan, Stage, staged, vector_noise
from discreet.trust.permit import Permit

START = 1 / 12  # the variance that all parts start with: that of values all over the middle half of their bounds
SPREAD = 0.6  # how far from the middle means start


class DPEM(GaussianMixture):
    """A mixture of Gaussian laws as DP-EM was published, with what gave records away repaired; for study.

    Each step releases the shares of the parts, then the sum of each part, then the products of each part: 2
    n_components + 1 releases, where `GaussianMixture` has one, and much more noise. It starts with random means.

    The paper adds noise to the parameters themselves, with a sensitivity that has the exact count of a part in it.
    That count differs between neighbors, so the noise would betray it. Here sums have the noise, whose bound is
    public, and are divided by the noisy count.

    Parameters
    ----------
    max_iter : int
        Public. How many steps.
    random_state : int, RandomState instance or None
        Public. Seeds the random means; never the noise.

    Guarantee
    ---------
    `event_`: the composed releases of bounded sums, for the neighbors and the unit of the data set; add or remove one
    record for an array. Released: what is called so above, post-processing of them. Scores and probabilities are of
    records that the caller already has, and are not private.
    DP-EM of Park, Foulds, Chaudhuri and Welling 2017. It is charged exactly, so that of the paper's accountants (see
    `accounting.theorems.comparison`) none asks for less noise.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(center, 0.1, (10_000, 2)) for center in (-0.5, 0.5)])
    >>> model = DPEM(2, bounds=(-1, 1), epsilon=10.0, random_state=1).fit(X)
    >>> np.sort(model.means_[:, 0]).round(1)
    array([-0.5,  0.5])
    """

    purpose: ClassVar[str] = "DP-EM"

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: CovarianceType = "full",
        max_iter: int = 10,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            covariance_type=covariance_type,
            max_iter=max_iter,
            bounds=bounds,
            epsilon=epsilon,
            delta=delta,
            random_state=random_state,
        )

    def plan(self, task: Task) -> JointPlan:
        """All sums, with equal parts of the budget."""
        task.check_enough(self.purpose, int(self.n_components))
        plain = Mixture.round(np.zeros((int(self.n_components), len(task.features))), 1.0)
        step = [Stage(question, 1.0) for question in questions(task, plain)]
        return staged(task.data, step * int(self.max_iter), task.budget, vector_noise)

    def _found(self, task: Task, permit: Permit, noises: Iterator[Any], rng: Any) -> Mixture:
        """Steps from random means, as many as there are noises."""
        shape = int(self.n_components), len(task.features)
        mixture = Mixture.round(rng.uniform(-SPREAD, SPREAD, shape), START)
        for _ in range(int(self.max_iter)):
            asked = questions(task, mixture)
            mixture = moved([permit.ask(one, next(noises)) for one in asked], *shape, self.covariance_type)
        return mixture


def questions(task: Task, mixture: Mixture) -> list[Any]:
    """What a step asks: the shares of the parts, the sum of each part, and the products of each part."""
    given = task.schema, task.features, mixture.weights, mixture.means, mixture.factors
    each = [part_moments_of(*given, part, degree) for degree in (1, 2) for part in range(len(mixture.weights))]
    return [part_shares_of(*given), *each]


def moved(released: list[Array], parts: int, features: int, kind: CovarianceType) -> Mixture:
    """Post-processing of what a step released: sums over counts."""
    counts = np.maximum(released[0], 1.0)
    means = np.stack(released[1 : parts + 1]) * math.sqrt(features) / counts[:, None]
    means = np.clip(means, -1.0, 1.0)
    found = [
        features * _square(one, features) / count - np.outer(mean, mean)
        for one, count, mean in zip(released[parts + 1 :], counts, means, strict=True)
    ]
    if kind == "tied":
        found = [np.average(found, axis=0, weights=counts)] * parts
    each = [definite(np.diag(np.diag(one)) if kind == "diag" else one, NARROWEST) for one in found]
    return Mixture(np.maximum(counts / counts.sum(), 2.0**-20), Mixture.round(means, 1.0).means, np.stack(each))


def _square(products: Array, n: int) -> Array:
    upper = np.zeros((n, n))
    upper[np.triu_indices(n)] = products
    return upper + np.triu(upper, 1).T
