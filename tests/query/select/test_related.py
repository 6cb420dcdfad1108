"""Rows per unit, joins and frames, asked in SQL and step by step: the same answers, one price, nothing unpaid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError, SchemaError
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import account_of
from discreet.noise.deterministic import DeterministicBits
from discreet.query.select.sql import read_sql
from discreet.query.select.written_sql import written_sql
from discreet.releases.table import Table
from discreet.schema.relation.asked_rows import StatisticRows
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable

N, PEOPLE = 1200, 200
RNG = np.random.default_rng(11)
VISITS = {
    "who": RNG.integers(0, PEOPLE, N),
    "stay": RNG.uniform(0, 60, N),
    "ward": RNG.choice(["day", "icu"], N, p=[0.8, 0.2]),
    "town": RNG.choice(["Bern", "Basel", "Chur"], N, p=[0.6, 0.38, 0.02]),
}
PERSONS = {"who": np.arange(PEOPLE), "sex": RNG.choice(["f", "m"], PEOPLE), "age": RNG.integers(0, 100, PEOPLE)}
WARDS = {"ward": ["day", "icu", "icu"], "beds": [20, 6, 7]}
DESCRIBED = {"stay": (0, 60), "ward": ["day", "icu"], "town": str}
UNIT = Unit("user", "who", 4)
Tables = dict[str, Any]


def tables(epsilon: float = 1e7) -> Tables:
    ledger = account_of(Budget(epsilon, 1e-2), Neighbors.ADD_REMOVE, UNIT)
    how: dict[str, Any] = {"unit": UNIT, "bits": DeterministicBits(1)}
    people = Unit("user", "who", 1)
    return {
        "visits": PrivateData.of(VISITS, DESCRIBED, ledger, name="visits", **how),
        "people": PrivateData.of(
            PERSONS, {"sex": ["f", "m"], "age": (0, 100)}, ledger, name="people", **(how | {"unit": people})
        ),
        "wards": PublicTable(WARDS, {"ward": ["day", "icu"], "beds": (0, 40)}, name="wards"),
    }


def of_units() -> dict[str, np.ndarray]:
    """Each person's visits in plain numpy: how many, and the longest."""
    who = [VISITS["who"] == one for one in np.unique(VISITS["who"])]
    return {
        "visits": np.array([own.sum() for own in who]),
        "longest": np.array([VISITS["stay"][own].max() for own in who]),
        "icu": np.array([(VISITS["ward"][own] == "icu").any() for own in who]),
    }


def test_a_query_grouped_by_units_is_a_table_of_units() -> None:
    text = """SELECT avg(n) AS n, avg(longest) AS longest FROM
        (SELECT who, count(*) AS n, max(stay) AS longest, bool_or(ward = 'icu') AS icu FROM visits GROUP BY who) AS p
        WHERE icu"""
    found = discreet.sql(tables(), text, bounds={"n": (0, 50)}, epsilon=1e5)
    own = of_units()
    assert found["n"].values[0] == pytest.approx(own["visits"][own["icu"]].mean(), abs=0.05)
    assert found["longest"].values[0] == pytest.approx(own["longest"][own["icu"]].mean(), abs=0.05)
    assert found.receipt.unit.rows == 1


def test_units_are_counted_once_each() -> None:
    data = tables()
    one = discreet.sql(data, "SELECT count(DISTINCT who) AS people FROM visits WHERE ward = 'icu'", epsilon=1e5)
    assert one["people"].values[0] == of_units()["icu"].sum()
    assert one.receipt.unit.rows == 1
    by = discreet.sql(data, "SELECT ward, count(DISTINCT who) AS people FROM visits GROUP BY ward", epsilon=1e5)
    exact = [len(set(VISITS["who"][VISITS["ward"] == ward])) for ward in by.labels["ward"]]
    assert by["people"].values.tolist() == exact
    with pytest.raises(NotPermitted, match="counted once each"):
        discreet.sql(data, "SELECT count(DISTINCT who) AS people, avg(stay) FROM visits", epsilon=1.0)


