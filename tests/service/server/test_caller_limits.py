"""Places of callers: taken until an answer leaves, whoever waits for it; and requests a minute."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from discreet.service.server.caller_limits import CallerLimits
from discreet.service.server.site_refusals import TooMany


@pytest.fixture
def clock() -> Any:
    return Mock(return_value=100.0)


def test_a_place_is_taken_until_its_answer_leaves_and_no_longer(clock: Any) -> None:
    limits = CallerLimits(60, 2, clock)
    with limits.running("ann") as first, limits.running("ann"):
        first.until(105.0)
        assert limits.taken("ann") == 2
    assert (limits.taken("ann"), limits.taken("bob")) == (1, 0)
    clock.return_value = 104.9
    with limits.running("ann"), pytest.raises(TooMany), limits.running("ann"):
        pass
    clock.return_value = 105.0
    assert limits.taken("ann") == 0
    with limits.running("ann"), limits.running("ann"):
        assert limits.taken("ann") == 2


def test_places_end_each_at_its_own_moment_in_whatever_order_they_were_taken(clock: Any) -> None:
    limits = CallerLimits(60, 3, clock)
    for moment in (130.0, 110.0, 120.0):
        with limits.running("ann") as place:
            place.until(moment)
    left = []
    for clock.return_value in (109.9, 110.0, 119.9, 120.0, 129.9, 130.0):
        left.append(limits.taken("ann"))
    assert left == [3, 2, 2, 1, 1, 0]


@pytest.mark.parametrize(("moment", "left"), [(0.0, 0), (99.0, 0), (100.0, 0), (101.0, 1)])
def test_what_fails_leaves_its_place_unless_an_answer_was_on_its_way(clock: Any, moment: float, left: int) -> None:
    limits = CallerLimits(60, 1, clock)

    def ask() -> None:
        with limits.running("ann") as place:
            place.until(moment)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask()
    assert limits.taken("ann") == left


def test_requests_come_back_with_time_up_to_a_minutes_worth(clock: Any) -> None:
    limits = CallerLimits(60, 1, clock)

    def fit() -> int:
        for number in range(1000):
            try:
                limits.count("ann")
            except TooMany:
                return number
        raise AssertionError("nothing was refused")

    assert (fit(), fit()) == (60, 0)
    clock.return_value += 5.0
    assert fit() == 5
    clock.return_value += 10**6
    assert fit() == 60
