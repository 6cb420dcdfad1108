"""Several statistics at one price: what they cost together, what they share, and groups that only the data know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, KeyReused, NotPermitted, ParameterError
from discreet.core.neighbors import Neighbors, Unit
from discreet.noise.deterministic import DeterministicBits
from discreet.query.select.aggregate import Aggregate
from discreet.query.select.frame import group_by
from discreet.query.select.selection import Selection
from discreet.query.words import statistic_asked
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData

N = 6000
RNG = np.random.default_rng(0)
VISITS = pd.DataFrame(
    {
        "who": [f"p{i}" for i in RNG.integers(0, N // 2, N)],
        "stay": RNG.uniform(0, 60, N),
        "age": RNG.integers(0, 100, N).astype(float),
        "ward": RNG.choice(["day", "icu"], N, p=[0.7, 0.3]),
        "town": RNG.choice(["Bern", "Basel", "Chur"], N, p=[0.6, 0.399, 0.001]),
    }
)
DESCRIBED = {"stay": (0, 60), "age": (0, 100), "ward": ["day", "icu"], "town": str}


RICH = Budget(1e6, 1e-3)


def private(budget: Budget = RICH, **how: Any) -> PrivateData:
    return PrivateData.of(VISITS, DESCRIBED, budget, **how)


def aggregate(name: str, *columns: str, label: str | None = None, weight: float = 1.0, **options: Any) -> Aggregate:
    asked = statistic_asked("test", getattr(discreet, name), columns, options)
    return Aggregate(label or f"{name} {' '.join(columns)}", asked, weight)


MOMENTS = [
    aggregate("count", "stay"),
    aggregate("total", "stay"),
    aggregate("mean", "stay"),
    aggregate("variance", "stay"),
]


def test_all_of_it_costs_one_price_and_is_charged_once() -> None:
    data = private(Budget(1.0, 1e-6))
    asked = (*MOMENTS, aggregate("count"), aggregate("median", "age"), aggregate("mean", "age"))
    found = Selection(data, asked, Budget(1.0, 1e-6), ("ward",)).released("all")
    assert len(data.ledger.entries()) == 1
    assert 0.9 < epsilon(found.receipt.event, 1e-6) <= 1.0
    with pytest.raises(DiscreetError):
        discreet.count(data, epsilon=0.1)


def test_what_is_about_the_moments_of_a_column_shares_one_sum() -> None:
    for by in ((), ("ward",)):
        assert len(Selection(private(), tuple(MOMENTS), Budget(1.0), by).stages) == 1
        assert len(Selection(private(), (*MOMENTS, aggregate("count")), Budget(1.0), by).stages) == 1


def test_the_number_of_all_records_shares_a_column_where_that_makes_all_of_them_nearer() -> None:
    """With Laplace noise a count read off d + 2 numbers has so many times the variance, and all of the price."""
    for weight, column, sums in ((1.0, "age", 1), (20.0, "age", 2), (0.1, "age", 1)):
        asked = (aggregate("count", weight=weight), aggregate("mean", column))
        assert len(Selection(private(), asked, Budget(1.0)).stages) == sums
    both = (aggregate("count"), aggregate("variance", "stay"), aggregate("mean", "age"))
    found = Selection(private(), both, Budget(1.0))
    assert found.labels_of_stages == (("count ", "mean age"), ("variance stay",))  # the column with fewer numbers


def test_a_shared_number_of_records_counts_those_without_a_value() -> None:
    gone = VISITS.assign(stay=VISITS.stay.where(VISITS.stay > 20))
    data = PrivateData.of(gone, DESCRIBED, RICH)
    asked = (aggregate("count"), aggregate("count", "stay"), aggregate("mean", "stay"))
    selection = Selection(data.where("age > 10"), asked, Budget(1e5), ("ward",))
    assert len(selection.stages) == 1
    own = gone[gone.age > 10].groupby("ward").stay
    table = selection.released("all")
    assert table["count "].values.tolist() == own.size().tolist()
    assert table["count stay"].values == pytest.approx(own.count().to_numpy(), abs=0.1)
    assert table["mean stay"].values == pytest.approx(own.mean().to_numpy(), abs=0.1)


def test_intervals_of_a_shared_number_of_records_hold() -> None:
    held, asked = 0, (aggregate("count"), aggregate("mean", "stay"))
    for _ in range(60):
        low, high = Selection(private(), asked, Budget(0.2)).released("both")["count "].interval
        held += bool(low[0] <= N <= high[0])
        assert float(low[0]).is_integer()
    assert held >= 47  # of 60 at 95 %: fewer is beyond five deviations


def test_the_counts_that_name_groups_are_those_that_are_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are paid once: nothing else is asked for them, and all that is asked is shown."""
    data, asked = private(Budget(9.0, 1e-5)), []
    trust: Any = data._trust
    ask, ask_each = trust.ask, trust.ask_each

    def listening(question: Any, mechanism: Any) -> Any:
        asked.append(ask(question, mechanism))
        return asked[-1]

    def listening_to_each(every: Any) -> Any:
        asked.extend(found := ask_each(every))
        return found

    monkeypatch.setattr(trust, "ask", listening)
    monkeypatch.setattr(trust, "ask_each", listening_to_each)
    table = Selection(data, (aggregate("count"),), Budget(1.0, 1e-6), ("town",)).released("towns")
    assert dict(zip(table.labels["town"], table["count "].values.tolist(), strict=True)) == asked[0]
    assert len(asked) == 1
    low, high = table["count "].interval
    assert np.all(high - low == 6)  # a scale of one row: 3 beyond it is a twentieth
    both = Selection(data, (aggregate("mean", "stay"), aggregate("count")), Budget(1.0, 1e-6), ("town",)).released("2")
    assert dict(zip(both.labels["town"], both["count "].values.tolist(), strict=True)) == asked[1]
    assert len(asked) == 3
    assert [one.name for one in both.series] == ["mean stay", "count "]


