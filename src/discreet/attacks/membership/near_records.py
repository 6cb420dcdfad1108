"""The records of the same label that are nearest to each record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from discreet.attacks.membership.membership_data import Values
from discreet.attacks.membership.mixed_columns import MixedColumns
from discreet.core.grid import Array

DECAY = 3.0  # the weight of the farthest of them is e^-DECAY of that of a copy
FLOOR = 0.02  # of the sum of weights: where all are easy, a mean is drawn to nothing
FAR = 1e6  # standard deviations: no record is farther from the mean of a column
MOST, BLOCK = 2_000, 2**14  # records of a label among which neighbors are looked for; rows whose neighbors are kept


@dataclass(frozen=True)
class NearRecords:
    """Records with their labels, and how many of the nearest with its label are the neighbors of each.

    Parameters
    ----------
    X, y : array
        Features of any kind, and labels.
    number : int
        How many neighbors a record has; fewer where fewer have its label.

    Examples
    --------
    >>> near = NearRecords(np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([1, 1, 1, 1]), 1)
    >>> near.means(np.array([[1.0, 2.0, 3.0, 4.0]]), np.full((1, 4), 1e6)).round(3)
    array([[2., 1., 4., 3.]])
    """

    X: Values = field(repr=False)
    y: Values = field(repr=False)
    number: int

    def means(self, values: Array, weights: Array) -> Array:
        """For each row of values, the weighted mean over the neighbors of each record; nearer ones count more."""
        found = np.zeros(values.shape)
        sums = weights * values
        for rows, others, nearness in self._neighborhoods():
            for own, total, weight in zip(found, sums, weights, strict=True):
                own[rows] = (nearness * total[others]).sum(axis=1) / ((nearness * weight[others]).sum(axis=1) + FLOOR)
        return found

    def _neighborhoods(self) -> Iterator[tuple[Values, Values, Array]]:
        """Some rows at a time, the nearest others of the same label, and how much each of these counts."""
        from sklearn.neighbors import NearestNeighbors

        flat = self.X.reshape(len(self.X), -1)
        with np.errstate(over="ignore", invalid="ignore"):  # of values near the largest, which are far from all others
            points = np.nan_to_num(MixedColumns.of(flat).points(flat)).clip(-FAR, FAR)
        rng = np.random.default_rng(0)
        labels = np.unique(self.y, return_inverse=True)[1]
        for label in range(labels.max() + 1):
            alike = np.flatnonzero(labels == label)
            some = alike if len(alike) <= MOST else rng.choice(alike, MOST, replace=False)
            nearest = NearestNeighbors(n_neighbors=min(self.number + 1, len(some))).fit(points[some])
            for start in range(0, len(alike), BLOCK):
                rows = alike[start : start + BLOCK]
                distances, places = nearest.kneighbors(points[rows])
                farthest = np.maximum(distances[:, -1:], np.finfo(np.float64).tiny)
                nearness = np.exp(-DECAY * (distances / farthest) ** 2) * (some[places] != rows[:, None])
                yield rows, some[places], nearness
