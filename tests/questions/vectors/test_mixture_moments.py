"""Mixture moments: shares, residuals and products of each part."""

from __future__ import annotations

from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
import pytest

from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.learners.clusters.mixture import Mixture
from discreet.questions.vectors.directed_products import on_grid
from discreet.questions.vectors.mixture_moments import (
    COUNT,
    RESIDUAL,
    MixturePart,
    mixture_moments_of,
    part_moments_of,
    part_shares_of,
)
from tests.questions.trial import FEATURES, SCHEMA, Trial, summed

FACTORS = np.array([np.eye(FEATURES) * 2, np.triu(np.full((FEATURES, FEATURES), 0.5)) + np.eye(FEATURES)])
START: dict[str, Any] = {
    "columns": SCHEMA.features,
    "weights": np.array([0.25, 0.75]),
    "means": np.array([[0.5] * FEATURES, [-0.25] * FEATURES]),
    "factors": FACTORS,
    "radii": np.array([0.5, 1.0]),
}
MIXTURE = {name: START[name] for name in ("columns", "weights", "means", "factors")}
FORGED = [{"weights": np.array([0.0, 1.0])}, {"factors": -FACTORS}]
TRIALS = {
    "mixture_moments": Trial(
        START,
        "8e09c54e562f",
        forged=[
            {"weights": np.array([0.0, 1.0])},
            {"radii": np.array([0.5])},
            {"factors": -FACTORS},
            {"means": START["means"] / 3},
        ],
    ),
    "part_shares": Trial(MIXTURE, "467e94845cef", forged=FORGED),
    "part_moments": Trial(
        {**MIXTURE, "part": 1, "degree": 2}, "f83a3ef51cc2", forged=[*FORGED, {"part": 2}, {"degree": 3}]
    ),
}


def shares(scaled: Array) -> Array:
    mixture = Mixture(START["weights"], START["means"], np.stack([np.linalg.inv(one @ one.T) for one in FACTORS]))
    return mixture.shares(scaled)


def test_the_sums_are_those_of_shares_residuals_and_products() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled
    found = summed(mixture_moments_of(SCHEMA, **START), np.vstack([records, [[np.nan] * FEATURES]])).reshape(2, -1)
    own = shares(scaled)
    np.testing.assert_allclose(found[:, 0], COUNT * own.sum(axis=0), rtol=1e-3)
    for part in range(2):
        away = scaled - START["means"][part]
        unit = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), START["radii"][part])
        np.testing.assert_allclose(found[part, 1 : 1 + FEATURES], RESIDUAL * own[:, part] @ unit, atol=2e-2)
        square = (unit * own[:, [part]]).T @ unit
        weights = np.where(np.eye(FEATURES), 1.0, 11 / 8)
        np.testing.assert_allclose(
            found[part, 1 + FEATURES :], (square * weights)[np.triu_indices(FEATURES)], atol=2e-2
        )


def test_a_record_of_one_part_fills_the_bound_and_one_of_two_does_not() -> None:
    """At the radius from the only part that it belongs to, its vector is as long as the bound, less cut steps."""
    question = mixture_moments_of(SCHEMA, **{**START, "radii": np.array([2.0**-10, 2.0**-10])})
    record = np.array([[110.0, 1.0, 1e48]])
    length = np.linalg.norm(question.grid.values(question.steps(record)))
    assert 0.9 * question.bound.radius < length <= question.bound.radius
    half = mixture_moments_of(
        SCHEMA, SCHEMA.features, np.full(2, 0.5), np.zeros((2, FEATURES)), FACTORS[[0, 0]], np.full(2, 2.0**-10)
    )
    assert np.linalg.norm(half.grid.values(half.steps(record))) == pytest.approx(length / np.sqrt(2), rel=0.02)


def test_products_with_a_part_are_exact() -> None:
    """So that a record's share does not depend on the batch that it is in, whatever order a matrix product adds in."""
    rng = np.random.default_rng(5)
    part = MixturePart.of(0.3, on_grid(rng.uniform(-1, 1, 6)), np.triu(rng.uniform(0.1, 900.0, (6, 6))), 1.0)
    away = on_grid(rng.uniform(-1, 1, (6, 40))) - part.mean
    rows, columns = part.inverse.tolist(), away.T.tolist()
    exact = [[sum(map(mul, map(Fraction, row), map(Fraction, column))) for column in columns] for row in rows]
    assert [[Fraction(value) for value in row] for row in (part.inverse @ away).tolist()] == exact


def test_the_sums_are_those_of_shares_records_and_products() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.vstack([np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled, [[np.nan] * FEATURES]])
    own, u = shares(scaled), scaled / np.sqrt(FEATURES)
    np.testing.assert_allclose(summed(part_shares_of(SCHEMA, **MIXTURE), records), own.sum(axis=0), rtol=1e-3)
    for part in range(2):
        found = [summed(part_moments_of(SCHEMA, **MIXTURE, part=part, degree=degree), records) for degree in (1, 2)]
        np.testing.assert_allclose(found[0], own[:, part] @ u, atol=2e-2)
        products = (u * own[:, [part]]).T @ u
        np.testing.assert_allclose(found[1], products[np.triu_indices(FEATURES)], atol=2e-2)


def test_sensitivities_are_those_of_the_repaired_algorithm() -> None:
    """Of sums, where a record is replaced: 2 in l1 and sqrt(2) in l2 for shares, 2 for means, sqrt(2) for products."""
    replaced = Neighbors.REPLACE
    counts = part_shares_of(SCHEMA, **MIXTURE)
    np.testing.assert_allclose(counts.bound.sensitivity("l1", 2, replaced), 2, rtol=1e-6)
    np.testing.assert_allclose(counts.bound.sensitivity("l2", 2, replaced), np.sqrt(2), rtol=1e-6)
    for degree, reach in ((1, 2.0), (2, np.sqrt(2))):
        question = part_moments_of(SCHEMA, **MIXTURE, part=0, degree=degree)
        np.testing.assert_allclose(question.bound.sensitivity("l2", question.size, replaced), reach, rtol=1e-4)
