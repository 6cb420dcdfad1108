"""Numbers with intervals: how they print."""

from __future__ import annotations

import numpy as np

from discreet.statistics.ranks.quantile import median, quantile
from discreet.statistics.ranks.quantile_table import QuantileTable

AGES = np.random.default_rng(0).gamma(8, 5, 4000)


def test_an_estimate_prints_its_interval_and_its_receipt() -> None:
    found = median(AGES, bounds=(0, 100), epsilon=1.0)
    assert str(found).startswith("median of value: ")
    assert "[" in str(found)
    assert "(95% for the population)" in str(found)
    assert "<table" in found._repr_html_()
    assert float(found) == found.value
    assert found.interval == (found.low, found.high)


def test_an_estimate_without_an_interval_says_nothing_of_one() -> None:
    found = median(AGES, bounds=(0, 100), confidence=None, epsilon=1.0)
    assert found.interval == (-np.inf, np.inf)
    assert "[" not in str(found)
    assert "%" not in str(found)


def test_a_table_has_a_row_for_each_share() -> None:
    found = quantile(AGES, share=[0.9, 0.1], bounds=(0, 100), epsilon=1.0)
    assert isinstance(found, QuantileTable)
    assert [row.split()[0] for row in str(found).splitlines()[1:]] == ["0.9", "0.1"]
    assert found._repr_html_().count("<tr>") >= 2
    plain = quantile(AGES, share=[0.5], bounds=(0, 100), confidence=None, epsilon=1.0)
    assert isinstance(plain, QuantileTable)
    assert "[" not in str(plain)
