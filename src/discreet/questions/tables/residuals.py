"""Tables of counts as sums of parts that do not overlap: what is left of each marginal once its smaller ones are known.

The residual of a set of columns is its marginal, with the mean along every axis taken off. A marginal is the sum of the
residuals of all subsets of its columns, each spread evenly over the other columns; and noise that is alike in all cells
is uncorrelated between residuals. So estimates of the residuals make marginals that agree wherever they overlap, and
their errors add up. For columns of two cells this is the Fourier transform of Barak, Chaudhuri, Dwork, Kale, McSherry
and Talwar 2007; for others, the residual basis of ResidualPlanner (Xiao, He, Zhang and Kifer 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.core.bound import Norm
from discreet.core.grid import Array
from discreet.questions.tables.domain import Codes, codes_of

AxisSet = frozenset[int]
Shape = tuple[int, ...]


def cells(shape: Shape, axes: Iterable[int]) -> int:
    """The number of cells of the marginal of these axes."""
    return math.prod(shape[axis] for axis in axes)


def subsets(axes: AxisSet) -> Iterator[AxisSet]:
    """All subsets of a set of axes, the empty one first."""
    for size in range(len(axes) + 1):
        yield from map(frozenset, combinations(sorted(axes), size))


def closure(sets: Iterable[AxisSet], shape: Shape) -> list[AxisSet]:
    """The subsets whose residuals make up the marginals of these sets; an axis of one cell has none."""
    wide = frozenset(axis for axis, size in enumerate(shape) if size > 1)
    found = {part for axes in sets for part in subsets(axes & wide)}
    return sorted(found, key=lambda axes: (len(axes), sorted(axes)))


def summed(table: Array, axes: AxisSet, kept: AxisSet) -> Array:
    """A table of these axes, summed over all that are not kept; leading axes stack tables."""
    return table.sum(axis=tuple(place - len(axes) for place, axis in enumerate(sorted(axes)) if axis not in kept))


def centered(table: Array, places: Iterable[int]) -> Array:
    """A table whose mean along each of these axes, counted from the last, is taken off."""
    for place in places:
        table = table - table.mean(axis=place, keepdims=True)
    return table


def residual(table: Array, axes: AxisSet, kept: AxisSet) -> Array:
    """The residual of some of a table's axes."""
    return centered(summed(table, axes, kept), range(-len(kept), 0))


@dataclass(frozen=True)
class MarginalResiduals:
    """Estimates of residuals, and the variance of each before its means were taken off.

    Parameters
    ----------
    shape : tuple of int
        Public. The number of cells of each axis.
    parts : mapping of set of axes to array
        The estimates.
    variances : mapping of set of axes to float
        Public. Of the noise in each cell of an estimate, as it was before means were taken off.

    Examples
    --------
    >>> table = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]])
    >>> whole = frozenset({0, 1})
    >>> parts = {axes: residual(table, whole, axes) for axes in subsets(whole)}
    >>> MarginalResiduals((2, 3), parts, dict.fromkeys(parts, 1.0)).marginal((1,))
    array([ 5.,  7., 12.])
    """

    shape: Shape
    parts: Mapping[AxisSet, Array]
    variances: Mapping[AxisSet, float]

    @classmethod
    def of_table(cls, table: Array, variances: Mapping[AxisSet, float]) -> MarginalResiduals:
        """Those of a table that has all axes."""
        whole = frozenset(range(table.ndim))
        return cls(table.shape, {axes: residual(table, whole, axes) for axes in variances}, variances)

    def marginal(self, axes: Sequence[int]) -> Array:
        """The marginal of these axes, in this order."""
        ordered = sorted(axes)
        table = np.zeros([self.shape[axis] for axis in ordered])
        for part in closure([frozenset(axes)], self.shape):
            spread = [self.shape[axis] if axis in part else 1 for axis in ordered]
            table += self.parts[part].reshape(spread) / (table.size / cells(self.shape, part))
        return table.transpose([ordered.index(axis) for axis in axes])

    def variance(self, axes: Iterable[int]) -> float:
        """The variance of each cell of a marginal."""
        whole = frozenset(axes)
        return sum(share * self.variances[part] for part, share in cell_shares(whole, self.shape).items())


def cell_shares(axes: AxisSet, shape: Shape) -> dict[AxisSet, float]:
    """The share of the variance of each residual in the variance of a marginal's cell.

    A residual's noise is projected on what has mean zero along every axis, which leaves 1 - 1/r of its variance for
    each axis of r cells, and is then divided by the number of cells that it is spread over.
    """
    whole = cells(shape, axes)
    return {
        part: math.prod(1 - 1 / shape[axis] for axis in part) * (cells(shape, part) / whole) ** 2
        for part in closure([axes], shape)
    }


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
