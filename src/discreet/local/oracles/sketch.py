"""Sketches of large domains: count-mean and Hadamard."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.miss_chance import miss_chance
from discreet.local.oracle import Oracle
from discreet.local.oracles.hadamard_response import hadamard, odd
from discreet.local.oracles.local_hashing import hashed, public_functions
from discreet.local.oracles.unary_encoding import bit_counts, bits_at, set_bits
from discreet.local.randomizer import Reports, grouped_misfit, refused
from discreet.noise.bernoulli import bernoulli, packed_coins
from discreet.noise.uniform import uniform_integers


@dataclass(frozen=True)
class Sketch(Oracle):
    """An oracle that hashes values to a few cells by one of several public functions, which the device draws.

    Estimates are unbiased over the choice of the functions. Given these, values that fall in the same cells are
    mistaken for one another: that is part of the variance, and does not vanish with the number of people.

    Parameters
    ----------
    functions : int
        Public. How many hash functions there are.
    cells : int
        Public. How many cells each has: a power of two.
    seed : int
        Public. Determines the functions (`public_functions`).
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
        sums = np.take_along_axis(self.cell_sums(tally, n), self.hashes, axis=1).sum(axis=0)
        return (sums / (n * self.contrast) - 1 / self.cells) * self.cells / (self.cells - 1)

    def variances(self, shares: Array, n: int) -> Array:
        """The variances of the reports and of the collisions, over the choice of hash functions."""
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


@dataclass(frozen=True)
class CountMeanSketch(Sketch):
    """Report a random function and, in unary, the cell of the value under it, every bit flipped with some probability.

    A report is 2 bytes and a bit for each cell, whatever the domain is.

    Guarantee
    ---------
    Pure, epsilon, where one value is replaced by any other: the function does not depend on the value, and given it two
    bits change, each at most exp(epsilon / 2) times as likely kept as flipped. The probability of a flip is rounded up
    and tossed exactly (`miss_chance`). Differential Privacy Team, Apple 2017, count-mean sketch.

    Examples
    --------
    >>> CountMeanSketch(epsilon=2.0, domain=10_000).form.itemsize
    34
    """

    kind: ClassVar[str] = "cms"

    @cached_property
    def flip(self) -> float:
        """The probability that a bit is flipped."""
        return miss_chance(self.epsilon / 2)

    @property
    def contrast(self) -> float:
        return 1 - 2 * self.flip

    @property
    def spread(self) -> Array:
        return np.full(2, self.flip * (1 - self.flip))

    @cached_property
    def form(self) -> np.dtype[Any]:
        """The function in two bytes, the lower one first, and the bits, as in a unary encoding."""
        return np.dtype((np.uint8, (2 + self.cells // 8,)))

    def reports(self, values: Any, bits: Bits) -> Reports:
        """A function, and the bits of a cell under it."""
        places = self.places(values)
        function = uniform_integers(bits, len(places), self.functions)
        packed = packed_coins(bits, len(places), self.cells, self.flip)
        set_bits(packed, self.own_cells(function, places), ~bernoulli(bits, len(places), self.flip))
        return np.hstack([function.astype("<u2").view(np.uint8).reshape(-1, 2), packed])

    def supports(self, reports: Reports, place: int) -> NDArray[np.bool_]:
        """Whether the bit of the cell of the value is set."""
        return bits_at(reports[:, 2:], self.hashes[self._functions(reports), place])

    def accepted(self, reports: Reports) -> Reports:
        """Rows of bytes, with a function that exists."""
        if reports.dtype != np.uint8 or reports.shape[1:] != self.form.shape:
            raise refused(self, f"they have the type {reports.dtype} and the shape {reports.shape}")
        if len(reports) and self._functions(reports).max() >= self.functions:
            raise refused(self, f"one is of a hash function above {self.functions - 1}")
        return reports

    def tallied(self, reports: Reports) -> Steps:
        """How many reports are of each function, and how many of these have each bit."""
        function = self._functions(reports)
        order = np.argsort(function, kind="stable")
        counts = np.bincount(function, minlength=self.functions)
        parts = np.split(reports[order, 2:], np.cumsum(counts)[:-1])
        return np.column_stack([counts, np.stack([bit_counts(part, self.cells) for part in parts])])

    def tally_misfit(self, tally: Steps, n: int) -> str:
        """Each report is of one function, and has each bit at most once."""
        return grouped_misfit(tally, n)

    def cell_sums(self, tally: Steps, n: int) -> Array:
        """The bits, less those that are expected where nobody has the cell."""
        return tally[:, 1:] - self.flip * tally[:, :1]

    @staticmethod
    def _functions(reports: Reports) -> Steps:
        return reports[:, 0] + reports[:, 1].astype(np.int64) * 256


@dataclass(frozen=True)
class HadamardSketch(Sketch):
    """Report a random function and one random coefficient of the Hadamard transform of the cell of the value under it.

    The coefficient is a sign, flipped with some probability. A report is 4 bytes, whatever the domain is.

    Guarantee
    ---------
    Pure, epsilon, where one value is replaced by any other: function and coefficient do not depend on the value, and
    the sign is at most exp(epsilon) times as likely kept as flipped. The probability of a flip is rounded up and tossed
    exactly (`miss_chance`). Differential Privacy Team, Apple 2017, Hadamard count-mean sketch.

    Examples
    --------
    >>> HadamardSketch(epsilon=2.0, domain=10_000).form.itemsize
    4
    """

    kind: ClassVar[str] = "hcms"

    @cached_property
    def flip(self) -> float:
        """The probability that the sign is flipped."""
        return miss_chance(self.epsilon)

    @property
    def contrast(self) -> float:
        return 1 - 2 * self.flip

    @property
    def spread(self) -> Array:
        """The variances of signs, the latter of mean 0."""
        return np.array([1 - self.contrast**2, 1.0])

    @cached_property
    def form(self) -> np.dtype[Any]:
        """The number 2 (cells * function + coefficient) + sign, where a sign of 1 is a minus."""
        return np.dtype("<u4")

    def reports(self, values: Any, bits: Bits) -> Reports:
        places = self.places(values)
        place = uniform_integers(bits, len(places), self.functions * self.cells)
        function, coefficient = place // self.cells, place % self.cells
        minus = odd(self.own_cells(function, places) & coefficient) ^ bernoulli(bits, len(places), self.flip)
        return (2 * place + minus).astype(self.form)

    def supports(self, reports: Reports, place: int) -> NDArray[np.bool_]:
        """Whether the sign is that of the value."""
        at, minus = np.divmod(reports.astype(np.int64), 2)
        return odd(self.hashes[at // self.cells, place] & at % self.cells) == minus

    def accepted(self, reports: Reports) -> Reports:
        return self._whole_below(reports, 2 * self.functions * self.cells)

    def tallied(self, reports: Reports) -> Steps:
        """Plus signs less minus signs, for each coefficient of each function."""
        counts = np.bincount(reports, minlength=2 * self.functions * self.cells).reshape(self.functions, self.cells, 2)
        return counts[..., 0] - counts[..., 1]

    def tally_misfit(self, tally: Steps, n: int) -> str:
        """Each report is one sign; a plus and a minus of a coefficient take each other away."""
        near = ((tally >= -n) & (tally <= n)).all() and np.abs(tally).sum() <= n and (n - tally.sum()) % 2 == 0
        return "" if near else f"it is not of {n} signs"

    def cell_sums(self, tally: Steps, n: int) -> Array:
        return hadamard(tally).astype(np.float64)
