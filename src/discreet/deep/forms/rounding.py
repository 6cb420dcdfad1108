"""How gradients are added up, and what rounding may do to their sums: the proof is in `rounding.md`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from discreet.deep.forms.precision import HALVES, cut_off, on_processor, unit

MARGIN = 2.0**-6
"""Of the clip: what rounding inside blocks may add to it on a processor."""
SLACK = 2.0**-10
"""Of the clip: for what is rounded once or twice, as weights are, and for what is read as zero."""
SAMPLES, TERMS = 256, 256
"""How many samples of one place, and how many products of samples of several places, a processor adds in float32."""
SQUARE = 1024  # samples * terms of a block, about: so small that places may cancel to a sixtieth
CANCELLING = 32.0
"""By how much a device may let the products of a sample be longer than what is left of them."""


@dataclass(frozen=True)
class Rounding:
    """How gradients are added up, and what that may do to a sum.

    Parameters
    ----------
    samples, places : int
        Public. Of how many samples, and of how many places of each, float32 holds the sum; all of them where it is 0.
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
    if not on_processor(values):
        most = 1.0 if places == 1 else CANCELLING
        return Rounding(0, 0, most, most * (2 * cut_off(values) + HALVES.get(values.dtype, 0.0)))
    samples, at = SAMPLES, min(places, TERMS)
    if places > 1:
        samples = max(1, min(math.isqrt(SQUARE // places), TERMS // places))
    return Rounding(samples, at, MARGIN / (4 * unit(values) * samples * at * samples), MARGIN)
