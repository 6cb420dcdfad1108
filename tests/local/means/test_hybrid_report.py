"""Claims about PiecewiseReport and HybridReport: see also the tests of all randomisers."""

from __future__ import annotations

from discreet.local.means.hybrid_report import HybridReport, PiecewiseReport
from tests.local.means.number_trial import check_law, check_refusals
from tests.local.trial import ReportTrial

RANDOMIZERS = [
    kind(*given) for kind in (PiecewiseReport, HybridReport) for given in [(1.0,), (0.5, 10.0, 20.0), (2.0, -3.0, 5.0)]
]
TRIAL = ReportTrial(RANDOMIZERS, fingerprints={"piecewise": "a01bbbed4f06bf38", "hybrid": "5d2967853f6a8a35"})


def test_estimates_are_unbiased_with_the_variance_of_the_theory() -> None:
    for randomizer in RANDOMIZERS:
        check_law(randomizer)


def test_other_reports_and_bounds_are_refused() -> None:
    for kind in (PiecewiseReport, HybridReport):
        check_refusals(kind(1.0))
