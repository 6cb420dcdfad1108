"""At most so many rows of each unit, chosen without looking at anybody else's rows or at their order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


def mixed(words: Words) -> Words:
    """A bijection of 64-bit words that scatters them (the finaliser of SplitMix64, Steele et al. 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def fingerprints(columns: Sequence[NDArray[np.float64] | NDArray[np.str_]]) -> Words:
    """One word per row that depends on the row's content alone."""
    prints = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        prints = mixed(prints ^ mixed(_words(column)))
    return prints


def _words(column: NDArray[np.float64] | NDArray[np.str_]) -> Words:
    if column.dtype.kind == "f":
        numbers = column.astype(np.float64) + 0.0  # one zero, not two
        return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
    values, place = np.unique(column, return_inverse=True)
    digests = [hashlib.blake2b(str(value).encode(), digest_size=8).digest() for value in values]
    return np.frombuffer(b"".join(digests), dtype=np.uint64)[place]


def kept_rows(units: NDArray[np.str_], prints: Words, rows: int) -> NDArray[np.intp]:
    """The rows to use: of each unit those with the least fingerprints, at most `rows` of them, in table order.

    Rows of one unit with equal fingerprints have equal content, so which of them is kept makes no difference.

    Examples
    --------
    >>> kept_rows(np.array(["a", "b", "a", "a"]), np.array([9, 5, 1, 4], dtype=np.uint64), 2)
    array([1, 2, 3])
    """
    _, unit = np.unique(units, return_inverse=True)
    order = np.lexsort((prints, unit))
    first = np.r_[True, unit[order][1:] != unit[order][:-1]] if len(order) else np.zeros(0, dtype=bool)
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    return np.sort(order[np.arange(len(order)) - start < rows])
