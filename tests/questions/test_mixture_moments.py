"""Mixture moments: shares, residuals and products of each part."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import multivariate_normal

from discreet.questions.mixture_moments import log_densities, mixture_moments_of
from tests.questions.trial import FEATURES, SCHEMA, Trial, summed

FACTORS = np.array([np.eye(FEATURES) * 2, np.triu(np.full((FEATURES, FEATURES), 0.5)) + np.eye(FEATURES)])
START: dict[str, Any] = {
    "columns": SCHEMA.features,
    "weights": np.array([0.25, 0.75]),
    "means": np.array([[0.5] * FEATURES, [-0.25] * FEATURES]),
    "factors": FACTORS,
    "radii": np.array([0.5, 1.0]),
}
TRIALS = {
    "mixture_moments": Trial(
        START,
        "b8099175ac43",
        forged=[{"weights": np.array([0.0, 1.0])}, {"radii": np.array([0.5])}, {"factors": -FACTORS}],
        portable=False,
    )
}


def test_densities_are_those_of_the_parts() -> None:
    records = np.random.default_rng(4).uniform(-1, 1, (20, FEATURES))
    logs = log_densities(records, START["weights"], START["means"], FACTORS)
    for part in range(2):
        covariance = np.linalg.inv(FACTORS[part] @ FACTORS[part].T)
        law = multivariate_normal(START["means"][part], covariance)
        np.testing.assert_allclose(logs[:, part], np.log(START["weights"][part]) + law.logpdf(records))


def test_the_sums_are_those_of_shares_residuals_and_products() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled
    found = summed(mixture_moments_of(SCHEMA, **START), np.vstack([records, [[np.nan] * FEATURES]])).reshape(2, -1)
    densities = np.exp(log_densities(scaled, START["weights"], START["means"], FACTORS))
    shares = densities / densities.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found[:, 0], 0.7 * shares.sum(axis=0), rtol=1e-4)
    for part in range(2):
        away = scaled - START["means"][part]
        unit = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), START["radii"][part])
        np.testing.assert_allclose(found[part, 1 : 1 + FEATURES], shares[:, part] @ unit, atol=1e-2)
        square = (unit * shares[:, [part]]).T @ unit
        weights = np.where(np.eye(FEATURES), 1.0, 11 / 8)
        np.testing.assert_allclose(
            found[part, 1 + FEATURES :], (square * weights)[np.triu_indices(FEATURES)], atol=1e-2
        )
