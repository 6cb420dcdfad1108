"""Utility reports: nothing is off for the same table, and what is off for another is seen."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import threadpool_limits

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.mechanisms.microdata import table_comparison
from discreet.mechanisms.microdata.table_comparison import FEW, LEAST
from discreet.microdata.synthetic.synthesize import synthesize
from discreet.microdata.utility.common_columns import CommonColumns
from discreet.microdata.utility.utility_report import UtilityReport, utility_report
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.private_data import PrivateData
from tests.microdata.utility.made_tables import PEOPLE, SAME, SCHEMA, people, shuffled, table_of

READ_ELSEWHERE = {"utility_report": "it reads the truth as private data do, by the same sources, and is not private"}
PLAIN = {"UtilityReport": "made plain when it is printed: `test_no_name_rewrites_a_terminal`"}


def report(table: Any = SAME, truth: Any = PEOPLE, **options: Any) -> UtilityReport:
    return utility_report(table, truth, **{"bounds": SCHEMA, "random_state": 1, "target": (), **options})


def test_the_data_themselves_are_no_distance_away() -> None:
    found = report()
    assert np.asarray(found.figures["distances"]).max() == 0
    assert (np.asarray(found.figures["dependences"])[0] == np.asarray(found.figures["dependences"])[1]).all()
    assert len(found.common.sets) == 4 + 6 + 4
    assert not found.skipped


def test_distances_are_half_the_sum_of_differences_with_missing_values_as_a_value() -> None:
    other = people(3000, 5)
    other["sex"] = ["f"] * 3000
    found = report(table_of(other))
    frame = pd.Series(PEOPLE["sex"])
    place = list(found.distances.labels["column"]).index("sex")
    assert found.distances.series[0].values[place] == pytest.approx(1 - (frame == "f").mean())
    assert found.margins["worst distance"][0] == pytest.approx(1 - (frame == "f").mean())


def test_a_table_whose_columns_are_shuffled_is_right_in_one_column_and_wrong_in_two() -> None:
    found = report(shuffled())
    one, two, three = found.margins["mean distance"]
    assert one == 0
    assert 0.05 < two < three
    truth, table = np.asarray(found.figures["correlations"])
    assert truth[0] > 0.3
    assert abs(table[0]) < 0.1
    np.testing.assert_allclose(truth[0], np.corrcoef(PEOPLE["age"], PEOPLE["income"])[0, 1])


def test_a_model_trained_on_the_table_is_tested_on_the_data() -> None:
    good, bad = (np.asarray(report(one, target="ill").figures["scores"])[0] for one in (SAME, shuffled()))
    assert good[0] > good[2] + 0.05
    assert good[1] > good[2] + 0.05
    assert bad[0] < good[0] - 0.05
    assert report(target=["ill", "sex"]).targets == ("ill", "sex")


@pytest.mark.parametrize("few", [LEAST, FEW])
def test_one_thread_trains_a_model_on_few_records(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others use the processors, threads wait for one another: a minute in place of a second."""
    threads, fit = [], HistGradientBoostingClassifier.fit

    def watched(self: Any, *given: Any) -> Any:
        threads.append(_openmp_effective_n_threads())
        return fit(self, *given)

    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", watched)
    monkeypatch.setattr(table_comparison, "FEW", few)
    with threadpool_limits(2, "openmp"):
        all_of_them = _openmp_effective_n_threads()
        report(target="ill")
    assert threads == [1 if few == FEW else all_of_them] * 2


def test_columns_that_are_lacking_or_coarser_are_named_and_skipped() -> None:
    coarse = Schema({"age": Category(("young", "old")), "sex": Category(("m", "f")), "ill": SCHEMA.columns["ill"]})
    rows = {"age": ["young"] * 50, "sex": ["m"] * 50, "ill": ["no"] * 50, "extra": ["x"] * 50}
    table = table_of(rows, Schema({**coarse.columns, "extra": Category(("x",))}))
    found = report(table)
    assert found.common.columns == ("ill",)
    assert set(found.skipped) == {"age", "income", "sex", "extra"}
    assert "not compared: age" in str(found)
    assert json.loads(found.to_json())["skipped"]["income"] == "it is not in the table"
    by_table = report(
        table, {"age": [20.0, 30.0], "sex": ["f", "m"], "ill": ["no", "yes"], "extra": ["x", "x"]}, bounds=None
    )
    assert "could have" in by_table.skipped["age"]


