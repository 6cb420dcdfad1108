"""Private linear regression that follows the records through time: each step knows only those before it."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.timed import Timed
from discreet.questions.series.product_tree import prefixes_of, product_tree_of
from discreet.questions.vectors.coordinates import SHORTEST, Coordinates
from discreet.questions.vectors.second_moments import weights_of
from discreet.releases.least_noise import SumPlan, planned
from discreet.releases.whitening import adaptive_penalty, damped
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact


class OnlineRidge(RegressorMixin, Timed):
    """Follow the perturbed leader: in each step of time, ridge regression on all records before it, with noise.

    The noise is that of a tree of sums, so that the products of all records before any step have the noise of a few
    sums. It serves as the perturbation of the leader too. Every record is at one time, and so in one step: there is one
    pass over the records. Lines go through the middle of the bounds of features and target, without another intercept.
    A record with a missing value counts for nothing.

    Parameters
    ----------
    alpha : float
        Public. The penalty on squared coefficients, for columns that are scaled to [-1, 1]. What the noise could feign
        is added to it.
    radius : float, optional
        Public. The length that a record, with its target, is shrunk to, scaled from its bounds to [-1, 1]; by default
        none is shrunk.

    Attributes
    ----------
    coef_ : array of shape (steps + 1, n_features)
        Released. The coefficients that each step starts with, from the records before it, in the units of the data: the
        first ones are 0, and the last ones those of all records.
    intercept_ : array of shape (steps + 1,)
        Released. The same for the intercepts.

    Guarantee
    ---------
    `event_`: the release of one bounded sum, the tree, for the neighbors and the unit of the data set; add or remove
    one record for arrays, at any time. Released: `coef_` and `intercept_`, post-processing of it. What `regret` and
    `predict` compute from records that the caller already has is not private.
    Agarwal and Singh 2017, for losses that are quadratic: their sums of gradients follow from sums of products, which
    do not depend on the coefficients. The tree is that of Dwork, Naor, Pitassi and Rothblum 2010.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 3))
    >>> model = OnlineRidge(time=0, steps=8, bounds=(-1, 1), target_bounds=(-3, 3)).fit(X, X[:, 1:] @ [2.0, -1.0])
    >>> model.coef_[[0, 4, 8]].round() + 0.0
    array([[ 0.,  0.],
           [ 2., -1.],
           [ 2., -1.]])
    """

    purpose: ClassVar[str] = "online ridge regression"
    supervised: ClassVar[bool] = True
    coef_: Array
    intercept_: Array

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        time: int | str = 0,
        steps: int = 64,
        radius: float | None = None,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.alpha = alpha
        self.time = time
        self.steps = steps
        self.radius = radius
        self.target, self.bounds, self.target_bounds = target, bounds, target_bounds
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        check_positive(self.purpose, "alpha", self.alpha, least=0.0)
        check_whole(self.purpose, "steps", self.steps)
        if self.radius is not None:
            check_positive(self.purpose, "radius", self.radius, least=SHORTEST)

    def plan(self, task: Task) -> SumPlan:
        columns, clock = self._columns(task), task.features[self._place(task)]
        radius = math.sqrt(len(columns)) if self.radius is None else float(self.radius)
        return planned(task.data, task.budget, product_tree_of(task.schema, columns, clock, int(self.steps), radius))

    def learn(self, task: Task, plan: SumPlan, permit: Permit) -> Artefact:
        """Ask for the tree, and find the leader of every step."""
        steps, place = int(self.steps), self._place(task)
        prefixes = prefixes_of(permit.ask(plan.question, plan.spread.noise), steps)
        scales = Coordinates.of(task.schema, self._columns(task), 1.0)
        middle, half = scales.middle[:, 0], scales.half[:, 0]
        noises = [plan.spread.stddev * math.sqrt(max(step.bit_count(), 1)) for step in range(steps + 1)]
        leaders = [self._leader(*one, len(half)) for one in zip(prefixes, noises, strict=True)]
        coef = np.stack(leaders) * half[-1] / half[:-1]
        clock = task.schema.number(task.features[place])
        return {
            "coef_": coef,
            "intercept_": middle[-1] - coef @ middle[:-1],
            "clock_": np.linspace(clock.lower, clock.upper, steps + 1),
            "time_": place,
        }

    def predict(self, X: Any) -> Array:
        """The prediction for each row, from all records."""
        return np.asarray(np.delete(self._rows(X), self.time_, axis=1) @ self.coef_[-1] + self.intercept_[-1])

    def regret(self, X: Any, y: Any) -> Array:
        """By how much squared errors exceed those of the best line in hindsight, up to the end of each step.

        The error of a row is that of the coefficients that its step starts with. The best line is that of least squares
        on all these rows. Not private.
        """
        rows = self._rows(X)
        place, features = self._steps(rows), np.delete(rows, self.time_, axis=1)
        followed = np.asarray(y) - (self.coef_[place] * features).sum(axis=1) - self.intercept_[place]
        design = np.column_stack([np.ones(len(rows)), features])
        best = np.asarray(y) - design @ np.linalg.lstsq(design, np.asarray(y), rcond=None)[0]
        return np.cumsum(np.bincount(place, followed**2 - best**2, len(self.clock_) - 1))

    def _columns(self, task: Task) -> tuple[str, ...]:
        """The features, and then the target."""
        features = self._features(task)
        if not features:
            raise ParameterError(self.purpose, "there is no feature beside time", "Give at least one.")
        return (*features, str(task.target))

    def _leader(self, sums: Array, stddev: float, size: int) -> Array:
        """Post-processing: coefficients of scaled columns, with a penalty that makes up for negative eigenvalues."""
        upper = np.zeros((size, size))
        upper[np.triu_indices(size)] = sums / weights_of(size)
        gram = upper + np.triu(upper, 1).T
        values, directions = np.linalg.eigh(gram[:-1, :-1])
        penalty = self.alpha + adaptive_penalty(gram[:-1, :-1], damped(stddev, size))
        return np.asarray((directions / (np.maximum(values, 0.0) + penalty)) @ directions.T @ gram[:-1, -1])
