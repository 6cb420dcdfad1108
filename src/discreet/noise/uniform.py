"""Uniform integers and permutations, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import index

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.noise.request import Size, checked_shape

CHUNK = 1 << 15


def uniform_integers(bits: Bits, size: Size, upper: int) -> Steps:
    """Draw integers from 0 to upper - 1, each as likely as any other.

    A 64-bit word below the largest multiple of `upper` is taken modulo `upper`; one above is drawn again.

    Parameters
    ----------
    upper : int
        Public. From 1 to 2**63.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> uniform_integers(DeterministicBits(1), 5, upper=100)
    array([48, 48, 52, 22, 88])
    """
    upper = index(upper)
    if not 1 <= upper <= 1 << 63:
        raise ParameterError("uniform integers", f"upper is {upper}", "Give 1 to 2**63.", upper=upper)
    shape = checked_shape("uniform integers", size)
    out = np.empty(math.prod(shape), np.int64)
    for start in range(0, out.size, CHUNK):
        _fill(bits, out[start : start + CHUNK], upper)
    return out.reshape(shape)


def _fill(bits: Bits, out: Steps, upper: int) -> None:
    words = bits.words(out.size)
    last = np.uint64((1 << 64) // upper * upper - 1)
    again = np.flatnonzero(words > last)
    out[:] = words - words // np.uint64(upper) * np.uint64(upper)
    if again.size:
        fresh = np.empty(again.size, np.int64)
        _fill(bits, fresh, upper)
        out[again] = fresh


def permutation(bits: Bits, n: int) -> Steps:
    """Put the integers from 0 to n - 1 in an order, each order as likely as any other.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> permutation(DeterministicBits(1), 5)
    array([0, 3, 1, 4, 2])
    """
    return permutations(bits, 1, n)[0]


def permutations(bits: Bits, count: int, n: int) -> Steps:
    """`count` independent permutations of the integers from 0 to n - 1, one in each row.

    Each integer gets a random key and they are sorted by key. Keys are cut short to leave room for the integer itself;
    those that turn out equal are put in a random order by further bits.
    """
    shape = checked_shape("permutation", (count, n))
    width = np.uint64(max(n - 1, 0).bit_length())
    keys = bits.words(math.prod(shape)).reshape(shape).copy()
    keys >>= width
    keys <<= width
    keys |= np.arange(n, dtype=np.uint64)
    keys.sort(axis=1)
    tied = np.argwhere((keys[:, 1:] ^ keys[:, :-1]) >> width == 0)
    keys &= np.uint64((1 << int(width)) - 1)
    orders: Steps = keys.view(np.int64)
    for run in _runs(tied.tolist()):
        orders[run.row, run.part] = orders[run.row, run.part][permutation(bits, run.part.stop - run.part.start)]
    return orders


@dataclass
class _Run:
    """Neighbors in a row with equal keys."""

    row: int
    part: slice


def _runs(tied: list[list[int]]) -> list[_Run]:
    """The longest runs, from the places of those that equal their right neighbor."""
    runs: list[_Run] = []
    for row, place in tied:
        if runs and runs[-1].row == row and runs[-1].part.stop == place + 1:
            runs[-1].part = slice(runs[-1].part.start, place + 2)
        else:
            runs.append(_Run(row, slice(place, place + 2)))
    return runs
