"""A forecast comes true, is made of public facts alone, and costs nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import discreet
from discreet.accounting.accountant import epsilon as priced
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, ParameterError
from discreet.core.events import PureLoss
from discreet.core.neighbors import Neighbors, Unit
from discreet.query.forecast.expected_error import _between_tables, tried
from discreet.query.forecast.forecast import Expectation, Forecast
from discreet.query.forecast.plan import affordable, plan
from discreet.query.forecast.planned_question import PlannedQuestion, planned_question, read_once
from discreet.query.forecast.practice import Practice, PracticeLedger
from discreet.query.forecast.stand_in import Shape
from discreet.query.sample.sample import sample
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.matrix import Matrix

READ_ELSEWHERE = {
    "plan": "reads no record",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""

SCHEMA = Schema({"age": Number(0, 110), "stay": Number(0, 32), "sex": Category(("f", "m", "x"))})


class Untouchable(Frame):
    """Records that nobody may read."""

    def sum(self, question: Any) -> Any:
        raise AssertionError("a record was read")

    def batches(self, columns: Any) -> Any:
        raise AssertionError("a record was read")

    def units(self) -> int:
        raise AssertionError("records were counted")


def expected(*questions: Any, **given: Any) -> list[Expectation]:
    return list(plan(SCHEMA, *questions, **{"n": 5000} | given).expectations)


def test_intervals_turn_out_as_wide_as_was_said() -> None:
    """Noise moves the counts in the middle of the means' error by less than a tenth: 5,000 is far from 0."""
    patients = sample(epsilon=50.0)
    for words, statistic, column in (
        ("count of sex", discreet.count, "sex"),
        ("histogram of department", discreet.histogram, "department"),
        ("mean of age", discreet.mean, "age"),
        ("total of stay_days", discreet.total, "stay_days"),
    ):
        (row,) = plan(patients, words, n=5000, epsilon=0.7).expectations
        series = statistic(patients, column, epsilon=0.7).tabulated().series[0]
        half = float(np.median(np.subtract(*reversed(series.interval)) / 2))
        assert row.low * 0.9 <= half <= row.high * 1.1, words
        assert row.basis == "95% interval"


def test_errors_follow_the_law_of_the_noise() -> None:
    """A mean in the middle of its bounds has two Laplace noises of scale b = 110 / (2 epsilon n): their sum is beyond
    t b with the chance (1 + t / 2) exp(-t), which is a twentieth at 4.113."""
    (row,) = expected("mean of age", n=20_000, epsilon=0.5)
    assert pytest.approx(row.low, rel=0.02) == 4.113 * 110 / (2 * 0.5 * 20_000)
    halves = [each.error for each in expected("mean of age", epsilon=[0.2, 0.4])]
    assert halves[0] / halves[1] == pytest.approx(2.0, rel=0.05)


def test_nothing_is_read_and_nothing_is_charged() -> None:
    columns = {"age": np.zeros(10), "stay": np.zeros(10), "sex": ["f"] * 10}
    ledger = sample().ledger
    data = PrivateData.of(Untouchable(columns, SCHEMA), SCHEMA, ledger)
    forecast = plan(
        data, "mean of age", "median of stay", "KMeans n_clusters=2 columns=stay", "report", n=1000, epsilon=0.5
    )
    assert len(forecast.expectations) > 10
    assert ledger.balance().used == 0
    assert ledger.entries() == ()
    with pytest.raises(AssertionError, match="a record was read"):
        discreet.mean(data, "age", epsilon=0.1)


def test_a_secret_number_of_records_must_be_assumed_and_a_public_one_need_not() -> None:
    with pytest.raises(ParameterError, match="the number of records is secret"):
        plan(sample(), "mean of age")
    public = PrivateData.of(np.zeros((700, 1)), Schema.numeric(0, 1, 1), Budget(1.0), neighbors=Neighbors.REPLACE)
    assert plan(public, "mean of x0", epsilon=1.0).n == 700


def test_an_epsilon_is_found_for_an_error() -> None:
    for words in ("mean of age", "median of stay", "standard deviation of stay", "histogram of sex bins=3"):
        (found,) = expected(words, for_error=2.0)
        assert found.error <= 2.0
        (less,) = expected(words, epsilon=found.epsilon * 0.7)
        assert less.error > 2.0, words
    (never,) = expected(partial(discreet.mean, column="age", population=True), n=50, for_error=0.01)
    assert never.epsilon == math.inf
    assert json.loads(Forecast(50, (never,)).to_json())["expectations"][0]["epsilon"] is None


