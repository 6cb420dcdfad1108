"""Where the records lie: a noisy center, and a radius around it within which most of them are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.questions.vectors.center import center_of, count_weight
from discreet.questions.vectors.directed_products import on_grid
from discreet.questions.vectors.distances import distances_of, radius_of
from discreet.releases.joint_plan import Stage
from discreet.trust.permit import Permit

BINS, REACH = 64, 1.5  # of the distances from the center, up to so many square roots of n_features
# The share of the records that are not shrunk, and parts of the budget beside 0.8 for what follows: from the tables of
# `benchmarks.tuning_clusters`. Components gain where more are shrunk, up to 30%, but then variances lose; the part of
# the center hardly matters.
INSIDE = 0.8
CENTER, RADIUS = 0.16, 0.08


@dataclass(frozen=True)
class Place:
    """Where the records lie, scaled to [-1, 1]: released.

    Parameters
    ----------
    count : float
        How many there are.
    center : array of shape (n_features,)
        Their mean.
    radius : float
        The distance from it that they are shrunk to.
    """

    count: float
    center: Array
    radius: float


@dataclass(frozen=True)
class PlaceSearch:
    """A private place, from one bounded sum for the center, and one for the radius where none is given.

    Parameters
    ----------
    task : Task
        The records.
    radius : float, optional
        Public. Where it is known.
    """

    task: Task
    radius: float | None

    def shares(self) -> list[Stage]:
        """The sums, with their parts of the budget."""
        found = [Stage(self._sums(), CENTER)]
        return found if self.radius is not None else [*found, Stage(self._distances(np.zeros((1, self._n))), RADIUS)]

    def found(self, permit: Permit, noises: Iterator[Any]) -> Place:
        """Ask for them."""
        released = permit.ask(self._sums(), next(noises))
        count = max(float(released[0]) / count_weight(len(self.task.features)), 1.0)
        center = on_grid(np.clip(released[1:] / count, -1.0, 1.0))
        if self.radius is not None:
            return Place(count, center, self.radius)
        counts = permit.ask(self._distances(center[None, :]), next(noises))
        return Place(count, center, radius_of(counts, REACH * math.sqrt(self._n), INSIDE))

    @property
    def _n(self) -> int:
        return len(self.task.features)

    def _sums(self) -> Any:
        return center_of(self.task.schema, self.task.features)

    def _distances(self, center: Array) -> Any:
        return distances_of(self.task.schema, self.task.features, center, REACH * math.sqrt(self._n), BINS)
