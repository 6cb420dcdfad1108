"""Joint distributions from pairs of reports."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.accounting import accountant
from discreet.core.errors import ParameterError
from discreet.local.rappor.association import OTHER, StringReports, association
from discreet.local.rappor.rappor import Rappor
from discreet.noise.deterministic import DeterministicBits

RAPPOR = Rappor(bits=16, hashes=2, cohorts=8, f=0.25, p=0.25, q=0.75)
JOINT = np.array([[0.4, 0.05, 0.05], [0.05, 0.3, 0.15]])


def pairs(n: int, seed: int) -> tuple[StringReports, StringReports]:
    """Rows a, b; columns x, y, and z, which is no candidate."""
    cells = np.random.default_rng(seed).choice(6, n, p=JOINT.ravel())
    bits = DeterministicBits(seed)
    first = RAPPOR.reports([("a", "b")[cell // 3] for cell in cells], bits)
    second = RAPPOR.reports([("x", "y", "z")[cell % 3] for cell in cells], bits)
    return StringReports(RAPPOR, first, ["a", "b"]), StringReports(RAPPOR, second, ["x", "y"])


def test_likelihoods_are_products_over_bits() -> None:
    given = pairs(50, 1)[0]
    found = given.likelihoods()
    for report, row in zip(given.reports, found, strict=True):
        bits, cohort = RAPPOR.bits_of(report[None])[0], int(RAPPOR.cohort_of(report[None])[0])
        exact = []
        for value in given.candidates:
            filter_ = np.zeros(16, bool)
            filter_[list(positions(value, cohort))] = True
            ones = np.where(filter_, RAPPOR.one_if_set, RAPPOR.one_if_clear)
            exact.append(math.prod(np.where(bits, ones, 1 - ones)))
        assert row[0] / row[1] == pytest.approx(exact[0] / exact[1], rel=1e-5)


def positions(value: str, cohort: int) -> tuple[int, ...]:
    from discreet.local.rappor.rappor_parameters import bloom_positions

    return bloom_positions(RAPPOR, value, cohort)


def test_the_joint_distribution_is_found_within_its_errors() -> None:
    """Errors of 12 draws in units of their own; a share for others, which nobody has, takes up to one unit of each."""
    errors = []
    for seed in range(12):
        first, second = pairs(20_000, seed)
        found = association(first, StringReports(RAPPOR, second.reports, ["x", "y", "z"]))
        errors.append((found.shares[:2, :3] - JOINT) / found.errors[:2, :3])
    assert np.abs(np.mean(errors, axis=0)).max() < 2.0
    assert 0.6 < np.std(errors) < 1.5
    assert found.first == ("a", "b", OTHER)
    assert found.shares.sum() == pytest.approx(1.0)
    assert found.shares[2].sum() < 0.05


def test_a_string_that_is_no_candidate_counts_among_the_others() -> None:
    found = association(*pairs(20_000, 0))
    assert np.abs(found.shares[:2] - JOINT).max() < 0.04


def test_two_reports_cost_twice_as_much() -> None:
    found = association(*pairs(200, 0))
    assert accountant.pure_epsilon(found.event) == pytest.approx(2 * RAPPOR.epsilon, rel=1e-9)


def test_reports_that_are_not_pairs_are_refused() -> None:
    first, second = pairs(20, 0)
    for wrong in (StringReports(RAPPOR, second.reports[:-1], ["x"]), StringReports(RAPPOR, second.reports[:0], ["x"])):
        with pytest.raises(ParameterError, match="one pair of reports"):
            association(first, wrong)
