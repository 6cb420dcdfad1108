"""Records that are counted out of tables: as many in each cell as there should be, as evenly as possible."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from discreet.core.grid import Array, Steps

LEAST = 1e-9  # of a share, so that no conditional share is undefined
GOLDEN = round((math.sqrt(5) - 1) / 2 * 2**32)  # whose multiples, up to 2**32, lie as evenly as those of any number
MOST_ALIKE = 2**32  # codes of columns that records are compared by: many more than there are records
DIGIT = 16  # bits of whole numbers that are sorted in linear time


def dealt_out(table: Array, groups: Steps, generator: np.random.Generator, codes: Steps | None = None) -> Steps:
    """A cell for each record, given its group: each group's records are divided in the proportions of its row.

    The shares of a row are laid end to end, and records are put at equal distances on them, from a random start: so a
    cell gets its share of the records, rounded up or down. Which records get which cell is random. But where records
    have codes, which begin with the group, each cell gets nearly its share of those with nearly the same code too: so
    tables with the columns that the codes begin with are nearer to what the model says than if cells were drawn.

    Examples
    --------
    >>> cells = dealt_out(np.array([[1.0, 3.0]]), np.zeros(8, np.int64), np.random.default_rng(1))
    >>> np.bincount(cells).tolist()
    [2, 6]
    >>> sexes = np.repeat([0, 1], 4)
    >>> cells = dealt_out(np.array([[1.0, 3.0]]), np.zeros(8, np.int64), np.random.default_rng(1), sexes)
    >>> np.bincount(2 * sexes + cells).tolist()
    [1, 3, 1, 3]
    """
    shares = np.cumsum(table + LEAST * table.sum() / table.size + 1e-300, axis=1)
    shares /= shares[:, -1:]
    mixed = np.argsort(generator.integers(0, 2**DIGIT, len(groups), dtype=np.uint16), kind="stable")
    mixed = mixed[ascending_order((groups if codes is None else codes)[mixed])]
    own = groups[mixed]
    sizes = np.bincount(own, minlength=len(table))
    within = np.arange(len(groups)) - (np.cumsum(sizes) - sizes)[own]
    even = (within * GOLDEN + generator.integers(0, 2**32, len(table))[own] & 2**32 - 1) >> 32 - DIGIT
    ends = np.ceil(shares * sizes[:, None] - generator.random((len(table), 1))).astype(np.int64)
    ends = np.hstack([np.zeros((len(table), 1), np.int64), np.clip(ends[:, :-1], 0, sizes[:, None]), sizes[:, None]])
    cells = np.broadcast_to(np.arange(table.shape[1]), table.shape)
    found = np.empty(len(groups), np.int64)
    found[mixed[ascending_order((own << DIGIT) + even)]] = np.repeat(cells.ravel(), np.diff(ends).ravel())
    return found


def ascending_order(codes: Steps) -> Steps:
    """The places of nonnegative whole numbers in ascending order, equal ones as they stand: digit after digit.

    Examples
    --------
    >>> ascending_order(np.array([2**40, 7, 2**20, 7]))
    array([1, 3, 2, 0])
    """
    order, most = np.arange(len(codes)), int(codes.max(initial=0))
    while most:
        digits = codes.astype(np.uint16)[order]  # the lowest bits
        order = order[np.argsort(digits, kind="stable")]
        codes, most = codes >> DIGIT, most >> DIGIT
    return order


def alike(records: Steps, sizes: Sequence[int], columns: Iterable[int]) -> Steps:
    """A code for each record, by some of its columns, the most important first: as many as there are codes for.

    Examples
    --------
    >>> alike(np.array([[0, 1, 2], [1, 0, 2]]), [2, 2, 3], [1, 2])
    array([5, 2])
    """
    found, cells = np.zeros(len(records), np.int64), 1
    for column in columns:
        cells *= sizes[column]
        if cells > MOST_ALIKE:
            break
        found = found * sizes[column] + records[:, column]
    return found
