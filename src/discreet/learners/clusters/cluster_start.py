"""Where clustering starts: centers of the full cells of a noisy grid, and how far records lie from them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.center import (
    cell_middles,
    center_of,
    count_weight,
    distances_of,
    projected_cells_of,
    radius_of,
)
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.directed_products import on_grid
from discreet.questions.vectors.second_moments import CROSS, central_moments_of, unfolded
from discreet.releases.joint_plan import Stage
from discreet.releases.spread import spread
from discreet.trust.permit import Permit

CELLS = {1: 64, 2: 24, 3: 12}  # along each axis, by their number: about as many cells in all as noise allows
REACH = 3.5  # standard deviations, within which the grid lies
BINS = 64  # of distances
INSIDE = 0.95  # the share of the records within the radius
UNKNOWN = 1 / 12  # the variance along an axis that noise hides: that of values all over the middle half of their bounds
HIDDEN = 1.5  # the variance that noise feigns beyond which axes are of no use: `starts` of `benchmarks.tuning_clusters`
RESTARTS, ROUNDS = 8, 25  # of k-means on the cells
# Parts of the budget: axes and cells fail together, and the radius takes little. Set by hand.
AXES, GRID, RADIUS = 0.40, 0.56, 0.04


@dataclass(frozen=True)
class Start:
    """Centers, scaled to [-1, 1], the distance within which most records lie from them, and how many records."""

    centers: Array
    radius: float
    count: float


@dataclass(frozen=True)
class ClusterStart:
    """A private start, from three bounded sums: products of features, cells along the main axes, distances.

    Records are projected on at most three axes of greatest variance, where few cells are needed; k-means on the noisy
    counts of cells costs nothing more.
    """

    task: Task  # the records
    clusters: int  # public: how many centers

    def shares(self, part: float) -> list[Stage]:
        """The three sums, with their parts of the budget."""
        n, axes = self._n, self._axes
        if self.clusters > (most := CELLS[axes] ** axes):
            obstacle = f"there are {self.clusters} clusters, and a start finds {most} at most"
            raise ParameterError("clusters", obstacle, "Ask for fewer.")
        return [
            Stage(self._moments(), part * AXES),
            Stage(self._cells(np.zeros(n), np.eye(n)[:, :axes], np.ones(axes)), part * GRID),
            Stage(self._distances(np.zeros((1, n))), part * RADIUS),
        ]

    def found(self, permit: Permit, noises: Iterator[Any], seed: Any) -> Start:
        """Ask for the three sums, one after another."""
        noise = next(noises)
        stddev = spread(self.task.data, self._moments(), noise).stddev
        sums, weight = unfolded(permit.ask(self._moments(), noise), self._origin), self._origin.weight
        count = max(float(sums[0, 0]), 4 * stddev / weight**2, 1.0)
        mean = on_grid(np.clip(shortened(sums[:1, 1:] / count, stddev / (CROSS * weight * count))[0], -1.0, 1.0))
        values, vectors = np.linalg.eigh(sums[1:, 1:] / count - np.outer(mean, mean))
        axes = on_grid(vectors[:, ::-1][:, : self._axes])
        variances = np.clip(values[::-1][: self._axes], min(2 * stddev / count, UNKNOWN) + 1e-6, float(self._n))
        reach = np.minimum(REACH * np.sqrt(variances), 2 * math.sqrt(self._n))
        cells, noise = self._cells(mean, axes, reach), next(noises)
        points = self._middles(permit.ask(cells, noise), self.full(cells, noise), reach, seed)
        centers = on_grid(np.clip(mean + points @ axes.T, -1.0, 1.0))
        return Start(centers, self._radius(permit, next(noises), centers, count), count)

    def hidden(self, noise: Any, n: int) -> bool:
        """Whether noise on the products of n records is greater than their variance along any axis is likely to be.

        Of d features and noise of the deviation s, the greatest eigenvalue is 2 s sqrt(d), nearly (Wigner 1958).
        """
        stddev = spread(self.task.data, self._moments(), noise).stddev
        return 2 * math.sqrt(self._n) * stddev > HIDDEN * n

    def full(self, cells: Any, noise: Any) -> float:
        """The count above which a cell is full: of all cells, if they were empty, noise lifts one half above it."""
        return spread(self.task.data, cells, noise).half_width([1.0], 1 - 1 / cells.size)

    @property
    def _n(self) -> int:
        return len(self.task.features)

    @property
    def _axes(self) -> int:
        return min(3, self._n, max(2, self.clusters - 1))

    def _moments(self) -> Any:
        return central_moments_of(self.task.schema, self.task.features, np.zeros(self._n), math.sqrt(self._n))

    def _cells(self, center: Array, axes: Array, reach: Array) -> Any:
        return projected_cells_of(self.task.schema, self.task.features, center, axes, reach, CELLS[self._axes])

    def _distances(self, centers: Array) -> Any:
        return distances_of(self.task.schema, self.task.features, centers, 2 * math.sqrt(self._n), BINS)

    @property
    def _origin(self) -> Coordinates:
        return Coordinates.of(self.task.schema, self.task.features, math.sqrt(self._n), np.zeros(self._n))

    def _middles(self, counts: Array, full: float, reach: Array, seed: Any) -> Array:
        """Post-processing: k-means on the middles of full cells; of all, drawn together, if too few are full."""
        weights = np.where(counts > full, counts, 0.0)
        if (weights > 0).sum() < self.clusters:
            weights, reach = np.maximum(counts, 1e-3), reach / 4
        some = weights > 0
        middles = cell_middles(reach, CELLS[self._axes])[some]
        rng = check_random_state(seed)
        tried = [weighted_means(middles, weights[some], self.clusters, rng) for _ in range(RESTARTS)]
        return min(tried, key=lambda centers: float(weights[some] @ _squares(middles, centers).min(axis=1)))

    def _radius(self, permit: Permit, noise: Any, centers: Array, count: float) -> float:
        """The radius, or a quarter of the greatest distance where noise leaves its place in doubt."""
        question = self._distances(centers)
        released = permit.ask(question, noise)
        doubt = math.sqrt(BINS) * spread(self.task.data, question, noise).stddev
        farthest = 2 * math.sqrt(self._n)
        return radius_of(released, farthest, INSIDE) if doubt < (1 - INSIDE) * count else farthest / 4


def weighted_means(points: Array, weights: Array, clusters: int, rng: np.random.RandomState) -> Array:
    """Lloyd's k-means of public, weighted points, from a start by k-means++ (Arthur and Vassilvitskii 2007)."""
    centers = points[[rng.choice(len(points), p=weights / weights.sum())]]
    while len(centers) < clusters:
        chances = weights * _squares(points, centers).min(axis=1) + 1e-300
        centers = np.vstack([centers, points[[rng.choice(len(points), p=chances / chances.sum())]]])
    before = None
    for _ in range(ROUNDS):
        nearest = _squares(points, centers).argmin(axis=1)
        if before is not None and (nearest == before).all():
            break
        before = nearest
        masses = np.bincount(nearest, weights, clusters)[:, None]
        sums = np.stack([np.bincount(nearest, weights * axis, clusters) for axis in points.T], axis=1)
        centers = np.where(masses > 0, sums / np.maximum(masses, 1e-300), centers)
    return centers


