"""Frequent values of a text: those of many are named, and that of one person never."""

from __future__ import annotations

from discreet.schema.schema import Schema, Text
from discreet.statistics.tables.key_counts import key_counts
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"column": "name"}, arrays=False)


def test_a_value_of_one_record_is_not_named() -> None:
    towns = {"town": ["Rome"] * 500 + ["Nowhere"]}
    found = key_counts(towns, "town", bounds=Schema({"town": Text()}), epsilon=1.0, delta=1e-6)
    assert list(found.counts) == ["Rome"]  # that "Nowhere" is named has chance below 1e-6
    assert abs(found.counts["Rome"] - 500) < 40  # fails once in e**20 runs
