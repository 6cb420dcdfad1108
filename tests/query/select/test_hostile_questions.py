"""What is said beside a question may be of any kind: it is answered and paid for once, or refused and costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.neighbors import Unit
from discreet.query.aggregates import count, mean, quantile
from discreet.query.asked_question import AskedQuestion
from discreet.query.select.aggregate import Aggregate
from discreet.query.select.frame import GroupedData
from discreet.query.select.sql import sql
from discreet.query.words import declared, statistic_asked
from discreet.releases.declaration import declaration_of
from discreet.schema.schema import Text
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable

ROWS = {
    "stay": [1.0, 2.0] * 100,
    "age": [30.0, 40.0] * 100,
    "ward": ["day", "icu"] * 100,
    "town": ["Bern", "Thun"] * 100,
    "who": [i // 2 for i in range(200)],
}
SCHEMA: dict[str, Any] = {"stay": (0, 60), "age": (0, 100), "ward": ["day", "icu"], "town": Text()}
BEDS = PublicTable({"ward": ["day", "icu"], "beds": [1, 2]}, {"ward": ["day", "icu"], "beds": (0, 9)})
ODD: tuple[Any, ...] = (None, True, 1, -1, 2, 1e308, float("nan"), "x", "", [], ["x"], (0, 1), {}, {"x": 1}, {3: 1})
ODD = (
    *ODD,
    {"stay": [0, 30]},
    {"stay": "x"},
    {"stay": {"day": (0, 1), "icu": 3}},
    {"n": (0, 1)},
    b"x",
    2**70,
    object(),
)
TOWNS = "SELECT town, count(*) AS n FROM v GROUP BY town"
TEXTS = (TOWNS, "SELECT count(*) AS n, avg(stay) AS m FROM v", "SELECT median(stay), max(age) FROM v")


def private() -> PrivateData:
    return PrivateData.of(ROWS, SCHEMA, Budget(1e6, 1e-2), unit=Unit("user", "who", rows=2))


def answered(data: PrivateData, ask: Callable[[], Any]) -> bool:
    """Whether it has an answer, for one charge; else it is refused, for none."""
    before = len(data.ledger.entries())
    try:
        str(ask())
    except DiscreetError:
        paid = 0
    else:
        paid = 1
    assert len(data.ledger.entries()) == before + paid
    return bool(paid)


@pytest.mark.parametrize("confidence", [0, 1, 2, -1, float("nan"), "x", None, True])
def test_a_confidence_that_no_interval_has_is_refused_before_it_is_paid(confidence: Any) -> None:
    data = private()
    for text in TEXTS:
        assert not answered(data, lambda text=text: sql(data, text, delta=1e-6, confidence=confidence))
    query = data.group_by("ward").aggregate("count", "mean of stay")
    assert not answered(data, lambda: query.release(confidence=confidence))


def test_edges_of_what_makes_no_groups_are_refused_before_names_are_paid() -> None:
    data = private()
    for edges in ([0, 30, 60], {"stay": [0, 30, 60]}, "x", 3):
        assert not answered(data, lambda edges=edges: sql(data, TOWNS, delta=1e-6, edges=edges))  # type: ignore[misc]
        grouped = data.group_by("town", edges=edges)  # type: ignore[arg-type]
        assert not answered(data, lambda grouped=grouped: grouped.aggregate("count").release(delta=1e-6))  # type: ignore[misc]


def test_a_statistic_that_pays_by_itself_is_none_of_several() -> None:
    data = private()
    for name, function in declared().items():
        declaration = declaration_of(function)
        if declaration.no_by is None or "columns" in declaration.options or declaration.subject != "column":
            continue
        question = statistic_asked("test", function, ["stay"], {})
        with pytest.raises(NotPermitted, match=f"Ask for it by itself: discreet.{name}"):
            data.group_by().aggregate(question).release(delta=1e-6)
    assert not data.ledger.entries()


@pytest.mark.parametrize("name", ["where", "by", "edges", "bounds", "epsilon", "delta", "key", "confidence"])
def test_what_is_said_of_one_statistic_is_not_overlooked(name: str) -> None:
    data = private()
    said: dict[str, Any] = {"where": "age > 35", "by": "ward", "edges": [0, 1], "bounds": [0, 1], "key": "k"}
    value = said.get(name, 0.5)
    for question in (mean("stay", **{name: value}), quantile("stay", 0.9, **{name: value}), count(**{name: value})):
        with pytest.raises(ParameterError, match=f"{name} is said of one statistic"):
            data.group_by("ward").aggregate(question)
        with pytest.raises(ParameterError, match=f"{name} is said of one statistic"):
            Aggregate("m", question)
    with pytest.raises(ParameterError, match=f"{name} is said of one statistic"):
        data.group_by().aggregate("mean of stay where age > 35" if name == "where" else f"mean of stay {name}={value}")
    assert not data.ledger.entries()


def test_options_of_another_kind_are_refused_where_they_are_said() -> None:
    data = private()
    for text in ("quantile of stay q=x", "median of stay step=x", "variance of stay ddof=[1]", "count population=3"):
        with pytest.raises(ParameterError, match=r"is (an? |'|3)"):
            data.group_by("ward").aggregate(text)
    with pytest.raises(ParameterError, match="q is 'x'"):
        quantile("stay", "x")  # type: ignore[arg-type]


def test_whatever_is_said_beside_a_text_is_answered_or_refused() -> None:
    data, found = private(), 0
    for odd in ODD:
        for name in ("epsilon", "delta", "edges", "bounds", "most", "key"):
            for text in TEXTS[:2]:
                said = {"delta": 1e-6, name: odd}
                found += answered(data, lambda text=text, said=said: sql(data, text, **said))
        for tables in (odd, {"v": odd}):
            assert not answered(data, lambda tables=tables: sql(tables, TOWNS))
    assert found > 20


def test_whatever_is_said_of_a_frame_is_answered_or_refused() -> None:
    data, found = private(), 0
    for odd in ODD:
        asks: list[Callable[[GroupedData], Any]] = [
            lambda by, odd=odd: by.aggregate(odd),
            lambda by, odd=odd: by.aggregate(n=odd),
            lambda by, odd=odd: by.aggregate("mean of stay", bounds=odd),
            lambda by, odd=odd: by.aggregate("mean of stay", bounds={"stay": odd}),
            lambda by, odd=odd: by.aggregate("count", "mean of stay", weights=odd),
            lambda by, odd=odd: by.aggregate("count", "mean of stay", weights={"count": odd}),
        ]
        for ask in asks:
            found += answered(data, lambda ask=ask: ask(data.group_by("ward")).release())
        found += answered(data, lambda odd=odd: data.group_by(odd).aggregate("count").release(delta=1e-6))
        for name in ("by", "groups", "bounds"):
            said = {"n": "count", name: odd}
            found += answered(data, lambda said=said: data.per_unit(**said).group_by().aggregate("mean of n").release())
        for other, on in ((data, odd), (BEDS, odd), (odd, "ward")):
            joined = lambda other=other, on=on: data.join(other, on, prefix="p_")  # noqa: E731
            found += answered(data, lambda joined=joined: joined().group_by().aggregate("count").release())
    assert found > 10


def test_nothing_but_refusals_comes_out_of_plans_for_odd_facts() -> None:
    query = private().group_by("town").aggregate("count")
    for odd in ODD:
        for ask in (
            lambda odd=odd: query.lost(odd, delta=1e-6),
            lambda odd=odd: query.for_errors(odd, n=100),
            lambda odd=odd: query.plan(100, epsilon=1.0, delta=1e-6, expected=odd),
            lambda odd=odd: query.plan(100, epsilon=odd, delta=1e-6),
        ):
            try:
                ask()
            except DiscreetError as why:
                assert "Nothing was released or spent" in str(why)  # noqa: PT017


def test_groups_of_any_form_are_refused_in_words() -> None:
    data, plain = private(), {"by": ["ward"], "words": ["count", "mean of stay"]}
    odd = [*ODD[:-3], [{}], [[1]], {"self": "count"}, {"bounds": "count"}, {"learner": "KMeans", "parameters": {}}]
    for name in ("by", "words", "labelled", "edges", "confidence", "bounds", "weights"):
        for value in odd:
            said: dict[str, Any] = {"groups": {**plain, name: value}}
            answered(data, lambda said=said: AskedQuestion.read(said).ask(data, discreet.Budget(1.0)))