def test_groups_of_a_unit_are_limited_apart_from_its_rows() -> None:
    data = tables()["visits"]
    each = data.per_unit(by="ward", groups=1, total="sum of stay", bounds={"total": (0, 2000)})
    assert each.unit.rows == 1
    table = each.group_by("ward").aggregate("count", "mean of total").release(epsilon=1e6)
    assert table["count"].values.sum() == len(np.unique(VISITS["who"]))
    both = data.per_unit(by="ward", total="sum of stay", bounds={"total": (0, 2000)})
    assert both.unit.rows == 4
    sums = both.group_by("ward").aggregate("total of total").release(epsilon=1e6)["total of total"].values
    exact = [VISITS["stay"][VISITS["ward"] == ward].sum() for ward in ("day", "icu")]
    assert np.allclose(sums, exact, rtol=1e-3)  # no row was left out
    with pytest.raises(ParameterError, match="nothing makes any"):
        data.per_unit(groups=2, total="max of stay")


def test_joins_have_the_pairs_that_they_should() -> None:
    data = tables()
    text = "SELECT w.beds, count(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.beds"
    table = discreet.sql(data, text, edges={"beds": [0, 6.5, 10, 40]}, epsilon=1e6)
    kept = discreet.sql(data, "SELECT ward, count(*) AS n FROM visits GROUP BY ward", epsilon=1e6)["n"].values
    assert table["n"].values.tolist() == [kept[1], kept[1], kept[0]]
    assert table.receipt.unit.rows == 8
    swapped = discreet.sql(data, "SELECT count(*) AS n FROM wards JOIN visits USING (ward)", epsilon=1e6)
    assert swapped["n"].values[0] == kept[0] + 2 * kept[1]
    text = "SELECT sex, count(*) AS n FROM visits v JOIN people p ON v.who = p.who WHERE p.age >= 50 GROUP BY p.sex"
    table = discreet.sql(data, text, epsilon=1e6)
    assert table.receipt.unit.rows == 4
    size = np.bincount(VISITS["who"], minlength=PEOPLE).clip(max=4)
    exact = [size[(PERSONS["sex"] == sex) & (PERSONS["age"] >= 50)].sum() for sex in ("f", "m")]
    assert table["n"].values.tolist() == exact
    text = "SELECT count(*) AS n FROM visits a JOIN visits b ON a.ward = b.ward"
    assert discreet.sql(data, text, most=3, epsilon=1e6)["n"].values[0] == pytest.approx(2 * 9, abs=1)
    rare = {"ward": ["icu"], "beds": [6]}
    outer = tables() | {"wards": PublicTable(rare, {"ward": ["day", "icu"], "beds": (0, 40)})}
    text = "SELECT count(*) AS n, count(beds) AS met FROM visits LEFT JOIN wards USING (ward)"
    found = discreet.sql(outer, text, epsilon=1e6)
    assert [found["n"].values[0], found["met"].values[0]] == [kept.sum(), kept[1]]


REFUSED = {
    "SELECT count(*) FROM visits a JOIN visits b ON a.ward = b.ward": "nothing bounds how many",
    "SELECT count(*) FROM visits a, visits b": "nothing says which rows belong together",
    "SELECT count(*) FROM visits CROSS JOIN wards": "not joined in this way",
    "SELECT count(*) FROM visits NATURAL JOIN wards": "not joined in this way",
    "SELECT count(*) FROM visits FULL JOIN wards USING (ward)": "not joined in this way",
    "SELECT count(*) FROM visits a JOIN wards b ON a.stay > b.beds": "where columns are equal",
    "SELECT count(*) FROM visits a JOIN wards b ON a.ward = b.ward OR 1 = 1": "where columns are equal",
    "SELECT count(*) FROM visits a JOIN wards b ON a.ward = b.word": "no column 'word'",
    "SELECT count(*) FROM visits a JOIN wards a USING (ward)": "two tables are called",
    "SELECT count(*) FROM wards": "nothing about it is asked",
    "SELECT count(*) FROM wards a JOIN wards b USING (ward)": "both tables are public",
    "SELECT count(*) FROM wards LEFT JOIN visits USING (ward)": "nothing about it is asked",
    "SELECT avg(c.stay) FROM visits a JOIN wards b USING (ward)": "there is no table 'c'",
    "SELECT avg(b.stay) FROM visits a JOIN wards b USING (ward)": "there is no column 'stay'",
    "SELECT avg(stay) FROM visits a JOIN visits b ON a.who = b.who": "several tables",
    "SELECT avg(n) FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) AS q": "by units alone",
    "SELECT avg(n) FROM (SELECT who, stay AS n FROM visits GROUP BY who) AS q": "may differ among the rows",
    "SELECT avg(n) FROM (SELECT who, median(stay) AS n FROM visits GROUP BY who) AS q": "not brought together",
    "SELECT avg(n) FROM (SELECT who, max(stay) AS n FROM visits GROUP BY who HAVING n > 3) AS q": "outer SELECT",
    "SELECT avg(n) FROM (SELECT who, max(stay) AS n FROM visits GROUP BY who LIMIT 3) AS q": "outer SELECT",
    "SELECT avg(n) FROM (SELECT who, max(stay) FROM visits GROUP BY who) AS q": "no name of its own",
    "SELECT count(*) FROM visits a JOIN visits b ON a.town = b.town JOIN people p ON a.who = p.who": "one unit's own",
}


