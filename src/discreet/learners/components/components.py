"""Ways to private principal components: from noisy products, by the power method, by the exponential mechanism."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.components.place import Place
from discreet.mechanisms.vectors.bingham import Bingham
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.directed_products import directed_products_of, on_grid
from discreet.questions.vectors.directed_squares import directed_squares_of
from discreet.questions.vectors.gram import Gram
from discreet.questions.vectors.second_moments import central_moments_of, unfolded
from discreet.releases.joint_plan import JointPlan, Stage, staged, vector_noise
from discreet.trust.permit import Permit

PRODUCTS = 0.8  # the part of the budget beside those of the place
# By the exponential mechanism: the part of epsilon for the place and for the squares, by `benchmarks.tuning_clusters`;
# the squares, one number for each component, take little of it.
SUMS, SQUARES = 0.35, 0.04


@dataclass(frozen=True)
class Components:
    """Components of records around a place, in their own units: released.

    Parameters
    ----------
    vectors : array of shape (n_components, n_features)
        Orthonormal, those of greatest variance first.
    variances : array of shape (n_components,)
        Along each.
    total : float or None
        The variance of all features, where it is released.
    shift : array of shape (n_features,)
        Of the mean from the place's center, scaled.
    """

    vectors: Array
    variances: Array
    total: float | None
    shift: Array


@dataclass(frozen=True)
class ComponentSearch(ABC):
    """How components are found once it is known where the records lie.

    Parameters
    ----------
    task : Task
        The records.
    size : int
        Public. How many components.
    """

    task: Task
    size: int

    @abstractmethod
    def plan(self, place: list[Stage]) -> JointPlan:
        """The noise of all that is asked, the place first."""

    @abstractmethod
    def found(self, place: Place, permit: Permit, noises: Iterator[Any]) -> Components:
        """Ask for what is planned after the place."""

    def origin(self, place: Place) -> Coordinates:
        """The coordinates of records around the place."""
        return Coordinates.of(self.task.schema, self.task.features, place.radius, place.center)

    @property
    def _plain(self) -> Place:
        """A place of the right form, for questions whose answers are only planned."""
        return Place(1.0, np.zeros(len(self.task.features)), 1.0)


class AnalyzeGauss(ComponentSearch):
    """Eigenvectors of one noisy matrix of products."""

    def plan(self, place: list[Stage]) -> JointPlan:
        """One sum after the place."""
        stages = [*place, Stage(self._products(self._plain), PRODUCTS)]
        return staged(self.task.data, stages, self.task.budget, vector_noise)

    def found(self, place: Place, permit: Permit, noises: Iterator[Any]) -> Components:
        """Post-processing of the products around the center, and of their mean, which is not quite zero."""
        origin = self.origin(place)
        sums = unfolded(permit.ask(self._products(place), next(noises)), origin)
        count = max(float(sums[0, 0]), 1.0)
        shift = np.clip(sums[0, 1:] / count, -1 - place.center, 1 - place.center)
        return principal(sums[1:, 1:] / count - np.outer(shift, shift), origin.half[:, 0], self.size, shift)

    def _products(self, place: Place) -> Any:
        return central_moments_of(self.task.schema, self.task.features, place.center, place.radius)


class Sulq(ComponentSearch):
    """Eigenvectors of a noisy matrix, each of whose numbers has a noise of its own."""

    def plan(self, place: list[Stage]) -> JointPlan:
        """One sum after the place."""
        stages = [*place, Stage(self._products(self._plain), PRODUCTS)]
        return staged(self.task.data, stages, self.task.budget, vector_noise)

    def found(self, place: Place, permit: Permit, noises: Iterator[Any]) -> Components:
        """Post-processing of the products around the center."""
        half = self.origin(place).half[:, 0]
        products = permit.ask(self._products(place), next(noises)).reshape(len(half), -1) / place.count
        return principal(products, half, self.size, np.zeros(len(half)))

    def _products(self, place: Place) -> Any:
        n = len(self.task.features)
        return directed_products_of(self.task.schema, self.task.features, place.center, place.radius, np.eye(n))


@dataclass(frozen=True)
class Power(ComponentSearch):
    """Steps of the noisy power method, with records in units of their widest feature.

    Parameters
    ----------
    steps : int
        Public. How many.
    seed : int, RandomState instance or None
        Public. Of the directions that it starts with.
    """

    steps: int = 4
    seed: Any = None

    def plan(self, place: list[Stage]) -> JointPlan:
        """As many sums after the place as there are steps."""
        products = self._products(self._plain, np.eye(len(self.task.features))[:, : self.size])
        stages = [*place, Stage(products, PRODUCTS, self.steps)]
        return staged(self.task.data, stages, self.task.budget, vector_noise)

    def found(self, place: Place, permit: Permit, noises: Iterator[Any]) -> Components:
        """One step for each noise."""
        half = self.origin(place).half[:, 0]
        relative = half / half.max()
        rng = check_random_state(permit.random_state(self.seed))
        basis = products = np.linalg.qr(rng.normal(size=(len(half), self.size)))[0]
        for noise in noises:
            basis = np.linalg.qr(products)[0]
            asked = self._products(place, relative[:, None] * basis)
            products = relative[:, None] * permit.ask(asked, noise).reshape(len(half), self.size) / place.count
        inner = basis.T @ products
        values, turn = np.linalg.eigh(0.5 * (inner + inner.T))
        variances = np.maximum(values[::-1], 0.0) * half.max() ** 2
        return Components(signed((basis @ turn[:, ::-1]).T), variances, None, np.zeros(len(half)))

    def _products(self, place: Place, directions: Array) -> Any:
        schema, features = self.task.schema, self.task.features
        return directed_products_of(schema, features, place.center, place.radius, on_grid(directions))


class OneByOne(ComponentSearch):
    """Directions by the exponential mechanism, each orthogonal to those before, and noisy squares along them.

    Directions are those of records scaled to [-1, 1], where the bound on their length is.
    """

    def plan(self, place: list[Stage]) -> JointPlan:
        """The place, the directions, each with its price, and the squares."""
        data, budget = self.task.data, self.task.budget
        data.check_curated("principal components by the exponential mechanism")
        squares = Stage(self._squares(self._plain, np.eye(len(self.task.features))[:, : self.size]), SQUARES)
        part = Budget(SUMS * budget.epsilon, budget.delta)
        sums = staged(data, [*place, squares], part, vector_noise).mechanisms
        each = Bingham((1 - SUMS) * budget.epsilon / self.size)
        parts = (*sums[: len(place)], *[each] * self.size, sums[-1])
        return calibrate(JointPlan(parts), budget)

    def found(self, place: Place, permit: Permit, noises: Iterator[Any]) -> Components:
        """Ask for one direction after another, and then for the squares along all of them."""
        half, gram = self.origin(place).half[:, 0], self._gram(place)
        basis = np.empty((len(half), 0))
        for _ in range(self.size):
            mechanism = Bingham(next(noises).epsilon, tuple(map(tuple, basis.T.tolist())))
            basis = np.linalg.qr(np.column_stack([basis, permit.ask(gram, mechanism)]))[0]
        released = permit.ask(self._squares(place, on_grid(basis)), next(noises))
        squares = np.maximum(released, 0.0) / place.count
        own = half[:, None] * basis
        covariance = (own * squares[:-1]) @ own.T
        across = squares[-1] * np.square(half).mean()  # what lies across the directions, spread over all features
        found = principal(covariance, np.ones(len(half)), self.size, np.zeros(len(half)))
        return Components(found.vectors, found.variances, float(found.variances.sum() + across), found.shift)

    def _gram(self, place: Place) -> Gram:
        return Gram.of(self.task.schema, self.task.features, place.center, place.radius)

    def _squares(self, place: Place, directions: Array) -> Any:
        schema, features = self.task.schema, self.task.features
        return directed_squares_of(schema, features, place.center, place.radius, directions)


def principal(covariance: Array, half: Array, size: int, shift: Array) -> Components:
    """Post-processing: eigenvectors of a noisy covariance matrix of scaled records, in their own units."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T) * np.outer(half, half))
    variances = np.maximum(values[::-1], 0.0)
    return Components(signed(vectors[:, ::-1][:, :size].T), variances[:size], float(variances.sum()), shift)


def signed(components: Array) -> Array:
    """Each component with the sign that makes its greatest coordinate positive."""
    largest = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1)
    return components * np.where(largest < 0, -1.0, 1.0)
