"""Convolutions row by row."""

from __future__ import annotations

import numpy as np

from discreet.sequential.counters.streaming_convolution import BLOCK, StreamingConvolution


def test_outputs_are_those_of_a_whole_convolution_and_exact_for_integers() -> None:
    """Of 2.5 blocks of rows; products of 2^20 by 2^22 add up to less than 2^53."""
    rng, horizon = np.random.default_rng(0), 5 * BLOCK // 2
    coefficients, rows = rng.integers(0, 2**22, horizon), rng.integers(-(2**20), 2**20, (horizon, 3))
    streaming = StreamingConvolution(coefficients.astype(float), 3)
    found = np.array([streaming.push(row.astype(float)) for row in rows])
    exact = np.stack([np.convolve(coefficients, column)[:horizon] for column in rows.T], axis=1)
    np.testing.assert_array_equal(found.astype(np.int64), exact)


def test_one_goes_on_where_another_stopped() -> None:
    rng = np.random.default_rng(1)
    coefficients, rows = rng.random(100), rng.random((100, 2))
    for stop in (1, BLOCK - 1, BLOCK, 2 * BLOCK + 5, 99):
        first, second = (StreamingConvolution(coefficients, 2) for _ in range(2))
        found = [first.push(row) for row in rows]
        second.resume(rows[:stop])
        np.testing.assert_allclose([second.push(row) for row in rows[stop:]], found[stop:])
