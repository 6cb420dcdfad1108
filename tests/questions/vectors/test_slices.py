"""Slices: a fused sum of a batch is that of its slices."""

from __future__ import annotations

import numpy as np

from discreet.questions.vectors.slices import SLICE, by_slices


def test_every_row_is_in_one_slice_and_none_is_longer_than_the_cache() -> None:
    seen: list[int] = []

    def total(records: np.ndarray) -> np.ndarray:
        seen.append(records.size)
        return np.asarray(records.sum(axis=0))

    records = np.arange(3.0 * SLICE).reshape(-1, 3)
    np.testing.assert_array_equal(by_slices(total, 3, 3)(records), records.sum(axis=0))
    assert max(seen) <= SLICE
    assert by_slices(total, 3, 3)(records[:0]).tolist() == [0.0] * 3
