"""The plan of a report: one price, known before any data, within the budget."""

from __future__ import annotations

import dataclasses

import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import UNTOUCHED, ParameterError
from discreet.core.events import read, written
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.query.plan import planned
from discreet.questions.tables.contingency import ONE_CELL
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.permit import releases

NUMBER, CATEGORY = Number(0, 1), Category(("a", "b"))
SCHEMAS = {
    "one number": Schema({"n": NUMBER}),
    "one category": Schema({"c": CATEGORY}),
    "numbers and categories": Schema({"n": NUMBER, "m": NUMBER, "c": CATEGORY}),
    "many": Schema({f"n{i}": NUMBER for i in range(12)}),
    "text alone": Schema({"t": Text()}),
    "everything": Schema({"n": NUMBER, "c": CATEGORY, "t": Text(), "u": Text()}),
}


BUDGETS = [Budget(1.0, 1e-6), Budget(0.1, 1e-9), Budget(8.0, 1e-3)]
PLANS = [
    pytest.param(name, budget, marks=() if (i - j) % len(BUDGETS) == 0 else pytest.mark.slow)
    for i, name in enumerate(SCHEMAS)
    for j, budget in enumerate(BUDGETS)
]


@pytest.mark.parametrize(("name", "budget"), PLANS)
def test_the_accountant_finds_the_plan_within_the_budget(name: str, budget: Budget) -> None:
    plan = planned(SCHEMAS[name], budget)
    assert delta(plan.event, budget.epsilon) <= budget.delta
    # and it does not leave much unused: with 2 % less noise it would not fit
    less = dataclasses.replace(plan, multiplier=plan.multiplier * 0.98)
    assert delta(less.event, budget.epsilon) > budget.delta


@pytest.mark.parametrize("epsilon", [1.0, 0.1, 0.3, 7.7])
@pytest.mark.parametrize("name", ["one number", "one category", "numbers and categories", "many"])
def test_without_delta_the_noise_is_laplace_and_pure(name: str, epsilon: float) -> None:
    plan = planned(SCHEMAS[name], Budget(epsilon))
    assert plan.family is Laplace
    assert 0.999 * epsilon <= pure_epsilon(plan.event) <= epsilon


def test_few_sums_get_laplace_and_many_get_gaussian_noise() -> None:
    assert planned(SCHEMAS["one category"], Budget(1.0, 1e-6)).family is Laplace
    assert planned(SCHEMAS["many"], Budget(1.0, 1e-6)).family is Gaussian


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("name", ["one category", "numbers and categories", "many", "everything"])
def test_the_noise_taken_is_the_lesser(name: str, neighbors: Neighbors) -> None:
    budget = Budget(1.0, 1e-6)
    plan = planned(SCHEMAS[name], budget, neighbors)
    other = Gaussian if plan.family is Laplace else Laplace
    rival = calibrate(dataclasses.replace(plan, family=other), budget)
    assert plan.noise.stddev(ONE_CELL, 2, neighbors) <= rival.noise.stddev(ONE_CELL, 2, neighbors)


def test_the_plan_pays_for_every_release_and_no_more() -> None:
    plan = planned(SCHEMAS["everything"], Budget(1.0, 1e-6))
    paid = releases(plan.event)
    assert paid[plan.noise.event] >= 3
    for _ in range(2):
        paid -= releases(plan.selection.event)
    paid -= releases(plan.noise.event)
    paid -= releases(plan.noise.event)
    paid -= releases(plan.noise.event)
    paid -= releases(plan.search.event)
    assert not paid


@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6)])
def test_the_quantiles_of_a_column_cost_about_one_sum(budget: Budget) -> None:
    for name in ("one number", "many"):
        plan, without = planned(SCHEMAS[name], budget), planned(SCHEMAS[name], budget, quantiles=0)
        assert without.searches == 0
        assert plan.multiplier <= 1.51 * without.multiplier  # three parts for two


def test_a_search_costs_the_same_whatever_levels_it_is_asked_for() -> None:
    search = planned(SCHEMAS["one number"], Budget(1.0), quantiles=7).search
    assert dataclasses.replace(search, q=tuple(i / 21 for i in range(21)), upper=3.0).event == search.event


def test_a_quarter_of_delta_names_values_and_is_shared_by_the_text_columns() -> None:
    assert planned(SCHEMAS["everything"], Budget(1.0, 1e-6)).selection.delta == pytest.approx(1e-6 / 8)


def test_the_event_survives_the_ledger() -> None:
    event = planned(SCHEMAS["everything"], Budget(1.0, 1e-6)).event
    assert read(written(event)) == event


def test_text_without_delta_is_refused_with_both_ways_out() -> None:
    with pytest.raises(ParameterError) as refusal:
        planned(SCHEMAS["everything"], Budget(1.0))
    message = str(refusal.value)
    assert "column 't'" in message
    assert "--delta" in message
    assert "category" in message
    assert UNTOUCHED in message
