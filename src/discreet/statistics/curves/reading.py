"""Noisy masses at knots as a function that is evaluated anywhere, and a band for all of it at once: post-processing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Protocol

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.releases.columns import ConfidenceInterval
from discreet.releases.release import check_confidence
from discreet.releases.simulation import Simulation
from discreet.releases.spread import Spread
from discreet.statistics.curves.smoother import across

BIAS = "how far smoothing moves the density from that of a population is not known"
REMEDY = "Ask `histogram` for expected counts in cells, or `distribution` for shares below edges."
DRAWS = 2000
MOST_NUMBERS = 2**22  # at a time
SUREST = 0.998  # the highest confidence that this many draws can support


class Reader(Protocol):
    """How the masses along one axis are read at any place between 0 and 1."""

    @property
    def stepped(self) -> bool:
        """Whether a reading is constant between places that it is looked at, and jumps there."""

    @property
    def places(self) -> Array:
        """The places that a reading is looked at to see all of it: the middles of equal cells."""

    def weights(self, places: Array) -> Array:
        """What each mass counts at each place: one row for each place."""


@dataclass(frozen=True)
class _Read:
    """The density at places, the squared weights of it, and what their noise shares with that of the number."""

    values: Array
    squares: Array
    shared: Array

    def variances(self, number: float) -> Array:
        """Of the noise, times the squared number, in units of that on a mass; so is `number`, that of the number."""
        found = self.squares - 2 * self.values * self.shared + np.square(self.values) * number
        return np.asarray(np.maximum(found, 0.0))


@dataclass(frozen=True)
class Reading:
    """A density of a box from 0 to 1, from noisy masses.

    It is sum_j z_j a_j(x) / n for masses z and weights a. With e the noise, of which e_0 is in the number n, it is off
    by (sum_j e_j a_j(x) - f(x) e_0) / n, exactly, where f is what the same weights make of exact masses, over their
    exact number.

    Parameters
    ----------
    masses : array
        The noisy masses, one axis for each column.
    readers : tuple of Reader
        Public. One for each column.
    spread : Spread
        Public. Of the noise on each mass.
    grid : Grid
        Public. That the masses are on.
    count : float
        The noisy number n.
    apart : float, optional
        Public. The deviation of the noise in the number, in units of that on a mass, where it was counted apart. If
        not, it is the sum of the masses.
    level : float
        Public. How often simulated noise stays within the band.
    """

    masses: Array
    readers: tuple[Reader, ...]
    spread: Spread
    grid: Grid
    count: float
    apart: float | None
    level: float

    def at(self, places: Array) -> Array:
        """The density at places, one in each row."""
        return self._read(places).values

    @cached_property
    def looked(self) -> Array:
        """The density at all places that it is looked at."""
        return across(self.masses, self._weights) / self._number

    def standard_errors(self, places: Array) -> Array:
        """The standard deviation of the noise at places, one in each row."""
        return self.spread.stddev / self._number * np.sqrt(self._read(places).variances(self._own))

    def band(self, places: Array) -> ConfidenceInterval[Array]:
        """A band that holds f at all places of the box at once, at this level.

        It is where sum_j e_j a_j(x) - f e_0 would be within `critical` of its standard deviations, which depend
        on f, too: between the roots of a square (Fieller 1954). There are no ends if the number may be zero.
        """
        read = self._read(places)
        reach = (self.critical * self.spread.stddev / self._number) ** 2
        lead = 1 - reach * self._own
        if lead <= 0:
            return ConfidenceInterval(np.full(len(places), -math.inf), np.full(len(places), math.inf))
        middle = read.values - reach * read.shared
        square = np.square(middle) - lead * (np.square(read.values) - reach * read.squares)
        root = np.sqrt(np.maximum(square, 0.0))
        return ConfidenceInterval((middle - root) / lead, (middle + root) / lead)

    @cached_property
    def critical(self) -> float:
        """The standard deviations that noise stays within at all places at once, at this level."""
        squares, shared = self._moments(self._weights, np.multiply.outer)
        read = _Read(np.maximum(self.looked, 0.0), squares, shared)
        deviations = self.spread.stddev * np.sqrt(np.maximum(read.variances(self._own), 1e-12 * squares.max()))
        values = read.values
        farthest, simulation = [], Simulation()
        draws = max(1, min(DRAWS, MOST_NUMBERS // max(values.size, self.masses.size)))
        for _ in range(math.ceil(DRAWS / draws)):
            off = self._drawn(simulation, draws, values) / deviations
            farthest.append(np.abs(off).reshape(draws, values.size).max(axis=1))
        return quantile_of_draws(farthest, self.level)

    def _drawn(self, simulation: Simulation, draws: int, values: Array) -> Array:
        """What noise adds at all places that are looked at, times the number."""
        noise = simulation.noise(self.spread, (draws, self.masses.size + 1), self.grid)
        number = noise[:, :-1].sum(axis=1) if self.apart is None else self.apart * noise[:, -1]
        masses = noise[:, :-1].reshape(draws, *self.masses.shape)
        return across(masses, self._weights) - number.reshape(draws, *[1] * values.ndim) * values

    @property
    def _number(self) -> float:
        """How many records are reckoned with: at least as many as noise alone may make of none."""
        return max(self.count, 1.0, self.spread.stddev * math.sqrt(self._own))

    @property
    def _own(self) -> float:
        """The variance of the noise in the number, in units of that on a mass."""
        return float(self.masses.size) if self.apart is None else self.apart**2

    @cached_property
    def _weights(self) -> list[Array]:
        return [reader.weights(reader.places) for reader in self.readers]

    def _moments(self, weights: Sequence[Array], times: Callable[[Array, Array], Array]) -> Iterator[Array]:
        """The sums of squared weights, and of weights if their noise is in the number: products over the axes."""
        yield reduce(times, [np.square(one).sum(axis=1) for one in weights])
        yield reduce(times, [one.sum(axis=1) * (self.apart is None) for one in weights])

    def _read(self, places: Array) -> _Read:
        rows = max(1, MOST_NUMBERS // self.masses.size)
        parts = [self._read_some(places[start : start + rows]) for start in range(0, max(len(places), 1), rows)]
        return _Read(*(np.concatenate([getattr(part, name) for part in parts]) for name in _Read.__match_args__))

    def _read_some(self, places: Array) -> _Read:
        first, *others = weights = [reader.weights(places[:, axis]) for axis, reader in enumerate(self.readers)]
        values = np.tensordot(first, self.masses, axes=1)
        for one in others:
            values = np.einsum("pj...,pj->p...", values, one)
        return _Read(values / self._number, *self._moments(weights, np.multiply))


def quantile_of_draws(draws: list[Array], level: float) -> float:
    """What simulated draws exceed in a share of 1 - level, and no more."""
    ascending = np.sort(np.concatenate(draws))
    return float(ascending[min(math.ceil(level * (len(ascending) + 1)), len(ascending)) - 1])


def check_band(asked: str, confidence: float) -> None:
    """Refuse a confidence that no band has."""
    check_confidence(asked, confidence)
    if confidence > SUREST:
        raise ParameterError(asked, f"the confidence is {confidence}", f"Give at most {SUREST}.", confidence=confidence)
