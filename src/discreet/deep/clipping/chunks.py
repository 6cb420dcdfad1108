"""Records dealt to the places of chunks, so that one record changes one place: `chunks.md` has the proof."""

from __future__ import annotations

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Steps
from discreet.noise.dealing import dealt_to_places
from discreet.noise.uniform import permutation


def dealt_to_chunks(bits: Bits, n: int, least: int, size: int) -> Steps:
    """Deal n records to so many chunks of `size` places, or to as many more as they fill; all deals are equally likely.

    The result has shape (chunks, size). It holds the record in each place, and n in places that stay empty.

    Parameters
    ----------
    bits : Bits
        Where the deal comes from.
    n : int
        How many records: secret.
    least : int
        Public. How many chunks there are, however few records.
    size : int
        Public. How many places a chunk has.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> dealt_to_chunks(DeterministicBits(1), 3, 2, 2)
    array([[0, 3],
           [1, 2]])
    >>> dealt_to_chunks(DeterministicBits(1), 3, 1, 2)
    array([[0, 1],
           [2, 3]])
    """
    full = n // size if n > least * size else 0
    order = permutation(bits, n) if full else np.arange(n)
    rest = order[full * size :]
    last = dealt_to_places(bits, len(rest), least if not full else min(len(rest), 1), size)[0]
    return np.concatenate([order[: full * size].reshape(full, size), np.append(rest, n)[last]])