def test_refusals_of_joins_show_the_word_and_cost_nothing() -> None:
    data = tables()
    for text, words in REFUSED.items():
        with pytest.raises(DiscreetError, match=words):
            discreet.sql(data, text, most=None if "nothing bounds" in words else 2, epsilon=1.0)
    assert data["visits"].ledger.entries() == ()


def test_tables_of_another_account_or_unit_are_not_joined() -> None:
    data, other = tables(), tables()
    with pytest.raises(NotPermitted, match="another account"):
        data["visits"].join(other["people"])
    with pytest.raises(ParameterError, match="is no table"):
        data["visits"].join(WARDS, "ward")
    with pytest.raises(SchemaError, match="Describe both alike"):
        data["visits"].join(PublicTable(WARDS, {"ward": ["icu", "day"], "beds": (0, 40)}), "ward")
    with pytest.raises(ParameterError, match='"left" or "weighted"'):
        data["visits"].join(data["wards"], "ward", how="outer")
    with pytest.raises(ParameterError, match="nothing says which columns"):
        data["visits"].join(data["wards"])
    with pytest.raises(SchemaError, match="no such column"):
        data["visits"].join(data["wards"], {"ward": "word"}, prefix="w_")


SAME = (
    "SELECT ward, count(*) AS n, avg(stay) AS m FROM visits WHERE NOT stay > 50 GROUP BY ward",
    "SELECT avg(h) AS m, quantile(h, 0.25) AS q FROM (SELECT stay * 24 AS h FROM visits WHERE ward <> 'icu') AS x",
    "SELECT avg(n) AS m FROM (SELECT who, ward, sum(stay) AS n FROM visits GROUP BY who, ward) AS p WHERE ward = 'day'",
    "SELECT sex, avg(stay) AS m FROM visits v JOIN people p ON v.who = p.who GROUP BY sex HAVING m > 1 ORDER BY m DESC",
    "SELECT avg(beds) AS m FROM visits LEFT JOIN wards USING (ward) WHERE stay BETWEEN 3 AND 40",
    "SELECT avg(CASE WHEN ward = 'icu' THEN least(stay, 9) ELSE 0 - stay END) AS m FROM visits WHERE ward IN ('icu')",
)


def values(table: Table) -> list[list[float]]:
    return [series.values.tolist() for series in table.series]


def test_what_is_written_in_sql_is_read_as_the_same() -> None:
    for text in SAME:
        text = text.replace("", "")
        first = read_sql(tables(), text, epsilon=1.0)
        written = written_sql(first.relation)
        again = read_sql(tables(), written, epsilon=1.0)
        assert again.selection.data.unit == first.selection.data.unit
        assert again.relation.words == first.relation.words
        assert values(again.asked()) == values(first.asked()), written


def test_a_frame_plans_writes_and_explains_without_asking() -> None:
    data = tables()["visits"]
    query = data.where("stay > 1").derive(hours="stay * 24").group_by("ward").aggregate("count", "mean of hours")
    assert isinstance(query.relation, StatisticRows)
    forecast = query.plan(n=PEOPLE, epsilon=1.0)
    assert [row.question.rpartition(": ")[2] for row in forecast.expectations] == ["count", "mean of hours"]
    shown = str(query.explain(epsilon=1.0))
    for words in ("release count, mean of hours", "└ by ward", "with hours = (stay * 24)", "4 rows", "Laplace noise"):
        assert words in shown
    assert "table visits" in query.explain().html()
    assert data.ledger.entries() == ()
    released = query.release(epsilon=2.0)
    assert 1.9 < released.receipt.epsilon <= 2.0


