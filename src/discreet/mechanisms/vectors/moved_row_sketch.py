"""Random projections of rows of any length, which hide that one of them moved a little."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import AnyAnswer, MovableRows, NeighborPair
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import ApproximateLoss, DiscreteLoss
from discreet.core.grid import Array, Grid
from discreet.core.loss_cells import ROUNDING
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.vectors.johnson_lindenstrauss import SIGMAS, WIDEST, GaussianWeights, exchanged, loss_of
from discreet.noise.gaussian import rounded_gaussian

LONGEST = 2.0**10  # reaches: longer rows are shrunk, which moves no row by more than it had moved
CELLS = 30  # bits of the longest row: a reach is 2**19 steps or more
WEIGHTS = GaussianWeights(fine=36, cells=CELLS)
BELOW = 12  # bits below the grid of the rows, on which noise is added
MOST_COLUMNS, MOST_ROWS = 2**12, 2**24
# What V = 1 / multiplier is raised by, for the rounding of rows and the noise that hides that of weights.
LENT = 2.0**-11


@dataclass(frozen=True)
class MovedRowSketch(CheckedParameters):
    """Release sums of all rows with random Gaussian weights and Gaussian noise, `projections` of them.

    Each row a becomes (c, a) with a constant c, and each sum is a vector of law N(0, S + w I), where S is the sum of
    these rows' outer products and w the regularisation, `multiplier` times the squared reach.

    Parameters
    ----------
    multiplier : float
        Public. The regularisation in units of the squared reach.
    projections : int
        Public. How many vectors are released.
    reach : float
        Public. How far one row may move: all that is hidden.

    Guarantee
    ---------
    For data sets that differ in one row, by a vector no longer than the reach: the tabulated loss of a long row that
    moves across its direction. It says nothing about a row that is added, removed or replaced, so it is not for
    `PrivateData`: a `MovingTable` has accounts of its own for it. The relation is that of Blocki, Blum, Datta and
    Sheffet 2012, with the exact loss in place of their bound (`johnson_lindenstrauss.md`).

    Examples
    --------
    >>> MovedRowSketch(multiplier=53_000.0, projections=2952, reach=0.5).regularization
    13250.0
    """

    multiplier: float = 16.0
    projections: int = 4
    reach: float = 2.0**20
    calibrated: ClassVar[str] = "multiplier"

    def __post_init__(self) -> None:
        check_positive("MovedRowSketch", "multiplier", self.multiplier, most=2.0**38)
        check_whole("MovedRowSketch", "projections", self.projections)
        Bound("l2", self.reach)
        self._grid  # noqa: B018  # refuses a reach that no grid is for

    @property
    def regularization(self) -> float:
        """What is added to the outer products, in every direction."""
        return self.multiplier * self.reach**2

    @property
    def constant(self) -> float:
        """The first coordinate of every row; also the length that a row is shrunk to."""
        return float(self._grid.values(self._grid.cut(np.array(LONGEST * self.reach))))

    @property
    def event(self) -> DiscreteLoss | ApproximateLoss:
        """The price of one release, for rows that move; no promise at all where there is next to no noise."""
        growth = 2 * math.asinh(math.sqrt((1 + LENT) / self.multiplier) / 2)
        moved = math.sqrt(self.projections / self.multiplier) * 2.0**-16
        if growth > WIDEST:
            return ApproximateLoss(0.0, 1.0)
        one = loss_of(int(self.projections), growth, moved * (SIGMAS + moved / 2))
        return ApproximateLoss(0.0, 1.0) if one.remove.infinity > 1 - ROUNDING else exchanged(one)

    def release(self, rows: AnyAnswer, bits: Bits) -> Array:
        """The projections, one in each row, on the grid that the rows were cut to."""
        if not isinstance(rows, MovableRows) or rows.reach > self.reach:
            remedy = "Ask a MovingTable of this reach; for records that come and go there is JohnsonLindenstrauss."
            raise NotPermitted("MovedRowSketch", f"it hides a move by {self.reach:g} of one row alone", remedy)
        if len(rows.values) > MOST_ROWS or rows.values.shape[1] > MOST_COLUMNS:
            obstacle, remedy = f"the table is {rows.values.shape}", f"Give at most {MOST_ROWS} times {MOST_COLUMNS}."
            raise ParameterError("MovedRowSketch", obstacle, remedy, "Nothing was released.")
        grid = self._grid
        steps = grid.cut(Bound("l2", self.constant).clip(rows.values))
        table = np.column_stack([np.full(len(steps), grid.cut(np.array(self.constant))), steps])
        shape = (*rows.copies, int(self.projections), table.shape[1])
        count = math.prod(shape[:-1])
        total = WEIGHTS.rounded(WEIGHTS.sums(table, count, bits), WEIGHTS.fine - BELOW)
        stddev = math.ldexp(math.sqrt(self.multiplier) * self.reach * (1 + 2.0**-50), BELOW - grid.exponent)
        total += rounded_gaussian(bits, (count, shape[-1]), stddev)
        return grid.values((total + (1 << (BELOW - 1))) >> BELOW).reshape(shape)

    def worst_neighbors(self) -> NeighborPair:
        """A row, and the same row moved as far as it may: the constant makes it long."""
        first, second = np.array([[0.0]]), np.array([[self.reach]])
        return NeighborPair(*(MovableRows(values, self.reach) for values in (first, second)))

    @property
    def _grid(self) -> Grid:
        return Grid(math.frexp(LONGEST * self.reach)[1] - CELLS)
