"""Ways to private principal components: from noisy products, by the power method, by the exponential mechanism."""

from __future__ import annotations

import math
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
from discreet.mechanisms.vectors.bingham import Bingham
from discreet.questions.vectors.center import center_of, count_weight, distances_of, radius_of
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.directed_products import Gram, directed_products_of, directed_squares_of, on_grid
from discreet.questions.vectors.second_moments import central_moments_of, unfolded
from discreet.releases.joint_plan import JointPlan, Stage, staged, vector_noise
from discreet.trust.permit import Permit

BINS, REACH = 64, 1.5  # of the distances from the center, up to so many square roots of n_features
# The share of the records that are not shrunk, and parts of the budget beside 0.8 for what follows: from the tables of
# `benchmarks.tuning_clusters`. Components gain where more are shrunk, up to 30%, but then variances lose; the part of
# the center hardly matters.
INSIDE = 0.8
CENTER, RADIUS = 0.16, 0.08
PRODUCTS = 0.8  # the part of the budget beside those of the location
# By the exponential mechanism: the part of epsilon for the location and for the squares, which take little of it, being
# one number for each component; by `benchmarks.tuning_clusters`.
SUMS, SQUARES = 0.35, 0.04


@dataclass(frozen=True)
class Location:
    """Where the records lie, scaled to [-1, 1]: released."""

    count: float  # how many there are
    center: Array  # their mean, of shape (n_features,)
    radius: float  # the distance from it that they are shrunk to


@dataclass(frozen=True)
class LocationSearch:
    """A private location, from one bounded sum for the center, and one for the radius where none is given."""

    task: Task  # the records
    radius: float | None  # public: where it is known

    def shares(self) -> list[Stage]:
        """The sums, with their parts of the budget."""
        found = [Stage(self._sums(), CENTER)]
        return found if self.radius is not None else [*found, Stage(self._distances(np.zeros((1, self._n))), RADIUS)]

    def found(self, permit: Permit, noises: Iterator[Any]) -> Location:
        """Ask for them."""
        released = permit.ask(self._sums(), next(noises))
        count = max(float(released[0]) / count_weight(len(self.task.features)), 1.0)
        center = on_grid(np.clip(released[1:] / count, -1.0, 1.0))
        if self.radius is not None:
            return Location(count, center, self.radius)
        counts = permit.ask(self._distances(center[None, :]), next(noises))
        return Location(count, center, radius_of(counts, REACH * math.sqrt(self._n), INSIDE))

    @property
    def _n(self) -> int:
        return len(self.task.features)

    def _sums(self) -> Any:
        return center_of(self.task.schema, self.task.features)

    def _distances(self, center: Array) -> Any:
        return distances_of(self.task.schema, self.task.features, center, REACH * math.sqrt(self._n), BINS)


@dataclass(frozen=True)
class Components:
    """Components of records around a location, in their own units: released."""

    vectors: Array  # orthonormal, those of greatest variance first, of shape (n_components, n_features)
    variances: Array  # along each, of shape (n_components,)
    total: float | None  # the variance of all features, where it is released
    shift: Array  # of the mean from the location's center, scaled, of shape (n_features,)


@dataclass(frozen=True)
class ComponentSearch(ABC):
    """How components are found once it is known where the records lie."""

    task: Task  # the records
    size: int  # public: how many components

    @abstractmethod
    def plan(self, location: list[Stage]) -> JointPlan:
        """The noise of all that is asked, the location first."""

    @abstractmethod
    def found(self, location: Location, permit: Permit, noises: Iterator[Any]) -> Components:
        """Ask for what is planned after the location."""

    def origin(self, location: Location) -> Coordinates:
        """The coordinates of records around the location."""
        return Coordinates.of(self.task.schema, self.task.features, location.radius, location.center)

    @property
    def _plain(self) -> Location:
        """A location of the right form, for questions whose answers are only planned."""
        return Location(1.0, np.zeros(len(self.task.features)), 1.0)


class AnalyzeGauss(ComponentSearch):
    """Eigenvectors of one noisy matrix of products."""

    def plan(self, location: list[Stage]) -> JointPlan:
        stages = [*location, Stage(self._products(self._plain), PRODUCTS)]
        return staged(self.task.data, stages, self.task.budget, vector_noise)

    def found(self, location: Location, permit: Permit, noises: Iterator[Any]) -> Components:
        """Post-processing of the products around the center, and of their mean, which is not quite zero."""
        origin = self.origin(location)
        sums = unfolded(permit.ask(self._products(location), next(noises)), origin)
        count = max(float(sums[0, 0]), 1.0)
        shift = np.clip(sums[0, 1:] / count, -1 - location.center, 1 - location.center)
        return principal(sums[1:, 1:] / count - np.outer(shift, shift), origin.half[:, 0], self.size, shift)

    def _products(self, location: Location) -> Any:
        return central_moments_of(self.task.schema, self.task.features, location.center, location.radius)


