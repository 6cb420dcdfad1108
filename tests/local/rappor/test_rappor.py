"""RAPPOR reports and what is counted of them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting import accountant
from discreet.core.errors import ParameterError
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_parameters import bloom_positions
from discreet.noise.deterministic import DeterministicBits
from tests.local.trial import ReportTrial

RANDOMIZERS = [Rappor(), Rappor(bits=12, hashes=1, cohorts=3, f=0.25, p=0.7, q=0.4)]
TRIAL = ReportTrial(RANDOMIZERS, fingerprints={"rappor": "004f741036a35974"})


def test_the_price_is_the_published_one_and_follows_from_the_parameters() -> None:
    for rappor in RANDOMIZERS:
        assert accountant.pure_epsilon(rappor.event) == pytest.approx(rappor.epsilon_one, rel=1e-12)
        assert rappor.epsilon == rappor.epsilon_one
    with pytest.raises(TypeError):
        Rappor(epsilon=1.0)  # type: ignore[call-arg]


def test_bits_are_ones_with_the_probabilities_of_their_filters() -> None:
    """40,000 coins have a standard error of 0.0025."""
    for rappor in RANDOMIZERS:
        reports = rappor.reports(["abc"] * 40_000, DeterministicBits(3))
        cohorts, rows = rappor.cohort_of(reports), rappor.bits_of(reports)
        assert (np.bincount(cohorts, minlength=rappor.cohorts) > 20_000 / rappor.cohorts).all()
        set_ = np.zeros(rows.shape, bool)
        for cohort in range(rappor.cohorts):
            set_[np.ix_(cohorts == cohort, bloom_positions(rappor, "abc", cohort))] = True
        assert rows[set_].mean() == pytest.approx(rappor.one_if_set, abs=0.0125)
        assert rows[~set_].mean() == pytest.approx(rappor.one_if_clear, abs=0.0125)


def test_the_tally_counts_reports_and_ones_of_each_cohort() -> None:
    rappor = RANDOMIZERS[1]
    reports = rappor.reports(["a", "b"] * 50, DeterministicBits(4))
    tally, cohorts, rows = rappor.tallied(reports), rappor.cohort_of(reports), rappor.bits_of(reports)
    for cohort in range(3):
        assert tally[cohort].tolist() == [(cohorts == cohort).sum(), *rows[cohorts == cohort].sum(axis=0)]
    assert rappor.tallied(reports[:0]).tolist() == [[0] * 13] * 3


def test_reports_that_cannot_be_are_refused() -> None:
    rappor = RANDOMIZERS[1]
    good = rappor.reports(["a"], DeterministicBits(5))
    cohort, bit, short = good.copy(), good.copy(), good[:, :-1]
    cohort[0, 0], bit[0, -1] = 3, bit[0, -1] | 0x80
    for wrong in (cohort, bit, short, good.astype(float), good[0]):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            rappor.accepted(wrong)
    assert rappor.accepted(good) is good
