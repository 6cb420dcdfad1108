"""The exact price of several reports under one permanent response."""

from __future__ import annotations

import itertools
import math

import pytest

from discreet.accounting import accountant
from discreet.core.events import read, written
from discreet.local.rappor.rappor_parameters import RapporParameters
from discreet.local.rappor.reports_loss import ReportsLoss


def brute_force(setup: RapporParameters, reports: int, epsilon: float) -> float:
    """By every sequence of reports of every bit, and every permanent response."""

    def chance(sequence: tuple[int, ...], bit: int) -> float:
        ones, keep = sum(sequence), 1 - setup.f / 2
        given = [q**ones * (1 - q) ** (len(sequence) - ones) for q in (setup.p, setup.q)]
        return keep * given[bit] + (1 - keep) * given[1 - bit]

    delta, h = 0.0, setup.hashes
    for sequences in itertools.product(itertools.product((0, 1), repeat=reports), repeat=2 * h):
        first = math.prod(chance(one, int(place < h)) for place, one in enumerate(sequences))
        second = math.prod(chance(one, int(place >= h)) for place, one in enumerate(sequences))
        delta += max(0.0, first - math.exp(epsilon) * second)
    return delta


def test_the_curve_is_that_of_all_sequences_of_reports() -> None:
    for hashes, reports in ((1, 1), (1, 4), (2, 1), (2, 2)):
        for f, p, q in ((0.5, 0.5, 0.75), (0.25, 0.9, 0.3), (0.0, 0.2, 0.6)):
            loss = ReportsLoss(RapporParameters(hashes=hashes, f=f, p=p, q=q), reports)
            for epsilon in (0.0, 0.5, 1.0, 2.5):
                exact = brute_force(loss.parameters, reports, epsilon)
                assert loss.delta(epsilon) == pytest.approx(exact, rel=1e-9, abs=1e-12)
                assert accountant.delta(loss.event, epsilon) >= exact * (1 - 1e-12)
                assert accountant.delta(loss.event, epsilon) == pytest.approx(exact, rel=2e-3, abs=1e-7)


def test_the_event_has_the_pure_price_and_can_be_written() -> None:
    for reports in (1, 3, 50, 5000):
        loss = ReportsLoss(RapporParameters(), reports)
        assert accountant.pure_epsilon(loss.event) == pytest.approx(loss.parameters.epsilon_of(reports), rel=1e-9)
        assert read(written(loss.event)) == loss.event


def test_many_reports_cost_what_the_permanent_response_costs() -> None:
    """Without a second randomisation, one report is the permanent response."""
    many, whole = ReportsLoss(RapporParameters(), 5000), ReportsLoss(RapporParameters(p=0.0, q=1.0), 1)
    for epsilon in (0.0, 1.0, 2.0, 4.0):
        assert many.delta(epsilon) == pytest.approx(whole.delta(epsilon), abs=1e-9)


def test_reports_that_exclude_a_value_cost_infinitely_much_with_their_probability() -> None:
    loss = ReportsLoss(RapporParameters(hashes=1, f=0.0, p=0.0, q=0.75), 2)
    assert loss.delta(50.0) == pytest.approx(1 - 0.25**2)
    assert accountant.delta(loss.event, 50.0) == pytest.approx(1 - 0.25**2)
