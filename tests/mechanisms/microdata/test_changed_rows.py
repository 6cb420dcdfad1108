"""Rows that are given away are in a random order."""

from __future__ import annotations

import numpy as np

from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.noise.deterministic import DeterministicBits


def test_all_rows_are_there_and_any_may_be_first() -> None:
    bits, rows = DeterministicBits(3), np.arange(4.0)[:, None]
    found = [ChangedRows.shuffled(rows, bits, k=3) for _ in range(200)]
    assert all(sorted(one.values.ravel()) == [0, 1, 2, 3] and one.notes == {"k": 3} for one in found)
    firsts = np.bincount([int(one.values[0, 0]) for one in found], minlength=4)
    assert firsts.min() > 30  # 50 on average, deviation 6
