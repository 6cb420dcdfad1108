"""Strings without a list of candidates."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet.accounting import accountant
from discreet.core.errors import ParameterError
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.unknown_strings import UnknownStrings
from discreet.noise.deterministic import DeterministicBits

RAPPOR = Rappor(bits=32, hashes=2, cohorts=16, f=0.0, p=0.25, q=0.75)
COLLECTION = UnknownStrings(RAPPOR, RAPPOR, "abcdefgh", length=6)


def test_common_strings_are_found_that_nobody_listed() -> None:
    sure = {"aba   ", "beaded", "facade", "gag   "}
    strings, shares = ["aba", "beaded", "facade", "gag", "headache"], [0.3, 0.25, 0.2, 0.15, 0.1]
    values = np.random.default_rng(0).choice(strings, 60_000, p=shares).tolist()
    reports = COLLECTION.reports(values, DeterministicBits(1))
    candidates = COLLECTION.candidates(reports)
    assert set(candidates) >= sure
    assert len(candidates) < 40
    found = COLLECTION.decoded(reports, simulated=True)
    assert (
        {"aba   ", "beaded", "facade", "gag   "}
        <= set(found.found)
        <= {"aba   ", "beaded", "facade", "gag   ", "headac"}
    )
    assert abs(found.counts[found.found.index("beaded")] - 15_000) < 5 * found.errors[found.found.index("beaded")]


def test_three_reports_cost_three_times_as_much() -> None:
    assert accountant.pure_epsilon(COLLECTION.event) == pytest.approx(3 * RAPPOR.epsilon, rel=1e-9)


def test_places_are_drawn_without_looking_at_the_string() -> None:
    reports = COLLECTION.reports(["a"] * 300 + ["hhhhhh"] * 300, DeterministicBits(2))
    assert (reports.places[:, 0] < reports.places[:, 1]).all()
    for half in (reports.places[:300], reports.places[300:]):
        assert (np.bincount(half.ravel(), minlength=3) > 150).all()


def test_lengths_and_alphabets_that_cannot_be_are_refused() -> None:
    for alphabet, length, size in (("ab", 5, 2), ("ab", 2, 2), ("", 4, 2), ("abcdefghijklmnopqrstuvwxyz" * 2, 6, 3)):
        with pytest.raises(ParameterError, match="unknown strings"):
            UnknownStrings(RAPPOR, RAPPOR, alphabet, length=length, size=size)


def test_reports_that_no_client_can_send_are_refused() -> None:
    strings = UnknownStrings(Rappor(), Rappor(), "abc", length=6, size=2)
    right = strings.reports(["abcabc", "aabbcc"], DeterministicBits(1))
    assert strings.accepted(right) is right
    for places in ([[0, 3], [0, 1]], [[1, 0], [0, 1]], [[1, 1], [0, 1]], [[-1, 1], [0, 1]], [[0, 1]], [[0.0, 1.0]] * 2):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            strings.accepted(dataclasses.replace(right, places=np.array(places)))
    for wrong in ({"whole": right.whole[:1]}, {"parts": right.parts[:, :1]}, {"parts": right.parts | 0xFF}):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            strings.decoded(dataclasses.replace(right, **wrong))
