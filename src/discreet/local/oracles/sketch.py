"""What count-mean sketches share: public hash functions, and the errors of collisions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.oracle import Oracle
from discreet.local.oracles.multiply_shift import hashed, public_functions


@dataclass(frozen=True)
class Sketch(Oracle):
    """An oracle that hashes values to a few cells by one of several public functions, which the device draws.

    Estimates are unbiased over the choice of the functions. Given these, values that fall in the same cells are
    mistaken for one another: that is part of the variance, and does not vanish with the number of people.
    """

    functions: int = 256
    cells: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        check_whole(name, "functions", self.functions, least=1, most=2**15)
        check_whole(name, "cells", self.cells, least=8, most=2**15)
        check_whole(name, "seed", self.seed, least=0, most=2**63)
        if self.cells & (self.cells - 1):
            raise ParameterError(name, f"cells is {self.cells}", "Give a power of two.", parameter="cells")

    @cached_property
    def hashes(self) -> Steps:
        """The cell of each value under each function, of shape (functions, d)."""
        factor, shift = public_functions(self.seed, self.functions)
        return hashed(factor[:, None], shift[:, None], np.arange(self.size), self.cells)

    def own_cells(self, function: Steps, places: Steps) -> Steps:
        """The cell of each value under one function each: all that a device needs, however long the protocol is."""
        factor, shift = public_functions(self.seed, self.functions)
        return hashed(factor[function], shift[function], places, self.cells)

    @property
    @abstractmethod
    def contrast(self) -> float:
        """How much a report adds to the own cell, in expectation, more than to another."""

    @abstractmethod
    def cell_sums(self, tally: Steps, n: int) -> Array:
        """What all reports add to each cell, of shape (functions, cells), less what they add to cells of nobody."""

    @property
    @abstractmethod
    def spread(self) -> Array:
        """The variance of what a report adds to the own cell, and to another."""

    def frequencies(self, tally: Steps, n: int) -> Array:
        """Unbiased over the choice of hash functions."""
        sums = np.take_along_axis(self.cell_sums(tally, n), self.hashes, axis=1).sum(axis=0)
        return (sums / (n * self.contrast) - 1 / self.cells) * self.cells / (self.cells - 1)

    def variances(self, shares: Array, n: int) -> Array:
        """Those of the reports, and those of the collisions, over the choice of hash functions."""
        return self._variances(shares, float(np.square(shares).sum()), n)

    def estimated_variances(self, tally: Steps, n: int, found: Array) -> Array:
        """With the sum of squares of the shares, which decides about collisions, estimated without bias.

        The squares of the estimates add up to more, by their variances, which have the sum of squares in them again.
        """
        shares = np.clip(found, 0.0, 1.0)
        more = float(np.square(found).sum() - self._variances(shares, 0.0, n).sum())
        squares = more / (1 + (self.size - 1) / (self.functions * (self.cells - 1)))
        return self._variances(shares, min(max(squares, 0.0), 1.0), n)

    def _variances(self, shares: Array, squares: float, n: int) -> Array:
        own, other = self.spread
        met = self.contrast**2 * (1 - 1 / self.cells) / self.cells  # of being in the cell or not
        reports = (shares * own + (1 - shares) * (other + met)) * (self.cells / (self.cells - 1) / self.contrast) ** 2
        return reports / n + (squares - np.square(shares)).clip(0.0) / (self.functions * (self.cells - 1))
