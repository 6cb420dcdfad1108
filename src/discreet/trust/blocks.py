"""Blocks of records, dealt at random, and the sum of what a function makes of each."""

from __future__ import annotations

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.core.question import BlockSum
from discreet.noise.uniform import uniform_integers
from discreet.trust.isolation.isolated import isolated


def block_sum(question: BlockSum, records: Array, bits: Bits) -> Steps:
    """The sum over all blocks, in grid steps; a block for which the function fails adds nothing.

    Every record is dealt to a block by itself, so one record more or less, or another one, changes one block of each
    deal and no other.
    """
    blocks = [block for _ in range(question.deals) for block in _dealt(records, question.blocks, bits)]
    found = isolated(question.of, blocks, len(question.lower), question.seconds, question.isolation)
    rows = np.array([question.stretched(one) for one in found])
    return question.grid.cut(rows).sum(axis=0).astype(np.int64)


def _dealt(records: Array, blocks: int, bits: Bits) -> list[Array]:
    """Blocks of records, each in the order in which they were."""
    places = uniform_integers(bits, len(records), blocks)
    ends = np.cumsum(np.bincount(places, minlength=blocks))
    return np.split(records[np.argsort(places, kind="stable")], ends[:-1])
