"""Every kind of result is read in the same ways: as text, HTML, JSON, a data frame and a drawing."""

from __future__ import annotations

import dataclasses
import html
import json
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from discreet.core.errors import MissingExtra, ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.releases.columns import ConfidenceInterval, Series, in_words
from discreet.releases.curve import Curve
from discreet.releases.estimate import Estimate
from discreet.releases.fit import Fit
from discreet.releases.release import Release, check_population
from discreet.releases.table import Table
from discreet.releases.test_result import TestResult

RECEIPT = Receipt("<mean>", PureLoss(0.5), 0.5, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "key", "head")
MEAN = Estimate.around("mean of <age>", 40.0, 0.5, confidence=0.95, receipt=RECEIPT, standard_error=0.2)
HALF = np.array([0.5, 1.0])


@dataclass(frozen=True, kw_only=True)
class Line(Curve):
    """y = x, between x - 1 and x + 1."""

    @property
    def x(self) -> str:
        return "age"

    @property
    def points(self) -> Array:
        return np.linspace(0.0, 100.0, 101)

    def __call__(self, points: ArrayLike) -> Array:
        return np.asarray(points, dtype=np.float64)

    def band(self, points: ArrayLike) -> ConfidenceInterval[Array]:
        return ConfidenceInterval(self(points) - 1, self(points) + 1)


KINDS: dict[str, Release] = {
    "estimate": MEAN,
    "no interval": Estimate(name="median", value=2.5, confidence=None, receipt=RECEIPT),
    "table": Table(
        name="wards",
        receipt=RECEIPT,
        confidence=0.9,
        population=True,
        labels={"ward": ("<a>", "b"), "q": np.array([0.25, 0.5])},
        series=(Series.around("count", np.array([12.0, 300.0]), 20.0, 9.0), Series("mean", HALF, None, HALF, 2 * HALF)),
    ),
    "curve": Line(name="identity", receipt=RECEIPT, confidence=0.95),
    "fit": Fit(
        name="line",
        receipt=RECEIPT,
        confidence=0.95,
        names=("<slope>", "hidden"),
        values=np.array([1.0, math.nan]),
        low=np.array([-math.inf, math.nan]),
        high=np.array([math.inf, math.nan]),
    ),
    "test": TestResult(
        name="t-test",
        receipt=RECEIPT,
        confidence=0.95,
        hypothesis="mean is <39>",
        statistic=2.5,
        p_value=0.0124,
        evidence=MEAN,
    ),
}


def test_an_estimate_reads_well() -> None:
    assert str(MEAN) == "mean of <age>: 40.00 ± 0.50 (95% for these data)"
    assert str(KINDS["no interval"]) == "median: 2.5"
    assert MEAN.interval == (39.5, 40.5)
    assert MEAN.interval.low == 39.5
    assert float(MEAN) == 40.0
    assert MEAN.to_dict() == {
        "kind": "Estimate",
        "name": "mean of <age>",
        "value": 40.0,
        "standard_error": 0.2,
        "low": 39.5,
        "high": 40.5,
        "confidence": 0.95,
        "population": False,
        "receipt": RECEIPT.to_dict(),
    }


def test_a_table_has_a_row_for_each_label_and_errors_for_each_column() -> None:
    table = KINDS["table"]
    assert isinstance(table, Table)
    assert str(table).splitlines() == [
        "wards (90% for the population)",
        "ward     q     count               mean",
        " <a>  0.25   12 ± 20  0.50 [0.50, 1.00]",
        "   b   0.5  300 ± 20  1.00 [1.00, 2.00]",
    ]
    np.testing.assert_array_equal(table["mean"].values, HALF)
    np.testing.assert_array_equal(table.values, [12.0, 300.0])
    np.testing.assert_array_equal(table.interval.high, [32.0, 320.0])
    with pytest.raises(KeyError, match="'median' is not among count, mean"):
        table["median"]
    frame = table.to_pandas()
    assert list(frame.index.names) == ["ward", "q"]
    assert list(frame.columns) == [
        "count",
        "count_standard_error",
        "count_low",
        "count_high",
        "mean",
        "mean_low",
        "mean_high",
    ]
    assert table.to_dict()["labels"] == {"ward": ["<a>", "b"], "q": [0.25, 0.5]}


