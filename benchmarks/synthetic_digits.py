"""Digits that are nobody's secret: those that scikit-learn comes with, drawn again by deformed hands.

Alpaydin and Kaynak's 1,797 digits of 8x8 pixels are enlarged to 28x28, turned, sheared, stretched, bent and drawn with
a pen of another width. They set the scale of features, and settings are chosen on them: never on the records.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates, zoom
from sklearn.datasets import load_digits

Images = NDArray[np.float32]
ORIGINALS = 1797


def synthetic_digits(first: int, last: int, each: int, seed: int = 0) -> tuple[Images, NDArray[np.int64]]:
    """`each` drawings of every original from the first to the last, in an order of their own, and what they are."""
    digits = load_digits()
    chosen = np.random.default_rng(0).permutation(ORIGINALS)[first:last]
    rng = np.random.default_rng(seed)
    large = [np.clip(zoom(np.pad(digits.images[one] / 16, 1), 2.8, order=3), 0, 1) for one in chosen]
    drawn = np.stack([_drawn(one, rng) for one in large for _ in range(each)]).astype(np.float32)
    order = rng.permutation(len(drawn))
    return drawn[order], np.repeat(digits.target[chosen], each)[order].astype(np.int64)


def _drawn(image: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    turn, shear = rng.normal(0, 0.07), rng.normal(0, 0.05)
    turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    moved = turned @ np.array([[1, shear], [0, 1]]) @ np.diag(np.exp(rng.normal(0, 0.04, 2)))
    places = np.tensordot(moved, np.mgrid[:28, :28] - 13.5, axes=1) + 13.5 + rng.normal(0, 0.5, 2)[:, None, None]
    places += np.stack([gaussian_filter(rng.uniform(-1, 1, (28, 28)), 4) * 9 for _ in range(2)])
    pen, blur = rng.uniform(0.3, 0.6), rng.uniform(0.08, 0.15)
    ink = 1 / (1 + np.exp(-(map_coordinates(image, places, order=1) - pen) / blur))
    return np.clip(ink - 1 / (1 + np.exp(pen / blur)), 0, 1)
