"""SQL: what may be asked, what it means, and that all else is refused unread or with the word and its place."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, KeyReused, NotPermitted, ParameterError
from discreet.core.neighbors import Unit
from discreet.query.select.sql import read_sql, sql
from discreet.query.select.sql_text import LONGEST
from discreet.trust.private_data import PrivateData

N = 4000
RNG = np.random.default_rng(1)
VISITS = pd.DataFrame(
    {
        "stay": RNG.uniform(0, 60, N),
        "age": RNG.integers(0, 100, N).astype(float),
        "ward": RNG.choice(["day", "icu", "o'r"], N),
        "ill": RNG.choice([True, False], N),
        "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(RNG.integers(0, 1000, N), unit="D"),
        "town": RNG.choice(["Bern", "Basel"], N),
    }
)
VISITS.loc[::9, "age"] = np.nan
VISITS["ill"] = VISITS["ill"].astype(object)
VISITS.loc[::13, "ill"] = None
VISITS["ill"] = VISITS["ill"].astype("boolean")
DESCRIBED = {
    "stay": (0, 60),
    "age": (0, 100),
    "ward": ["day", "icu", "o'r"],
    "ill": discreet.Boolean(),
    "day": discreet.Date("2020-01-01", "2022-12-31"),
    "town": str,
}


RICH = Budget(1e9, 1e-3)
READ_ELSEWHERE = {
    "sql": "it takes records that PrivateData has read already",
}


def private(budget: Budget = RICH) -> PrivateData:
    return PrivateData.of(VISITS, DESCRIBED, budget)


MEANT = [
    "SELECT count(*) FROM visits",
    "SELECT ward, count(*) AS n, avg(stay) AS m FROM visits GROUP BY ward ORDER BY ward",
    "SELECT count(*) FROM visits WHERE age >= 18 AND NOT (age > 65 OR ward = 'day')",
    "SELECT count(*) FROM visits WHERE NOT (age > 65)",
    "SELECT count(*) FROM visits WHERE NOT (age BETWEEN 10 AND 20) AND ward NOT IN ('icu', 'o''r')",
    "SELECT count(*) FROM visits WHERE age IS NULL OR NOT ill",
    "SELECT count(*) FROM visits WHERE day >= DATE '2021-01-01' AND stay * 24 > age + 100",
    "SELECT sum(stay * 2 - 1) AS s, avg(CASE WHEN ward = 'icu' THEN 1 ELSE 0 END) AS share FROM visits",
    "SELECT avg(CASE ward WHEN 'icu' THEN stay WHEN 'day' THEN 0 END) AS m FROM visits",
    "SELECT avg(coalesce(age, 50)) AS a, max(least(stay, 30)) AS top FROM visits",
    "WITH v AS (SELECT *, stay * 24 AS hours FROM visits WHERE ill) SELECT avg(hours) AS h FROM v WHERE hours > 100",
    "SELECT avg(h) AS m FROM (SELECT stay / 2 AS h, ward AS place FROM visits) AS s WHERE place = 'icu'",
    "SELECT floor(age / 25) AS band, count(*) AS n FROM v GROUP BY band HAVING count(*) > 10 ORDER BY n DESC LIMIT 2",
    "SELECT count(*) FROM visits WHERE ill IS NOT TRUE",
    "SELECT count(*) FROM visits WHERE NOT (ill IS FALSE) AND NOT (age IS NOT NULL)",
    "SELECT avg((age > 50)) AS share FROM visits",
    "SELECT count(1) AS one, count(age) AS known, count(*) AS n FROM visits WHERE 5 < age",
    "SELECT ward, ill, count(*) AS n FROM v WHERE ill IS NOT NULL GROUP BY ward, ill ORDER BY ward DESC, ill",
    "SELECT Ward AS place, count(*) AS N FROM v GROUP BY WARD ORDER BY place DESC",
    "SELECT count(*) AS a, count(*) AS b FROM v",
    "SELECT avg(self) AS x, avg(bounds) AS y FROM (SELECT stay * 2 AS self, stay * 3 AS bounds FROM v) AS s",
    'SELECT avg("a b""c") AS x FROM (SELECT stay * 2 AS "a b""c" FROM v) AS s',
]


@pytest.mark.parametrize("text", MEANT)
def test_it_means_what_it_means_elsewhere(text: str) -> None:
    connection = duckdb.connect()
    connection.register("visits", VISITS)
    connection.register("v", VISITS)
    edges = {"band": [0, 1, 2, 3, 4]} if "band" in text else None
    exact = connection.sql(text.replace("avg((age > 50))", "avg(CAST(age > 50 AS INT))")).fetchall()
    found = sql(private(), text, epsilon=1e6, edges=edges)
    assert len(found) == len(exact)
    width = len(found.series)
    for place, row in enumerate(exact):
        for series, value in zip(found.series, row[-width:], strict=True):
            assert series.values[place] == pytest.approx(value, rel=1e-3, abs=0.05)


def test_ranks_and_spreads() -> None:
    ranks = "median(stay), quantile(stay, 0.9), percentile_cont(0.1) WITHIN GROUP (ORDER BY stay)"
    text = f"SELECT {ranks}, stddev_pop(stay) FROM v"
    values = [one.values[0] for one in sql(private(), text, epsilon=1e5).series]
    exact = [VISITS.stay.median(), VISITS.stay.quantile(0.9), VISITS.stay.quantile(0.1), VISITS.stay.std(ddof=0)]
    np.testing.assert_allclose(values, exact, rtol=0.02)


def test_two_columns_have_to_do_with_each_other() -> None:
    rows = VISITS.assign(twice=VISITS.stay * 2 - VISITS.age.fillna(50) / 3)
    data = PrivateData.of(rows, {**DESCRIBED, "twice": (-40, 120)}, RICH)
    asked = "covar_pop(stay, twice) AS pop, covar_samp(stay, twice) AS samp, corr(stay, twice) AS corr, count(*) AS n"
    table = sql(data, f"SELECT ward, {asked} FROM v WHERE ill GROUP BY ward", epsilon=1e6)
    for place, ward in enumerate(table.labels["ward"]):
        own = rows[(rows.ward == ward) & rows.ill.fillna(False).astype(bool)]
        exact = own.stay.cov(own.twice)
        assert table["pop"].values[place] == pytest.approx(exact * (len(own) - 1) / len(own), rel=0.01)
        assert table["samp"].values[place] == pytest.approx(exact, rel=0.01)
        assert table["corr"].values[place] == pytest.approx(own.stay.corr(own.twice), rel=0.01)
        assert table["n"].values[place] == len(own)
        for name, value in (("samp", exact), ("corr", own.stay.corr(own.twice))):
            low, high = table[name].interval
            assert low[place] - 1 <= value <= high[place] + 1
    whole = sql(data, "SELECT covar_pop(stay * 2, age + 1) AS c FROM v", epsilon=1e6)
    known = VISITS.dropna(subset="age")
    exact = 2 * np.cov(known.stay, known.age, ddof=0)[0, 1]
    assert whole["c"].values[0] == pytest.approx(exact, abs=5)


def test_groups_that_only_the_data_know() -> None:
    found = sql(private(), "SELECT town, count(*) AS n FROM v GROUP BY 1 ORDER BY town", epsilon=5, delta=1e-6)
    assert found.labels["town"] == ("Basel", "Bern")


def test_the_price_may_be_in_the_text() -> None:
    text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) count(*) FROM visits"
    assert sql(private(), text).receipt.epsilon == pytest.approx(0.5)
    with pytest.raises(ParameterError, match="epsilon is 2"):
        sql(private(), text, epsilon=2.0)
    with pytest.raises(ParameterError, match="given twice"):
        sql(private(), text.replace("epsilon=0.5", "epsilon=0.5, epsilon=9"))


def test_a_price_inside_a_literal_is_no_price() -> None:
    hidden = "o'r'' SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9) "
    for text in (f"SELECT count(*) FROM v /* {hidden} */", f'SELECT count(*) AS "{hidden}" FROM v'):
        assert read_sql(private(), text).selection.budget.epsilon == 1.0


def test_cells_of_numbers_are_ordered_as_numbers() -> None:
    text = "SELECT age, count(*) AS n FROM v GROUP BY age ORDER BY age DESC"
    assert sql(private(), text, edges=[0, 5, 10, 100]).labels["age"] == ("[10, 100]", "[5, 10)", "[0, 5)")


def test_many_computed_columns_are_one_step() -> None:
    items = ", ".join(f"avg(stay * {i}) AS a{i}" for i in range(1, 41))
    found = sql(private(), f"SELECT {items} FROM v", epsilon=1e6)
    assert found["a40"].values[0] == pytest.approx(40 * VISITS.stay.mean(), rel=0.01)


def test_bounds_that_nothing_takes_are_refused() -> None:
    text = "SELECT avg(rate) AS rate FROM (SELECT age / stay AS rate FROM v) AS s"
    assert sql(private(), text, bounds={"rate": (0, 10)}, epsilon=1e5).values[0] <= 10
    with pytest.raises(ParameterError, match="bounds for 'rte'"):
        sql(private(), text, bounds={"rate": (0, 10), "rte": (0, 10)})


def test_a_table_is_found_by_its_name_among_several() -> None:
    data = {"Visits": private(), "other": private()}
    assert sql(data, "SELECT count(*) FROM visits", epsilon=1e5).values[0] == N
    with pytest.raises(NotPermitted, match="there is no table 'vists'"):
        sql(data, "SELECT count(*) FROM vists")


def test_one_key_is_one_question() -> None:
    data = private(Budget(1.0))
    first = data.sql("SELECT count(*) FROM v WHERE age > 5", epsilon=0.5, key="k")
    assert data.sql("select count( * ) from v where age>5", epsilon=0.5, key="k").values == first.values
    with pytest.raises(KeyReused):
        data.sql("SELECT count(*) FROM v WHERE age > 6", epsilon=0.5, key="k")
    assert len(data.ledger.entries()) == 1


REFUSED = [
    ("SELECT * FROM v", "would show records"),
    ("SELECT stay FROM v", "neither grouped by nor inside a statistic"),
    ("SELECT ward, count(*) FROM v", "neither grouped by nor inside"),
    ("SELECT avg(stay) OVER () FROM v", "a window function ranks and adds over rows.* in line 1, letter 8"),
    ("SELECT quantile(stay, 0.5, 7) FROM v", "0.5, 7: one of them stands where nothing is read"),
    ("SELECT quantile(stay, 0.5, 'x') FROM v", "x: one of them stands where nothing is read"),
    ("SELECT mean(stay) FROM v", r"Write avg\(\.\.\.\)"),
    ("SELECT histogram(stay) FROM v", "GROUP BY age, with edges="),
    ("SELECT approx_top_k(ward, 3) FROM v", "ORDER BY n DESC LIMIT 3"),
    ("SELECT approx_count_distinct(stay) FROM v", r"Write count\(DISTINCT \.\.\.\)"),
    ("SELECT count(DISTINCT ward, ill) FROM v", "once each"),
    ("SELECT sum(DISTINCT stay) FROM v", "once each"),
    ("SELECT corr(stay) FROM v", "or less|cannot be read"),
    ("SELECT corr(stay, ward) FROM v", "ward"),
    ("SELECT town, count(*) FROM v GROUP BY town", "'town': naming values of town.*in line 1, letter 39"),
    ("SELECT count(*) FROM v GROUP BY stay", "'stay': stay is a number, .*in line 1, letter 33"),
    ("SELECT approx_top_k(town, 3) FROM v", "APPROX_TOP_K"),
    ("SELECT DISTINCT ward FROM v", "DISTINCT is not allowed"),
    ("SELECT avg(stey) FROM v", "Did you mean 'stay'?"),
    ("SELECT avg(stay) FROM v WHERE ward = 'ICU'", "ward cannot be 'ICU', in line 1.*Did you mean 'icu'?"),
    ("SELECT avg(Foo) FROM v", "there is no column 'Foo', in line 1, letter 12"),
    ("SELECT avg(stay) FROM v, w", "nothing says which rows belong together"),
    ("SELECT avg(stay) FROM v JOIN w USING (x)", "has no column .x."),
    ("SELECT avg((SELECT max(stay) FROM v)) FROM v", "reads other rows"),
    ("SELECT count(*) FROM v WHERE stay > (SELECT avg(stay) FROM v)", "reads other rows"),
    ("SELECT count(*) FROM v WHERE stay IN (SELECT stay FROM v)", "a condition is wanted"),
    ("SELECT avg(max(stay)) FROM v", "a statistic stands where"),
    ("SELECT count(*) FROM v WHERE avg(stay) > 1", "a statistic stands where"),
    ("SELECT avg(exp(stay)) FROM v", "a number is wanted"),
    ("SELECT avg(random()) FROM v", "a number is wanted"),
    ("SELECT avg(ward) FROM v", "ward"),
    ("SELECT count(*) FROM v WHERE town = 'Bern'", "are not public"),
    ("SELECT count(*) FROM v WHERE ward = 'absent'", "ward cannot be 'absent'"),
    ("SELECT count(*) FROM (SELECT count(*) AS n FROM v GROUP BY ward) AS s", "by units alone"),
    ("WITH RECURSIVE r AS (SELECT * FROM r) SELECT count(*) FROM r", "for ever"),
    ("WITH r AS (SELECT * FROM r) SELECT count(*) FROM r WHERE stay > 1 LIMIT 1.5", "no whole number"),
    ("SELECT count(*) AS n FROM v HAVING avg(stay) > 1", "not among what is selected"),
    ("SELECT count(*) AS n FROM v ORDER BY stay", "not among what is selected"),
    ("SELECT count(*) FROM v TABLESAMPLE (10 PERCENT)", "is not allowed|no single table|cannot be read"),
    ("SELECT count(*) FROM 'file.csv'", "no single table|cannot be read|"),
    ("SELECT avg(age / stay) FROM v", "bounds"),
    ("SELECT count(*) FROM v LIMIT 1e400", "no number"),
    ("SELECT count(*) FROM v FETCH FIRST 5 ROWS ONLY", "no plain LIMIT"),
    ("SELECT count(*) FROM v LIMIT 10 PERCENT", "no plain LIMIT"),
    ("SELECT count(*) FROM v GROUP BY ALL", "more than which columns"),
    ("SELECT count(*) FROM v GROUP BY ward WITH ROLLUP", "more than which columns"),
    ("SELECT mode() WITHIN GROUP (ORDER BY stay) FROM v", "no percentile"),
    ("SELECT rank(0.5) WITHIN GROUP (ORDER BY stay) FROM v", "no percentile"),
    ("SELECT percentile_cont(0.1) WITHIN GROUP (ORDER BY stay DESC) FROM v", "no percentile"),
    ("SELECT quantile(stay) FROM v", "or less"),
    ("SELECT max(stay, 3) FROM v", "given more"),
    ("SELECT count() FROM v", "or less"),
    ("SELECT avg(a) FROM (SELECT stay AS x, age AS a FROM v) AS s(a, x)", "renamed beside"),
    ("WITH r(age, stay) AS (SELECT stay, age FROM v) SELECT avg(stay) FROM r", "renamed beside"),
    ("SELECT avg(stay) FROM (SELECT * REPLACE (stay * 2 AS stay) FROM v) AS s", "is changed"),
    ("SELECT avg(stay) FROM (SELECT * FROM v) TABLESAMPLE 10%", "no single table"),
    ("SELECT avg(stay) FROM range(10)", "no single table"),
    ("SELECT avg(a) FROM (SELECT stay AS a, age AS a FROM v) AS s", "two columns are called 'a'"),
    ("SELECT stay * 24 AS ward, count(*) FROM v GROUP BY ward", "neither grouped by"),
    ("SELECT stay AS ward, count(*) FROM v GROUP BY ward", "neither grouped by"),
    ("SELECT count(*) FROM v WHERE age BETWEEN SYMMETRIC 20 AND 10", "a condition is wanted"),
    ("SELECT count(*) FROM v WHERE " + " OR ".join(["ill"] * 1500), "inside one another"),
    ("SELECT avg(" + "+".join(["stay"] * 1500) + ") FROM v", "inside one another"),
    ("SELECT avg(least(" + ", ".join(["stay"] * 11) + ")) FROM v", "least"),
    ("SELECT count(*) FROM v UNION SELECT 1", "not one SELECT"),
    ("SELECT count(*) FROM v; DROP TABLE v", "not one SELECT"),
    ("SELECT count(*) FROM v UNION SELECT 1", "tables cannot be put below one another, in line 1, letter 8"),
    ("SELECT count(*) FROM v; DROP TABLE v", "sql 'DROP TABLE v': .* in line 1, letter 36"),
    ("SELECT count(*) FILTER (WHERE stay > 3) FROM v", "is a question by itself.*CASE WHEN"),
    ("SELECT avg(stay) / count(*) FROM v", "it computes with statistics, in line 1, letter 8"),
    ("SELECT quantile(stay, 1.5) FROM v", "its level is 1.5, in line 1, letter 17"),
    ("SELECT DISTINCT ward FROM v", "DISTINCT is not allowed, in line 1, letter 8"),
    ("SELECT avg(stay) FROM v WHERE TRUE", "in line 1, letter 31"),
    ("DELETE FROM v", "not one SELECT"),
    ("COPY v TO 'x'", "not one SELECT|cannot be read"),
    ("SELEC count(*)", "cannot be read|not one SELECT"),
    ("", "not one SELECT|cannot be read"),
    ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "brackets inside one another"),
    ("SELECT count(*) FROM v WHERE " + "NOT " * 3000 + "ill", "words"),
    ("SELECT " + "-" * 1 + " - " * 3000 + "1 FROM v", "words"),
    ("SELECT 1 -- " + "x" * LONGEST, "no text of up to"),
]


@pytest.mark.parametrize(("text", "says"), REFUSED, ids=range(len(REFUSED)))
def test_everything_else_is_refused_before_anything_is_spent(text: str, says: str) -> None:
    data, begun = private(), time.process_time()
    if text == "SELECT count(*) FROM 'file.csv'":  # a table by any name is the only one there is: no file is opened
        assert sql(data, text, epsilon=1e5).values[0] == N
        return
    with pytest.raises(DiscreetError, match=says) as refused:
        sql(data, text)
    assert "Nothing was released or spent" in str(refused.value)
    assert not data.ledger.entries()
    assert time.process_time() - begun < 30


def test_a_comment_may_stand_behind_a_statement() -> None:
    assert sql(private(), "SELECT count(*) AS n FROM v; -- all of them", epsilon=1e5)["n"].values[0] == N


def test_the_column_of_units_is_not_asked_about() -> None:
    data = PrivateData.of({"who": [1, 1, 2], "stay": [1.0, 2.0, 3.0]}, {"stay": (0, 9)}, RICH, unit=Unit("user", "who"))
    for asked in ("count(who)", "max(WHO)"):
        with pytest.raises(NotPermitted, match=r"tells whose row it is.*Write count\(DISTINCT"):
            sql(data, f"SELECT {asked} FROM v")
    assert sql(data, "SELECT count(DISTINCT who) AS n FROM v", epsilon=1e5)["n"].values[0] == 2


WORDS = [
    "SELECT",
    "FROM v",
    "WHERE",
    "GROUP BY",
    "count(*)",
    "avg(stay)",
    "ward",
    "age",
    ">",
    "=",
    "'icu'",
    "5",
    "AND",
    "NOT",
    "(",
    ")",
    ",",
    "AS n",
    "HAVING",
    "ORDER BY",
    "LIMIT 3\n",
    "--",
    "/*",
    ";",
    "\x00",
    "\u202e",
    '"',
    "'",
    "CASE WHEN",
    "END",
    "*",
]


def test_made_up_texts_are_answered_or_refused_in_words() -> None:
    source, data = random.Random(0), private(Budget(1e9, 1e-3))
    for _ in range(1500):
        text = " ".join(source.choice(WORDS) for _ in range(source.randrange(1, 14)))
        if source.random() < 0.7:
            text = f"SELECT count(*) FROM v WHERE {text}" if source.random() < 0.5 else f"SELECT {text}"
        with suppress(DiscreetError):
            read_sql(data, text)
    assert not data.ledger.entries()


def test_a_plan_says_the_error_before_anything_is_spent() -> None:
    data = private()
    text = "SELECT ward, count(*) AS n, avg(stay) AS m FROM v WHERE stay >= 0 GROUP BY ward"
    expected = discreet.plan(data, text, n=N, epsilon=1.0).expectations
    forecast = {one.question.rpartition(": ")[2]: one for one in expected}
    assert not data.ledger.entries()
    found = sql(data, text, epsilon=1.0)
    for name in ("n", "m"):
        low, high = found[name].interval
        met = float(np.mean(high - low)) / 2
        assert forecast[name].low / 1.15 <= met <= forecast[name].high * 1.15


def test_what_is_said_beside_a_text_is_planned_with_it() -> None:
    text = "SELECT age, avg(rate) AS rate FROM (SELECT age, stay / 2 AS rate FROM v) AS s GROUP BY age"
    beside: dict[str, Any] = {"edges": [0, 40, 80], "bounds": {"rate": (0, 40)}}
    data = private()
    (expected,) = discreet.plan(data, text, n=N, epsilon=1.0, **beside).expectations
    low, high = sql(data, text, epsilon=1.0, **beside)["rate"].interval
    assert expected.low / 1.2 <= float(np.median(high - low)) / 2 <= expected.high * 1.2
    (joined,) = discreet.plan({"v": data}, text, n=N, epsilon=1.0, **beside).expectations
    assert joined.error == pytest.approx(expected.error, rel=0.05)
    with pytest.raises(NotPermitted, match="makes no groups by itself"):
        discreet.plan(data, text, n=N, epsilon=1.0)
