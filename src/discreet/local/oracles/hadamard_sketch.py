"""Hadamard count-mean sketch: one coefficient of a hash of the value by one of several public functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.local.miss_chance import miss_chance
from discreet.local.oracles.hadamard_response import hadamard, odd
from discreet.local.oracles.sketch import Sketch
from discreet.local.randomizer import Reports
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers


@dataclass(frozen=True)
class HadamardSketch(Sketch):
    """Report a random function and one random coefficient of the Hadamard transform of the cell of the value under it.

    The coefficient is a sign, flipped with some probability. A report is 4 bytes, whatever the domain is.

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
        """The mean of a sign."""
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
        """A function, a coefficient and its sign."""
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
        """Numbers of coefficients and signs."""
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
        """The transform back."""
        return hadamard(tally).astype(np.float64)
