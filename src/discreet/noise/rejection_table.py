"""Exact draws from a unimodal law on the integers, by a table of strips of equal area under its curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.noise.error_bars import assure
from discreet.noise.interval import Interval, Uniform, settled

assure("exp")
CHUNK = 1 << 15  # proposals at a time: what they need stays in the cache
BLOCK = 1 << 20  # draws at a time: bounds the memory
COMPANY = 512
ERROR = 2.0**-40
LIMIT = 1 << 62
STRIPS = 1 << 16
FINENESS = 5  # 32 to 64 cells to a scale


class IntegerLaw(Protocol):
    """A weight on the integers: that of k is the mean of exp(-exponent(k, u)) over uniform u in [0, 1).

    The exponent is at least 0, does not fall as k + u moves away from 0 on either side, and grows by 1 or more with
    each further `scale` beyond `reach(1)`. A law on one side has no weight below 0.
    """

    @property
    def scale(self) -> float: ...

    @property
    def sides(self) -> int: ...

    def __hash__(self) -> int: ...

    def exponent(self, k: Array, u: Array | float) -> Array:
        """The exponent in float64."""

    def exact_exponent(self, k: int, u: Interval) -> Interval:
        """The exponent, enclosed."""

    def reach(self, exponent: float) -> float:
        """The distance from 0 at which the exponent reaches this value."""


@dataclass(frozen=True)
class RejectionTable:
    """Rectangles of one area that cover the curve exp(-exponent), to draw from by rejection.

    The integers are cut into cells of 2**shift, `cells` of them on each side of 0, and each cell into levels of equal
    height, up to where the curve is surely below. A draw takes a strip, all being equally likely, and an integer of its
    cell. Where the strip lies wholly under the curve, that is all: nothing is computed, so nothing is rounded.
    Otherwise it takes u and a height in the strip and is kept if that point is under the curve; if not, it starts
    again. This is von Neumann's rejection (1951), so the law is exact, and the work does not depend on the integer that
    is kept.

    Beyond the cells, one strip on each side stands for the tail: blocks of 2**block integers are proposed with
    probabilities 1/2, 1/4, 1/8 ... and heights that halve in the same way, so that a unit of area is as likely there as
    anywhere. The curve starts below the first block, since the cells reach to where it is 1 / (16 * strips), and falls
    by more than half from block to block, since a block is as wide as the scale.

    Error bound of the test, for a curve and heights up to about 1: k + u is off by 2**-52 of itself and 2**-53, the
    exponent x by 8 * 2**-53 of itself and 2**-57, which moves exp(-x) by less than 2**-51; exp adds 4 units in the last
    place, 2**-50 at most; (level + v) * height carries three roundings, less than 2**-51; the bits of u and v that were
    not drawn yet stand for less than 2**-60. In all less than 2**-48, and `ERROR` is 256 times that. A point closer to
    the curve is settled in multi-precision, with further bits: one draw in 10**10. Which strips lie wholly under or
    above the curve is decided with the same margin.

    Parameters
    ----------
    base : array of int
        The first integer of each strip's cell: strips wholly under the curve first, then those to be tested, those
        above the curve, and the tails (below 0 first).
    level : array of float
        The level of each strip from number `sure` on.
    """

    law: IntegerLaw
    shift: int
    cells: int
    height: float
    base: Steps
    level: Array
    sure: int

    @classmethod
    def under(cls, law: IntegerLaw) -> RejectionTable:
        """The strips of a law, 2**16 of them."""
        shift = max(0, math.frexp(law.scale)[1] - 1 - FINENESS)
        cells = math.ceil(law.reach(math.log(16 * STRIPS)) / 2**shift)
        first = np.arange(-cells if law.sides == 2 else 0, cells) << shift
        start = first.astype(np.float64)
        ends = law.exponent(start, 0.0), law.exponent(start + (2.0**shift - 1), 1.0)
        floor, ceiling = np.exp(-np.maximum(*ends)) - ERROR, np.exp(-np.minimum(*ends)) + ERROR
        height = float(ceiling.sum()) / (STRIPS - len(first) - 2)
        under = np.maximum(np.floor(floor / height), 0.0).astype(int)
        tested = np.ceil(ceiling / height).astype(int) - under
        rest = STRIPS - under.sum() - tested.sum()
        levels = np.arange(tested.sum()) - np.repeat(np.cumsum(tested) - tested - under, tested)
        return cls(
            law,
            shift,
            cells,
            height,
            np.concatenate([np.repeat(first, under), np.repeat(first, tested), np.zeros(rest, np.int64)]),
            np.concatenate([levels, np.full(rest - law.sides, 2 / height), np.zeros(law.sides)]),
            int(under.sum()),
        )

    @property
    def block(self) -> int:
        """The width of the tail's blocks, as a power of two: at least the scale."""
        return max(0, math.frexp(self.law.scale)[1])

    def fill(self, bits: Bits, out: Steps) -> None:
        """Draw every entry of `out`: what is not kept is proposed again."""
        again = self._once(bits, out)
        while again.size:
            fresh = np.empty(again.size, np.int64)
            rejected = self._once(bits, fresh)
            out[again] = fresh
            again = again[rejected]

    def _once(self, bits: Bits, out: Steps) -> Steps:
        """Propose every entry of `out` once, and give the places of those that are not kept."""
        places, strips = [], []
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            words = bits.words(part.size)  # the lowest bits for a strip, the highest for an integer of its cell
            strip = words.view(np.int64) & (self.base.size - 1)
            np.take(self.base, strip, out=part, mode="clip")  # all are in range; the mode saves a copy
            if self.shift:
                np.right_shift(words, np.uint64(64 - self.shift), out=words)
                part += words.view(np.int64)
            doubtful = np.flatnonzero(strip >= self.sure)
            places.append(doubtful + start)
            strips.append(strip[doubtful])
        place = np.concatenate(places) if places else np.empty(0, np.int64)
        if not place.size:
            return place
        values = out[place]
        kept = self._kept(bits, np.concatenate(strips), values)
        out[place] = values
        return place[~kept]

    def _kept(self, bits: Bits, strip: Steps, k: Steps) -> NDArray[np.bool_]:
        """Which proposals lie under the curve; those in a tail get their integer first."""
        level, height = self.level[strip - self.sure], np.full(strip.size, self.height)
        for i in np.flatnonzero(strip >= self.base.size - self.law.sides):
            k[i], height[i] = self._tail(bits, below=bool(strip[i] == self.base.size - 2))
        v, u = words = bits.words(2 * strip.size).reshape(2, -1)
        height_in_strip, along = words.astype(np.float64) * 2.0**-64
        top = (level + height_in_strip) * height
        curve = np.exp(-self.law.exponent(k.astype(np.float64), along))
        kept = top < curve
        close = np.flatnonzero(np.abs(top - curve) <= ERROR)
        for i, v_i, u_i in zip(close, v[close].tolist(), u[close].tolist(), strict=True):
            kept[i] = self._under(int(k[i]), level[i], height[i], Uniform(bits, v_i), Uniform(bits, u_i))
        return kept

    def _tail(self, bits: Bits, below: bool) -> tuple[int, float]:
        """An integer beyond the cells, and the height of its block."""
        block = 0
        while not (word := bits.integer(64)):
            block += 64
        block += 64 - word.bit_length()
        k = min((self.cells << self.shift) + (block << self.block) + bits.integer(self.block), LIMIT)
        return ~k if below else k, math.ldexp(self.height, self.shift - 1 - self.block - block)

    def _under(self, k: int, level: float, height: float, v: Uniform, u: Uniform) -> bool:
        """Whether the point at (level + v) * height is under the curve, in multi-precision."""

        def attempt() -> bool | None:
            top = (Interval.of(level) + v.interval()) * height
            curve = (-self.law.exact_exponent(k, u.interval())).exp()
            return True if top.hi <= curve.lo else False if top.lo >= curve.hi else None

        return settled(attempt, [v, u])


