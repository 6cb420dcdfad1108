"""Made-up records whose columns are as private ones are, one by one and in pairs: post-processing."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.anova.smooth_bases import distribution
from discreet.learners.trees.cut_scale import CutScale
from discreet.learners.trees.random_trees import Trees
from discreet.questions.columns.column_cells import edges_of
from discreet.questions.columns.column_moments import ColumnMoments
from discreet.questions.columns.column_trees import LEAVES, ColumnTrees
from discreet.questions.vectors.mapped_coordinates import MappedCoordinates
from discreet.questions.vectors.second_moments import CROSS, unfolded
from discreet.releases.whitening import standardising

POINTS = 2**14  # records that are made up
REACH = 1.0  # of the typical length of records, beyond which they are shrunk where products are asked
LEAST = 0.05  # eigenvalue of correlations
BEFORE = 2.0**-20  # of the width of a cell, to its left: what is at its start belongs to it


@dataclass(frozen=True)
class ColumnCopula:
    """The distribution of each column, and a normal law of ranks that columns have together.

    Parameters
    ----------
    count : float
        The number of records.
    edges, below : arrays of shape (d, cells + 1)
        Values, and the share of records below each.
    map : array of shape (d, 1 + d)
        What centres and scales columns, to ask products of them.
    correlations : array of shape (d, d)
        Of the columns.
    """

    count: float
    edges: Array
    below: Array
    map: Array
    correlations: Array

    @classmethod
    def of(cls, task: Task, trees: ColumnTrees, released: Array, stddev: float, count: float) -> ColumnCopula:
        """From noisy trees of all columns of so many records, as if columns were independent."""
        below = np.array([np.append(0.0, distribution(own)) for own in trees.counts(released)])
        middles, shares = (2 * np.arange(LEAVES) + 1) / LEAVES - 1, np.diff(below)
        noise = stddev * math.sqrt(trees.tree.variance(middles)) / count
        moments = ColumnMoments(count, shares @ middles, shares @ middles**2, noise)
        edges = edges_of(task.schema, task.features, LEAVES)
        return cls(count, edges, below, standardising(moments, REACH), np.eye(len(below)))

    def trees(self, task: Task, rng: np.random.RandomState, number: int, depth: int) -> Trees:
        """Random trees, cut between cells: so it is known of every record which side it is on, also of equal ones."""
        drawn = CutScale.of(task, np.diff(self.below)).drawn(rng, number, depth)
        places = drawn.features.astype(np.intp)
        lower, width = self.edges[places, 0], (self.edges[places, -1] - self.edges[places, 0]) / LEAVES
        ends = np.clip(np.rint((drawn.cuts - lower) / width), 1, LEAVES - 1).astype(np.intp)
        return Trees(drawn.features, self.edges[places, ends] - BEFORE * width)

    def correlated(self, task: Task, released: Array, stddev: float) -> ColumnCopula:
        """With correlations from noisy products, which are the closer to 0 the more of their squares is noise."""
        coordinates = MappedCoordinates.of(task.schema, task.features, self.map)
        moments = unfolded(released, coordinates) / self.count
        means = moments[0, 1:] / coordinates.weight
        covariance, d = moments[1:, 1:] - np.outer(means, means), len(means)
        lengths = np.sqrt(np.maximum(np.diag(covariance), stddev / self.count))
        scale, apart = np.outer(lengths, lengths), ~np.eye(d, dtype=np.bool_)
        found = np.where(apart, np.clip(covariance / scale, -1.0, 1.0), 0.0)
        noise = float(np.square(stddev / CROSS / self.count / scale)[apart].sum())
        values, vectors = np.linalg.eigh(
            np.eye(d) + found * max(1 - noise / max(float(np.square(found).sum()), 1e-300), 0.0)
        )
        near = (vectors * np.maximum(values, LEAST)) @ vectors.T
        return dataclasses.replace(self, correlations=near / np.sqrt(np.outer(np.diag(near), np.diag(near))))

    def drawn(self, rng: np.random.RandomState) -> Array:
        """Some records."""
        normal = rng.standard_normal((POINTS, len(self.edges))) @ np.linalg.cholesky(self.correlations).T
        columns = zip(ndtr(normal).T, self.below, self.edges, strict=True)
        return np.column_stack([np.interp(ranks, below, edges) for ranks, below, edges in columns])
