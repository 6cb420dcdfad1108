"""Pixels are means of squares, blurs keep sums, scrambled pictures keep small waves alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import fft

from discreet.attacks import blurred, pixelated, scrambled
from discreet.core.errors import ParameterError

PICTURES = np.random.default_rng(0).random((5, 16, 12))


def test_pixels_are_means_of_squares_also_at_the_edge() -> None:
    found = pixelated(PICTURES, 5)
    assert found.shape == PICTURES.shape
    for rows in (slice(0, 5), slice(5, 10), slice(15, 16)):
        for columns in (slice(0, 5), slice(10, 12)):
            wanted = PICTURES[:, rows, columns].mean(axis=(1, 2), keepdims=True)
            assert np.abs(found[:, rows, columns] - wanted).max() < 1e-12
    np.testing.assert_array_equal(pixelated(PICTURES, 1), PICTURES)


def test_a_blur_smooths_each_picture_alone() -> None:
    found = blurred(PICTURES, 2.0)
    assert found.std(axis=(1, 2)).max() < 0.3 * PICTURES.std()
    np.testing.assert_allclose(blurred(PICTURES[:1], 2.0), found[:1])


def test_scrambled_pictures_have_small_waves_and_no_means() -> None:
    found = scrambled(PICTURES[:, :, :8], 0.05)
    waves = fft.dctn(found.reshape(5, 2, 8, 8), axes=(2, 3), norm="ortho")
    assert np.abs(waves).max() <= 0.05 + 1e-12
    assert np.abs(waves[:, :, 0, 0]).max() < 1e-12
    kept = scrambled(PICTURES[:, :, :8], 1e6)
    np.testing.assert_allclose(np.diff(kept[:, :8, :], axis=1), np.diff(PICTURES[:, :8, :8], axis=1), atol=1e-12)
    assert scrambled(PICTURES, 0.1).shape == PICTURES.shape


def test_what_are_no_pictures_is_refused() -> None:
    odd: list[Any] = [PICTURES[0], [], [["<b>"]], np.full((1, 2, 2), np.nan)]
    ways: list[Callable[[Any], Any]] = [
        partial(pixelated, size=2),
        partial(blurred, stddev=1.0),
        partial(scrambled, threshold=1.0),
    ]
    for pictures in odd:
        for change in ways:
            with pytest.raises(ParameterError, match="Give grey pictures"):
                change(pictures)
    wrong: list[Callable[[], Any]] = [
        partial(pixelated, PICTURES, 0),
        partial(blurred, PICTURES, -1.0),
        partial(scrambled, PICTURES, 0.0),
    ]
    for act in wrong:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            act()
