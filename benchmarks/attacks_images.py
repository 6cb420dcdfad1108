"""Obfuscated pictures: how many are recognised by a model that was trained on pictures obfuscated in the same way.

    python -m benchmarks.attacks_images [--mnist PATH/mnist.npz]

The goals are for scikit-learn's digits of 8 x 8; MNIST, of 28 x 28, is tried where it is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from benchmarks.rows import Row, at_least, printed, report
from discreet.attacks import RecognisedPictures, blurred, pixelated, scrambled

Way = Callable[[Any], Any]


def recognised(pictures: Any, labels: Any, ways: dict[str, tuple[Way, float | None]], split: Any) -> Iterator[Row]:
    """What each way hides, of the pictures behind the split."""
    known, hidden, own, truth = split(pictures, labels)
    for name, (way, goal) in ways.items():
        result = RecognisedPictures(known, own, way, truth).run(way(hidden))
        claim = f"{name}: recognised"
        yield printed(claim, result.success) if goal is None else at_least(claim, result.success, goal)
        yield printed(f"{name}: by a model of clear pictures", result.details["trained on clear pictures"])


def rows(mnist: Path | None = None) -> Iterator[Row]:
    """Digits, and MNIST where it is given."""
    digits = load_digits()
    ways: dict[str, tuple[Way, float | None]] = {
        "digits in pixels of 2 x 2": (partial(pixelated, size=2), 0.95),
        "digits in pixels of 4 x 4": (partial(pixelated, size=4), 0.6),
        "digits blurred by 1.5 pixels": (partial(blurred, stddev=1.5), None),
        "digits blurred by 3 pixels": (partial(blurred, stddev=3.0), None),
        "digits scrambled, coefficients cut at 8": (partial(scrambled, threshold=8.0), None),
        "digits scrambled, coefficients cut at 1": (partial(scrambled, threshold=1.0), None),
    }
    yield from recognised(digits.images, digits.target, ways, partial(train_test_split, random_state=0))
    if mnist is not None:
        with np.load(mnist) as given:
            pictures, labels = (
                np.concatenate([given[f"{kind}_train"][::15], given[f"{kind}_test"][::10]]) for kind in "xy"
            )
        large: dict[str, tuple[Way, float | None]] = {
            "MNIST in pixels of 8 x 8": (partial(pixelated, size=8), None),
            "MNIST in pixels of 16 x 16": (partial(pixelated, size=16), None),
            "MNIST blurred by 4 pixels": (partial(blurred, stddev=4.0), None),
            "MNIST scrambled, coefficients cut at .1": (partial(scrambled, threshold=0.1), None),
        }
        yield from recognised(pictures / 255, labels, large, partial(train_test_split, test_size=1000, shuffle=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mnist", type=Path)
    report("attacks_images", list(rows(parser.parse_args().mnist)))