def _squares(points: Array, centers: Array) -> Array:
    found: Array = cdist(points, centers, "sqeuclidean")
    return found


def shortened(vectors: Array, stddev: Array | float, longest: float = math.inf) -> Array:
    """Noisy vectors, one in each row, shortened by what the noise could feign.

    The positive-part estimator of James and Stein 1961, which is never worse on average where there are 3 or more
    coordinates. No more is kept than the best linear estimator keeps of vectors that are `longest` long: where noise is
    far longer, its own length varies by more than they have.

    Parameters
    ----------
    vectors : array of shape (n, size)
        Released.
    stddev : float or array of shape (n, 1)
        Public. Of the noise on each coordinate.
    longest : float
        Public. How long vectors may be without noise.

    Examples
    --------
    >>> shortened(np.array([[3.0, 4.0], [0.1, 0.1]]), 1.0).round(2)
    array([[2.76, 3.68],
           [0.  , 0.  ]])
    """
    noise = vectors.shape[1] * np.square(stddev)
    feigned = noise / np.maximum(np.square(vectors).sum(axis=1, keepdims=True), 1e-300)
    return vectors * np.clip(1 - feigned, 0.0, 1 / (1 + noise / longest**2))


@dataclass(frozen=True)
class MeanStart:
    """A private start from one bounded sum: the noisy mean of all records, and directions that are public.

    If x varies by v along each of k random directions, centers at the distance r from the mean are nearer to x than the
    mean by 2 r max - r^2, where max is the greatest of k normal numbers times sqrt(v): most so at r = sqrt(2 v log k),
    nearly.
    """

    task: Task  # the records
    clusters: int  # public: how many centers

    def shares(self, part: float) -> list[Stage]:
        """The sum, with its part of the budget."""
        return [Stage(self._sum, part)]

    def found(self, permit: Permit, noises: Iterator[Any], rng: np.random.RandomState) -> Start:
        """Ask for the sum, and draw the directions."""
        noise, size = next(noises), len(self.task.features)
        weight = count_weight(len(self.task.features))
        stddev = spread(self.task.data, self._sum, noise).stddev
        sums = permit.ask(self._sum, noise)
        count = float(self.task.data.public_size or max(sums[0], 2 * stddev) / weight)
        scale = 1 / max(count, 1.0)
        mean = shortened(scale * sums[None, 1:], scale * stddev, math.sqrt(size / 3))
        directions = rng.normal(size=(self.clusters, size))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        away = math.sqrt(2 * UNKNOWN * math.log(self.clusters))
        return Start(on_grid(np.clip(mean + away * directions, -1.0, 1.0)), math.sqrt(size) / 2, count)

    @property
    def _sum(self) -> BoundedSum:
        """The count and the sum of all records."""
        return center_of(self.task.schema, self.task.features)
