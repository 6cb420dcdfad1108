"""What is done to pictures so that people shall not be recognised."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft, ndimage

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

BLOCK = 8  # the side of a block of JPEG


def pixelated(pictures: ArrayLike, size: int) -> Array:
    """Every square of this side replaced by its mean; the last ones are smaller where the side does not divide.

    Examples
    --------
    >>> pixelated([[[0.0, 2.0], [4.0, 6.0]]], 2)
    array([[[3., 3.],
            [3., 3.]]])
    """
    check_whole("pixelated pictures", "size", size)
    found, side = read_pictures("pixelated pictures", pictures), int(size)
    rows, columns = (np.arange(length) // side for length in found.shape[1:])
    cells = rows[:, None] * (columns[-1] + 1) + columns
    sums = np.stack([np.bincount(cells.ravel(), picture.ravel()) for picture in found])
    return (sums / np.bincount(cells.ravel()))[:, cells]


def blurred(pictures: ArrayLike, stddev: float) -> Array:
    """A Gaussian blur of this standard deviation, in pixels; edges are continued.

    Examples
    --------
    >>> bool(np.allclose(blurred(np.ones((1, 4, 4)), 1.0), 1.0))
    True
    """
    check_positive("blurred pictures", "stddev", stddev)
    found = read_pictures("blurred pictures", pictures)
    return np.asarray(ndimage.gaussian_filter(found, (0.0, float(stddev), float(stddev)), mode="nearest"))


def scrambled(pictures: ArrayLike, threshold: float) -> Array:
    """The public part of P3: JPEG's blocks without their means, and other coefficients cut at a threshold.

    Each block of 8 by 8 is transformed by cosines. Its mean, and what of a coefficient is above the threshold, is what
    P3 encrypts (Ra, Govindan and Ortega 2013; not checked against the paper). Pictures are continued to whole blocks.

    Examples
    --------
    >>> scrambled(np.full((1, 8, 8), 0.7), 0.1).round(9).any()
    np.False_
    """
    check_positive("scrambled pictures", "threshold", threshold)
    found = read_pictures("scrambled pictures", pictures)
    number, height, width = found.shape
    padded = np.pad(found, ((0, 0), (0, -height % BLOCK), (0, -width % BLOCK)), mode="edge")
    blocks = padded.reshape(number, padded.shape[1] // BLOCK, BLOCK, padded.shape[2] // BLOCK, BLOCK)
    waves = fft.dctn(blocks, axes=(2, 4), norm="ortho").clip(-threshold, threshold)
    waves[:, :, 0, :, 0] = 0.0
    return np.asarray(fft.idctn(waves, axes=(2, 4), norm="ortho").reshape(padded.shape)[:, :height, :width])


def read_pictures(asked: str, pictures: ArrayLike) -> Array:
    """Pictures as numbers, checked: one of rows by columns for each."""
    found = np.asarray(pictures)
    if found.ndim != 3 or 0 in found.shape or found.dtype.kind not in "iufb" or not np.isfinite(found).all():
        obstacle = f"pictures have shape {found.shape}, or values that are no numbers"
        raise ParameterError(asked, obstacle, "Give grey pictures: an array of pictures by rows by columns.")
    return found.astype(np.float64)
