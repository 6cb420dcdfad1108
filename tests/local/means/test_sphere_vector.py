"""Claims about reports by PrivUnit: see also the tests of all randomisers."""

from __future__ import annotations

from discreet.local.means.sphere_vector import SphereVector
from discreet.mechanisms import SphereReport
from tests.local.means.vector_trial import check_law, check_refusals
from tests.local.trial import ReportTrial

RANDOMIZERS = [SphereVector(1.0), SphereVector(3.0, size=5, radius=7.0)]
TRIAL = ReportTrial(RANDOMIZERS, fingerprints={"sphere_vector": "a16b52d117dffa2c"})


def test_estimates_are_unbiased_with_the_variance_of_the_theory() -> None:
    for randomizer in RANDOMIZERS:
        check_law(randomizer)


def test_the_price_is_that_of_the_mechanism() -> None:
    assert SphereVector(2.0, size=9).event == SphereReport(2.0).event


def test_other_reports_and_vectors_are_refused() -> None:
    check_refusals(RANDOMIZERS[1])
