"""Blocks of records, dealt at random, and the sum of what a function makes of each."""

from __future__ import annotations

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.core.question import BlockSum
from discreet.noise.uniform import uniform_integers
from discreet.trust.isolation import isolated


def block_sum(question: BlockSum, records: Array, bits: Bits) -> Steps:
    """The sum over all blocks, in grid steps; a block for which the function fails adds nothing.

    Every record is dealt to a block by itself, so one record more or less, or another one, changes one block of each
    deal and no other.
    """
    blocks = [
        records[dealt == place]
        for dealt in (uniform_integers(bits, len(records), question.blocks) for _ in range(question.deals))
        for place in range(question.blocks)
    ]
    found = isolated(question.of, blocks, question.size, question.seconds)
    rows = np.array([np.zeros(question.size) if one is None else one for one in found]).reshape(-1, question.size)
    inside = np.clip(np.nan_to_num(rows, nan=0.0), -1.0, 1.0)
    return question.grid.cut(inside).sum(axis=0).astype(np.int64)
