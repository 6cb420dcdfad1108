"""How gradients are added up, and what rounding may do to their sums: the proof is in `rounding.md`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from discreet.deep.forms.precision import cut_off, on_processor, unit

MARGIN = 2.0**-6
"""Of the clip: what rounding inside blocks may add to it, where a processor adds them up."""
SLACK = 2.0**-10
"""Of the clip: for what is rounded once or twice, as weights are, and for what is read as zero."""
SAMPLES, TERMS = 256, 256
"""How many samples of one place, and how many products of samples of several places, a processor adds in float32."""
SQUARE = 1024  # samples * terms of a block, about: so small that places may cancel to a sixtieth
CANCELLING = 64.0
"""By how much a device may let the products of a sample be longer than what is left of them."""
ROWS, MOST = 64, 512  # rows that a kernel multiplies at a time, and that are a block at most
WITHIN, BETWEEN = 5 * 2.0**-7, 2.0**-8
"""Of the clip: what rounding inside the blocks of a kernel, and where it adds them up, may add to it on a GPU."""
OWN = 2.0**-7  # the same for a sample by itself, where it is a block and may cancel less than others
TERM = 1.5 * 2.0**-23  # what a matrix instruction may be off by for each of its terms, relative to its sums


@dataclass(frozen=True)
class Rounding:
    """How gradients are added up, and what that may do to a sum.

    Parameters
    ----------
    samples, places : int
        Public. Of how many samples, and of how many places of each, float32 holds the sum.
    cancelling : float
        Public. What a sample multiplies may be so many times longer than its gradient: beyond, it counts as longer.
    share : float
        Public. How much rounding may add to what a sample moves a sum by, in units of the clip.
    blocks : int
        Public. How many such sums float32 may add up.
    """

    samples: int
    places: int
    cancelling: float
    share: float
    blocks: int


def rounding_of(values: Tensor, places: int) -> Rounding:
    """Of sums over samples with so many places each; in which kind of numbers, and where, these tell.

    Two blocks at most differ between neighbors, and each is off by at most terms * unit * samples * cancelling.
    """
    samples, at = (SAMPLES, min(places, TERMS)) if on_processor(values) else (SAMPLES // 2, min(places, TERMS // 4))
    if places > 1:
        samples = max(1, min(math.isqrt(SQUARE // places), TERMS // places))
    cancelling = MARGIN / (4 * unit(values) * samples * at * samples)
    blocks = max(1, added_blocks(samples, cancelling if places > at else 0.0, SLACK / 2))
    return Rounding(samples, at, cancelling, MARGIN + cancelling * 2 * cut_off(values), blocks)


def added_blocks(each: float, part: float, share: float) -> int:
    """How many blocks float32 may add up, if that may move the sum by a share of the clip.

    Each addition is off by 2^-24 of the sum, and four such sums differ between neighbors.

    Parameters
    ----------
    each, part : float
        Public. How many samples a block has, and how many times its clip a sample that is not whole yet may be long.
    share : float
        Public. Of the clip.
    """
    return int((math.sqrt(part**2 + each * share * 2.0**24) - part) / (2 * each))


def lengthened(squares: Tensor, bulk: Tensor, guard: float, cut: float) -> Tensor:
    """Squared lengths that are not too small, from those that were found.

    Parameters
    ----------
    squares, bulk : Tensor of shape (samples,)
        What was found, and the squared length of all terms if none cancel.
    guard : float
        Public. By how much additions may be off, of the bulk.
    cut : float
        Public. How far the gradients that were measured may be from those that are added up, of the bulk's root.

    Examples
    --------
    >>> import torch
    >>> lengthened(torch.tensor([4.0]), torch.tensor([16.0]), 0.0, 0.25)
    tensor([9.0000])
    """
    squares = (squares + guard * bulk).clamp(min=0)
    return (squares.sqrt() + cut * bulk.sqrt()).square() * (1 + 2.0**-20) if cut else squares


@dataclass(frozen=True)
class KernelBlocks:
    """Blocks of rows, each of which one chain of matrix instructions adds up.

    Parameters
    ----------
    places : int
        Public. Rows of a sample.
    long : int
        Public. Rows of a block.
    whole : bool
        Public. Whether a block is a sample, whose sum is multiplied with its weight.

    Examples
    --------
    >>> KernelBlocks(128, 128, whole=True).share < KernelBlocks(128, 512).share < KernelBlocks(196, 256).share
    True
    """

    places: int
    long: int
    whole: bool = False

    @property
    def cancelling(self) -> float:
        """What a sample multiplies may be so many times longer than its gradient."""
        if self.whole:
            return min(4 * CANCELLING, max(CANCELLING, OWN / (self.long * TERM)))
        return 1.0 if self.places == 1 else CANCELLING

    @property
    def most(self) -> int:
        """How many blocks float32 may add up: each sum is of whole samples, and of a part of one."""
        part = 0.0 if self.long % self.places == 0 else self.cancelling
        return added_blocks(self.long / self.places, part, BETWEEN)

    @property
    def within(self) -> float:
        """What rounding inside blocks may add to what a sample moves a sum by, in units of the clip."""
        if self.whole:
            return self.long * TERM * self.cancelling
        count, aligned = self.long // self.places, 0 in (self.long % self.places, self.places % self.long)
        return 4 * self.long * TERM * (count + self.cancelling if aligned else 2 * count + 3 * self.cancelling)

    @property
    def share(self) -> float:
        """How much rounding may add to what a sample moves a sum by, in units of the clip."""
        return self.within + BETWEEN


@cache
def kernel_blocks(places: int, weighted: bool = False) -> KernelBlocks:
    """The longest blocks for samples of so many places.

    Parameters
    ----------
    places : int
        Public. Of a sample.
    weighted : bool
        Public. Whether the kernel weighs samples: then a block is a whole sample, if it can be.

    Examples
    --------
    >>> [kernel_blocks(places).long for places in (1, 128, 196)], kernel_blocks(128, weighted=True).whole
    ([192, 512, 256], True)
    """
    fits = [KernelBlocks(places, long) for long in range(MOST, 0, -ROWS)]
    if weighted and places % ROWS == 0:
        fits.insert(0, KernelBlocks(places, places, whole=True))
    return next(blocks for blocks in fits if blocks.within <= WITHIN)