class Sulq(ComponentSearch):
    """Eigenvectors of a noisy matrix, each of whose numbers has a noise of its own."""

    def plan(self, location: list[Stage]) -> JointPlan:
        stages = [*location, Stage(self._products(self._plain), PRODUCTS)]
        return staged(self.task.data, stages, self.task.budget, vector_noise)

    def found(self, location: Location, permit: Permit, noises: Iterator[Any]) -> Components:
        half = self.origin(location).half[:, 0]
        products = permit.ask(self._products(location), next(noises)).reshape(len(half), -1) / location.count
        return principal(products, half, self.size, np.zeros(len(half)))

    def _products(self, location: Location) -> Any:
        n = len(self.task.features)
        return directed_products_of(self.task.schema, self.task.features, location.center, location.radius, np.eye(n))


@dataclass(frozen=True)
class Power(ComponentSearch):
    """Steps of the noisy power method, with records in units of their widest feature."""

    steps: int = 4  # public: how many
    seed: Any = None  # public: of the directions that it starts with

    def plan(self, location: list[Stage]) -> JointPlan:
        """As many sums after the location as there are steps."""
        products = self._products(self._plain, np.eye(len(self.task.features))[:, : self.size])
        stages = [*location, Stage(products, PRODUCTS, self.steps)]
        return staged(self.task.data, stages, self.task.budget, vector_noise)

    def found(self, location: Location, permit: Permit, noises: Iterator[Any]) -> Components:
        half = self.origin(location).half[:, 0]
        relative = half / half.max()
        rng = check_random_state(permit.random_state(self.seed))
        basis = products = np.linalg.qr(rng.normal(size=(len(half), self.size)))[0]
        for noise in noises:
            basis = np.linalg.qr(products)[0]
            asked = self._products(location, relative[:, None] * basis)
            products = relative[:, None] * permit.ask(asked, noise).reshape(len(half), self.size) / location.count
        inner = basis.T @ products
        values, turn = np.linalg.eigh(0.5 * (inner + inner.T))
        variances = np.maximum(values[::-1], 0.0) * half.max() ** 2
        return Components(signed((basis @ turn[:, ::-1]).T), variances, None, np.zeros(len(half)))

    def _products(self, location: Location, directions: Array) -> Any:
        schema, features = self.task.schema, self.task.features
        return directed_products_of(schema, features, location.center, location.radius, on_grid(directions))


class OneByOne(ComponentSearch):
    """Directions by the exponential mechanism, each orthogonal to those before, and noisy squares along them.

    Directions are those of records scaled to [-1, 1], where the bound on their length is.
    """

    def plan(self, location: list[Stage]) -> JointPlan:
        """The location, the directions, each with its price, and the squares."""
        data, budget = self.task.data, self.task.budget
        data.check_curated("principal components by the exponential mechanism")
        squares = Stage(self._squares(self._plain, np.eye(len(self.task.features))[:, : self.size]), SQUARES)
        part = Budget(SUMS * budget.epsilon, budget.delta)
        sums = staged(data, [*location, squares], part, vector_noise).mechanisms
        each = Bingham((1 - SUMS) * budget.epsilon / self.size)
        parts = (*sums[: len(location)], *[each] * self.size, sums[-1])
        return calibrate(JointPlan(parts), budget)

    def found(self, location: Location, permit: Permit, noises: Iterator[Any]) -> Components:
        """Ask for one direction after another, and then for the squares along all of them."""
        half, gram = self.origin(location).half[:, 0], self._gram(location)
        basis = np.empty((len(half), 0))
        for _ in range(self.size):
            mechanism = Bingham(next(noises).epsilon, tuple(map(tuple, basis.T.tolist())))
            basis = np.linalg.qr(np.column_stack([basis, permit.ask(gram, mechanism)]))[0]
        released = permit.ask(self._squares(location, on_grid(basis)), next(noises))
        squares = np.maximum(released, 0.0) / location.count
        own = half[:, None] * basis
        covariance = (own * squares[:-1]) @ own.T
        across = squares[-1] * np.square(half).mean()  # what lies across the directions, spread over all features
        found = principal(covariance, np.ones(len(half)), self.size, np.zeros(len(half)))
        return Components(found.vectors, found.variances, float(found.variances.sum() + across), found.shift)

    def _gram(self, location: Location) -> Gram:
        return Gram.of(self.task.schema, self.task.features, location.center, location.radius)

    def _squares(self, location: Location, directions: Array) -> Any:
        schema, features = self.task.schema, self.task.features
        return directed_squares_of(schema, features, location.center, location.radius, directions)


def principal(covariance: Array, half: Array, size: int, shift: Array) -> Components:
    """Post-processing: eigenvectors of a noisy covariance matrix of scaled records, in their own units."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T) * np.outer(half, half))
    variances = np.maximum(values[::-1], 0.0)
    return Components(signed(vectors[:, ::-1][:, :size].T), variances[:size], float(variances.sum()), shift)


def signed(components: Array) -> Array:
    """Each component with the sign that makes its greatest coordinate positive."""
    largest = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1)
    return components * np.where(largest < 0, -1.0, 1.0)
