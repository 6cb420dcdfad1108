"""Several measurements of a table in one bounded sum, and the least squares estimates that they make.

In the words of the matrix mechanism (Li, Hay, Rastogi, Miklau and McGregor 2010) and of HDMM (McKenna, Miklau, Hay and
Machanavajjhala 2018) this is the strategy: the queries that are measured, from which those of the workload are
reconstructed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import Codes, Domain, codes_of
from discreet.questions.tables.query_weighting import FINENESS, MARGIN, QueryWeighting, check_weights, steps_of
from discreet.questions.tables.residuals import AxisSet, MarginalResiduals, Measurement, Shape, cells, subsets, summed
from discreet.schema.schema import Schema

MOST_NUMBERS = 2**20
LONGEST = 2**36  # steps of what a record adds: a batch of 2**16 adds up exactly


@dataclass(frozen=True)
class Measurements:
    """Measurements with their weights, and the residuals that they estimate. All of it public.

    Parameters
    ----------
    shape : tuple of int
        The number of cells of each axis.
    members : tuple of Measurement
        What is measured.
    steps : tuple of int
        The weight of each, in steps of the grid.
    grid : Grid
        Of the sum.
    norm : {"l1", "l2"}
        How the length of what a record adds is measured.
    spaces : tuple of sets of axes
        The residuals that are wanted.
    """

    shape: Shape
    members: tuple[Measurement, ...]
    steps: tuple[int, ...]
    grid: Grid
    norm: Norm
    spaces: tuple[AxisSet, ...] = ()

    @classmethod
    def even(
        cls, shape: Shape, members: Sequence[Measurement], norm: Norm, spaces: Iterable[AxisSet] = ()
    ) -> Measurements:
        """Measurements of the same weight, one."""
        return cls(shape, tuple(members), (1,) * len(members), Grid(0), norm, tuple(spaces))

    @classmethod
    def weighted(
        cls, shape: Shape, members: Sequence[Measurement], norm: Norm, importance: Mapping[AxisSet, float]
    ) -> Measurements:
        """Measurements with the weights that are best for these importances of the residuals."""
        even = cls.even(shape, members, norm, importance)
        steps = steps_of(even.weighting.optimal_weights(np.array(list(importance.values()))))
        return dataclasses.replace(even, steps=steps, grid=Grid(-FINENESS))

    @cached_property
    def places(self) -> dict[AxisSet, int]:
        """The place of each residual among those that are wanted."""
        return {space: place for place, space in enumerate(self.spaces)}

    def informs(self, measurement: Measurement) -> list[AxisSet]:
        """The wanted residuals that a measurement has information about."""
        if 2 ** len(measurement.whole) > len(self.spaces):
            return [space for space in self.spaces if measurement.contrasts <= space <= measurement.axes]
        return [space for part in subsets(measurement.whole) if (space := part | measurement.contrasts) in self.places]

    @cached_property
    def weighting(self) -> QueryWeighting:
        """The information that each measurement has about each residual."""
        entries = [(row, space) for row, measurement in enumerate(self.members) for space in self.informs(measurement)]
        values = [self.members[row].information(space, self.shape) for row, space in entries]
        at = [row for row, _ in entries], [self.places[space] for _, space in entries]
        costs = np.array([one.length(self.shape, self.norm) for one in self.members])
        return QueryWeighting(csr_array((values, at), (len(self.members), len(self.spaces))), costs, self.norm)

    @property
    def weights(self) -> Array:
        return self.grid.values(np.array(self.steps))

    @property
    def sizes(self) -> list[int]:
        return [math.prod(one.shape(self.shape)) for one in self.members]

    @property
    def total_size(self) -> int:
        return sum(self.sizes)

    @property
    def bound(self) -> Bound:
        length = self.weighting.length(self.weights) * MARGIN
        return Bound(self.norm, length, nonnegative=not any(one.contrasts for one in self.members))

    def variances(self) -> dict[AxisSet, float]:
        """What noise of deviation one leaves in each residual, before means are taken off."""
        return dict(zip(self.spaces, self.weighting.variances(self.weights).tolist(), strict=True))

    def residuals(self, released: Array, stddev: float = 1.0) -> MarginalResiduals:
        """The least squares estimates of all residuals; leading axes stack releases."""
        variances = self.variances()
        numbers = np.split(released, np.cumsum(self.sizes)[:-1], axis=-1)
        parts: dict[AxisSet, Array] = {}
        for measurement, weight, some in zip(self.members, self.weights, numbers, strict=True):
            table = some.reshape((*released.shape[:-1], *measurement.shape(self.shape))) / weight
            for part in self.informs(measurement):
                share = weight**2 * measurement.information(part, self.shape) * variances[part]
                parts[part] = parts.get(part, 0.0) + share * measurement.estimate(table, part, self.shape)
        return MarginalResiduals(self.shape, parts, {space: stddev**2 * one for space, one in variances.items()})

    def counted(self, places: Codes) -> Array:
        """What records at these places add up to, in steps of the grid."""
        tables = _marginals(places, self.shape, [one.axes for one in self.members])
        numbers = [
            steps * measurement.numbers(tables[measurement.axes], self.shape).ravel()
            for measurement, steps in zip(self.members, self.steps, strict=True)
        ]
        return np.concatenate(numbers)

    def contributions(self, places: Codes) -> Array:
        """What each record at these places adds, in steps of the grid."""
        pairs = zip(self.members, self.steps, strict=True)
        return np.concatenate([steps * one.contributions(places, self.shape) for one, steps in pairs], axis=1)

    def question(self, schema: Schema, domain: Domain) -> BoundedSum:
        """The question that others can build again."""
        return measurements_of(schema, domain.columns, domain.bins, **self.described)

    @property
    def described(self) -> dict[str, Any]:
        """What `measured_of` builds them from again."""
        return {
            "whole": tuple(tuple(sorted(one.whole)) for one in self.members),
            "contrasts": tuple(tuple(sorted(one.contrasts)) for one in self.members),
            "steps": self.steps,
            "exponent": self.grid.exponent,
            "norm": self.norm,
        }


def _marginals(places: Codes, shape: Shape, sets: Sequence[AxisSet]) -> dict[AxisSet, Array]:
    """The counts of each set of axes: summed from those of a set with one axis more, where there is one."""
    wanted = set(sets)
    found: dict[AxisSet, Array] = {}
    for axes in sorted(wanted, key=len, reverse=True):
        more = (axes | {axis} for axis in range(len(shape)) if axis not in axes)
        above = next((one for one in more if one in wanted), None)
        if above is not None:
            found[axes] = summed(found[above], above, axes)
            continue
        order = sorted(axes)
        own = tuple(shape[axis] for axis in order)
        counts = np.bincount(codes_of(places[:, order], own), minlength=math.prod(own))
        found[axes] = counts.astype(np.float64).reshape(own)
    return found


@recipe("measurements")
def measurements_of(
    schema: Schema,
    columns: tuple[str, ...],
    bins: tuple[int, ...],
    whole: tuple[tuple[int, ...], ...],
    contrasts: tuple[tuple[int, ...], ...],
    steps: tuple[int, ...],
    exponent: int,
    norm: Norm,
) -> BoundedSum:
    """The measurements of a table as one sum; a record with a missing value adds nothing."""
    domain = Domain.of(schema, columns, bins)
    measured = measured_of(domain.shape, whole, contrasts, steps, exponent, norm)

    def of(records: Array) -> Array:
        added = np.zeros((len(records), measured.total_size))
        added[~np.isnan(records).any(axis=1)] = measured.contributions(domain.places(records))
        return measured.grid.values(added)

    def total(records: Array) -> Array:
        return measured.counted(domain.places(records))

    return BoundedSum(of, measured.bound, domain.columns, measured.grid, total)


def measured_of(
    shape: Shape,
    whole: Sequence[Sequence[int]],
    contrasts: Sequence[Sequence[int]],
    steps: tuple[int, ...],
    exponent: int,
    norm: Norm,
) -> Measurements:
    """The measurements that public parameters describe, which may be anybody's: what breaks a bound is refused."""
    check_one_of("measurements", "number of contrasts", len(contrasts), (len(whole),))
    members = tuple(Measurement(frozenset(w), frozenset(c)) for w, c in zip(whole, contrasts, strict=True))
    for one in members:
        _check(one, shape)
    check_weights("measurements", steps, len(members), exponent, norm)
    measured = Measurements(shape, members, steps, Grid(exponent), norm)
    check_size("measurements", measured.total_size, MOST_NUMBERS)
    check_whole("measurements", "length in steps", math.ceil(measured.bound.radius / measured.grid.step), 1, LONGEST)
    return measured


def _check(measurement: Measurement, shape: Shape) -> None:
    """Refuse axes that are not there, a contrast of an axis that is whole or of a single cell, and large tables."""
    if not measurement.axes <= set(range(len(shape))) or measurement.whole & measurement.contrasts:
        obstacle = f"its axes are {sorted(measurement.whole)} and {sorted(measurement.contrasts)} of {len(shape)}"
        raise ParameterError("measurement", obstacle, "Name axes of the table, each at most once.")
    if any(shape[axis] < 2 for axis in measurement.contrasts):
        raise ParameterError("measurement", "an axis of one cell has no contrast", "Leave it out.")
    check_size("measurement", cells(shape, measurement.axes), MOST_NUMBERS)
