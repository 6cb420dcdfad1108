"""What devices are given: everything in it is bound into its identifier, and no address in the clear is taken."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from discreet.core.errors import ParameterError
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.published_task import SKEW, PublishedTask, check_address
from tests.trust.aggregation.surveyed import NOW, published, task


def test_whatever_is_changed_makes_another_identifier() -> None:
    first = published()
    changed: dict[str, Any] = {
        "task": task(name="u"),
        "leader": "http://127.0.0.1:3",
        "helper": "https://example.org",
        "collector": bytes(range(32)),
        "start": NOW - 1,
        "duration": 7,
        "precision": 60,
    }
    assert set(changed) == {field.name for field in dataclasses.fields(PublishedTask)}
    others = [dataclasses.replace(first, **{name: value}) for name, value in changed.items()]
    assert len({one.identifier for one in (first, *others)}) == len(changed) + 1


def test_only_covered_addresses_are_taken() -> None:
    for address in ("https://example.org", "https://example.org:8/base", "http://127.0.0.1:8001", "http://[::1]:1"):
        check_address(address)
    wrong = ["http://example.org", "http://10.0.0.1", "ftp://127.0.0.1", "127.0.0.1:1", "", "https://", "https://a/"]
    wrong += [
        "https://me:secret@example.org",
        "https://a?x=1",
        "https://a#b",
        "http://127.0.0.1:99999",
        "http://[",
        "x",
    ]
    wrong += ["http://127.0.0.1.example.org", "http://localhost.example.org"]
    for address in wrong:
        with pytest.raises(ParameterError, match="read by others"):
            check_address(address)


def test_odd_tasks_are_refused() -> None:
    three = AggregationTask("t", task().recipe, task().event, task().schema, 3)
    for change in (
        {"task": three},
        {"helper": published().leader},
        {"collector": b"short"},
        {"start": -1},
        {"duration": 0},
        {"precision": 0},
    ):
        with pytest.raises(ParameterError):
            dataclasses.replace(published(), **change)


def test_times_are_rounded_and_clocks_may_differ_a_little() -> None:
    one = published()
    hour = one.rounded(NOW)
    assert (hour % 3600, NOW - hour < 3600) == (0, True)
    assert not one.is_early(hour, hour - SKEW)
    assert one.is_early(hour, hour - SKEW - 1)
    assert not one.is_outside(hour)  # the hour in which the task began
    assert one.is_outside(hour - 3600)
    assert one.is_outside(one.start + one.duration)
