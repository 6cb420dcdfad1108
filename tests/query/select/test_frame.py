"""The same as in SQL, step by step and lazily: what is written is planned, drawn, translated, and asked at the end."""

from __future__ import annotations

import numpy as np
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.neighbors import Unit
from discreet.query import aggregates
from discreet.query.aggregates import count, mean, quantile
from discreet.query.select.frame import WAYS
from discreet.query.words import Wording, named, statistic_asked
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable

N = 4000
RNG = np.random.default_rng(3)
VISITS = {
    "age": RNG.integers(0, 100, N).astype(float),
    "stay": RNG.uniform(0, 60, N),
    "ward": RNG.choice(["day", "icu"], N).tolist(),
    "sex": RNG.choice(["f", "m"], N).tolist(),
}
SCHEMA = {"age": (0, 100), "stay": (0, 60), "ward": ["day", "icu"], "sex": ["f", "m"]}


def private(budget: Budget = Budget(1e6, 1e-3)) -> PrivateData:  # noqa: B008 - frozen
    return PrivateData.of(VISITS, SCHEMA, budget, name="visits")


def test_a_question_is_asked_where_it_is_released_and_not_before() -> None:
    data = private()
    query = (
        data.filter("age >= 18")
        .derive(stay_hours="stay * 24")
        .group_by("ward", "sex")
        .aggregate(count(), mean("stay_hours"), quantile("stay", 0.9))
    )
    errors = query.plan(n=N, epsilon=1.0).expectations
    assert len(errors) == 3
    text, drawn = query.sql(), str(query.explain())
    assert "stay * 24" in drawn
    assert not data.ledger.entries()
    table = query.release(epsilon=1e5)
    assert [one.name for one in table.series] == ["count", "mean of stay_hours", "quantile of stay q=0.9"]
    assert len(data.ledger.entries()) == 1
    again = data.where("age >= 18").derive(stay_hours="stay * 24")
    plain = again.group_by("ward", "sex").aggregate("count", "mean of stay_hours", "quantile of stay q=0.9")
    for other in (plain.release(epsilon=1e5), data.sql(text, epsilon=1e5)):
        for one, two in zip(table.series, other.series, strict=True):
            assert one.values == pytest.approx(two.values, rel=1e-3)
    adult = np.array(VISITS["age"]) >= 18
    here = adult & (np.array(VISITS["ward"]) == "day") & (np.array(VISITS["sex"]) == "f")
    assert table["count"].values[0] == here.sum()
    assert table["mean of stay_hours"].values[0] == pytest.approx(24 * np.array(VISITS["stay"])[here].mean(), rel=1e-3)


def test_functions_and_words_say_the_same() -> None:
    wanted = {
        "count": aggregates.count(),
        "count of age": aggregates.count("age"),
        "count_distinct of age": aggregates.count_distinct("age"),
        "total of stay": aggregates.total("stay"),
        "mean of stay": aggregates.mean("stay"),
        "variance of stay ddof=1": aggregates.variance("stay", ddof=1),
        "standard_deviation of stay": aggregates.standard_deviation("stay"),
        "minimum of stay": aggregates.minimum("stay"),
        "maximum of stay": aggregates.maximum("stay"),
        "median of stay": aggregates.median("stay"),
        "quantile of stay q=0.25": aggregates.quantile("stay", 0.25),
        "covariance of stay and age": aggregates.covariance("stay", "age"),
        "correlation of stay and age": aggregates.correlation("stay", "age"),
    }
    for words, question in wanted.items():
        assert question.words == words
        read = Wording.of(words)
        found = named(read)
        assert found is not None
        assert statistic_asked("test", *found, read.options) == question
        query = private().group_by("ward").aggregate(words, again=question)
        assert query.relation.statistics[0].options == query.relation.statistics[1].options


def test_rows_of_units_are_brought_together_by_functions_or_words() -> None:
    unit = Unit("user", "who", rows=5)
    data = PrivateData.of({**VISITS, "who": [i // 4 for i in range(N)]}, SCHEMA, Budget(1e6), unit=unit)
    functions = data.per_unit(visits=count(), longest=aggregates.maximum("stay"), ever="any of ward == 'icu'")
    words = data.per_unit(visits="count", longest="max of stay", ever="any of ward == 'icu'")
    assert functions.relation == words.relation
    assert functions.unit.rows == 1
    found = functions.group_by("ever").aggregate(mean("visits")).release(epsilon=1e5)
    assert found["mean of visits"].values == pytest.approx([4, 4], abs=0.01)
    for wrong in (mean("stay", population=True), quantile("stay", 0.9), 3):
        with pytest.raises(ParameterError):
            data.per_unit(longest=wrong)  # type: ignore[arg-type]


def test_what_cannot_be_asked_is_refused_where_it_is_written() -> None:
    grouped = private().group_by("ward")
    with pytest.raises(ParameterError, match="takes no bins"):
        mean("stay", bins=3)
    with pytest.raises(ParameterError, match=r"Write \.aggregate\(\.\.\.\)\.release\(epsilon=\.\.\.\)"):
        grouped.aggregate("count", epsilon="1")
    with pytest.raises(ParameterError) as refused:
        grouped.aggregate(3)
    assert WAYS in str(refused.value)
    with pytest.raises(SchemaError, match="stays"):
        grouped.aggregate(mean("stays")).release(epsilon=1.0)


def test_any_learner_is_fitted_on_what_a_relation_gives() -> None:
    data = private()
    beds = PublicTable({"ward": ["day", "icu"], "beds": [20, 6]}, {"ward": ["day", "icu"], "beds": (0, 40)})
    rows = data.filter("stay <= 5 or stay >= 55").derive(hours="stay * 24").join(beds, "ward")
    found = discreet.learners.KMeans(2, columns=["hours", "beds"], epsilon=50.0, delta=1e-6).fit(rows)
    near = np.sort(found.cluster_centers_[:, 0])
    assert near == pytest.approx([60, 1380], abs=40)
    assert len(data.ledger.entries()) == 1