def test_counts_that_name_groups_have_all_of_the_price() -> None:
    for price in (0.3, 4.0):
        found = Selection(private(), (aggregate("count"),), Budget(price, 1e-6), ("town",))
        assert 0.9 * price < epsilon(found.plan.event, 1e-6) <= price


def test_counts_by_more_than_names_are_asked_for() -> None:
    both = Selection(private(), (aggregate("count"),), Budget(1e4, 1e-6), ("town", "ward")).released("both")
    exact = VISITS.groupby(["town", "ward"]).size().unstack(fill_value=0).stack()
    assert both["count "].values.tolist() == exact.tolist()


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("by", [(), ("ward",)])
def test_the_numbers_are_those_of_the_data(by: tuple[str, ...], neighbors: Neighbors) -> None:
    extremes = [
        aggregate("quantile", "age", q=0.9),
        aggregate("minimum", "stay"),
        aggregate("standard_deviation", "stay"),
    ]
    asked = (*MOMENTS, aggregate("count"), aggregate("median", "age"), *extremes)
    found = Selection(private(neighbors=neighbors), asked, Budget(1e5, 1e-6), by).released("all")
    groups = [VISITS] if not by else [VISITS[VISITS.ward == name] for name in found.labels["ward"]]
    for place, group in enumerate(groups):
        exact = [
            len(group),
            group.stay.sum(),
            group.stay.mean(),
            group.stay.var(ddof=0),
            len(group),
            group.age.median(),
        ]
        exact += [group.age.quantile(0.9), group.stay.min(), group.stay.std(ddof=0)]
        for series, value in zip(found.series, exact, strict=True):
            assert series.values[place] == pytest.approx(value, rel=0.02, abs=0.6), series.name


def test_a_larger_weight_means_less_noise() -> None:
    light, heavy = (
        Selection(
            private(), (aggregate("mean", "stay"), aggregate("mean", "age", weight=w)), Budget(1.0, 1e-6), ("ward",)
        )
        for w in (1.0, 9.0)
    )
    errors = [one.released("means")["mean age"].standard_error for one in (light, heavy)]
    assert errors[0] is not None
    assert errors[1] is not None
    assert np.all(errors[1] < 0.8 * errors[0])