@lru_cache(maxsize=16)
def table_of(law: IntegerLaw) -> RejectionTable:
    """The table of a law, kept for the next draw of the same scale."""
    return RejectionTable.under(law)


def drawn(bits: Bits, law: IntegerLaw, shape: tuple[int, ...]) -> Steps:
    """Independent draws of a law.

    A draw of 2**62 steps or more is put at 2**62: at the largest scale its probability is below exp(-500).

    Large draws are tested against the curve more often than small ones, and a test takes time; so at least `COMPANY`
    draws are made, among which some are always tested, and how long a single one took shows nothing of its size
    (Jin et al. 2022).
    """
    size = math.prod(shape)
    out = np.empty(max(size, COMPANY), np.int64)
    table = table_of(law)
    for start in range(0, out.size, BLOCK):
        table.fill(bits, out[start : start + BLOCK])
    return out[:size].reshape(shape)


def refinement(scale: float) -> int:
    """How many times the grid is halved to draw a real that is then rounded: once, or until 32 steps make a scale."""
    return max(1, 6 - math.frexp(scale)[1])


def nearest(finer: Steps, refinement: int) -> Steps:
    """The integers nearest to reals of which 2**refinement times the real, rounded down, is given; in place.

    floor(x + 1/2) = floor((floor(2**r x) + 2**(r - 1)) / 2**r) for every real x and r >= 1.
    """
    finer += 1 << (refinement - 1)
    finer >>= refinement
    return finer