def test_pairs_and_distinct_values_are_written_as_they_are_read() -> None:
    data = tables()["visits"].where("stay > 3")
    query = (
        data.derive(half="stay / 2")
        .group_by("ward")
        .aggregate("covariance of stay and half", "correlation of stay and half", "count_distinct of town")
    )
    text = query.sql()
    assert "covar_pop(" in text
    assert "count(DISTINCT" in text
    read = read_sql({"visits": tables()["visits"]}, text, epsilon=1e5).selection
    own = query.selection(Budget(1e5))
    assert [one.options for one in read.aggregates] == [one.options for one in own.aggregates]


def test_what_sql_has_no_words_for_is_drawn_and_not_written() -> None:
    data = tables()
    joined = data["visits"].where("stay > 1").join(data["visits"], "ward", how="weighted", prefix="other_")
    query = joined.group_by().aggregate("count")
    assert "weighted join" in str(query.explain())
    with pytest.raises(NotPermitted, match="sql of weighted join on ward = ward: it cannot be said in SQL"):
        query.sql()
    assert not data["visits"].ledger.entries()


def test_an_explanation_draws_both_sides_of_a_join() -> None:
    data = tables()
    joined = data["visits"].join(data["wards"], "ward").join(data["people"])
    shown = str(joined.group_by("sex").aggregate("count").explain())
    assert "join on same user" in shown
    assert "8 rows" in shown
    assert "public table wards" in shown
    line = next(one for one in shown.splitlines() if "public table" in one)
    assert line.endswith("nothing")


def test_noise_that_is_explained_is_the_noise_that_is_added() -> None:
    query = tables()["visits"].group_by("ward").aggregate("count")
    stated = float(query.explain(epsilon=0.5).releases[0][2])
    runs = [query.release(epsilon=0.5)["count"].values for _ in range(150)]
    assert np.std(np.array(runs) - np.mean(runs, axis=0)) == pytest.approx(stated, rel=0.2)


def test_weights_split_the_price() -> None:
    query = tables()["visits"].group_by("ward")
    even = query.aggregate("mean of stay", "median of stay")
    heavy = query.aggregate("mean of stay", "median of stay", weights={"mean of stay": 9.0})
    noises = [[float(one[2]) for one in asked.explain().releases] for asked in (even, heavy)]
    assert noises[1][0] < noises[0][0]
    assert noises[1][1] > noises[0][1]
    with pytest.raises(ParameterError, match="which is not asked for"):
        query.aggregate("count", weights={"mean": 2.0})
    with pytest.raises(ParameterError):
        query.aggregate("count", weights={"count": 0.0}).selection(Budget(1.0))


def test_bounds_by_group_make_the_noise_of_a_group_its_own() -> None:
    short = "case when ward == 'icu' then stay else stay / 60 end"
    data = tables()["visits"].derive(bounds={"stays": (0, 60)}, stays=short)
    bounds = {"stays": {"icu": (0, 60), "day": (0, 1)}}
    grouped = data.group_by("ward")
    plain = grouped.aggregate("mean of stays").release(epsilon=1.0)
    own = grouped.aggregate("mean of stays", bounds=bounds).release(epsilon=1.0)
    sharp = grouped.aggregate("mean of stays", "standard_deviation of stays", bounds=bounds).release(epsilon=1e6)
    widths = [np.subtract(one["mean of stays"].high, one["mean of stays"].low) for one in (own, plain)]
    assert widths[0][0] < widths[1][0] / 20
    exact = [VISITS["stay"][VISITS["ward"] == "day"].mean() / 60, VISITS["stay"][VISITS["ward"] == "icu"].mean()]
    assert np.allclose(sharp["mean of stays"].values, exact, rtol=0.1)
    assert np.allclose(sharp["standard_deviation of stays"].values, [17.3 / 60, 17.3], rtol=0.1)
    wrongs: list[Any] = [{"icu": (0, 60)}, {"icu": 3, "day": (0, 1)}]
    wrongs += [{"icu": (0, 60), "day": ends} for ends in ((1, 0), (0, 61), (0, float("nan")), ("a", 1))]
    for wrong in wrongs:
        with pytest.raises(ParameterError):
            grouped.aggregate("mean of stays", bounds={"stays": wrong})
    with pytest.raises(NotPermitted, match="not moved between bounds"):
        grouped.aggregate("total of stays", bounds=bounds)
    with pytest.raises(NotPermitted, match="one column with listed values"):
        data.group_by("town").aggregate("mean of stays", bounds=bounds)
    with pytest.raises(ParameterError, match="nothing is asked of"):
        grouped.aggregate("count", bounds=bounds)


