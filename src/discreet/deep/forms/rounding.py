"""How gradients are added up, and what rounding may do to their sums: the proof is in `rounding.md`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from discreet.deep.forms.precision import HALF, cut_off, on_processor, unit

MARGIN = 2.0**-6
"""Of the clip: what rounding inside blocks may add to it, where a processor adds them up."""
SLACK = 2.0**-10
"""Of the clip: for what is rounded once or twice, as weights are, and for what is read as zero."""
SAMPLES, TERMS = 256, 256
"""How many samples of one place, and how many products of samples of several places, a processor adds in float32."""
SQUARE = 1024  # samples * terms of a block, about: so small that places may cancel to a sixtieth
CANCELLING = 64.0
"""By how much a device may let the products of a sample be longer than what is left of them."""
KERNEL_MARGIN = 2.0**-5 + 2.0**-8
"""Of the clip: what rounding inside blocks, and between them, may add to it where a kernel adds them up on a GPU."""
ROWS, MOST = 64, 640  # rows that a kernel multiplies at a time, and that are a block
TERM = 1.5 * 2.0**-23  # what a matrix instruction may be off by for each of its terms, relative to its sums
BETWEEN = 2**14  # blocks * samples of a part, which float32 holds the sum of: 4 * 2**-24 of them is 2**-8


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
    """

    samples: int
    places: int
    cancelling: float
    share: float


def rounding_of(values: Tensor, places: int) -> Rounding:
    """Of sums over samples with so many places each; in which kind of numbers, and where, these tell.

    Two blocks at most differ between neighbors, and each is off by at most terms * unit * samples * cancelling.
    """
    samples, at = (SAMPLES, min(places, TERMS)) if on_processor(values) else (SAMPLES // 2, min(places, TERMS // 4))
    if places > 1:
        samples = max(1, min(math.isqrt(SQUARE // places), TERMS // places))
    cancelling = MARGIN / (4 * unit(values) * samples * at * samples)
    return Rounding(samples, at, cancelling, MARGIN + cancelling * 2 * cut_off(values))


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
        Public. Rows of a sample, filled up with zeros.
    long : int
        Public. Rows of a block: whole samples, or a whole part of one.
    samples : int
        Public. In a block.
    """

    places: int
    long: int
    samples: int

    @property
    def cancelling(self) -> float:
        """What a sample multiplies may be so many times longer than its gradient."""
        return 1.0 if self.places == 1 else CANCELLING

    @property
    def share(self) -> float:
        """How much rounding may add to what a sample moves a sum by, in units of the clip."""
        return KERNEL_MARGIN + (self.cancelling + 1) * HALF


@cache
def kernel_blocks(places: int, samples: int | None = None) -> KernelBlocks:
    """The longest blocks for samples of so many places, with as few zeros as possible.

    Parameters
    ----------
    places : int
        Public. Of a sample.
    samples : int, optional
        Public. How many there are: then blocks divide them, if any do.

    Examples
    --------
    >>> kernel_blocks(128, 256), kernel_blocks(197)
    (KernelBlocks(places=128, long=512, samples=4), KernelBlocks(places=224, long=448, samples=2))
    """
    if places > MOST:
        parts = math.ceil(places / MOST)
        long = ROWS * math.ceil(places / parts / ROWS)
        return KernelBlocks(parts * long, long, 1)
    least = 1.0 if places == 1 else CANCELLING
    for filled in range(places, MOST + 1):
        step = ROWS // math.gcd(filled, ROWS)
        fits = [b for b in range(step, MOST // filled + 1, step) if 4 * TERM * filled * b * (b + least) <= 2.0**-5]
        if fits:
            even = [b for b in fits if samples is None or samples % b == 0]
            count = max(even or fits)
            return KernelBlocks(filled, filled * count, count)
    raise AssertionError("MOST is a multiple of ROWS")
