"""A witness: an event that is likelier on one of two data sets, with what that shows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from discreet.audit.witness import Count, Witness, at_least, at_most

PLAIN = {"Witness": "its event is written by the audit, of numbers alone"}
"""Why these print no texts of others: see `tests/conformance/test_plain_text.py`."""

RISKS = (0.05, 1e-3, 1e-8)


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("trials", [1, 10, 1000, 10**6])
def test_the_bounds_are_where_the_binomial_tail_equals_the_risk(trials: int, risk: float) -> None:
    hits = np.unique(np.array([0, 1, trials // 7, trials // 2]))
    tails = stats.binom.cdf(hits, trials, at_most(hits, trials, risk))
    assert tails[hits < trials] == pytest.approx(risk, rel=1e-3, abs=0.0)
    tails = stats.binom.sf(hits - 1, trials, at_least(hits, trials, risk))
    assert tails[hits > 0] == pytest.approx(risk, rel=1e-3, abs=0.0)


def test_rounding_is_on_the_safe_side_even_at_tiny_risks() -> None:
    hits, risk = np.arange(1, 99_999, 1777), 1e-13
    assert np.all(stats.binom.sf(hits - 1, 99_999, at_least(hits, 99_999, risk)) <= risk)
    assert np.all(stats.binom.cdf(hits, 99_999, at_most(hits, 99_999, risk)) <= risk)


@pytest.mark.parametrize("risk", [0.2, 0.01])
def test_the_true_proportion_is_missed_with_at_most_the_risk(risk: float) -> None:
    trials = 37
    hits = np.arange(trials + 1)
    least, most = at_least(hits, trials, risk), at_most(hits, trials, risk)
    for true in np.linspace(0.0, 1.0, 101):
        masses = stats.binom.pmf(hits, trials, true)
        assert masses[least > true].sum() <= risk * (1 + 1e-9)
        assert masses[most < true].sum() <= risk * (1 + 1e-9)


def test_no_hits_and_only_hits_leave_one_side_open() -> None:
    assert at_least(0, 50, 0.01) == 0.0
    assert at_most(50, 50, 0.01) == 1.0
    assert at_most(0, 50, 0.01) == pytest.approx(1 - 0.01 ** (1 / 50), rel=1e-9)
    assert at_least(50, 50, 0.01) == pytest.approx(0.01 ** (1 / 50), rel=1e-9)


def test_what_it_shows_is_on_the_safe_side_and_grows_with_the_trials() -> None:
    few, many = (Witness("output > 0", "first", Count(9 * n, 10 * n), Count(n, 10 * n), 1e-4) for n in (10, 10_000))
    assert few.epsilon(0.0) < many.epsilon(0.0) < math.log(9)
    assert few.least < 0.9
    assert few.most > 0.1
    assert many.epsilon(0.9) == 0.0
