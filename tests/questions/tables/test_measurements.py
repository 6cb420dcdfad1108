"""Measurements of a table: least squares in closed form, against least squares by matrices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.core.bound import Norm
from discreet.questions.named import question_of
from discreet.questions.tables.domain import Domain
from discreet.questions.tables.measurements import Measurements
from discreet.questions.tables.residuals import AxisSet, Contrast, Measurement, Shape, cell_shares, closure, subsets
from discreet.schema.schema import Category, Schema
from tests.questions.trial import Trial

TRIALS = {
    "measurements": Trial(
        {
            "columns": ("kind", "two", "x"),
            "bins": (0, 0, 4),
            "whole": ((0,), (1, 2), ()),
            "contrasts": ((), (0,), (1, 2)),
            "steps": (3, 5, 7),
            "exponent": -3,
            "norm": "l2",
        },
        "af10f5856acc",
        forged=[
            {"steps": (10**9, 1 - 10**9, 1)},
            {"whole": ((0,), (0, 1), ())},
            {"whole": ((0,), (-1,), ())},
        ],
    )
}
rng = np.random.default_rng(1)
PAIRS = [frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})]
SHAPES = [(2, 3, 4), (2, 2, 2), (3, 1, 2)]


def importance(shape: Shape) -> dict[AxisSet, float]:
    found: dict[AxisSet, float] = {}
    for axes in PAIRS:
        for part, share in cell_shares(axes, shape).items():
            found[part] = found.get(part, 0.0) + share
    return found


def strategies(shape: Shape, norm: Norm) -> list[Measurements]:
    wide = frozenset(axis for axis in (0, 1) if shape[axis] > 1)
    whole = [Measurement(axes) for axes in PAIRS]
    mixed = [Measurement(frozenset({2}), part) for part in subsets(wide)]
    return [
        Measurements.even(shape, whole, norm, importance(shape)),
        Measurements.even(shape, [Measurement(frozenset({0, 1, 2}))], norm, importance(shape)),
        Measurements.weighted(shape, whole, norm, importance(shape)),
        Measurements.weighted(shape, mixed, norm, importance(shape)),
        Measurements.weighted(
            shape, [Measurement(contrasts=part) for part in closure(PAIRS, shape)], norm, importance(shape)
        ),
    ]


each = pytest.mark.parametrize(
    "measurements",
    [one for shape in SHAPES for norm in ("l1", "l2") for one in strategies(shape, norm)],
)


def places(shape: Shape) -> np.ndarray:
    return np.array(list(product(*map(range, shape))), dtype=np.intp)


def matrix(measurements: Measurements) -> np.ndarray:
    """What is measured of a table, cell by cell."""
    return measurements.grid.values(measurements.contributions(places(measurements.shape))).T


@pytest.mark.parametrize("size", [2, 3, 7])
def test_a_contrast_is_a_projection_but_for_its_gain(size: int) -> None:
    contrast = Contrast(size)
    told = contrast.of(np.eye(size), 0)
    np.testing.assert_allclose(told.T @ told, contrast.gain * (np.eye(size) - 1 / size), atol=1e-12)
    np.testing.assert_allclose(contrast.back(told, 0), np.eye(size) - 1 / size, atol=1e-12)
    assert len(told) == contrast.numbers
    for norm, lengths in (("l1", np.abs(told).sum(axis=0)), ("l2", np.sqrt(np.square(told).sum(axis=0)))):
        np.testing.assert_allclose(lengths, contrast.length(norm))  # type: ignore[arg-type]


@each
def test_every_record_is_just_as_long_as_its_bound(measurements: Measurements) -> None:
    rows = matrix(measurements).T
    lengths = np.abs(rows).sum(axis=1) if measurements.norm == "l1" else np.sqrt(np.square(rows).sum(axis=1))
    np.testing.assert_allclose(lengths, measurements.bound.radius, rtol=2e-9)
    assert (lengths <= measurements.bound.radius).all()
    np.testing.assert_array_equal(measurements.bound.clip(rows), rows)
    assert measurements.bound.nonnegative == bool((rows >= 0).all())


@each
def test_estimates_and_variances_are_those_of_least_squares(measurements: Measurements) -> None:
    measured, shape = matrix(measurements), measurements.shape
    numbers = measured @ rng.poisson(20, measured.shape[1]) + rng.normal(size=len(measured))
    inverse = np.linalg.pinv(measured)
    found = measurements.residuals(numbers, stddev=3.0)
    for axes in PAIRS:
        own = sorted(axes)
        cells = list(product(*(range(shape[axis]) for axis in own)))
        sums = np.array([[float(tuple(place[own]) == cell) for place in places(shape)] for cell in cells])
        np.testing.assert_allclose(found.marginal(own).ravel(), sums @ inverse @ numbers, atol=1e-5)
        covariance = sums @ inverse @ inverse.T @ sums.T
        np.testing.assert_allclose(np.diag(covariance), found.variance(own) / 9, rtol=1e-6)


@each
def test_the_fused_sum_is_that_of_the_rows(measurements: Measurements) -> None:
    records = rng.integers(0, measurements.shape, (200, 3)).astype(np.float64)
    records[rng.uniform(size=records.shape) < 0.05] = np.nan
    schema = Schema({f"c{i}": Category(tuple(map(str, range(size)))) for i, size in enumerate(measurements.shape)})
    question = measurements.question(schema, Domain.of(schema, ("c0", "c1", "c2"), (0, 0, 0)))
    assert question.total is not None
    sums = question.steps(records).sum(axis=0)
    np.testing.assert_array_equal(question.total(records), sums)
    assert question.recipe is not None
    again = question_of(question.recipe, schema)
    assert again.total is not None
    np.testing.assert_array_equal(again.total(records), sums)
    assert again.bound == question.bound


def test_stacked_releases_are_estimated_at_once() -> None:
    measurements = strategies((2, 3, 4), "l2")[3]
    releases = rng.normal(size=(5, measurements.total_size))
    together = measurements.residuals(releases)
    for i, one in enumerate(releases):
        for axes, part in measurements.residuals(one).parts.items():
            np.testing.assert_allclose(together.parts[axes][i], part)
