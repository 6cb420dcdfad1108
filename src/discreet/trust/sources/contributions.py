"""A limited number of rows of each unit, every row with the same chance, the same rows from every source.

A unit's n rows are put in order of their decoded content (missing first, categories by their place in the list, texts
by their bytes). Row number p of n is kept where (p * k + start) mod n < k: that is a systematic sample, exactly k rows
of n (all where n <= k), and since the start is spread over 0 ... n - 1 by the unit's name, each row is kept with chance
k / n. Which rows those are depends on nothing but the unit's own rows: on no other unit, and not on the order of the
table. Rows that tie have the same content, so it makes no difference which of them is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[Any]
"""Numbers that order one column: nan never, missing least."""


def start(unit: str) -> int:
    """Where a unit's sample begins, before it is taken modulo the number of its rows: 60 bits of its name's MD5.

    It spreads, it does not hide: MD5 serves, and every engine has it.
    """
    return int(hashlib.md5(unit.encode(), usedforsecurity=False).hexdigest()[:15], 16)


def text_ranks(texts: Sequence[str | None]) -> Ranks:
    """The rank of each text among its column's, by code point; -1 where it is missing."""
    places = {text: place for place, text in enumerate(sorted({text for text in texts if text is not None}))}
    return np.array([-1 if text is None else places[text] for text in texts], dtype=np.int64)


def unit_numbers(units: Sequence[str]) -> NDArray[np.intp]:
    """The number of each row's unit, in the order in which they first occur.

    Examples
    --------
    >>> unit_numbers(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in units], dtype=np.intp)


def kept_rows(units: Sequence[str], content: Sequence[Ranks], rows: int) -> NDArray[np.intp]:
    """The rows to use, in table order.

    Parameters
    ----------
    units : sequence of str
        The unit of each row.
    content : sequence of arrays
        For each column, in the schema's order, ranks of its values.
    rows : int
        Public. The most rows of one unit.

    Examples
    --------
    >>> kept_rows(["a", "b", "a", "a"], [np.array([9.0, 5.0, 1.0, 4.0])], 2).tolist()
    [1, 2, 3]
    >>> len(kept_rows(["a"] * 1000, [np.arange(1000.0)], 7))
    7
    """
    unit, names = unit_numbers(units), list(dict.fromkeys(units))
    sizes = np.bincount(unit, minlength=len(names))
    starts = np.array([start(name) if size > rows else 0 for name, size in zip(names, sizes, strict=True)], np.int64)
    order = np.lexsort((*reversed(content), unit))
    unit = unit[order]
    first, size = (np.cumsum(sizes) - sizes)[unit], sizes[unit]
    place = np.arange(len(order)) - first
    share = np.minimum(min(rows, len(order)), size)
    kept = (place * share + starts[unit] % size) % size < share
    return np.sort(order[kept])
