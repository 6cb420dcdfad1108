"""Releases that people would rather look at are drawn, where matplotlib is installed."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import MissingExtra
from discreet.releases.drawing import drawn_on
from discreet.schema.schema import Category, Schema
from discreet.statistics.curves.density import density
from discreet.statistics.curves.distribution import distribution
from discreet.statistics.moments.covariance import correlation, covariance
from discreet.statistics.tables.histogram import histogram

AGES = np.random.default_rng(0).normal(40, 12, 2000)
PAIRS = np.random.default_rng(0).uniform(0, 1, (2000, 3))
SEX = {"sex": ["f", "m"] * 500}
RELEASED: dict[str, Any] = {
    "histogram": histogram(AGES, bounds=(0, 100), bins=7),
    "categories": histogram(SEX, "sex", bounds=Schema({"sex": Category(("f", "m"))})),
    "distribution": distribution(AGES, bounds=(0, 100)),
    "density": density(AGES, bounds=(0, 100)),
    "covariance": covariance(PAIRS, bounds=(0, 1)),
    "correlation": correlation(PAIRS, bounds=(0, 1)),
}
each = pytest.mark.parametrize("released", RELEASED.values(), ids=RELEASED)


@each
def test_it_is_drawn_on_new_axes_or_on_those_that_are_given(released: Any) -> None:
    axes = drawn_on("it")
    assert released.plot(axes) is axes
    assert axes.has_data()
    assert released.plot() is not axes


@each
def test_without_matplotlib_the_extra_is_named_and_nothing_is_lost(
    released: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"The release is as it was. Install discreet\[plots\]"):
        released.plot()


def test_bars_are_where_cells_are() -> None:
    found = RELEASED["histogram"]
    bars = found.plot().patches
    np.testing.assert_allclose([bar.get_x() for bar in bars], found.edges[:-1])
    np.testing.assert_allclose([bar.get_height() for bar in bars], found.counts)
