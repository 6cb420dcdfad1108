"""Where clustering starts if noise would hide everything but the mean: in random directions around it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.fitting.task import Task
from discreet.learners.clusters.cluster_start import UNKNOWN, Start, shortened
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.center import center_of, count_weight
from discreet.questions.vectors.directed_products import on_grid
from discreet.releases.joint_plan import Stage
from discreet.releases.spread import spread
from discreet.trust.permit import Permit


@dataclass(frozen=True)
class MeanStart:
    """A private start from one bounded sum: the noisy mean of all records, and directions that are public.

    If x varies by v along each of k random directions, centers at the distance r from the mean are nearer to x than the
    mean by 2 r max - r^2, where max is the greatest of k normal numbers times sqrt(v): most so at r = sqrt(2 v log k),
    nearly.

    Parameters
    ----------
    task : Task
        The records.
    clusters : int
        Public. How many centers.
    """

    task: Task
    clusters: int

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
