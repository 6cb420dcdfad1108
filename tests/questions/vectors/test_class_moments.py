"""Moments by class: those of the records of each class, inside the bound that is stated."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.bound import Norm
from discreet.questions.vectors.class_moments import class_moments_of, record_lengths_of
from discreet.questions.vectors.coordinates import Coordinates
from tests.questions.trial import SCHEMA, Trial, summed

START = {"columns": ("x", "y"), "target": "kind", "radius": 1.0, "square": 0.8, "norm": "l2"}
TRIALS = {
    "class_moments": Trial(
        START,
        "b542a5846657",
        forged=[{"square": -1.0}, {"square": 1e300}, {"norm": "linf"}, {"target": "x"}],
    ),
    "record_lengths": Trial(
        {"columns": ("x", "y"), "radii": (0.5, 1.0)},
        "69aabbf72a33",
        forged=[{"radii": ()}, {"radii": (1.0, 0.5)}, {"radii": (0.0,)}, {"radii": (float("nan"),)}, {"columns": ()}],
    ),
}


def people() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.column_stack([rng.uniform(-10, 110, 300), rng.uniform(0, 1, 300), rng.integers(0, 3, 300)])


def test_the_sums_of_each_class_are_those_of_its_records() -> None:
    records = people()
    z = (records[:, :2] - [50.0, 0.5]) / [60.0, 0.5]
    weight = Coordinates.of(SCHEMA, ("x", "y"), 2.0).weight
    missing = np.array([[np.nan, 0.5, 1.0], [30.0, 0.5, np.nan]])
    found = summed(class_moments_of(SCHEMA, ("x", "y"), "kind", 2.0, 0.5, "l2"), np.vstack([records, missing]))
    for place, block in enumerate(found.reshape(3, 5)):
        own = z[records[:, 2] == place]
        expected = [weight * len(own), *own.sum(axis=0), *(0.5 * (own**2 - 1 / 3)).sum(axis=0)]
        np.testing.assert_allclose(block, expected, atol=0.05)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_bound_is_reached_and_never_exceeded(norm: Norm) -> None:
    """By records at the corners, and by those with a few values there and the others near the middle.

    Nearly: where the radius is 1 or sqrt(2), and so a whole number of values can be at their ends.
    """
    for radius, square, nearly in ((2.0, 0.5, 0.98), (1.0, 0.8, 0.93), (1.0, 0.01, 0.9), (0.5, 4.0, 0.8)):
        question = class_moments_of(SCHEMA, ("x", "y"), "kind", radius, square, norm)
        ends = np.meshgrid(np.linspace(-10, 110, 81), np.linspace(0, 1, 81), [0.0, 2.0])
        records = np.stack(ends, axis=-1).reshape(-1, 3)
        sizes = np.linalg.norm(question.of(records), ord=1 if norm == "l1" else 2, axis=1)
        assert nearly * question.bound.radius <= sizes.max() <= question.bound.radius


def test_each_record_is_counted_once_by_its_length() -> None:
    """The middle, a length of 0.6, an end, a corner, a value beyond its bounds, and two records without a length."""
    records = np.array([[50, 0.5], [86, 0.5], [50, 1], [110, 0], [200, 0.5], [np.nan, 0.5], [50, np.inf]])
    counts = summed(record_lengths_of(SCHEMA, ("x", "y"), (0.5, 1.0)), records)
    assert list(counts) == [1, 3, 1]
