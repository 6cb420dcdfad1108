"""The Johnson-Lindenstrauss mechanism: random projections of a table, from which its covariance can be estimated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

import numpy as np

from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, DiscreteLoss, LossTable
from discreet.core.grid import Array, Grid, Steps
from discreet.core.loss_cells import ROUNDING, LossCells, masses
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.noise.gaussian import rounded_gaussian

FARTHEST = 16.0  # standard deviations: where weights are cut, with a probability of 1e-57 each
BATCH_BITS, EXACT_BITS = 12, 52  # rows at a time, and the bits of sums that float64 holds
BLOCK = 2**20  # weights at a time
CELLS = 20  # bits between the radius and the grid of the rows
WEIGHT = 31  # bits of a weight's fraction, less what the noise needs
LENT = 2.0**-15  # the share of the regularisation that pays for the rounding of weights and rows
SIGMAS = 13.0  # of the loss by rounding: beyond lies 1e-38
BEYOND = 2.0**-80  # the probability that is written off
TAIL = 11.0  # standard deviations of a length, beyond which lies 1e-26
HIGHEST = 100.0  # greater losses count as infinite; those below -100 have a probability of exp(-100)
WIDEST = 30.0  # a logarithm of variances: greater growth is almost certain to be detected


@dataclass(frozen=True)
class GaussianWeights:
    """Standard normal weights in steps of 2**-fine, multiplied in parts so short that sums of float64 are exact.

    Parameters
    ----------
    fine : int
        Public. Bits of a weight's fraction.
    cells : int
        Public. Bits of the largest number of a row, which is whole.

    Examples
    --------
    >>> GaussianWeights(fine=31, cells=20).parts(np.array([2**21 - 1]))
    [array([-1]), array([2])]
    """

    fine: int
    cells: int

    @property
    def width(self) -> int:
        """Bits of a part of a weight."""
        return EXACT_BITS - BATCH_BITS - self.cells

    @property
    def count(self) -> int:
        """How many parts a weight has."""
        return math.ceil((self.fine + math.log2(FARTHEST) + 1) / self.width)

    def parts(self, weights: Steps) -> list[Steps]:
        """Digits of weights, the lowest first, from -2**(width - 1) to 2**(width - 1)."""
        most = int(math.ldexp(FARTHEST, self.fine))
        rest, found, half = np.clip(weights, -most, most), [], 1 << (self.width - 1)
        for _ in range(self.count - 1):
            found.append(((rest + half) & (2 * half - 1)) - half)
            rest = (rest - found[-1]) >> self.width
        return [*found, rest]

    def sums(self, rows: Array, count: int, bits: Bits) -> list[Steps]:
        """So many sums of all rows with fresh weights, in parts: each has room for 2**23 rows and more."""
        totals = [np.zeros((count, rows.shape[1]), dtype=np.int64) for _ in range(self.count)]
        batch = 1 << BATCH_BITS
        block = BLOCK // max(1, min(len(rows), batch))
        for start in range(0, count, block):
            part = slice(start, min(start + block, count))
            for first in range(0, max(len(rows), 1), batch):  # the same steps for no row as for one
                some = rows[first : first + batch]
                weights = rounded_gaussian(bits, (part.stop - start, len(some)), math.ldexp(1.0, self.fine))
                for total, digits in zip(totals, self.parts(weights), strict=True):
                    total[part] += (digits @ some).astype(np.int64)
        return totals

    def rounded(self, totals: list[Steps], fewer: int) -> Steps:
        """The integers nearest to such sums over 2**fewer, where `fewer` is from 1 to `fine`."""
        place, bit = divmod(fewer - 1, self.width)
        digits = [total + (1 << bit if here == place else 0) for here, total in enumerate(totals)]
        for lower, upper in pairwise(range(len(digits))):
            digits[upper] = digits[upper] + (digits[lower] >> self.width)
            digits[lower] = digits[lower] & ((1 << self.width) - 1)
        skipped, shift = divmod(fewer, self.width)
        found = digits[-1]
        for lower in reversed(range(skipped, len(digits) - 1)):
            found = (found << self.width) + digits[lower]
        return found >> shift


@dataclass(frozen=True)
class JohnsonLindenstrauss(CheckedParameters):
    """Release sums of all rows with random Gaussian weights and Gaussian noise, `projections` of them.

    Each is a vector of law N(0, S + w I), where S is the sum of the rows' outer products and w the regularisation,
    `multiplier` times the squared radius. So the mean of their own outer products, less w I, estimates S: `estimated`
    does that, with an error of about (v + w) sqrt(2 / projections) in a direction where S is v.

    Rows are shortened to the radius and cut to a grid; one with a missing value counts as zero. Weights and rows are
    whole numbers of small steps, and their products are added without rounding.

    Parameters
    ----------
    multiplier : float
        Public. The regularisation in units of the squared radius.
    projections : int
        Public. How many vectors are released.
    radius : float
        Public. The greatest l2 length of a row.
    rows : int
        Public. The most rows of one unit that the price is for.
    neighbors : Neighbors
        Public. The relation that the price is for.

    Guarantee
    ---------
    The tabulated loss, in both directions, of a row of full length where there are no others: exact, except for the
    cells of the table and the rounding of weights, both counted. The sum of both for replace neighbors, where one row
    goes and another comes. The mechanism is that of Blocki, Blum, Datta and Sheffet 2012, with the exact loss in place
    of their bound (`johnson_lindenstrauss.md`).

    Examples
    --------
    >>> JohnsonLindenstrauss(multiplier=168.0, projections=2952, radius=1.0).regularization
    168.0
    """

    multiplier: float = 1.0
    projections: int = 4
    radius: float = 2.0**20
    rows: int = 1
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    calibrated: ClassVar[str] = "multiplier"

    def __post_init__(self) -> None:
        check_positive("JohnsonLindenstrauss", "multiplier", self.multiplier)
        for name, value in (("projections", self.projections), ("rows", self.rows)):
            check_whole("JohnsonLindenstrauss", name, value)
        Grid.of_radius(Bound("l2", self.radius).radius)

    @property
    def regularization(self) -> float:
        """What is added to the covariance, in every direction."""
        return self.multiplier * self.radius**2

    @property
    def event(self) -> DiscreteLoss | ApproximateLoss:
        """The price of one release; no promise at all where there is next to no noise."""
        growth = self.rows * math.log1p((1 + LENT) / self.multiplier)
        if growth > WIDEST:
            return ApproximateLoss(0.0, 1.0)
        moved = self.rows * math.sqrt(self.projections / self.multiplier) * math.ldexp(1.0, 7 - self.fineness)
        one = loss_of(int(self.projections), growth, moved * (SIGMAS + moved / 2))
        if one.remove.infinity > 1 - ROUNDING:
            return ApproximateLoss(0.0, 1.0)
        return one if self.neighbors is Neighbors.ADD_REMOVE else exchanged(one)

    def release(self, records: Records, bits: Bits) -> Array:
        """The projections, one in each row, on the grid that the rows were cut to."""
        self._check(records)
        grid, fine = self._grid, self.fineness
        table = grid.cut(Bound("l2", self.radius).clip(records.values))
        shape = (*records.copies, int(self.projections), table.shape[1])
        stddev = math.ldexp(math.sqrt(self.multiplier) * self.radius * (1 + 2.0**-50), fine - grid.exponent)
        weights, count = GaussianWeights(fine, CELLS), math.prod(shape[:-1])
        totals = weights.sums(table, count, bits)
        totals[0] += rounded_gaussian(bits, (count, shape[-1]), stddev)
        return grid.values(weights.rounded(totals, fine)).reshape(shape)

    def estimated(self, release: Array) -> Array:
        """The sum of the rows' outer products, estimated without bias: post-processing.

        Examples
        --------
        >>> JohnsonLindenstrauss(multiplier=1.0, radius=1.0).estimated(np.array([[2.0, 0.0], [0.0, 2.0]]))
        array([[1., 0.],
               [0., 1.]])
        """
        release = np.asarray(release, dtype=np.float64)
        products = np.swapaxes(release, -1, -2) @ release / release.shape[-2]
        return products - self.regularization * np.eye(release.shape[-1])

    def worst_neighbors(self) -> NeighborPair:
        """No rows at all, and one unit's."""
        least = {Neighbors.ADD_REMOVE: np.zeros((0, 2)), Neighbors.REPLACE: np.tile([0.0, self.radius], (self.rows, 1))}
        first, second = least[self.neighbors], np.tile([self.radius, 0.0], (self.rows, 1))
        return NeighborPair(*(Records(values, int(self.rows), self.neighbors) for values in (first, second)))

    @property
    def _grid(self) -> Grid:
        return Grid(math.frexp(self.radius)[1] - CELLS)

    @property
    def fineness(self) -> int:
        """Bits of a weight's fraction: the noise is then at most 2**51 steps."""
        return WEIGHT - max(0, math.ceil(math.log2(self.multiplier) / 2))

    def _check(self, records: Records) -> None:
        if records.rows > self.rows or records.neighbors is not self.neighbors:
            raise ParameterError(
                "JohnsonLindenstrauss",
                f"the price is for units of {self.rows} rows and {self.neighbors.value} neighbors, the records have"
                f" units of {records.rows} and {records.neighbors.value} neighbors",
                "Set rows and neighbors to those of the data set.",
                "Nothing was released.",
            )