def test_the_account_pays_as_often_as_was_said() -> None:
    data = sample(epsilon=1.0, delta=0.0)
    (row,) = plan(data, "count of sex", n=5000, epsilon=0.25).expectations
    assert row.times == 4
    for _ in range(4):
        discreet.count(data, "sex", epsilon=0.25)
    with pytest.raises(BudgetExceeded):
        discreet.count(data, "sex", epsilon=0.25)
    (row,) = plan(data, "count of sex", n=5000, epsilon=0.25).expectations
    assert row.times == 0
    assert affordable(sample(epsilon=9.0, delta=0.0), PureLoss(1e-4)) == 10_000


def test_trust_and_unit_of_the_data_count() -> None:
    """Noise of every person's own adds up to sqrt(n) times a curator's, or less by another kind of report; three rows
    of a user have three times the noise of one."""
    rows = Matrix(np.zeros((10_000, 1)), Schema.numeric(0, 1, 1))
    alone = PrivateData(Local(rows), PracticeLedger())
    curated = PrivateData.of(rows, rows.schema, PracticeLedger(), neighbors=Neighbors.REPLACE)
    errors = [plan(data, "total of x0", epsilon=1.0).error for data in (alone, curated)]
    assert 50 < errors[0] / errors[1] < 100 * 1.96 * math.sqrt(2) / math.log(20)
    users = [
        PrivateData.of({"age": [], "id": []}, Schema({"age": Number(0, 9)}), PracticeLedger(), unit=unit)
        for unit in (Unit("user", "id"), Unit("user", "id", rows=3))
    ]
    counts = [plan(data, "count of age", n=500, epsilon=0.1).error for data in users]
    assert counts[1] == pytest.approx(3 * counts[0], rel=0.05)


def test_what_has_no_interval_is_simulated_and_says_so() -> None:
    learner = discreet.learners.GaussianNB(target="sex")
    coarse, fine = expected(learner, n=2000, epsilon=[0.02, 10.0])
    assert coarse.basis == fine.basis == "simulated: predictions that change"
    assert 0 < fine.error < 0.1 < coarse.error < 1
    (centers,) = expected("KMeans n_clusters=2 columns=stay", n=2000, epsilon=1.0, delta=1e-6)
    assert centers.basis == "simulated: root mean square"


def test_a_forecast_is_the_same_every_time_and_uses_no_secret_bits() -> None:
    learner = discreet.learners.KMeans(2, columns=["age", "stay"])
    assert expected(learner, "median of age", epsilon=1.0, n=500) == expected(
        learner, "median of age", epsilon=1.0, n=500
    )


def test_a_report_is_foreseen_figure_by_figure() -> None:
    rows = {row.question: row for row in plan(sample(), "report", n=5000, epsilon=1.0, delta=1e-6).expectations}
    assert {"mean of age", "median of stay_days", "counts of department", "counts of town"} <= set(rows)
    assert rows["counts of sex"].times is not None