def test_intervals_of_shared_statistics_hold() -> None:
    missed = np.zeros(3)
    exact = np.array([len(VISITS), VISITS.stay.sum(), VISITS.stay.mean()])
    for _ in range(60):
        found = Selection(private(), tuple(MOMENTS), Budget(1.0)).released("moments")
        ends = [one.interval for one in found.series[:3]]
        missed += [not one.low[0] <= value <= one.high[0] for one, value in zip(ends, exact, strict=True)]
    assert np.all(missed <= 13)  # of 60 at 95 %: more than 13 is beyond five deviations


def test_groups_that_only_the_data_know_are_named_at_the_same_price() -> None:
    data = private(Budget(1.0, 1e-6))
    found = Selection(data, (aggregate("count"), aggregate("mean", "stay")), Budget(1.0, 1e-6), ("town", "ward"))
    table = found.released("towns")
    assert len(data.ledger.entries()) == 1
    assert epsilon(table.receipt.event, 1e-6) <= 1.0
    assert sorted(set(table.labels["town"])) == ["Basel", "Bern"]  # Chur is too rare
    assert table["mean stay"].values == pytest.approx([VISITS.stay.mean()] * 4, rel=0.2)


def test_no_group_is_named_where_all_are_rare() -> None:
    rare = PrivateData.of(VISITS.head(3), DESCRIBED, Budget(1.0, 1e-6))
    table = Selection(rare, (aggregate("count"),), Budget(1.0, 1e-6), ("town",)).released("towns")
    assert len(table) == 0
    assert len(rare.ledger.entries()) == 1


def test_units_with_several_rows_are_bounded_as_everywhere() -> None:
    users = private(Budget(1.0, 1e-6), unit=Unit("user", "who", 2))
    table = Selection(users, (aggregate("count"), aggregate("mean", "stay")), Budget(1.0, 1e-6), ("town",)).released(
        "x"
    )
    assert table.receipt.unit.rows == 2
    assert table["count "].values.sum() == pytest.approx(N, rel=0.4)


