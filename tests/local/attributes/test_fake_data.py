"""Fake data: the law of a report, what it costs for a record and for one attribute."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.local.aggregator import Aggregator
from discreet.local.attributes.fake_data import FakeData
from discreet.noise.deterministic import DeterministicBits
from tests.local.trial import ReportTrial

TRIAL = ReportTrial([FakeData(), FakeData(1.5, (3, 3, 3))], fingerprints={"rsfd": "21b321931e77c7d2"})


def law(randomizer: FakeData, person: tuple[int, ...]) -> Array:
    """The probability of every report, by its definition."""
    sizes = [oracle.size for oracle in randomizer.oracles]
    found = np.zeros(sizes)
    for report in itertools.product(*map(range, sizes)):
        for real, oracle in enumerate(randomizer.oracles):
            fake = math.prod(1 / size for place, size in enumerate(sizes) if place != real)
            own = oracle.high if report[real] == person[real] else oracle.low
            found[report] += fake * own / len(sizes)
    return found


def test_reports_have_the_law_whose_ratios_are_the_promises() -> None:
    for sizes in ((3, 3), (4, 2), (3, 3, 3), (5, 2, 2)):
        randomizer = FakeData(1.0, sizes)
        people = list(itertools.product(*map(range, sizes)))
        laws = {person: law(randomizer, person) for person in people}
        record = max(np.log(laws[a] / laws[b]).max() for a in people for b in people)
        one = max(
            np.log(laws[a] / laws[b]).max()
            for a in people
            for b in people
            if sum(x != y for x, y in zip(a, b, strict=True)) == 1
        )
        assert record == pytest.approx(1.0, abs=1e-9)  # agreeing everywhere, against nowhere
        assert one == pytest.approx(randomizer.attribute_epsilon, abs=1e-9)
        assert one < record
    runs = 40_000
    reports = randomizer.reports([(1, 0, 1)] * runs, DeterministicBits(1))
    counts = np.zeros(sizes)
    np.add.at(counts, tuple(reports.T), 1)
    expected = runs * laws[1, 0, 1]
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_equal_domains_have_the_loss_of_the_paper() -> None:
    for m in (2, 3, 5):
        expected = math.log((m - 1 + math.e) / m)
        assert FakeData(1.0, (4,) * m).attribute_epsilon == pytest.approx(expected)


def test_all_attributes_are_estimated_within_their_errors() -> None:
    randomizer = FakeData(3.0, (("no", "yes"), 6))
    survey = Aggregator(randomizer, simulated=True)
    survey.add(randomizer.reports([("yes" if i % 4 else "no", i % 3) for i in range(30_000)], DeterministicBits(1)))
    first, second = survey.estimate()
    assert (np.abs(first.shares - [0.25, 0.75]) < 4 * first.errors).all()
    assert (np.abs(second.shares - np.repeat([1 / 3, 0.0], 3)) < 4 * second.errors).all()


def test_values_outside_their_domains_are_refused() -> None:
    randomizer = FakeData(1.0, (2, 3))
    for wrong in ((2, 0), (0, 3), (0,)):
        with pytest.raises(ParameterError):
            randomizer.reports([wrong], DeterministicBits(1))
    with pytest.raises(ParameterError, match="outside its domain"):
        randomizer.accepted(np.array([[0, 3]], np.uint32))
