"""Parts of a Gaussian mixture: their densities, and how noisy moments of a step move them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.clusters.cluster_start import shortened
from discreet.questions.vectors.directed_products import on_grid
from discreet.questions.vectors.mixture_moments import COUNT, RESIDUAL, mixture_moments_of
from discreet.questions.vectors.second_moments import CROSS, weights_of

CovarianceType = Literal["full", "tied", "diag"]
WIDE = 1.6  # radii in root mean square lengths of residuals, beyond which 3% of them lie for 8 features
NARROWEST, WIDEST = 1e-5, 4.0  # variances of scaled records


@dataclass(frozen=True)
class Mixture:
    """A mixture of Gaussian laws with full covariance matrices.

    Examples
    --------
    >>> halves = Mixture(np.array([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.ones((2, 1, 1)))
    >>> halves.shares(np.array([[0.0], [1.0]])).round(2)
    array([[0.5 , 0.5 ],
           [0.12, 0.88]])
    """

    weights: Array  # released: positive; they add up to 1, of shape (n_parts,)
    means: Array  # released: of shape (n_parts, n_features)
    covariances: Array  # released: positive definite, of shape (n_parts, n_features, n_features)

    @classmethod
    def round(cls, means: Array, variance: float) -> Mixture:
        """Parts of equal weight, alike in every direction."""
        parts, n = means.shape
        return cls(np.full(parts, 1 / parts), on_grid(means), np.stack([np.eye(n) * max(variance, NARROWEST)] * parts))

    @property
    def radii(self) -> Array:
        """The length within which most residuals of each part lie."""
        return np.asarray(WIDE * np.sqrt(np.trace(self.covariances, axis1=1, axis2=2)))

    @property
    def factors(self) -> Array:
        """Upper triangular F with F F' the inverse of each covariance matrix."""
        return np.stack([np.triu(np.linalg.inv(np.linalg.cholesky(one)).T) for one in self.covariances])

    def log_densities(self, records: Array) -> Array:
        """The logarithm of each part's weight times its density, one column for each part."""
        columns = [
            math.log(weight)
            + float(np.log(np.diag(factor)).sum())
            - 0.5 * np.square((records - mean) @ factor).sum(axis=1)
            - 0.5 * len(mean) * math.log(2 * math.pi)
            for weight, mean, factor in zip(self.weights, self.means, self.factors, strict=True)
        ]
        return np.stack(columns, axis=1)

    def shares(self, records: Array) -> Array:
        """The share of each record in each part: they add up to one."""
        logs = self.log_densities(records)
        found = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def moments(self, task: Task) -> Any:
        """The question whose answer moves the parts, for records scaled to [-1, 1]."""
        return mixture_moments_of(task.schema, task.features, self.weights, self.means, self.factors, self.radii)

    def moved(self, released: Array, stddev: float, kind: CovarianceType) -> Mixture:
        """Post-processing: the parts that noisy moments around these means stand for.

        Means move no farther than noise allows; covariance matrices that are lost in noise are drawn to their average,
        and that to a round one.
        """
        n, radii = self.means.shape[1], self.radii
        blocks = released.reshape(len(radii), -1)
        total = max(float(blocks[:, 0].sum()), COUNT)
        counts = np.maximum(blocks[:, 0], max(0.01 * total, 2 * stddev)) / COUNT
        steps = shortened(blocks[:, 1 : n + 1] / (RESIDUAL * counts[:, None]), stddev / (RESIDUAL * counts[:, None]))
        found = np.stack(
            [
                radius**2 * (square_of(block[n + 1 :], n) / count - np.outer(step, step))
                for radius, block, count, step in zip(radii, blocks, counts, steps, strict=True)
            ]
        )
        noise = stddev * math.sqrt(n + n * (n - 1) / CROSS**2) * radii**2 / counts
        means = np.clip(self.means + radii[:, None] * steps, -1.0, 1.0)
        return Mixture(counts / counts.sum(), on_grid(means), shrunk(found, noise, counts, kind))


def shrunk(found: Array, noise: Array, counts: Array, kind: CovarianceType) -> Array:
    """Noisy covariance matrices, drawn to their average by the length of the noise on each, and made definite."""
    n = found.shape[1]
    pool = definite(np.average(found, axis=0, weights=counts), NARROWEST)
    together = float(np.sqrt(np.sum(np.square(counts * noise))) / counts.sum())
    pool = _drawn(pool, np.eye(n) * np.trace(pool) / n, together)
    least = max(0.2 * float(np.trace(pool)) / n, NARROWEST)
    if kind == "tied":
        return np.stack([definite(pool, least)] * len(found))
    each = [definite(_drawn(one, pool, away), least) for one, away in zip(found, noise, strict=True)]
    return np.stack([np.diag(np.diag(one)) if kind == "diag" else one for one in each])


def square_of(products: Array, n: int) -> Array:
    """The symmetric matrix of weighted products that are listed once."""
    upper = np.zeros((n, n))
    upper[np.triu_indices(n)] = products / weights_of(n)
    return upper + np.triu(upper, 1).T


def definite(matrix: Array, least: float) -> Array:
    """The matrix with its eigenvalues between the least and the greatest variance that records can have."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    clipped = (vectors * np.clip(values, min(least, WIDEST), WIDEST)) @ vectors.T
    return np.asarray(0.5 * (clipped + clipped.T))


def _drawn(matrix: Array, center: Array, noise: float) -> Array:
    """A noisy matrix, drawn to another one by what noise of this length could feign."""
    away = matrix - center
    return np.asarray(center + max(0.0, 1 - noise**2 / max(float(np.square(away).sum()), 1e-300)) * away)
