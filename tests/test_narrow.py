"""The common trials of one room: what lives there, what is derived from it, and what lives nowhere."""

from __future__ import annotations

import pytest

from discreet.learners.linear.linear_regression import Ridge
from discreet.mechanisms.additive.laplace import Laplace
from discreet.statistics.moments.mean import mean
from tests import narrow


class Twin(Laplace):
    """What a test makes of a mechanism."""


def test_a_room_has_what_it_defines_and_what_tests_make_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Laplace, Laplace(2.0), Twin, (Ridge, 1.0), mean, "grr", 1.0]
    assert narrow.here(found) == found
    for room, expected in {
        "mechanisms": [Laplace, Laplace(2.0), Twin, "grr", 1.0],
        "mechanisms/additive": [Laplace, Laplace(2.0), Twin, "grr", 1.0],
        "learners/linear/": [(Ridge, 1.0), "grr", 1.0],
        "statistics/mom": ["grr", 1.0],
    }.items():
        monkeypatch.setattr(narrow, "room", room)
        assert narrow.here(found) == expected


def test_only_the_common_trials_are_narrowed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    item = request.node
    monkeypatch.setattr(narrow, "room", "mechanisms")
    monkeypatch.setattr(item.function, "about", [Ridge], raising=False)
    assert narrow.concerned(item)
    monkeypatch.setattr(narrow, "COMMON", "tests/")
    assert not narrow.concerned(item)
    monkeypatch.setattr(item.function, "about", [Ridge, Laplace])
    assert narrow.concerned(item)
