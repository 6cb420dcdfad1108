"""Strings without a list of candidates."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from discreet.accounting import accountant
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.local.randomizer import Reports
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_parameters import bloom_positions
from discreet.local.rappor.unknown_strings import UnknownStrings
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Drawn, with_less_noise
from tests.local.trial import ReportTrial

RAPPOR = Rappor(bits=32, hashes=2, cohorts=16, f=0.0, p=0.25, q=0.75)
COLLECTION = UnknownStrings(RAPPOR, RAPPOR, "abcdefgh", length=6)

LETTER = Rappor(bits=16, hashes=1, cohorts=1, f=0.5, p=0.1, q=0.9)
SHORT = UnknownStrings(LETTER, LETTER, "abcdefgh", length=2, size=1)


def votes(collection: UnknownStrings, side: int, runs: int, bits: Bits) -> Array:
    """How many more bits of all three reports speak for a string than for another that has no bit in common."""
    first, second = apart(collection)
    reports = collection.reports([(first, second)[side]] * runs, bits)
    found = _votes(collection.string, reports.whole, first, second)
    parts = zip(collection.parts_of(first), collection.parts_of(second), strict=True)
    return found + sum(_votes(collection.part, reports.parts[:, place], *pair) for place, pair in enumerate(parts))


def _votes(rappor: Rappor, reports: Reports, first: str, second: str) -> Array:
    signs = np.zeros(rappor.bits, np.int64)
    signs[list(bloom_positions(rappor, first, 0))] += 1
    signs[list(bloom_positions(rappor, second, 0))] -= 1
    return np.asarray(rappor.bits_of(reports) @ signs)


def apart(collection: UnknownStrings) -> tuple[str, str]:
    """Two strings that differ in a bit of every report."""
    strings = [first + second for first in "abcdefgh" for second in "abcdefgh"]

    def bits_of(one: str) -> list[int]:
        parts = [bloom_positions(collection.part, part, 0)[0] for part in one]
        return [bloom_positions(collection.string, one, 0)[0], *parts]

    return next(
        (one, other)
        for one, other in itertools.combinations(strings, 2)
        if all(here != there for here, there in zip(bits_of(one), bits_of(other), strict=True))
    )


def louder(collection: UnknownStrings, times: float) -> UnknownStrings:
    string, part = (with_less_noise(one, times) for one in (collection.string, collection.part))
    return dataclasses.replace(collection, string=string, part=part)


TRIAL = ReportTrial([COLLECTION, SHORT], audits=[Drawn("three reports", SHORT, votes, runs=60_000, weaker=louder)])


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