def test_a_long_table_prints_its_first_rows_alone() -> None:
    long = Table(
        name="long",
        receipt=RECEIPT,
        confidence=None,
        labels={"i": np.arange(1000.0)},
        series=(Series("x", np.arange(1000.0)),),
    )
    assert str(long).endswith("... and 960 more")
    assert len(long.to_dict()["numbers"]["x"]) == len(long) == 1000
    assert "960 more" in long._repr_html_()


def test_a_curve_is_called_and_prints_a_few_of_its_points() -> None:
    line = KINDS["curve"]
    assert isinstance(line, Line)
    assert line(3.5) == 3.5
    assert len(str(line).splitlines()) == 2 + 24
    assert len(line.to_pandas()) == len(line.values) == 101
    np.testing.assert_array_equal(line.interval.low, line.points - 1)


def test_a_test_says_what_follows() -> None:
    found = KINDS["test"]
    assert isinstance(found, TestResult)
    assert str(found).splitlines() == [
        "null hypothesis: mean is <39>",
        "statistic 2.50, p = 0.012",
        "The null hypothesis is rejected at the 5% level.",
        str(MEAN),
    ]
    assert (found.value, found.standard_error, found.interval) == (40.0, 0.2, (39.5, 40.5))
    assert found.population


def test_what_is_not_a_finite_number_is_no_answer_and_null() -> None:
    fit = KINDS["fit"]
    assert "no answer" in str(fit)
    assert "1 [-inf, inf]" in str(fit)
    assert json.loads(fit.to_json())["numbers"]["value"] == [1.0, None]
    assert in_words(12345.678, 12345.0, 12346.0) == "12,345.68 [12,345.00, 12,346.00]"
    assert in_words(1e6) == "1,000,000"


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_says_which_records_were_asked_about(kind: str) -> None:
    found = dataclasses.replace(KINDS[kind], receipt=dataclasses.replace(RECEIPT, where="age >= 18"))
    for form in (str(found), repr(found), html.unescape(found._repr_html_()), found.to_json()):
        assert "age >= 18" in form, form
    assert Receipt.read(found.receipt.to_json()) == found.receipt


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_works_and_escapes_names(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = KINDS[kind]
    assert json.loads(found.to_json())["receipt"]["epsilon"] == 0.5
    page = found._repr_html_()
    assert "<table" in page
    assert "<details><summary>epsilon 0.5, delta 0</summary>" in page
    for wild in ("<age>", "<a>", "<slope>", "<39>", "<mean>"):
        assert wild not in page
    assert len(found.to_pandas()) >= 1
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="The release is as it was"):
        found.to_pandas()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_on_a_new_figure_or_on_the_given_axes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot

    ax = KINDS[kind].plot()
    assert ax.has_data()
    assert ax.figure is pyplot.gcf()  # a notebook shows it
    assert KINDS[kind].plot(ax) is ax
    pyplot.gcf().canvas.draw()
    pyplot.close()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"The release is as it was. Install discreet\[plots\]"):
        KINDS[kind].plot()


def test_another_column_of_a_table_is_drawn() -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    table = KINDS["table"]
    assert isinstance(table, Table)
    assert table.plot(ax, "mean").get_ylabel() == "mean"
    bars: Any = ax.patches
    np.testing.assert_allclose([bar.get_height() for bar in bars], HALF)


def test_an_interval_for_a_population_is_refused_where_no_theory_gives_one() -> None:
    check_population("minimum", False, "", "")
    with pytest.raises(ParameterError, match=r"minimum: there is no interval for the population: why. Nothing was"):
        check_population("minimum", True, "why", "Ask for a quantile.")
