"""Knots between the bounds of columns, and what each record adds to those that are near it.

A record has one unit of mass, and a bump around it shares that out among the knots: the question is how much mass lies
at each knot, and the noise is added there. The density between the knots is a smooth of both, so it can be evaluated
anywhere and as often as needed, always with the same noise. Without noise this is a binned kernel density estimate
(Silverman 1982; Hall and Wand 1996), and splines of degree one are its linear binning.

    spline    a narrow bump over few knots (B-spline: Schoenberg 1946). All shares add up to one, so the l1 sensitivity
              is 1 whatever the number of knots and columns, and Laplace noise is far less than Gaussian noise would be.
    process   a Gaussian bump of deviation h / sqrt(2). Its product with another bump, added up over the knots, is a
              Gaussian kernel of bandwidth h: so noise on the knots, evaluated with the same bump, is a Gaussian process
              whose covariance is that kernel (Hall, Rinaldo and Wasserman 2013), and the length of what a record adds
              is the root of the kernel's peak.

Both are nonnegative, which makes the l2 distance of two records sqrt(2) lengths at most, not 2.

With phi_k(x) = cos(pi k x), times sqrt(2) for k > 0, on a box from 0 to 1: a bump B around x with knots at u_j has

    sum_j B(u_j - x) phi_k(u_j) = response_k phi_k(x),

up to aliases of high frequencies. Bumps that reach beyond the box are mirrored there, and so are these cosines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import product

import numpy as np

from discreet.core.bound import Bound
from discreet.core.checks import check_one_of, check_positive, check_size, check_whole
from discreet.core.grid import Array, Grid
from discreet.questions.columns.box import Box
from discreet.questions.columns.moments import INSIDE, MASS
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import Codes, codes_of
from discreet.schema.schema import Schema

SPACING = 0.8  # between the knots of a process, in deviations of its bump: the kernel is off by 2 exp(-(pi / 0.8)^2)
BEYOND = 3.0  # deviations that the knots of a process reach beyond the box: farther, they would bring noise alone
HIGHEST = 9.2  # frequency times bandwidth beyond which a process is below 1e-9 of its peak
FINENESS = {1: 30, 2: 18, 3: 13}  # bits of an axis: products of as many axes add up to 2**52 steps at most, in a batch
SMOOTHEST, MOST_KNOTS = 5, 2**22  # degree of a spline; knots, and for splines the corners of all their bumps
SLICE = 2**12  # records at a time
MARGIN = 1 + 2.0**-20  # keeps a Gaussian bump inside its bound, so that clipping never acts


def cosines(frequencies: int, places: Array) -> Array:
    """The first cosines, orthonormal between 0 and 1, one in each row."""
    waves = np.cos(math.pi * np.arange(frequencies)[:, None] * places)
    return np.where(np.arange(frequencies)[:, None] == 0, 1.0, math.sqrt(2) * waves)


@dataclass(frozen=True)
class Knots:
    """The knots of one column, scaled to [0, 1]. All of it public.

    Parameters
    ----------
    places : array
        Where they are.
    response : array
        What a bump leaves of each cosine, as many as are used.
    """

    places: Array
    response: Array

    @classmethod
    def spline(cls, bins: int, degree: int) -> Knots:
        """The middles of n equal cells, for splines of this degree."""
        response = np.sinc(np.arange(bins) / (2 * bins)) ** (degree + 1)
        return cls((np.arange(bins) + 0.5) / bins, response)

    @classmethod
    def process(cls, bandwidth: float) -> Knots:
        """The knots of a Gaussian process whose kernel has this bandwidth, where the box is from 0 to 1."""
        deviation, count = bandwidth / math.sqrt(2), process_size(bandwidth)
        frequencies = np.arange(math.ceil(HIGHEST / (math.pi * bandwidth)) + 1)
        response = np.exp(-0.5 * np.square(math.pi * deviation * frequencies))
        steps = np.asarray(np.arange(count) - 0.5 * (count - 1))
        return cls(0.5 + SPACING * deviation * steps, response)

    @property
    def size(self) -> int:
        return len(self.places)

    @property
    def waves(self) -> Array:
        """What the cosines are at the knots, over the response: they turn masses at knots into coefficients."""
        return cosines(len(self.response), self.places) / self.response[:, None]


def process_size(bandwidth: float) -> int:
    """The number of knots of a process in a column."""
    deviation = bandwidth / math.sqrt(2)
    return math.ceil((1 + 2 * BEYOND * deviation) / (SPACING * deviation)) + 1


@recipe("splines")
def splines_of(
    schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...], degree: int, counted: bool
) -> BoundedSum:
    """The mass at each knot, shared out by splines; a record with a missing value adds none.

    Where the records are counted, in public, those with a missing value are counted at one more place. That shows how
    many others there are, at no cost: whoever is counted there has no share elsewhere.
    """
    box, grid, size = Box.of(schema, schema.values(columns)), Grid.of_radius(MASS.radius), math.prod(bins)
    check_whole("splines", "degree", degree, 0, SMOOTHEST)
    check_one_of("splines", "number of bins", len(bins), (len(columns),))
    for one in bins:  # a bump is mirrored once: so it reaches no farther than to the other bound
        check_whole("splines", "bins", one, degree // 2 + 1, MOST_KNOTS)
    check_size("splines", size * (degree + 1) ** len(bins), MOST_KNOTS)

    def shares(records: Array) -> Iterator[tuple[Codes, Array]]:
        """The knots of one corner of each bump after another, and the shares in grid steps."""
        whole = np.clip(box.scaled(records), 0.0, 1.0)
        each = [_bump(whole[:, axis], count, degree) for axis, count in enumerate(bins)]
        for corner in product(range(degree + 1), repeat=len(bins)):
            places = np.stack([knots[:, place] for (knots, _), place in zip(each, corner, strict=True)], axis=1)
            mass = math.prod((parts[:, place] for (_, parts), place in zip(each, corner, strict=True)), start=INSIDE)
            yield codes_of(places, bins), grid.cut(np.asarray(mass))

    def of(records: Array) -> Array:
        there = ~np.isnan(records).any(axis=1)
        added, rows = np.zeros((len(records), size + counted)), np.flatnonzero(there)
        for codes, steps in shares(records[there]):
            added[rows, codes] += steps
        if counted:
            added[~there, size] = grid.cut(np.array(INSIDE))
        return grid.values(added)

    def total(records: Array) -> Array:
        there = ~np.isnan(records).any(axis=1)
        added = np.zeros(size + counted)
        for codes, steps in shares(records[there]):
            added[:size] += np.bincount(codes, steps, size)
        if counted:
            added[size] = (~there).sum() * grid.cut(np.array(INSIDE))
        return added

    return BoundedSum(of, MASS, columns, grid, total)


def _bump(values: Array, bins: int, degree: int) -> tuple[Codes, Array]:
    """The knots that each value has a share in, mirrored at the bounds, and its shares (de Boor 1972)."""
    place = values * bins - 0.5 * degree
    first = np.floor(place)
    up = (place - first)[:, None]
    parts = np.ones((len(values), 1))
    for order in range(1, degree + 1):
        k = np.arange(order + 1)
        left = np.pad(parts, ((0, 0), (1, 0)))
        right = np.pad(parts, ((0, 0), (0, 1)))
        parts = ((up + order - k) * left + (1 - up + k) * right) / order
    knots = first[:, None].astype(np.intp) + np.arange(degree + 1)
    knots = np.where(knots < 0, -1 - knots, knots)
    return np.where(knots >= bins, 2 * bins - 1 - knots, knots), parts


@recipe("kernel_process")
def process_of(schema: Schema, columns: tuple[str, ...], bandwidths: tuple[float, ...], counted: bool) -> BoundedSum:
    """The mass at each knot, shared out by Gaussian bumps; a record with a missing value adds none.

    The bump along each axis is cut to a grid, so that products are on a finer grid and a product of matrices in float64
    adds them without error. Where the records are counted, in public, those with a missing value are counted at one
    more place; see `splines_of`. Here their number is multiplied by the length of a bump.
    """
    box, length = Box.of(schema, schema.values(columns)), bump_length(len(bandwidths))
    check_one_of("process", "number of bandwidths", len(bandwidths), (len(columns),))
    check_whole("process", "number of columns", len(columns), 1, max(FINENESS))
    for one in bandwidths:
        check_positive("process", "bandwidth", one, 2.0**-20, 2.0**20)
    check_size("process", math.prod(map(process_size, bandwidths)), MOST_KNOTS)
    axis = Grid(-FINENESS[len(bandwidths)])
    grid, knots = Grid(axis.exponent * len(bandwidths)), [Knots.process(one).places for one in bandwidths]
    missed = grid.cut(np.array([length]))

    def bumps(records: Array) -> list[Array]:
        """The shares along each axis, in steps of its grid; none where a value is missing."""
        scaled = np.where(np.isnan(records).any(axis=1, keepdims=True), np.inf, np.clip(box.scaled(records), 0.0, 1.0))
        away = [(scaled[:, [i]] - knots[i]) * (math.sqrt(2) / bandwidth) for i, bandwidth in enumerate(bandwidths)]
        return [axis.cut(SPACING / math.sqrt(2 * math.pi) * np.exp(-0.5 * np.square(one))) for one in away]

    def of(records: Array) -> Array:
        added = reduce(_products, bumps(records))
        if counted:
            added = np.column_stack([added, missed * np.isnan(records).any(axis=1)])
        return grid.values(added)

    def total(records: Array) -> Array:
        added = np.zeros(math.prod(map(len, knots)))
        for start in range(0, len(records), SLICE):
            *others, last = bumps(records[start : start + SLICE])
            added += np.ravel(reduce(_products, others, np.ones((len(last), 1))).T @ last)
        missing = missed * np.isnan(records).any(axis=1).sum()
        return np.concatenate([added, missing]) if counted else added

    return BoundedSum(of, Bound("l2", length * MARGIN, nonnegative=True), columns, grid, total)


def _products(first: Array, second: Array) -> Array:
    """All products of a number of the one and a number of the other, row by row."""
    return (first[:, :, None] * second[:, None, :]).reshape(len(first), first.shape[1] * second.shape[1])


def bump_length(columns: int) -> float:
    """The l2 length of a Gaussian bump whose shares add up to one."""
    return math.prod([math.sqrt(SPACING / (2 * math.sqrt(math.pi)))] * columns)
