"""Frequent strings: those that are frequent are found, no others, and within their errors."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.aggregator import Aggregator
from discreet.local.strings.prefix_extension import PrefixExtension
from discreet.noise.deterministic import DeterministicBits
from tests.local.trial import ReportTrial

TRIAL = ReportTrial(
    [PrefixExtension(), PrefixExtension(2.0, 3, first=1, functions=2, cells=8)],
    fingerprints={"pem": "71919be36a93fb64"},
)
FREQUENT = {"sun": 0.3, "sundae": 0.2, "zürich": 0.15}


def found(n: int, randomizer: PrefixExtension, seed: int = 1) -> dict[str, float]:
    """The strings of n people, of whom some have strings of their own."""
    strings = [text for text, share in FREQUENT.items() for _ in range(round(share * n))]
    strings += [f"{i:x}" for i in range(n - len(strings))]
    reports = Aggregator(randomizer, simulated=True)
    reports.add(randomizer.reports(strings, DeterministicBits(seed)))
    table = reports.estimate()
    return dict(zip(table.labels["string"], table.values.tolist(), strict=True))


def test_frequent_strings_are_found_and_no_others() -> None:
    shares = found(60_000, PrefixExtension(3.0, length=7))
    assert set(shares) == set(FREQUENT)
    assert all(abs(shares[text] - share) < 0.06 for text, share in FREQUENT.items())  # 5 standard errors


def test_nothing_is_found_where_nothing_is_frequent() -> None:
    randomizer = PrefixExtension(1.0, length=3, first=1)
    for seed in range(5):
        reports = Aggregator(randomizer)
        reports.add(randomizer.reports([f"{i:x}" for i in range(3000)], DeterministicBits(seed)))
        assert len(reports.estimate(confidence=0.999)) == 0


def test_estimates_are_unbiased_with_the_errors_that_are_stated() -> None:
    """The share of a prefix over forty choices of the functions and of the noise."""
    errors = []
    for seed in range(40):
        randomizer = PrefixExtension(1.0, 3, functions=2, cells=16, seed=seed)
        reports = randomizer.reports(["abc"] * 600 + ["xyz"] * 600, DeterministicBits(seed))
        level = randomizer._level(randomizer.tallied(reports)[0])
        errors.append((level.shares(randomizer, [b"ab", b"no"]) - [0.5, 0.0]) / level.error)
    assert np.abs(np.mean(errors, axis=0)).max() < 4 / np.sqrt(40)
    assert 0.4 < np.mean(np.square(errors)) < 1.2  # collisions are taken at their worst


def test_what_is_not_a_string_and_reports_that_nobody_can_make_are_refused() -> None:
    randomizer = PrefixExtension()
    for wrong in ("", 3, None, "a\0b"):
        with pytest.raises(ParameterError, match="is not a string"):
            randomizer.reports([wrong], DeterministicBits(1))
    for reports in ([2 * 5 * 16 * 1024], [-1], [0.5]):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            randomizer.accepted(np.asarray(reports))
    for how in ({"length": 2}, {"first": 3}, {"cells": 100}, {"functions": 0}):
        with pytest.raises(ParameterError):
            PrefixExtension(1.0, **how)
