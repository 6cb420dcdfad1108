"""Expectation-maximisation with noise as DP-EM was published: one release for each parameter of each part."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.clusters.mixture import NARROWEST, CovarianceType, Mixture, definite
from discreet.questions.vectors.mixture_moments import part_moments_of, part_shares_of
from discreet.releases.joint_plan import Stage
from discreet.trust.permit import Permit

START = 1 / 12  # the variance that all parts start with: that of values all over the middle half of their bounds
SPREAD = 0.6  # how far from the middle means start


@dataclass(frozen=True)
class PublishedMixture:
    """Steps that release shares, then the sum of each part, then the products of each part: 2 K + 1 releases.

    The paper adds noise to the parameters themselves, with a sensitivity that has the exact count of a part in it.
    That count differs between neighbors, so the noise would betray it. Here sums have the noise, whose bound is
    public, and are divided by the noisy count.
    """

    task: Task  # the records
    parts: int  # public: how many parts
    kind: CovarianceType  # public: the form of the covariance matrices

    def shares(self, steps: int) -> list[Stage]:
        """All sums, with equal parts of the budget."""
        plain = Mixture.round(np.zeros((self.parts, self._n)), 1.0)
        return [Stage(question, 1.0) for question in self._questions(plain)] * steps

    def found(self, permit: Permit, noises: Iterator[Any], seed: Any) -> Mixture:
        """Steps from random means, as many as there are noises."""
        rng = check_random_state(seed)
        mixture = Mixture.round(rng.uniform(-SPREAD, SPREAD, (self.parts, self._n)), START)
        for noise in noises:
            asked = zip(self._questions(mixture), [noise, *(next(noises) for _ in range(2 * self.parts))], strict=True)
            mixture = self._moved([permit.ask(*one) for one in asked])
        return mixture

    @property
    def _n(self) -> int:
        return len(self.task.features)

    def _questions(self, mixture: Mixture) -> list[Any]:
        given = self.task.schema, self.task.features, mixture.weights, mixture.means, mixture.factors
        each = [part_moments_of(*given, part, degree) for degree in (1, 2) for part in range(self.parts)]
        return [part_shares_of(*given), *each]

    def _moved(self, released: list[Array]) -> Mixture:
        """Post-processing: sums over counts."""
        counts = np.maximum(released[0], 1.0)
        means = np.stack(released[1 : self.parts + 1]) * math.sqrt(self._n) / counts[:, None]
        means = np.clip(means, -1.0, 1.0)
        found = [
            self._n * _square(one, self._n) / count - np.outer(mean, mean)
            for one, count, mean in zip(released[self.parts + 1 :], counts, means, strict=True)
        ]
        if self.kind == "tied":
            found = [np.average(found, axis=0, weights=counts)] * self.parts
        each = [definite(np.diag(np.diag(one)) if self.kind == "diag" else one, NARROWEST) for one in found]
        moved = Mixture.round(means, 1.0)
        return Mixture(np.maximum(counts / counts.sum(), 2.0**-20), moved.means, np.stack(each))


def _square(products: Array, n: int) -> Array:
    upper = np.zeros((n, n))
    upper[np.triu_indices(n)] = products
    return upper + np.triu(upper, 1).T
