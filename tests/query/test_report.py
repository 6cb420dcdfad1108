"""The report: paid once, first; the same shape whatever a record holds; error bars that hold."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from discreet.accounting.accountant import delta
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, KeyReused, ParameterError
from discreet.core.events import LaplaceLoss, read
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.query.plan import QUANTILES
from discreet.query.report import Report, profile
from discreet.schema.dates import Date
from discreet.schema.schema import Boolean, Category, Number, Schema, Text
from discreet.trust.local import Local
from discreet.trust.permit import releases
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.frame import Frame
from tests.query.tables import BUDGET, NUMBERS, SCHEMA, ages, private, rows, written

PLAIN = {
    "Report": "its parts are releases, which are looked at",
}
"""Why these print no texts of others: see `tests/conformance/test_plain_text.py`."""

READ_ELSEWHERE = {
    "profile": "its columns are read as those of statistics",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""

NAMES = [
    "count",
    "mean",
    "standard deviation",
    "5 % quantile",
    "25 % quantile",
    "median",
    "75 % quantile",
    "95 % quantile",
]


def shape(report: Report) -> list[object]:
    """All of a report but its numbers; text columns, whose names are chosen privately, by their kind alone."""
    return [
        (
            column.name,
            column.kind,
            [figure.name for figure in column.figures],
            None if isinstance(column.kind, Text) else [bar.label for bar in column.bars],
            [all(math.isfinite(number) for number in (figure.value, figure.half_width)) for figure in column.figures],
        )
        for column in report.columns
    ]


def test_every_column_is_told_of_in_its_own_way(tmp_path: Path) -> None:
    report = profile(private(written(tmp_path / "t.csv", rows())), BUDGET, title="t.csv")
    age, sex, town = report.columns
    assert [figure.name for figure in age.figures] == NAMES
    assert len(age.bars) == 32
    assert [bar.label for bar in sex.bars] == ["f", "m"]
    assert town.bars[0].label == "Rome"
    assert {bar.label for bar in town.bars} <= {"Rome", "Oslo", "Lima"}


def test_the_numbers_are_right_to_within_their_error_bars(tmp_path: Path) -> None:
    lines = rows(20_000)
    truth = ages(lines)
    report = profile(private(written(tmp_path / "t.csv", lines), seed=3), BUDGET)
    found = {figure.name: figure for figure in report.columns[0].figures}
    exact = [
        20_000,
        truth.mean(),
        truth.std(),
        *np.quantile(truth, [0.05, 0.25, 0.5, 0.75, 0.95], method="inverted_cdf"),
    ]
    for name, value in zip(NAMES, exact, strict=True):
        assert abs(found[name].value - value) <= 2 * found[name].half_width, name
    assert found["mean"].half_width < 1
    assert found["median"].half_width < 5
    assert abs(report.columns[1].bars[0].count - 10_000) <= 2 * report.columns[1].bars[0].error


def test_the_plan_is_charged_once_and_is_within_the_budget(tmp_path: Path) -> None:
    data = private(written(tmp_path / "t.csv", rows(50)))
    report = profile(data, BUDGET, title="people")
    (entry,) = data.ledger.entries()
    assert entry.committed
    assert entry.purpose == "report on people"
    assert entry.event == report.receipt.event
    assert delta(report.receipt.event, BUDGET.epsilon) <= BUDGET.delta
    with pytest.raises(BudgetExceeded):
        profile(data, BUDGET, title="again")


WILD = [
    "nan,f,Rome",
    "inf,m,Rome",
    "1e308,f,Rome",
    "-1e999,f,Rome",
    "12,unlisted,Rome",
    "12,f,NOBODY-ELSE-LIVES-HERE",
    ",,",
    "",
    "too,many,fields,in,this,line",
    "one",
    '"unbalanced,f,Rome',
    '"a\nb",f,Rome',
    "<script>,<b>,<script>alert(1)</script>",
    "12,f," + "x" * 100_000,
]


def test_no_row_changes_the_shape_of_a_report(tmp_path: Path) -> None:
    lines = rows(300)
    plainly = profile(private(written(tmp_path / "a.csv", lines)), BUDGET)
    for wild in WILD:
        wildly = profile(private(written(tmp_path / "b.csv", [*lines[:150], wild, *lines[150:]])), BUDGET)
        assert shape(plainly) == shape(wildly), wild[:24]
        assert "NOBODY-ELSE" not in wildly.to_html() + wildly.to_json() + str(wildly)


def test_an_empty_table_and_a_table_of_one_row_look_like_any_other(tmp_path: Path) -> None:
    full = profile(private(written(tmp_path / "a.csv", rows(300))), BUDGET)
    for lines in ([], ["12,f,Rome"]):
        few = profile(private(written(tmp_path / "b.csv", lines)), BUDGET)
        assert shape(few) == shape(full)
        assert few.columns[2].bars == ()
        assert "frequent enough" in few.to_html()
        assert "frequent enough" in str(few)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_error_bars_hold_as_often_as_they_say(neighbors: Neighbors) -> None:
    values = np.random.default_rng(2).normal(40, 12, 150).clip(0, 100)
    schema = Schema({"age": Number(0, 100)})
    truth = dict(
        zip(
            NAMES,
            [
                150,
                values.mean(),
                values.std(),
                *np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95], method="inverted_cdf"),
            ],
            strict=True,
        )
    )
    runs, held = 60, Counter[str]()  # 50 or fewer would have probability 5e-4, were it exactly 95 %: seeds are fixed
    for seed in range(runs):
        data = private({"age": values}, schema, Budget(1.0), seed=seed, neighbors=neighbors)
        for figure in profile(data, Budget(1.0)).columns[0].figures:
            held[figure.name] += abs(figure.value - truth[figure.name]) <= figure.half_width + 1e-9
    for name in NAMES:
        assert held[name] > 50, name


def test_quantiles_are_much_closer_than_a_cell_where_records_are_many() -> None:
    values = np.random.default_rng(2).gamma(2.0, 6.0, 100_000).clip(0, 100)
    figures = profile(private({"age": values}, Schema({"age": Number(0, 100)}), Budget(1.0)), Budget(1.0)).columns[0]
    for figure, share in zip(figures.figures[3:], QUANTILES, strict=True):
        assert figure.half_width < 100 / 32 / 4, figure.name
        assert abs(figure.value - np.quantile(values, share)) <= 2 * figure.half_width, figure.name


def test_a_median_in_an_empty_stretch_is_read_off_the_histogram() -> None:
    values = np.r_[np.linspace(10, 20, 2000), np.linspace(70, 80, 2000)]
    schema, held = Schema({"age": Number(0, 100)}), 0
    for seed in range(40):  # 32 or fewer would have probability 1e-4, were it exactly 95 %
        data = private({"age": values}, schema, Budget(1.0), seed=seed)
        median = profile(data, Budget(1.0), quantiles=[0.5]).columns[0].figures[3]
        held += abs(median.value - 20.0) <= median.half_width
    assert held > 32


def test_where_only_sums_can_be_asked_nothing_is_paid_for_a_search() -> None:
    schema, values = Schema({"age": Number(0, 100)}), np.random.default_rng(2).normal(40, 12, 5000).clip(0, 100)
    data = PrivateData(Local(Frame({"age": values}, schema)), MemoryLedger(Budget(4.0), Neighbors.REPLACE))
    report = profile(data, Budget(4.0))
    assert [figure.name for figure in report.columns[0].figures] == NAMES
    assert [type(event) for event in releases(report.receipt.event)] == [LaplaceLoss]


def test_dates_and_truth_values_are_told_of() -> None:
    schema = Schema({"seen": Date("2020-01-01", "2024-12-31"), "ill": Boolean()})
    frame = {"seen": np.array(["2022-06-01"] * 3000, "datetime64[D]"), "ill": [True, False, False] * 1000}
    report = profile(private(frame, schema, Budget(4.0)), Budget(4.0))
    assert "2020-01-01" in report.columns[0].description
    assert len(json.loads(report.to_json())["columns"][1]["counts"]) == 2
    assert "median      2022-06-01 ± " in str(report)
    assert ">2022-06-01</td>" in report.to_html()
    assert len(set(np.diff(report.columns[0].edges)[:-1])) == 1  # cells of equally many days


def test_a_public_number_of_records_is_told_exactly() -> None:
    data = private(
        {"age": np.full(77, 30.0)}, Schema({"age": Number(0, 100)}), Budget(1.0), neighbors=Neighbors.REPLACE
    )
    count = profile(data, Budget(1.0)).columns[0].figures[0]
    assert (count.value, count.half_width) == (77.0, 0.0)


def test_all_rows_of_a_person_are_protected_together() -> None:
    frame = {"age": np.full(300, 30.0), "who": [str(i // 3) for i in range(300)]}
    schema, unit = Schema({"age": Number(0, 100)}), Unit("user", "who", 3)
    one, three = (
        profile(private(frame, schema, Budget(1.0), unit=each), Budget(1.0)).columns[0].figures[0].half_width
        for each in (RECORD, unit)
    )
    assert three == pytest.approx(3 * one)


def test_a_key_is_charged_once_and_gives_the_same_report(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", rows(400))
    with SqliteLedger.create(tmp_path / "l", Budget(3.0, 1e-5), name="t", neighbors=Neighbors.ADD_REMOVE) as ledger:
        first = profile(PrivateData.of(path, SCHEMA, ledger), BUDGET, key="monday")
        spent = ledger.balance().certified
        again = profile(PrivateData.of(path, SCHEMA, ledger), BUDGET, key="monday")
        assert [column.figures[0].value for column in again.columns[:1]] == [first.columns[0].figures[0].value]
        assert [column.bars for column in again.columns] == [column.bars for column in first.columns]
        assert (first.receipt.replayed, again.receipt.replayed) == (False, True)
        assert ledger.balance().certified == spent
        assert len(ledger.entries()) == 1
        with pytest.raises(KeyReused):
            profile(
                PrivateData.of(path, Schema({**SCHEMA.columns, "age": Number(0, 99)}), ledger), BUDGET, key="monday"
            )
        assert ledger.balance().certified == spent


def test_a_ledger_that_cannot_pay_is_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", rows(20))
    with SqliteLedger.create(tmp_path / "l", Budget(0.5, 1e-5), name="t", neighbors=Neighbors.ADD_REMOVE) as ledger:
        with pytest.raises(BudgetExceeded):
            profile(PrivateData.of(path, SCHEMA, ledger), BUDGET)
        assert ledger.entries() == ()


@pytest.mark.parametrize(
    ("mistake", "said"),
    [({"bins": 0}, "bins is 0"), ({"bins": 2.5}, "bins is 2.5"), ({"quantiles": [0.5, 1.5]}, "a quantile is 1.5")],
)
def test_a_mistake_is_found_before_any_charge(mistake: dict[str, object], said: str) -> None:
    data = private({"age": [1.0], "sex": ["f"]}, NUMBERS, Budget(1.0))
    with pytest.raises(ParameterError, match=said):
        profile(data, Budget(1.0), **mistake)  # type: ignore[arg-type]
    assert data.ledger.entries() == ()


def test_text_without_delta_is_refused_before_any_charge(tmp_path: Path) -> None:
    data = private(written(tmp_path / "t.csv", rows(5)), budget=Budget(1.0))
    with pytest.raises(ParameterError, match="'town'"):
        profile(data, Budget(1.0))
    assert data.ledger.entries() == ()


def test_progress_is_told_from_the_first_release_to_the_last(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    profile(private(written(tmp_path / "t.csv", rows(20))), BUDGET, progress=lambda *step: told.append(step))
    assert [done for done, _, _ in told] == [0, 1, 2, 3, 4, 5]
    assert {total for _, total, _ in told} == {5}
    assert told[0][2] == "moments of age"


def test_json_holds_every_number_and_reads_back(tmp_path: Path) -> None:
    report = profile(private(written(tmp_path / "t.csv", rows())), BUDGET, title='a "title"')
    document = json.loads(report.to_json())
    assert document["title"] == 'a "title"'
    assert document["budget"] == {"epsilon": 1.0, "delta": 1e-6}
    assert read(json.dumps(document["receipt"]["event"])) == report.receipt.event
    assert document["receipt"]["key"] == report.receipt.key
    assert document["receipt"]["neighbors"] == "add_remove"
    assert document["receipt"]["secret"] is False
    for column, stored in zip(report.columns, document["columns"], strict=True):
        assert stored["name"] == column.name
        assert [(f["name"], f["value"], f["error"]) for f in stored["figures"]] == [
            (f.name, f.value, f.half_width) for f in column.figures
        ]
        assert [(c["label"], c["count"], c["error"]) for c in stored["counts"]] == [
            (b.label, b.count, b.error) for b in column.bars
        ]
    assert (document["columns"][0]["lower"], document["columns"][0]["upper"]) == (0, 100)
    assert document["columns"][1]["values"] == ["f", "m"]


def test_the_text_has_every_figure_and_the_receipt(tmp_path: Path) -> None:
    report = profile(private(written(tmp_path / "t.csv", rows())), BUDGET, title="t.csv")
    text = str(report)
    for part in [*NAMES, "Rome", report.receipt.key, "one record", "NOT PRIVATE", "epsilon 1, delta 1e-06"]:
        assert part in text
    assert all(line.isprintable() for line in text.splitlines())


def test_cells_too_narrow_to_have_different_labels_are_all_kept() -> None:
    schema = Schema({"x": Number(1e6, 1e6 + 1), "c": Category(("a",))})
    report = profile(private({"x": [1e6] * 5, "c": ["a"] * 5}, schema, Budget(1.0)), Budget(1.0))
    assert len(report.columns[0].bars) == 32


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1.1])
def test_any_budget_can_be_spent_whole(epsilon: float, tmp_path: Path) -> None:
    frame, budget = {"age": [1.0], "sex": ["f"]}, Budget(epsilon)
    assert profile(private(frame, NUMBERS, budget), budget).budget == budget
    with SqliteLedger.create(tmp_path / "l", budget, name="t", neighbors=Neighbors.ADD_REMOVE) as ledger:
        assert profile(PrivateData.of(frame, NUMBERS, ledger), budget).balance.certified <= epsilon
