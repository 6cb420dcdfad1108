"""Hadamard sketch: what the audit tries."""

from __future__ import annotations

from discreet.local.oracles.hadamard_sketch import HadamardSketch
from tests.local.trial import ReportTrial

TRIAL = ReportTrial([HadamardSketch(), HadamardSketch(2.0, 50, 3, 8)], fingerprints={"hcms": "6a7fd8041925e5b1"})


def test_a_report_is_short_whatever_the_domain_is() -> None:
    assert HadamardSketch(1.0, 10**6).form.itemsize == 4