def test_every_form_says_that_it_is_not_private() -> None:
    found = report(shuffled())
    for shown in (str(found), found.to_html(), found._repr_html_(), found.to_json()):
        assert "NOT PRIVATE" in shown
    assert json.loads(found.to_json())["private"] is False
    assert found.to_html().startswith("<!doctype html>")
    ax = found.plot(Figure().add_subplot())
    assert ax.has_data()
    assert "NOT PRIVATE" in ax.get_title()


def test_no_name_rewrites_a_terminal() -> None:
    name = "a\x1b[2J<b>"
    found = utility_report(table_of({name: ["x"] * 30}, Schema({name: Category(("x", "y"))})), {name: ["x"] * 30})
    for shown in (str(found), found.to_html()):
        assert "\x1b" not in shown
    assert "<b>" not in found.to_html()


def test_private_data_take_a_waiver_and_a_key_gives_the_same_report() -> None:
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(1.0))
    for waiver in (None, " "):
        with pytest.raises(NotPermitted, match="evaluate_table"):
            utility_report(SAME, data, waiver=waiver)
    assert not data.ledger.entries()
    first, again = (utility_report(shuffled(), data, waiver="ours", key="k", target=()) for _ in range(2))
    assert len(data.ledger.entries()) == 1
    assert first.receipt is not None
    assert str(first) == str(again)
    np.testing.assert_allclose(first.figures["distances"], report(shuffled()).figures["distances"])


def test_hardly_any_records_are_reported_too() -> None:
    for rows in (0, 1, 30):
        some = {name: list(own)[:rows] for name, own in PEOPLE.items()}
        found = report(truth=some, target="ill")
        assert np.isnan(found.figures["scores"]).all()
        assert "no answer" in str(found)
    alone = Schema({"sex": SCHEMA.columns["sex"]})
    single = utility_report(table_of({"sex": ["f"] * 60}, alone), {"sex": [None] * 30 + ["f"] * 30})
    assert single.distances.series[0].values[0] == pytest.approx(0.5)
    empty = Schema({"x": Number(0, 1), "y": Number(0, 1)})
    nothing = {"x": [np.nan] * 40, "y": [0.5] * 40}
    assert utility_report(table_of(nothing, empty), nothing, bounds=empty).margins["mean distance"].max() == 0


def test_what_has_nothing_to_compare_is_refused() -> None:
    for table, words in (
        (table_of({"town": ["x"]}, Schema({"town": Category(("x",))})), "no column in common"),
        (table_of(people(0)), "the table has no records"),
    ):
        with pytest.raises(ParameterError, match=words):
            report(table)
    for wrong in ({"target": "age"}, {"target": "nobody"}, {"bins": 1}, {"bins": np.nan}, {"random_state": -1}):
        with pytest.raises(ParameterError):
            report(**wrong)
    with pytest.raises(ParameterError, match="the table is a dict") as refusal:
        utility_report(PEOPLE, PEOPLE)
    assert "income" not in str(refusal.value)
    for value in (7.0, -3.0, np.inf, 0.5):
        rows = SAME.records.copy()
        rows[3, 2] = value
        with pytest.raises(ParameterError, match="a value of sex that is not in its schema"):
            report(dataclasses.replace(SAME, records=rows))


def test_a_value_that_is_frequent_has_a_cell_of_its_own() -> None:
    common = CommonColumns.of(SAME, Schema({**SCHEMA.columns, "name": Text()}))
    cells = common.codes.places(common.records)[:, 1]
    zeros = common.records[:, 1] == 0
    assert len(set(cells[zeros])) == 1
    assert not set(cells[zeros]) & set(cells[~zeros])
    assert common.skipped == {"name": "it is not in the table"}


def test_a_synthetic_table_is_reported_as_it_is() -> None:
    table = synthesize(PEOPLE, bounds=SCHEMA, epsilon=4.0, random_state=1)
    found = report(table, target=None)
    assert found.margins["mean distance"][0] < 0.1
    assert set(found.parts()) == {"margins", "columns", "dependences", "correlations", "models"}
