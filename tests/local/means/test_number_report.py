"""Claims about DuchiReport: see also the tests of all randomisers."""

from __future__ import annotations

from discreet.local.means.number_report import DuchiReport
from tests.local.means.number_trial import check_law, check_refusals
from tests.local.trial import ReportTrial

RANDOMIZERS = [DuchiReport(1.0), DuchiReport(0.5, 10.0, 20.0), DuchiReport(2.0, -3.0, 5.0)]
TRIAL = ReportTrial(RANDOMIZERS, fingerprints={"two_point": "0b7ad752d785dc0d"})


def test_estimates_are_unbiased_with_the_variance_of_the_theory() -> None:
    for randomizer in RANDOMIZERS:
        check_law(randomizer)


def test_other_reports_and_bounds_are_refused() -> None:
    check_refusals(RANDOMIZERS[0])
