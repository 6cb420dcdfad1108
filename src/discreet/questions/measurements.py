"""Several measurements of a table in one bounded sum, and the least squares estimates that they make."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from discreet.core.bound import Bound, Norm
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.core.knob import check_one_of, check_size, check_whole
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Schema
from discreet.questions.design import Design
from discreet.questions.domain import Codes, Domain, codes_of
from discreet.questions.measurement import Block
from discreet.questions.residuals import AxisSet, Residuals, Shape, cells, subsets, summed

MOST_NUMBERS = 2**20
FINENESS = 30  # bits between the length of what a record adds and the step of its grid
HEAVIEST, LONGEST = 2**31, 2**36  # steps of a weight, and of what a record adds: a batch of 2**16 adds up exactly
MARGIN = 1 + 2.0**-30  # keeps rounded lengths inside their bound, so that clipping never acts


@dataclass(frozen=True)
class Blocks:
    """Measurements with their weights, and the residuals that they tell. All of it public.

    Parameters
    ----------
    shape : tuple of int
        How many cells each axis has.
    blocks : tuple of Block
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
    blocks: tuple[Block, ...]
    steps: tuple[int, ...]
    grid: Grid
    norm: Norm
    spaces: tuple[AxisSet, ...] = ()

    @classmethod
    def alike(cls, shape: Shape, blocks: Sequence[Block], norm: Norm, spaces: Iterable[AxisSet] = ()) -> Blocks:
        """Measurements of the same weight, one."""
        return cls(shape, tuple(blocks), (1,) * len(blocks), Grid(0), norm, tuple(spaces))

    @classmethod
    def weighted(cls, shape: Shape, blocks: Sequence[Block], norm: Norm, importance: Mapping[AxisSet, float]) -> Blocks:
        """Measurements with the weights that are best for these importances of the residuals; see `Design.divided`."""
        even = cls.alike(shape, blocks, norm, importance)
        weights = even.design.divided(np.array(list(importance.values())))
        steps = np.maximum(np.rint(np.ldexp(weights, FINENESS)), 1.0).astype(np.int64)
        return dataclasses.replace(even, steps=tuple(steps.tolist()), grid=Grid(-FINENESS))

    @cached_property
    def places(self) -> dict[AxisSet, int]:
        """The place of each residual among those that are wanted."""
        return {space: place for place, space in enumerate(self.spaces)}

    def told(self, block: Block) -> list[AxisSet]:
        """The residuals that a measurement tells something about, of those that are wanted."""
        if 2 ** len(block.whole) > len(self.spaces):
            return [space for space in self.spaces if block.contrasts <= space <= block.axes]
        return [space for part in subsets(block.whole) if (space := part | block.contrasts) in self.places]

    @cached_property
    def design(self) -> Design:
        """What each measurement tells about each residual."""
        entries = [(row, space) for row, block in enumerate(self.blocks) for space in self.told(block)]
        values = [self.blocks[row].information(space, self.shape) for row, space in entries]
        at = [row for row, _ in entries], [self.places[space] for _, space in entries]
        costs = np.array([block.length(self.shape, self.norm) for block in self.blocks])
        return Design(csr_array((values, at), (len(self.blocks), len(self.spaces))), costs, self.norm)

    @property
    def weights(self) -> Array:
        """The weight of each measurement."""
        return self.grid.values(np.array(self.steps))

    @property
    def sizes(self) -> list[int]:
        """How many numbers each measurement has."""
        return [math.prod(block.shape(self.shape)) for block in self.blocks]

    @property
    def total_size(self) -> int:
        """How many numbers all measurements have together."""
        return sum(self.sizes)

    @property
    def bound(self) -> Bound:
        """Of what one record adds."""
        length = self.design.length(self.weights) * MARGIN
        return Bound(self.norm, length, nonnegative=not any(block.contrasts for block in self.blocks))

    def variances(self) -> dict[AxisSet, float]:
        """What noise of deviation one leaves in each residual, before means are taken off."""
        return dict(zip(self.spaces, self.design.variances(self.weights).tolist(), strict=True))

    def residuals(self, released: Array, stddev: float = 1.0) -> Residuals:
        """The least squares estimates of all residuals; leading axes stack releases."""
        variances = self.variances()
        numbers = np.split(released, np.cumsum(self.sizes)[:-1], axis=-1)
        parts: dict[AxisSet, Array] = {}
        for block, weight, some in zip(self.blocks, self.weights, numbers, strict=True):
            table = some.reshape((*released.shape[:-1], *block.shape(self.shape))) / weight
            for part in self.told(block):
                share = weight**2 * block.information(part, self.shape) * variances[part]
                parts[part] = parts.get(part, 0.0) + share * block.estimate(table, part, self.shape)
        return Residuals(self.shape, parts, {space: stddev**2 * one for space, one in variances.items()})

    def counted(self, places: Codes) -> Array:
        """What records at these places add up to, in steps of the grid."""
        tables = _marginals(places, self.shape, [block.axes for block in self.blocks])
        numbers = [
            steps * block.numbers(tables[block.axes], self.shape).ravel()
            for block, steps in zip(self.blocks, self.steps, strict=True)
        ]
        return np.concatenate(numbers)

    def contributions(self, places: Codes) -> Array:
        """What each record at these places adds, in steps of the grid."""
        pairs = zip(self.blocks, self.steps, strict=True)
        return np.concatenate([steps * block.contributions(places, self.shape) for block, steps in pairs], axis=1)


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
def blocks_of(
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
    shape = domain.shape
    check_one_of("measurements", "number of contrasts", len(contrasts), (len(whole),))
    blocks = tuple(Block(frozenset(w), frozenset(c)) for w, c in zip(whole, contrasts, strict=True))
    for block in blocks:
        _check_block(block, shape)
    check_weights("measurements", steps, len(blocks), exponent, norm)
    measured = Blocks(shape, blocks, steps, Grid(exponent), norm)
    check_size("measurements", measured.total_size, MOST_NUMBERS)
    check_whole("measurements", "length in steps", math.ceil(measured.bound.radius / measured.grid.step), 1, LONGEST)
    return blocks_sum(measured, domain)


def _check_block(block: Block, shape: Shape) -> None:
    """Refuse axes that are not there, a contrast of an axis that is whole or of a single cell, and large tables."""
    if not block.axes <= set(range(len(shape))) or block.whole & block.contrasts:
        obstacle = f"its axes are {sorted(block.whole)} and {sorted(block.contrasts)} of {len(shape)}"
        raise ParameterError("measurement", obstacle, "Name axes of the table, each at most once.")
    if any(shape[axis] < 2 for axis in block.contrasts):
        raise ParameterError("measurement", "an axis of one cell has no contrast", "Leave it out.")
    check_size("measurement", cells(shape, block.axes), MOST_NUMBERS)


def check_weights(asked: str, steps: Sequence[int], count: int, exponent: int, norm: Norm) -> None:
    """Refuse weights that are not one for each of n measurements, or that no sum could carry without error."""
    check_one_of(asked, "norm", norm, ("l1", "l2"))
    check_whole(asked, "exponent", exponent, -FINENESS, 0)
    if len(steps) != count:
        raise ParameterError(asked, f"it has {count} parts and {len(steps)} weights", "Give each its own.")
    for one in steps:
        check_whole(asked, "weight", one, 1, HEAVIEST)


def blocks_sum(blocks: Blocks, domain: Domain) -> BoundedSum:
    """The bounded sum that measures these blocks."""
    size = blocks.total_size

    def of(records: Array) -> Array:
        added = np.zeros((len(records), size))
        added[~np.isnan(records).any(axis=1)] = blocks.contributions(domain.places(records))
        return blocks.grid.values(added)

    return BoundedSum(
        of, blocks.bound, domain.columns, blocks.grid, lambda records: blocks.counted(domain.places(records))
    )


def question_of(blocks: Blocks, schema: Schema, domain: Domain) -> BoundedSum:
    """The question that others can build again."""
    return blocks_of(
        schema,
        domain.columns,
        domain.bins,
        tuple(tuple(sorted(block.whole)) for block in blocks.blocks),
        tuple(tuple(sorted(block.contrasts)) for block in blocks.blocks),
        blocks.steps,
        blocks.grid.exponent,
        blocks.norm,
    )
