"""Claims about reports by half of the sphere: see also the tests of all randomisers."""

from __future__ import annotations

import pytest

from discreet.local.means.duchi_report import DuchiReport
from discreet.local.means.half_sphere import HalfSphereVector
from tests.local.means.vector_trial import check_law, check_refusals
from tests.local.trial import ReportTrial

RANDOMIZERS = [HalfSphereVector(1.0), HalfSphereVector(3.0, size=5, radius=7.0)]
TRIAL = ReportTrial(RANDOMIZERS, fingerprints={"half_sphere_vector": "a82a658ec5547cd9"})


def test_estimates_are_unbiased_with_the_variance_of_the_theory() -> None:
    for randomizer in RANDOMIZERS:
        check_law(randomizer)


def test_one_coordinate_is_one_bit() -> None:
    one = HalfSphereVector(1.0, size=1)
    assert one.length == pytest.approx(DuchiReport(1.0).reach)


def test_other_reports_and_vectors_are_refused() -> None:
    check_refusals(RANDOMIZERS[1])
