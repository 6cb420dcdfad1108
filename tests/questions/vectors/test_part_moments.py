"""Shares, sums and products of the parts of a mixture, one by one."""

from __future__ import annotations

import numpy as np

from discreet.core.neighbors import Neighbors
from discreet.questions.vectors.part_moments import part_moments_of, part_shares_of
from tests.questions.trial import FEATURES, SCHEMA, Trial, summed
from tests.questions.vectors.test_mixture_moments import FACTORS, START, shares

MIXTURE = {name: START[name] for name in ("columns", "weights", "means", "factors")}
FORGED = [{"weights": np.array([0.0, 1.0])}, {"factors": -FACTORS}]
TRIALS = {
    "part_shares": Trial(MIXTURE, "467e94845cef", forged=FORGED),
    "part_moments": Trial(
        {**MIXTURE, "part": 1, "degree": 2}, "f83a3ef51cc2", forged=[*FORGED, {"part": 2}, {"degree": 3}]
    ),
}


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
