"""Count-mean sketch: a hash of the value by one of several public functions, in unary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.local.miss_chance import miss_chance
from discreet.local.oracles.packed_bits import bit_counts, bits_at, set_bits
from discreet.local.oracles.sketch import Sketch
from discreet.local.randomizer import Reports, grouped_misfit, refused
from discreet.noise.bernoulli import bernoulli, packed_coins
from discreet.noise.uniform import uniform_integers


@dataclass(frozen=True)
class CountMeanSketch(Sketch):
    """Report a random function and, in unary, the cell of the value under it, every bit flipped with some probability.

    A report is 2 bytes and a bit for each cell, whatever the domain is.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    domain : int or tuple of str
        Public. The values: a number d for the integers from 0 to d - 1, or labels. At least two.
    functions : int
        Public. How many hash functions there are.
    cells : int
        Public. How many cells each has: a power of two.
    seed : int
        Public. Determines the functions (`public_functions`).

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
        """The difference of two coins."""
        return 1 - 2 * self.flip

    @property
    def spread(self) -> Array:
        """The variance of a coin."""
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
