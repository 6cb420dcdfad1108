"""Random deals of records into blocks, in which one record changes one block of a deal: `dealing.md` has the proof."""

from __future__ import annotations

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Steps
from discreet.noise.uniform import permutations, uniform_integers


def dealt(bits: Bits, n: int, blocks: int) -> list[Steps]:
    """Deal n records into blocks, each independently: the records of each block, in ascending order.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> dealt(DeterministicBits(1), 5, 3)
    [array([0, 1, 2, 4]), array([3]), array([], dtype=int64)]
    """
    places = uniform_integers(bits, n, blocks)
    ends = np.cumsum(np.bincount(places, minlength=blocks))
    return np.split(np.argsort(places, kind="stable"), ends[:-1])


def dealt_to_places(bits: Bits, n: int, blocks: int, size: int, copies: int = 1) -> Steps:
    """Deal n records into blocks of `size` places, as many records as possible; all such deals are equally likely.

    The result has shape (copies, blocks, size), one independent deal in each copy. It holds the record in each place,
    and n in places that stay empty; where there are more records than places, some are left over.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> dealt_to_places(DeterministicBits(1), 5, blocks=3, size=2)[0]
    array([[0, 3],
           [5, 1],
           [4, 2]])
    """
    places = blocks * size
    order = permutations(bits, copies, max(n, places))[:, :places]
    return np.minimum(order, n).reshape(copies, blocks, size)
