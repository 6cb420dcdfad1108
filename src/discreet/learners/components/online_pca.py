"""Private components that follow the records through time: each step knows only those before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.components.components import signed
from discreet.learners.timed import Timed
from discreet.questions.series.product_tree import prefixes_of, product_tree_of
from discreet.questions.vectors.coordinates import SHORTEST, Coordinates
from discreet.questions.vectors.second_moments import weights_of
from discreet.releases.drawing import drawn_on
from discreet.releases.least_noise import SumPlan, planned
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class OnlinePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Timed):
    """Follow the perturbed leader: in each step of time, the components of all records before it, with noise.

    The noise is that of a tree of sums, so that the products of all records before any step have the noise of a few
    sums. It serves as the perturbation of the leader too: no other is added. Components are around the middle of the
    bounds, not around the mean. A record with a missing value counts for nothing.

    Parameters
    ----------
    n_components : int
        Public. How many components.
    radius : float, optional
        Public. The length that a record is shrunk to, scaled from its bounds to [-1, 1]; by default none is shrunk.

    Attributes
    ----------
    components_ : array of shape (steps + 1, n_components, n_features)
        Released. The components that each step starts with, from the records before it: the first ones are those of no
        records, and the last ones those of all.
    middle_ : array of shape (n_features,)
        Public. The middle of the bounds of each feature.

    Guarantee
    ---------
    `event_`: the release of one bounded sum, the tree, for the neighbors and the unit of the data set; add or remove
    one record for an array, at any time. Released: `components_` alone, post-processing of it. What `regret` and
    `transform` compute from records that the caller already has is not private.
    Dwork, Talwar, Thakurta and Zhang 2014 (online, by follow the perturbed leader of Kalai and Vempala 2005); the tree
    is that of Dwork, Naor, Pitassi and Rothblum 2010 and of Chan, Shi and Song 2011.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.uniform(0, 1, 80_000), rng.normal(0, [0.3, 0.1], (80_000, 2))])
    >>> model = OnlinePCA(1, time=0, steps=8, bounds=([0, -1, -1], [1, 1, 1])).fit(X)
    >>> np.abs(model.components_[[4, 8], 0]).round(1)
    array([[1., 0.],
           [1., 0.]])
    """

    purpose: ClassVar[str] = "online principal components"

    def __init__(
        self,
        n_components: int = 1,
        *,
        time: int | str = 0,
        steps: int = 64,
        radius: float | None = None,
        columns: Sequence[str] | None = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.time = time
        self.steps = steps
        self.radius = radius
        self.columns, self.bounds = columns, bounds
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        for name in ("n_components", "steps"):
            check_whole(self.purpose, name, getattr(self, name))
        if self.radius is not None:
            check_positive(self.purpose, "radius", self.radius, least=SHORTEST)

    def plan(self, task: Task) -> SumPlan:
        task.check_enough(self.purpose, int(self.n_components))
        features = self._features(task)
        if not 1 <= self.n_components <= len(features):
            obstacle = f"n_features = {len(task.features)}, one of them is the time, and {self.n_components} components"
            raise ParameterError(self.purpose, obstacle, "Ask for at most as many as there are features beside time.")
        radius = math.sqrt(len(features)) if self.radius is None else float(self.radius)
        clock = task.features[self._place(task)]
        question = product_tree_of(task.schema, features, clock, int(self.steps), radius)
        return planned(task.data, task.budget, question)

    def learn(self, task: Task, plan: SumPlan, permit: Permit) -> Artefact:
        """Ask for the tree, and find the leader of every step."""
        features, steps, place = self._features(task), int(self.steps), self._place(task)
        prefixes = prefixes_of(permit.ask(plan.question, plan.spread.noise), steps)
        origin, clock = Coordinates.of(task.schema, features, 1.0), task.schema.number(task.features[place])
        leaders = [self._leader(sums, origin.half[:, 0]) for sums in prefixes[1:]]
        return {
            "components_": np.stack([np.eye(len(features))[: int(self.n_components)], *leaders]),
            "middle_": origin.middle[:, 0],
            "clock_": np.linspace(clock.lower, clock.upper, steps + 1),
            "time_": place,
        }

    def transform(self, X: Any) -> Array:
        """The coordinates of each row along the components of all records."""
        return np.asarray((np.delete(self._rows(X), self.time_, axis=1) - self.middle_) @ self.components_[-1].T)

    def regret(self, X: Any) -> Array:
        """How much more of these rows is lost than by the best components in hindsight, up to the end of each step.

        What is lost of a row is its squared distance from the components that its step starts with. The best ones are
        those of all these rows. Not private.
        """
        rows = self._rows(X)
        place = self._steps(rows)
        away = np.delete(rows, self.time_, axis=1) - self.middle_
        best = np.linalg.eigh(away.T @ away)[1][:, ::-1][:, : self.components_.shape[1]]
        followed = np.square(np.einsum("nki,ni->nk", self.components_[place], away)).sum(axis=1)
        lost = np.square(away @ best).sum(axis=1) - followed
        return np.cumsum(np.bincount(place, lost, len(self.clock_) - 1))

    def plot_regret(self, X: Any, ax: Axes | None = None) -> Axes:
        """Draw the regret of these rows against time: flat, once the leader is found. Not private."""
        ax = drawn_on("a regret", ax)
        ax.plot(self.clock_[1:], self.regret(X))
        ax.set_xlabel("time")
        ax.set_ylabel("regret")
        return ax

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[1])

    def _leader(self, sums: Array, half: Array) -> Array:
        """Post-processing: the first eigenvectors of noisy products, in the records' own units."""
        upper = np.zeros((len(half), len(half)))
        upper[np.triu_indices(len(half))] = sums / weights_of(len(half))
        own = (upper + np.triu(upper, 1).T) * np.outer(half, half)
        return signed(np.linalg.eigh(own)[1][:, ::-1][:, : int(self.n_components)].T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
