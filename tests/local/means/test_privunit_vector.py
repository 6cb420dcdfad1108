"""Claims about reports of vectors: see also the tests of all randomisers."""

from __future__ import annotations

import pytest

from discreet.local.means.number_report import DuchiReport
from discreet.local.means.privunit_vector import DuchiVector, PrivUnitVector
from discreet.mechanisms import SphereReport
from tests.local.means.vector_trial import check_law, check_refusals
from tests.local.trial import ReportTrial

RANDOMIZERS = [
    PrivUnitVector(1.0),
    PrivUnitVector(3.0, size=5, radius=7.0),
    DuchiVector(1.0),
    DuchiVector(3.0, size=5, radius=7.0),
]
TRIAL = ReportTrial(
    RANDOMIZERS, fingerprints={"sphere_vector": "a16b52d117dffa2c", "half_sphere_vector": "a82a658ec5547cd9"}
)


def test_estimates_are_unbiased_with_the_variance_of_the_theory() -> None:
    for randomizer in RANDOMIZERS:
        check_law(randomizer)


def test_the_price_is_that_of_the_mechanism() -> None:
    assert PrivUnitVector(2.0, size=9).event == SphereReport(2.0).event


def test_other_reports_and_vectors_are_refused() -> None:
    for kind in (PrivUnitVector, DuchiVector):
        check_refusals(kind(3.0, size=5, radius=7.0))


def test_one_coordinate_is_one_bit() -> None:
    one = DuchiVector(1.0, size=1)
    assert one.length == pytest.approx(DuchiReport(1.0).reach)
