"""Masses at knots: shared out by splines or by Gaussian bumps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.interpolate import BSpline

from discreet.core.neighbors import Neighbors
from discreet.questions.columns.knots import Knots, bump_length, process_of, splines_of
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Number, Schema
from tests.questions.trial import RECORDS, SCHEMA, Trial, X, summed

TRIALS = {
    "splines": Trial(
        {"columns": ("x", "y"), "bins": (4, 3), "degree": 2, "counted": True},
        "29061192ae9e",
        forged=[{"degree": 9}, {"bins": (1, 3)}],
    ),
    "kernel_process": Trial(
        {"columns": ("x", "y"), "bandwidths": (0.3, 0.5), "counted": True},
        "71d9f835717b",
        forged=[{"bandwidths": (1e-9, 1e-9)}],
        portable=False,
    ),
}


def test_splines_of_degree_one_share_a_value_between_the_two_nearest_knots() -> None:
    place = (X + 10) / 120 * 6 - 0.5
    low = np.floor(place).astype(int)
    expected = np.zeros(6)
    np.add.at(expected, low.clip(0, 5), 1 - (place - low))
    np.add.at(expected, (low + 1).clip(0, 5), place - low)
    *masses, missing = summed(splines_of(SCHEMA, ("x",), (6,), 1, True), RECORDS)
    np.testing.assert_allclose(masses, expected, atol=1e-5)
    assert round(missing) == 2


def test_a_gaussian_bump_is_a_normal_density_at_the_knots() -> None:
    knots, deviation = Knots.process(0.2).places, 0.2 / np.sqrt(2)
    away = ((X[:, None] + 10) / 120 - knots) / deviation
    spacing = knots[1] - knots[0]
    expected = (np.exp(-np.square(away) / 2) * spacing / deviation / np.sqrt(2 * np.pi)).sum(axis=0)
    np.testing.assert_allclose(summed(process_of(SCHEMA, ("x",), (0.2,), False), RECORDS), expected, atol=1e-5)


ONE = Schema({"x": Number(0, 1)})
TWO = Schema({"x": Number(0, 1), "y": Number(0, 1)})
THREE = Schema({"x": Number(0, 1), "y": Number(0, 1), "z": Number(0, 1)})
WITHIN = np.append(np.linspace(0, 1, 331), [0.5, np.nextafter(1, 0), 5e-324, np.nan])
QUESTIONS = {
    **{
        f"splines {degree} {counted} {len(bins)}": splines_of(
            (ONE, TWO)[len(bins) - 1], ("x", "y")[: len(bins)], bins, degree, counted
        )
        for degree, counted, bins in product((0, 1, 3), (False, True), ((7,), (5, 4)))
    },
    "process": process_of(ONE, ("x",), (0.1,), False),
    "process of three": process_of(THREE, ("x", "y", "z"), (0.9, 0.5, 0.4), True),
    "process counted": process_of(TWO, ("x", "y"), (0.2, 0.3), True),
}


def records_of(question: BoundedSum) -> np.ndarray:
    assert question.columns is not None
    return np.stack([WITHIN, np.roll(WITHIN, 100), np.roll(WITHIN, 170)], axis=1)[:, : len(question.columns)]


each = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)


@each
def test_a_fused_sum_is_the_sum_of_its_clipped_rows(question: BoundedSum) -> None:
    records = records_of(question)
    assert question.total is not None
    np.testing.assert_array_equal(question.total(records), question.steps(records).sum(axis=0))


@each
def test_clipping_never_acts_and_missing_values_have_no_mass(question: BoundedSum) -> None:
    records = records_of(question)
    rows = question.of(records)
    np.testing.assert_array_equal(question.bound.clip(rows), rows)
    assert (rows >= 0).all()
    knots = rows.shape[1] - bool(question.recipe and question.recipe.parameters["counted"])
    missing = np.isnan(records).any(axis=1)
    lost = 1e-8 if question.bound.norm == "l1" else 4e-3  # by a process beyond its last knot, and to its grid
    np.testing.assert_allclose(rows[~missing, :knots].sum(axis=1), 1, atol=lost)
    assert not rows[missing, :knots].any()


@each
def test_no_neighbors_are_farther_apart_than_the_bound_says(question: BoundedSum) -> None:
    """All pairs of hundreds of records: the farthest are nearly as far apart as is paid for, and no farther."""
    rows = question.of(records_of(question)[::3])
    order = 1 if question.bound.norm == "l1" else 2
    alone = np.linalg.norm(rows, order, axis=1).max()
    apart = max(np.linalg.norm(rows - row, order, axis=1).max() for row in rows)
    for farthest, neighbors in ((alone, Neighbors.ADD_REMOVE), (apart, Neighbors.REPLACE)):
        most = question.bound.sensitivity(question.bound.norm, rows.shape[1], neighbors)
        assert 0.98 * most < farthest <= most


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_shares_are_b_splines(degree: int) -> None:
    question = splines_of(ONE, ("x",), (20,), degree, False)
    inside = np.linspace(0.2, 0.8, 101)
    element = BSpline.basis_element(np.arange(degree + 2) - (degree + 1) / 2, extrapolate=False)
    away = inside[:, None] * 20 - (np.arange(20) + 0.5)
    np.testing.assert_allclose(question.of(inside[:, None]), np.nan_to_num(element(away)), atol=1e-8)


def test_products_of_gaussian_bumps_are_the_kernel() -> None:
    places = np.linspace(0, 1, 101)
    rows = process_of(ONE, ("x",), (0.1,), False).of(places[:, None])
    peak = bump_length(1) ** 2
    np.testing.assert_allclose(
        rows @ rows.T / peak, np.exp(-0.5 * np.square((places[:, None] - places) / 0.1)), atol=2e-6
    )
