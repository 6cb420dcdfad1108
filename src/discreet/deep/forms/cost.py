"""What the lengths of gradients cost, by each way to them: in products of two numbers, for each sample.

All costs follow from shapes alone, which are public, so the way to a length says nothing of a sample. The gradient of a
matrix with d columns and p rows, over T places, takes T d p products; lengths by pairs of places take T^2 (d + p). A
layer that is computed over one place needs neither.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

CROSSING = 6  # by how much sums over taps are slower than the products that they replace, measured on CPU and GPU
AT_HAND, AT_HAND_ON_GPU = 2**26, 2**29  # numbers of gradients that are written out at a time


class Way(StrEnum):
    """How the lengths of the gradients of single samples are found."""

    CLOSED = "closed form"
    PAIRS = "pairs of places"
    WRITTEN = "written out"
    KEPT = "written out once"


@dataclass(frozen=True)
class Cost:
    """The way that is taken, and what it costs.

    Parameters
    ----------
    way : Way
        Public.
    products : int
        Public. For each sample, beyond a plain backward pass.
    """

    way: Way
    products: int


def of_matrix(places: int, d: int, p: int) -> Cost:
    """The gradient of a matrix: one place has a closed form; then the cheaper way.

    Examples
    --------
    >>> of_matrix(1, 512, 512).way, of_matrix(128, 512, 2048).way, of_matrix(1024, 16, 16).way
    (<Way.CLOSED: 'closed form'>, <Way.PAIRS: 'pairs of places'>, <Way.WRITTEN: 'written out'>)
    """
    if places == 1:
        return Cost(Way.CLOSED, d + p)
    pairs, written = places * places * (d + p), places * d * p
    return Cost(Way.PAIRS, pairs) if pairs < written else Cost(Way.WRITTEN, written)


def of_convolution(
    samples: int,
    images: int,
    size: tuple[int, ...],
    places: tuple[int, ...],
    weights: tuple[int, ...],
    groups: int,
    *,
    kernel: bool = False,
    most: int = AT_HAND,
) -> Cost:
    """The gradient of a kernel: by pairs of pixels where these are few, or written out.

    They are written out once, by a grouped convolution as `vmap` does or by a kernel of our own, and added up from
    memory; and a second time where they are too many to be kept.

    Parameters
    ----------
    samples : int
        Public. How many are computed at a time.
    images : int
        Public. How many there are of each sample.
    size, places : tuple of int
        Public. Of what comes in, padded, and of what goes out: the axes of one channel.
    weights : tuple of int
        Public. The shape of the kernel: channels out, channels in of a group, taps of each axis.
    groups : int
        Public.
    kernel : bool
        Public. Whether a kernel of our own writes them out, which is faster than pairs.
    most : int
        Public. Numbers that may be kept.
    """
    pixels, out = math.prod(size), math.prod(places)
    pairs = CROSSING * (pixels * pixels * weights[1] + out * out * weights[0])
    written = images * out * math.prod(weights)
    if images == groups == 1 and pairs < written and not kernel:
        return Cost(Way.PAIRS, pairs)
    kept = samples * math.prod(weights) <= most
    return Cost(Way.KEPT if kept else Way.WRITTEN, written)