def test_it_prints_plots_and_becomes_a_frame() -> None:
    forecast = plan(SCHEMA, "mean of age", "median of age", n=5000, epsilon=[0.1, 1.0], delta=1e-9)
    assert str(forecast).startswith("expected errors, if n is 5,000; nothing was asked\n")
    assert list(forecast.to_pandas().columns) == ["error", "low", "high"]
    assert "<p class='title'>expected errors" in forecast._repr_html_()
    ax = forecast.plot(Figure().add_subplot())
    assert [line.get_label() for line in ax.lines] == ["mean of age", "median of age"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_what_cannot_be_foreseen_is_refused_before_anything() -> None:
    for questions, given, said in (
        ((), {}, "no question is given"),
        (("mean of age",), {"epsilon": 1.0, "for_error": 1.0}, "both epsilon and for_error"),
        (("mean of age",), {"for_error": -1.0}, "for_error is -1.0"),
        (("mean of age",), {"n": 0}, "n is 0"),
        (("mean of height",), {}, "the schema has none"),
        (("gossip of age",), {}, "begins with no name"),
        (("plan of age",), {}, "begins with no name"),
        ((5,), {}, "5 is not a question"),
        ((len,), {}, "len has no epsilon"),
    ):
        with pytest.raises(ParameterError, match=said):
            expected(*questions, **given)
    with pytest.raises(ParameterError, match="schema: it has no columns"):
        plan({}, "mean of age", n=5)


def test_words_may_name_groups_options_and_several_columns() -> None:
    rows = expected("grouped stay by sex", "contingency of sex and age bins=4", "quantile of age q=0.9", epsilon=1.0)
    assert [row.question for row in rows][-2:] == ["contingency of sex and age bins=4", "quantile of age q=0.9"]
    assert rows[0].question.startswith("grouped stay by sex: ")
    groups = expected("mean of stay by age edges=[18, 45, 98] where sex == 'f' and age >= 18", "count", epsilon=1.0)
    everybody, *_ = expected("mean of stay by age edges=[18, 45, 98]", epsilon=1.0)
    assert groups[0].error > 1.5 * everybody.error  # of whom about a third are f
    assert groups[1].question == "count"
    few, all_of_them = expected(
        "KMeans n_clusters=2 columns=stay where age >= 80", "KMeans n_clusters=2 columns=stay", n=2000, epsilon=1.0
    )
    assert few.error != all_of_them.error


def test_tables_of_few_records_differ_by_chance_and_the_ends_say_how_far() -> None:
    """Of an even column, 300 values lie closer together here than there: the error of a median differs by a tenth."""
    question = planned_question("median of age")
    few, many = (tried(question, Practice(SCHEMA, n, 0.0), Budget(1.0)).errors[0] for n in (300, 200_000))
    assert few.chance > 0.03
    assert few.low < 0.95 * min(few.errors) < 1.05 * max(few.errors) < few.high
    assert many.chance == 0
    assert (many.low, many.high) == (min(many.errors), max(many.errors))
    assert Practice(SCHEMA, 300, 0.0).tables > 1 == Practice(SCHEMA, 200_000, 0.0).tables
    one, other = (Practice(SCHEMA, 300, 0.0).records(Shape.EVEN, table)["age"] for table in (0, 1))
    assert (one != other).any()
    assert _between_tables([[1.0, 1.1] * 20], 2) > 0.04
    assert _between_tables([[1.0] * 20 + [1.1] * 20], 2) == 0


def test_the_price_is_what_was_asked_for() -> None:
    ledger = PracticeLedger()
    discreet.mean(PrivateData.of({"x": [1.0] * 9}, Schema({"x": Number(0, 2)}), ledger), "x", epsilon=0.3)
    assert priced(ledger.event, 0.0) == pytest.approx(0.3)


def test_a_synthetic_table_is_planned_by_its_distance_cells_and_memory() -> None:
    """Two hundred records of thirty columns are too few, and the plan says so."""
    few = {f"c{place}": list("abcdef") for place in range(30)}
    wide = plan(few, "synthesize", n=200, epsilon=1.0, delta=1e-6)
    narrow = plan({"a": ["x", "y"], "b": ["x", "y"]}, "synthesize", n=50_000, epsilon=1.0, delta=1e-6)
    assert wide.expectations[1].error > 0.3
    assert narrow.expectations[1].error < 0.02
    assert [row.question.split(": ")[1] for row in narrow.expectations] == ["columns", "pairs", "cells", "memory"]
    assert narrow.expectations[2].error >= 3 + 3 + 9


def test_what_is_opened_again_starts_anew() -> None:
    """The noise of a seed is the same each time, and an account knows of one question alone."""
    practice, asked = Practice(SCHEMA, 300, 0.0), partial(discreet.mean, column="age", epsilon=1.0)
    values: dict[int, list[float]] = {}
    for seed in (3, 4, 3):
        data = practice.opened(Shape.EVEN, seed)
        values.setdefault(seed, []).append(asked(data).value)
        assert isinstance(data.ledger, PracticeLedger)
        assert len(data.ledger.events) == 1
    assert values[3][0] == values[3][1] != values[4][0]


def test_a_question_is_read_once_for_the_same_records_and_price() -> None:
    read: list[Budget] = []

    def reading(data: PrivateData, budget: Budget) -> Callable[[], float]:
        read.append(budget)
        return lambda: discreet.mean(data, "age", epsilon=budget.epsilon).value

    ask, data = read_once(reading), Practice(SCHEMA, 300, 0.0).opened(Shape.EVEN)
    assert ask(data, Budget(1.0)) != ask(data, Budget(1.0))
    assert abs(ask(data, Budget(1e6)) - ask(data, Budget(1e6))) < 1e-3
    assert read == [Budget(1.0), Budget(1e6)]


def test_widths_that_differ_are_asked_of_every_table_twice() -> None:
    """Or chance could not be told from noise; where they are all alike, three answers are enough."""
    practice = Practice(SCHEMA, 3000, 0.0)
    for function, least in ((discreet.minimum, 2), (discreet.count, 0)):
        asked: list[int] = []

        def ask(data: PrivateData, budget: Budget, asked: list[int] = asked, one: Any = function) -> Any:
            asked.append(id(data))
            return one(data, "age", epsilon=budget.epsilon)

        tried(PlannedQuestion("a question", ask), practice, Budget(1.0))
        times = [asked.count(one) for one in set(asked)]
        assert min(times) >= least
        assert (len(times) == len(Shape) * practice.tables) == bool(least)
