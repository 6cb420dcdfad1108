"""Projective geometry response: the choice of the space, and its variance."""

from __future__ import annotations

import math

from discreet.local.oracles.projective_geometry import ProjectiveGeometry
from tests.local.trial import ReportTrial

TRIAL = ReportTrial(
    [ProjectiveGeometry(), ProjectiveGeometry(0.3, 2), ProjectiveGeometry(3.0, 200)],
    fingerprints={"pgr": "7d719d718424c4c0"},
)


def test_the_variance_is_close_to_that_of_unary_encoding_and_the_space_small() -> None:
    for epsilon in (0.2, 0.5, 1.0, 2.0, 4.0):
        for size in (30, 1000, 10_000, 100_000):
            oracle = ProjectiveGeometry(epsilon, size)
            assert oracle.noise < 1.1 * 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2
            assert oracle.codes >= size
            assert oracle.space.vectors < 2**24
