"""Gradients of shapes: residuals of the formula, in the cells of one column, shrunk."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.bound import ORDER, Norm
from discreet.questions.gradients.shape_gradients import boosting_weights_of, shape_gradients_of
from tests.questions.trial import SCHEMA, Trial, summed

SHAPES = np.random.default_rng(5).normal(size=(3, 8))
START = {
    "columns": ("x", "y"),
    "target": "kind",
    "bins": 4,
    "shapes": SHAPES,
    "place": 1,
    "loss": "logistic",
    "residual": 0.5,
    "norm": "l1",
}
RNG = np.random.default_rng(3)
X = np.column_stack([RNG.uniform(-10, 110, 400), RNG.uniform(0, 1, 400)])
CELLS = np.column_stack([(X[:, 0] + 10) // 30, X[:, 1] // 0.25]).astype(int)
COLUMNS, BINS = ("x", "two"), (4, 0)
HEIGHTS = np.random.default_rng(5).normal(size=(3, 7))
WEIGHTED = {"columns": COLUMNS, "bins": BINS, "target": "kind", "heights": HEIGHTS, "norm": "l1"}
TRIALS = {
    "shape_gradients": Trial(
        START,
        "8d410324171e",
        forged=[
            {"shapes": SHAPES[:2]},
            {"shapes": SHAPES * 1e9},
            {"place": 3},
            {"loss": "squared"},
            {"residual": 3.0},
            {"norm": "linf"},
        ],
    ),
    "boosting_weights": Trial(
        WEIGHTED,
        "2ff7b671b056",
        forged=[
            {"heights": HEIGHTS[:2]},
            {"heights": HEIGHTS * 1e9},
            {"heights": HEIGHTS * np.nan},
            {"bins": (4,)},
            {"bins": (4, 2)},
            {"columns": ("x", "kind")},
            {"columns": ("x", "x")},
            {"target": "only"},
            {"target": "y"},
            {"norm": "linf"},
        ],
    ),
}


def scores(shapes: np.ndarray) -> np.ndarray:
    return np.asarray(shapes[:, CELLS[:, 0]] + shapes[:, 4 + CELLS[:, 1]])


def added(residuals: np.ndarray, longest: float, place: int) -> np.ndarray:
    shrunk = residuals * np.minimum(longest / np.maximum(np.linalg.norm(residuals, axis=0), 1e-12), 1.0)
    return np.stack([np.bincount(CELLS[:, place], own, 4) for own in shrunk])


def test_the_sums_are_those_of_the_formula_for_classes() -> None:
    for target, classes in (("kind", 3), ("two", 2)):
        y = RNG.integers(0, classes, 400)
        shapes = SHAPES if classes == 3 else SHAPES[:1]
        both = scores(shapes) if classes == 3 else np.concatenate([np.zeros((1, 400)), scores(shapes)])
        weights = np.exp(both)
        residuals = (np.eye(classes)[:, y] - weights / weights.sum(axis=0))[-len(shapes) :]
        rows = np.vstack([np.column_stack([X, y]), [[np.nan, 0.5, 1.0], [1.0, 0.5, np.nan]]])
        whole = shape_gradients_of(SCHEMA, ("x", "y"), target, 4, shapes, 2, "logistic", 0.5, "l2")
        np.testing.assert_allclose(summed(whole, rows), added(residuals, 0.5, 0).sum(axis=1), atol=2e-3)
        for place, longest in ((0, 0.5), (1, 2.0)):
            question = shape_gradients_of(SCHEMA, ("x", "y"), target, 4, shapes, place, "logistic", longest, "l2")
            np.testing.assert_allclose(
                summed(question, rows).reshape(-1, 4), added(residuals, longest, place), atol=2e-3
            )


def test_the_sums_are_those_of_the_formula_for_numbers() -> None:
    y = RNG.uniform(-1e48, 1e48, 400)
    question = shape_gradients_of(SCHEMA, ("x", "y"), "far", 4, SHAPES[:1], 0, "squared", 0.5, "l1")
    found = summed(question, np.column_stack([X, y]))
    np.testing.assert_allclose(found, added(y / 1e48 - scores(SHAPES[:1]), 0.5, 0)[0], atol=2e-3)


def people(classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.uniform(-10, 110, 400), rng.integers(0, 2, 400), rng.integers(0, classes, 400)


def test_the_sums_are_those_of_the_formula() -> None:
    for columns, target, classes in ((COLUMNS, "kind", 3), (("x", "kind"), "two", 2)):
        x, other, y = people(classes)
        heights = HEIGHTS if classes == 3 else np.random.default_rng(6).normal(size=(1, 8))
        cell = ((x + 10) // 30).astype(int)
        expected = np.zeros_like(heights)
        for k, own in enumerate(heights):
            signs = np.where(y == (k if classes == 3 else 1), 1, -1)
            weights = np.minimum(1, np.exp(-signs * (own[0] + own[1 + cell] + own[5 + other])))
            expected[k, 0] = weights.sum()
            np.add.at(expected[k], 1 + cell, signs * weights)
            np.add.at(expected[k], 5 + other, signs * weights)
        records = np.vstack([np.column_stack([x, other, y]), [[1.0, 0.0, np.nan]]])
        for norm in ("l1", "l2"):
            question = boosting_weights_of(SCHEMA, columns, BINS, target, heights, norm)
            np.testing.assert_allclose(summed(question, records), expected.ravel(), atol=1e-3)


def test_a_missing_value_is_in_no_cell() -> None:
    question = boosting_weights_of(SCHEMA, COLUMNS, BINS, "kind", np.zeros((3, 7)), "l1")
    rows = summed(question, np.array([[np.nan, 1.0, 2.0]])).reshape(3, 7)
    np.testing.assert_array_equal(rows[:, 0], 1.0)
    np.testing.assert_array_equal(rows[:, 1:6], 0.0)
    np.testing.assert_array_equal(rows[:, 6], [-1.0, -1.0, 1.0])


def test_the_worst_record_reaches_the_bound_and_none_goes_beyond() -> None:
    """One that every score is wrong about has weight 1 in all of its cells."""
    wrong = np.zeros((3, 7))
    wrong[:, 0] = -9.0, 9.0, 9.0
    lengths: dict[Norm, float] = {"l1": 9.0, "l2": 3.0}
    for norm, reached in lengths.items():
        question = boosting_weights_of(SCHEMA, COLUMNS, BINS, "kind", wrong, norm)
        row = question.of(np.array([[50.0, 0.0, 0.0]]))
        np.testing.assert_array_equal(question.bound.clip(row), row)
        assert np.linalg.norm(row[0], ORDER[norm]) == pytest.approx(reached)


def test_what_a_record_adds_does_not_depend_on_the_others() -> None:
    x, other, y = people(3)
    records = np.column_stack([x, other, y])
    question = boosting_weights_of(SCHEMA, COLUMNS, BINS, "kind", HEIGHTS, "l1")
    alone = np.vstack([question.of(record[None, :]) for record in records])
    np.testing.assert_array_equal(question.of(records), alone)