def test_groups_that_a_threshold_would_lose_are_foretold() -> None:
    data = tables()["visits"]
    query = data.group_by("town").aggregate("count")
    expected = {"Bern": 420.0, "Chur": 16.0}
    lost = query.lost(expected, epsilon=1.0, delta=1e-5)
    assert lost.chances["Bern"] < 0.01
    assert lost.chances["Chur"] > 0.99
    assert "1.0 of 2 groups" in str(lost)
    edge = {"Bern": float(lost.threshold)}
    assert query.lost(edge, epsilon=1.0, delta=1e-5).number == pytest.approx(0.5, abs=0.1)
    assert data.ledger.entries() == ()
    with pytest.raises(NotPermitted, match="values of all groups are public"):
        data.group_by("ward").aggregate("count").lost({"icu": 3.0})
    with pytest.raises(ParameterError):
        query.lost({}, delta=1e-5)


def test_a_plan_says_how_many_groups_are_left_out() -> None:
    query = tables()["visits"].group_by("town").aggregate("count")
    found = query.plan(n=PEOPLE, epsilon=[0.1, 1.0], delta=1e-5, expected={"Bern": 420.0, "Chur": 16.0})
    lost = [(one.epsilon, round(one.error)) for one in found.expectations if one.question == "groups left out"]
    assert lost == [(0.1, 2), (1.0, 1)]
    assert "of 2 expected" in str(found)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_errors_that_are_stated_are_met_at_hardly_more_than_the_least_price(delta: float) -> None:
    data = tables()["visits"]
    query, wanted = data.group_by("ward").aggregate("count", "mean of stay"), {"count": 40.0, "mean of stay": 3.0}
    found = query.for_errors(wanted, n=PEOPLE, delta=delta)
    shared = data.group_by("ward").aggregate(*wanted, weights=found.weights)
    for part, holds in ((1.0, True), (0.85, False)):
        errors = [one.error for one in shared.plan(n=PEOPLE, epsilon=part * found.epsilon, delta=delta).expectations]
        assert all(error <= most for error, most in zip(errors, wanted.values(), strict=True)) is holds
    assert data.ledger.entries() == ()
    for wrong, kind in (({"count": 3.0}, ParameterError), ({**wanted, "count": 0.0}, ParameterError)):
        with pytest.raises(kind):
            query.for_errors(wrong, n=PEOPLE)
    with pytest.raises(NotPermitted, match="at every price"):
        query.for_errors({**wanted, "mean of stay": 1e-9}, n=PEOPLE)


def test_the_same_question_with_the_same_key_is_paid_once() -> None:
    data = tables()
    text = "SELECT avg(n) AS n FROM (SELECT who, count(*) AS n FROM visits GROUP BY who) AS p"
    first = discreet.sql(data, text, epsilon=1.0, key="a")
    again = discreet.sql(data, text, epsilon=1.0, key="a")
    assert values(first) == values(again)
    assert len(data["visits"].ledger.entries()) == 1


def test_having_and_limit_see_released_rows_alone() -> None:
    """A group whose exact number is far below is shown, if its noisy one is above: so nothing exact leaks."""
    shown = 0
    for seed in range(40):
        ledger = account_of(Budget(1e3), Neighbors.ADD_REMOVE, UNIT)
        data = PrivateData.of(VISITS, DESCRIBED, ledger, unit=UNIT, bits=DeterministicBits(seed))
        kept = data.per_unit(by="ward", groups=1)
        text = "SELECT ward, count(*) AS n FROM p WHERE ward = 'icu' GROUP BY ward HAVING n > 60"
        found = discreet.sql({"p": kept}, text, epsilon=0.05)
        shown += "icu" in found.labels["ward"]
    assert 0 < shown < 40
