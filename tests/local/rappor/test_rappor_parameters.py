"""What RAPPOR reports cost."""

from __future__ import annotations

import hashlib
import itertools
import math
import struct

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.rappor.rappor_parameters import (
    RapporParameters,
    all_positions,
    bloom_design,
    bloom_positions,
    bloom_rows,
)

SETTINGS = [(0.5, 0.5, 0.75), (0.45, 0.39, 0.61), (0.0, 0.225, 0.775), (0.25, 0.75, 0.5), (0.5, 0.0, 1.0)]


def likelihood(setup: RapporParameters, bloom: tuple[int, ...], reports: tuple[int, ...]) -> float:
    """Of a single report, summed over all permanent responses."""
    total = 1.0
    for bit, one in zip(bloom, reports, strict=True):
        set_ = 1 - setup.f / 2 if bit else setup.f / 2
        given = [setup.q if one else 1 - setup.q, setup.p if one else 1 - setup.p]
        total *= set_ * given[0] + (1 - set_) * given[1]
    return total


def test_one_report_costs_the_greatest_likelihood_ratio_of_two_values() -> None:
    for f, p, q in SETTINGS:
        for hashes in (1, 2):
            setup = RapporParameters(bits=4, hashes=hashes, cohorts=1, f=f, p=p, q=q)
            filters = [bloom for bloom in itertools.product((0, 1), repeat=4) if 1 <= sum(bloom) <= hashes]
            worst = max(
                math.log(likelihood(setup, first, report) / likelihood(setup, second, report))
                for first, second in itertools.permutations(filters, 2)
                for report in itertools.product((0, 1), repeat=4)
            )
            assert worst == pytest.approx(setup.epsilon_one, rel=1e-12)
            assert worst <= setup.epsilon_one


def test_the_published_figures_are_met() -> None:
    """The setting of the paper's collection, and google/rappor's `eps_1_1` and `eps_1_5`."""
    found = [RapporParameters(hashes=2, f=f, p=p, q=q) for f, p, q in SETTINGS[:3]]
    assert [round(setup.epsilon_one, 4) for setup in found] == [1.0743, 0.9728, 4.9471]
    assert [round(setup.epsilon_infinity, 4) for setup in found] == [4.3944, 4.9471, math.inf]


def test_the_price_grows_with_reports_from_one_to_that_of_the_permanent_response() -> None:
    setup = RapporParameters(f=0.5, p=0.5, q=0.75)
    prices = [setup.epsilon_of(reports) for reports in (1, 2, 5, 20, 10**6)]
    assert prices == sorted(prices)
    assert prices[0] == setup.epsilon_one
    assert prices[-1] == pytest.approx(setup.epsilon_infinity, rel=1e-12)
    assert RapporParameters(f=0.0, p=0.25, q=0.75).epsilon_of(100) == pytest.approx(400 * math.log(3))


def test_the_survey_s_labels_are_not_swapped() -> None:
    setup = RapporParameters(f=0.5, p=0.5, q=0.75)
    assert (setup.one_if_set, setup.one_if_clear) == (0.6875, 0.5625)
    assert setup.slope == setup.one_if_set - setup.one_if_clear


def test_parameters_that_cannot_be_are_refused() -> None:
    wrong = [{"f": 1.5}, {"f": 1e-9}, {"f": 1.0}, {"p": 0.5, "q": 0.5}, {"q": 1.1}, {"hashes": 17}, {"bits": 0}]
    for one in (*wrong, {"cohorts": 0}, {"f": math.nan}):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            RapporParameters(**one)  # type: ignore[arg-type]


def test_positions_are_bytes_of_md5() -> None:
    for bits, cohort, value in ((16, 0, "abc"), (32, 3, "foo"), (128, 15, "naïve")):
        digest = hashlib.md5(struct.pack(">L", cohort) + value.encode()).digest()
        found = bloom_positions(RapporParameters(bits=bits, hashes=3), value, cohort)
        assert found == tuple(byte % bits for byte in digest[:3])


def test_long_filters_are_used_to_their_end() -> None:
    setup = RapporParameters(bits=5000, hashes=2, cohorts=100)
    positions = all_positions(setup, [f"v{i}" for i in range(20)])
    assert positions.min() < 100
    assert positions.max() > 4900
    assert positions.max() < 5000


def test_the_design_has_the_filters_in_its_columns() -> None:
    setup = RapporParameters(bits=8, hashes=2, cohorts=64)
    values = ["a", "b", "c"]
    design = bloom_design(setup, values).toarray()
    for place, value in enumerate(values):
        rows = bloom_rows(setup, np.array([bloom_positions(setup, value, cohort) for cohort in range(64)]))
        assert (design[:, place] == rows.ravel()).all()
    assert design.max() == 1
    assert design.sum(axis=0).min() < 128  # some hash functions agree