@lru_cache(maxsize=256)
def loss_of(projections: int, growth: float, more: float = 0.0) -> DiscreteLoss:
    """The loss between lengths of a Gaussian vector of n `projections`, and exp(growth / 2) times such lengths.

    At length y it is k y^2 / 2 - projections * growth / 2, with k = 1 - exp(-growth), and `more` on top, either way.
    """
    return _Lengths(projections, growth, more).loss


def exchanged(event: DiscreteLoss) -> DiscreteLoss:
    """The loss of a unit that goes while another comes: the sum of both, which is the same in both directions."""
    go, come = event.remove, event.add
    masses = np.convolve(go.probabilities, come.probabilities) * (1 + 2.0**-40)
    infinity = go.infinity + come.infinity - go.infinity * come.infinity
    table = LossTable(go.first + come.first, tuple(masses.tolist()), infinity)
    return DiscreteLoss(event.step, table, table)


@dataclass(frozen=True)
class _Lengths:
    """Two laws of a length, one exp(growth / 2) times as wide as the other."""

    projections: int
    growth: float
    more: float

    @property
    def ends(self) -> Array:
        """Outside lies less than `BEYOND` of either law: a length varies as a standard Gaussian variable at most."""
        least, size = math.sqrt(self.projections - 0.5) - TAIL, math.sqrt(self.projections)
        return np.array([max(0.0, least), math.exp(self.growth / 2) * (size + TAIL)])

    def excess(self, lengths: Array) -> Array:
        """The loss of the wider law against the narrower one."""
        return (-math.expm1(-self.growth) * np.square(lengths) - self.projections * self.growth) / 2

    def lengths(self, excess: Array) -> Array:
        """Where that loss is so great; 0 where it never is."""
        return np.sqrt(np.maximum(2 * excess + self.projections * self.growth, 0.0) / -math.expm1(-self.growth))

    @property
    def loss(self) -> DiscreteLoss:
        """Both directions, with cells of a 32nd of the standard deviation, or 4096 of them."""
        deviation = -math.expm1(-self.growth) * math.sqrt(self.projections / 2)
        span = np.clip(self.excess(self.ends), -HIGHEST, HIGHEST)
        step = max(deviation / 32, float(span[1] - span[0]) / 2**12)
        return DiscreteLoss(step, self.table(step, 1), self.table(step, -1))

    def table(self, step: float, sign: int) -> LossTable:
        """The loss of the wider law against the narrower one, or, for the sign -1, the other way."""
        low, high = np.clip(sorted(sign * self.excess(self.ends) + self.more), -HIGHEST, HIGHEST)
        first, last = math.floor(low / step), math.ceil(high / step)
        lengths = self.lengths(sign * (step * np.arange(first, last + 1) - self.more))
        own, other = (self.growth, 0.0) if sign > 0 else (0.0, self.growth)
        p, q = (self.masses(lengths[::sign], growth)[::sign] for growth in (own, other))
        rest = np.array([lengths[-1], self.ends[1]] if sign > 0 else [self.ends[0], lengths[-1]])
        beyond = float(self.masses(rest, own)[0]) * (1 + ROUNDING) + BEYOND if rest[0] < rest[1] else BEYOND
        return LossCells(step, first, p, q * math.exp(-self.more), min(beyond, 1.0)).table

    def masses(self, edges: Array, growth: float) -> Array:
        """Those of a Gaussian vector's length, of density y^(n-1) exp(-y^2 / 2), times exp(growth / 2)."""
        width, mode, power = math.exp(growth / 2), math.sqrt(self.projections), self.projections - 1

        def log_density(lengths: Array) -> Array:
            away = np.maximum(lengths / width, 1e-300) - mode
            return power * np.log1p(np.maximum(away / mode, 1e-300 - 1)) - away * (away / 2 + mode)

        between = width * np.arange(0.0, mode + TAIL + 1, 0.125)
        return masses(log_density, edges, between) / masses(log_density, self.ends, between)
