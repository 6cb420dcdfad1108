"""One measurement of a table: a marginal, some of whose axes are measured by contrasts alone.

A measurement by contrasts alone is a base mechanism of ResidualPlanner (Xiao, He, Zhang and Kifer 2023).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bound import Norm
from discreet.core.grid import Array
from discreet.questions.tables.domain import Codes, codes_of
from discreet.questions.tables.residuals import AxisSet, Shape, cells, centered, summed


@dataclass(frozen=True)
class Contrast:
    """What an axis of some cells adds where its mean does not matter: whole numbers.

    An axis of two cells is measured by their difference. A longer one of r cells is measured by r numbers: r times a
    cell, less the sum of all. Either matrix K has K'K = gain (I - 1/r), so K'y / gain is the least squares estimate of
    what is left of the cells once their mean is taken off.
    """

    size: int

    @property
    def numbers(self) -> int:
        """The number of rows of K."""
        return 1 if self.size == 2 else self.size

    @property
    def gain(self) -> int:
        """What squared lengths grow by."""
        return 2 if self.size == 2 else self.size**2

    def length(self, norm: Norm) -> float:
        """The length of a column of K, which is the same for all."""
        if self.size == 2:
            return 1.0
        return 2.0 * (self.size - 1) if norm == "l1" else math.sqrt(self.size * (self.size - 1))

    def of(self, cells: Array, axis: int) -> Array:
        """K times the cells along an axis."""
        if self.size == 2:
            return -np.diff(cells, axis=axis)
        return self.size * cells - cells.sum(axis=axis, keepdims=True)

    def back(self, numbers: Array, axis: int) -> Array:
        """The transpose of K times the numbers along an axis, over the gain."""
        if self.size == 2:
            return np.concatenate([numbers, -numbers], axis=axis) / 2
        return (numbers - numbers.mean(axis=axis, keepdims=True)) / self.size


@dataclass(frozen=True)
class Measurement:
    """One measurement: the marginal of the axes in `whole`, once for each contrast of those in `contrasts`."""

    whole: AxisSet = frozenset()
    contrasts: AxisSet = frozenset()

    @property
    def axes(self) -> AxisSet:
        """All axes."""
        return self.whole | self.contrasts

    @property
    def order(self) -> list[int]:
        """The axes as its numbers have them: whole ones first."""
        return [*sorted(self.whole), *sorted(self.contrasts)]

    def _contrasts(self, shape: Shape) -> list[tuple[int, Contrast]]:
        """The contrasts and their axes, counted from the last."""
        some = sorted(self.contrasts)
        return [(place - len(some), Contrast(shape[axis])) for place, axis in enumerate(some)]

    def shape(self, shape: Shape) -> Shape:
        """The number of rows along each axis."""
        return (*(shape[axis] for axis in sorted(self.whole)), *(one.numbers for _, one in self._contrasts(shape)))

    def length(self, shape: Shape, norm: Norm) -> float:
        """The length of what a record adds."""
        return math.prod(one.length(norm) for _, one in self._contrasts(shape))

    def information(self, part: AxisSet, shape: Shape) -> float:
        """About a residual: the inverse of the variance that noise of deviation one leaves in a cell."""
        if not self.contrasts <= part <= self.axes:
            return 0.0
        return math.prod(one.gain for _, one in self._contrasts(shape)) / cells(shape, self.axes - part)

    def numbers(self, table: Array, shape: Shape) -> Array:
        """What a table of its axes, in ascending order, is measured as."""
        numbers = table.transpose([sorted(self.axes).index(axis) for axis in self.order])
        for place, contrast in self._contrasts(shape):
            numbers = contrast.of(numbers, place)
        return numbers

    def contributions(self, places: Codes, shape: Shape) -> Array:
        """What each record at these places adds."""
        mixed = np.ones((len(places), 1))
        for axis in sorted(self.contrasts):
            own = Contrast(shape[axis]).of(np.eye(shape[axis]), 0).T[places[:, axis]]
            mixed = (mixed[:, :, None] * own[:, None, :]).reshape(len(places), mixed.shape[1] * own.shape[1])
        inner = sorted(self.whole)
        sizes = [shape[axis] for axis in inner]
        added = np.zeros((len(places), math.prod(sizes), mixed.shape[1]))
        added[np.arange(len(places)), codes_of(places[:, inner], sizes)] = mixed
        return added.reshape(len(places), math.prod(sizes) * mixed.shape[1])

    def estimate(self, numbers: Array, part: AxisSet, shape: Shape) -> Array:
        """The residual by least squares from these numbers alone; leading axes stack measurements."""
        for place, contrast in self._contrasts(shape):
            numbers = contrast.back(numbers, place)
        first = numbers.ndim - len(self.axes)
        order = [first + self.order.index(axis) for axis in sorted(self.axes)]
        table = numbers.transpose([*range(first), *order])
        return centered(summed(table, self.axes, part), range(-len(part), 0))