@pytest.mark.parametrize(
    ("asked", "by", "delta", "says"),
    [
        ((), (), 0.0, "its columns are none"),
        ((aggregate("count"), aggregate("count")), (), 0.0, "Name each column once"),
        ((aggregate("histogram", "ward"),), (), 0.0, "no single number"),
        ((aggregate("stable_interquartile_range", "stay"),), ("ward",), 1e-6, "no single number"),
        ((aggregate("count"),), ("town",), 0.0, "needs a positive delta"),
        ((aggregate("count"),), ("stay",), 0.0, "a number, which makes no groups"),
        ((aggregate("mean", "absent"),), (), 0.0, "absent"),
        ((aggregate("quantile", "stay", q=(0.1, 0.9)),), ("ward",), 0.0, "no single number"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_spent(
    asked: tuple[Aggregate, ...], by: tuple[str, ...], delta: float, says: str
) -> None:
    data = private()
    with pytest.raises(DiscreetError, match=says):
        Selection(data, asked, Budget(1.0, delta), by).released("x")
    assert not data.ledger.entries()


def test_two_columns_of_unknown_values_are_refused() -> None:
    two = PrivateData.of({"a": ["x"], "b": ["y"]}, {"a": str, "b": str}, Budget(1.0, 1e-6))
    with pytest.raises(NotPermitted, match="only the data know the values of a and b"):
        Selection(two, (aggregate("count"),), Budget(1.0, 1e-6), ("a", "b")).released("x")


def test_words_name_statistics_and_columns() -> None:
    query = group_by(private(), "ward").aggregate("count", "mean of stay", old="quantile of age q=0.9")
    table = query.release(epsilon=1e5)
    assert [one.name for one in table.series] == ["count", "mean of stay", "old"]
    assert private().group_by("ward").aggregate("count").release(epsilon=1e5).values.sum() == N
    for words, says in (("men of stay", "Did you mean"), ("", "no statistic"), ("mean of stay by ward", "of all")):
        with pytest.raises(ParameterError, match=says):
            private().group_by("ward").aggregate(words)


def test_what_is_chosen_and_computed_reaches_groups_that_only_the_data_know() -> None:
    data = private().where("age > 50").derive(hours="stay * 24").where("hours > 100")
    table = data.group_by("town", "ward").aggregate("count", "mean of hours").release(epsilon=1e5, delta=1e-6)
    own = VISITS[(VISITS.age > 50) & (VISITS.stay * 24 > 100)]
    for place, (town, ward) in enumerate(zip(table.labels["town"], table.labels["ward"], strict=True)):
        group = own[(own.town == town) & (own.ward == ward)]
        assert table["count"].values[place] == len(group)
        assert table["mean of hours"].values[place] == pytest.approx(24 * group.stay.mean(), rel=1e-2)


@pytest.mark.parametrize("name", ["a\x00b", "o'r;--", "group", "\u202e"])
def test_odd_names_are_groups_like_others(name: str) -> None:
    odd = PrivateData.of(VISITS.assign(town=[name, "Bern"] * (N // 2)), DESCRIBED, RICH)
    table = odd.group_by("town").aggregate("count", "mean of stay").release(epsilon=1e4, delta=1e-6)
    assert table.labels["town"] == tuple(sorted([name, "Bern"]))
    assert table["count"].values.tolist() == [N // 2, N // 2]


@pytest.mark.parametrize("limit", ["MOST_GROUPS", "MOST_NUMBERS"])
def test_of_too_many_groups_the_largest_are_shown(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"discreet.query.select.selection.{limit}", 5)
    table = private().group_by("town", "ward").aggregate("count").release(epsilon=1e5, delta=1e-6)
    assert sorted(set(table.labels["town"])) == ["Basel", "Bern"]
    assert table.values.sum() == np.sum(VISITS.town != "Chur")


def test_pooled_units_share_what_a_unit_may_add() -> None:
    listed = {name: kind for name, kind in DESCRIBED.items() if name != "town"}
    data = PrivateData.of(VISITS, listed, RICH, unit=Unit("user", "who", pooled=True))
    found = data.group_by("ward").aggregate("count", "mean of stay").release(epsilon=1e5)["count"].values
    assert found.sum() == pytest.approx(VISITS.who.nunique(), abs=1)


def test_everybody_reports_each_sum_and_pays_once() -> None:
    rows = VISITS[["stay", "age", "ward"]]
    trusted: Any = PrivateData.of(
        rows, {name: DESCRIBED[name] for name in rows}, Budget(50.0), neighbors=Neighbors.REPLACE
    )
    local = PrivateData(Local(trusted._trust._source, bits=DeterministicBits(0)), trusted.ledger)
    table = local.where("age > 10").group_by("ward").aggregate("count", "mean of age").release(epsilon=50.0)
    assert len(local.ledger.entries()) == 1
    exact = VISITS[VISITS.age > 10].groupby("ward").size()
    assert table["count"].values == pytest.approx(exact.to_numpy(), rel=0.1)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_weights_are_positive(weight: float) -> None:
    with pytest.raises(ParameterError, match="the weight of"):
        aggregate("count", weight=weight)


@pytest.mark.parametrize(
    "other",
    [
        {"edges": [0, 50, 100]},
        {"epsilon": 0.5},
        {"words": ("count", "variance of stay")},
        {"words": ("count", "mean of stay", "mean of age")},
        {"weighted": True},
    ],
    ids=str,
)
def test_one_key_is_not_two_questions(other: dict[str, Any]) -> None:
    """The purpose may be the same: what is asked, and with which noise, tells questions apart."""
    data = private()

    def asked(words: tuple[str, ...] = ("count", "mean of stay"), weighted: bool = False, **how: Any) -> None:
        groups = group_by(data, "age", edges=how.get("edges", [0, 20, 100]))
        selection = groups.aggregate(*words).selection(Budget(how.get("epsilon", 1.0)))
        if weighted:
            first, *others = selection.aggregates
            selection = replace(selection, aggregates=(replace(first, weight=20.0), *others))
        selection.released("the same", "k")

    asked()
    asked()
    with pytest.raises(KeyReused):
        asked(**other)
    assert len(data.ledger.entries()) == 1


def test_the_same_key_is_charged_once_and_gives_the_same_numbers() -> None:
    data = private(Budget(1.0, 1e-6))
    first, again = (
        data.group_by("town").aggregate("count").release(epsilon=1.0, delta=1e-6, key="k") for _ in range(2)
    )
    assert first.values.tolist() == again.values.tolist()
    assert len(data.ledger.entries()) == 1
