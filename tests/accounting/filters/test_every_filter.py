"""Every filter: nothing that loses is free, slacks are spent, and no search goes on for ever."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet.accounting
import discreet.ledger
from discreet.accounting.accountant import delta as delta_of
from discreet.accounting.accountant import delta_interval
from discreet.accounting.filters.amount import DELTA_UNITS, LOSS_UNITS, NOTHING, Amount
from discreet.accounting.filters.gaussian_filter import GaussianFilter, gaussian_price
from discreet.accounting.filters.pure_filter import PureFilter, plain_price
from discreet.accounting.filters.union import FilterUnion, Member, chosen
from discreet.accounting.search import Ends, grown, narrowed
from discreet.core import events
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    DiscreteLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    LossTable,
    NoPromise,
    Parallel,
    PureLoss,
    RenyiLoss,
    Repeated,
    Sampled,
    fails,
    loses,
    walked,
)
from discreet.ledger.account_state import AccountState
from discreet.ledger.memory_ledger import MemoryLedger
from tests.accounting.games import Law, hockey_stick, response

FIRSTS: list[Event] = [LaplaceLoss(10.0), GaussianLoss(12.0), GaussianLoss(6.0), RenyiLoss((2.0, 8.0), (0.001, 0.01))]
BUDGETS = (Budget(1.0, 1e-6), Budget(5000.0, 0.01), Budget(1.0))
SLOW = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def filters() -> set[type]:
    """The classes of the room that price events against a cap."""
    found = set()
    for module in pkgutil.walk_packages(discreet.accounting.__path__, "discreet.accounting."):
        for value in vars(importlib.import_module(module.name)).values():
            wanted = ("of", "opening", "price", "certified")
            if isinstance(value, type) and all(hasattr(value, name) for name in wanted):
                found.add(value)
    return found


def members() -> list[Member]:
    """Members of accounts of all kinds; a filter of which there is none here has no test."""
    unions = [chosen(budget, first) for budget in BUDGETS[:2] for first in FIRSTS]
    found = [member for union in (*unions, chosen(BUDGETS[2], FIRSTS[0])) for member in union.members]
    assert {type(member) for member in found} == filters()
    return found


MEMBERS = members()


def tiny(least: float = 1e-300) -> st.SearchStrategy[float]:
    return st.floats(-300.0, 0.0).map(lambda log: max(least, 10.0**log))


def table(step: float) -> DiscreteLoss:
    rows = LossTable(-1, (0.25, 0.25, 0.5), 0.0)
    return DiscreteLoss(step, rows, rows) if step < 1 else DiscreteLoss(0.5, rows, rows)


def one_way(x: float) -> DiscreteLoss:
    """A table that shows everything with a tiny chance, and in one direction alone."""
    return DiscreteLoss(0.1, LossTable(0, (1.0 - x,), x), LossTable(0, (1.0,), 0.0))


LEAVES: dict[type[Event], st.SearchStrategy[Any]] = {
    PureLoss: tiny().map(PureLoss),
    LaplaceLoss: tiny().map(lambda x: LaplaceLoss(1 / x)),
    GaussianLoss: tiny().map(lambda x: GaussianLoss(1 / x)),
    ConcentratedLoss: tiny().map(ConcentratedLoss),
    RenyiLoss: tiny().map(lambda x: RenyiLoss((2.0, 64.0, 1e6), (x, x, x))),
    ApproximateLoss: st.tuples(tiny(), tiny()).map(lambda two: ApproximateLoss(*two)),
    DiscreteLoss: st.one_of(tiny().map(table), tiny().map(one_way)),
    Sampled: st.one_of(
        tiny().map(lambda x: Sampled(PureLoss(0.5), x)),
        st.tuples(tiny(), tiny()).map(lambda two: Sampled(PureLoss(two[0]), two[1])),
        st.tuples(tiny(1e-3), tiny()).map(lambda two: Sampled(ApproximateLoss(*two), two[1])),
    ),
}
LEAF = st.one_of(*LEAVES.values())
JOINED: dict[type[Event], st.SearchStrategy[Any]] = {
    Repeated: st.tuples(LEAF, st.integers(2, 10**9)).map(lambda two: Repeated(*two)),
    Composed: st.tuples(LEAF, LEAF).map(Composed),
    Parallel: st.tuples(LEAF, LEAF).map(Parallel),
}
EVENTS = st.one_of(LEAF, *JOINED.values())


TINY_SAMPLES: list[Event] = [
    *[Sampled(GaussianLoss(0.1), rate) for rate in (1e-8, 1e-12, 1e-30, 1e-300)],
    Sampled(GaussianLoss(0.03), 1e-9),
    Sampled(GaussianLoss(1.0), 1e-150),
    Sampled(LaplaceLoss(0.01), 1e-9),
    Composed((GaussianLoss(1e9), ApproximateLoss(1e-12, 1e-12))),
    table(1e-9),
]


def test_what_shows_itself_with_a_tiny_chance_is_not_free_in_any_filter_and_has_a_price_in_one() -> None:
    for event in TINY_SAMPLES:
        prices = [member.price(event, NOTHING) for member in MEMBERS[:3]]
        assert any(price is not None for price in prices)
        assert all(price.loss > 0 for price in prices if price is not None), event


def test_a_plain_price_keeps_its_event_with_its_slack_and_the_slack_is_in_proportion() -> None:
    for whole, aside in ((1.0, 1e-8), (3.0, 1e-3)):
        for event in (*TINY_SAMPLES[:6], GaussianLoss(4.0), GaussianLoss(1e5), GaussianLoss(1e12)):
            price = plain_price(event, whole, aside)
            assert price is not None
            loss, slack = price.loss / LOSS_UNITS, price.slack / DELTA_UNITS
            assert delta_of(event, loss) <= slack * (1 + 1e-6)
            assert slack <= aside * min(1.0, loss / whole) * (1 + 1e-9) + 1.1 / DELTA_UNITS
    assert plain_price(GaussianLoss(0.01), 1.0, 1e-8) == Amount.rounded_up(
        plain_price(GaussianLoss(0.01), 1.0, 1e-8).floats[0],  # type: ignore[union-attr]
        0,
        1e-8,
    )


def charged_until_refused(standing: AccountState, event: Event, most: int) -> tuple[AccountState, int]:
    for count in range(most):
        after = standing.after(event)
        if not after.holds:
            return standing, count
        standing = after
    return standing, most


def test_rare_disclosures_are_refused_before_their_chances_add_up_to_delta() -> None:
    for budget, rate in ((Budget(1.0, 1e-6), 1e-8), (Budget(1.0, 1e-2), 1.5e-4)):
        event = Sampled(GaussianLoss(0.1), rate)
        start = AccountState(budget).after(LaplaceLoss(10.0))
        _, count = charged_until_refused(start, event, 10_000)
        assert count < budget.delta / rate
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    ledger.reserve(LaplaceLoss(10.0), "a mean", request="a")
    rare_event = Sampled(GaussianLoss(0.1), 1e-8)
    for _ in range(150):
        if not ledger.affords(rare_event):
            break
        ledger.reserve(rare_event, "training", request="b")
    with pytest.raises(BudgetExceeded):
        ledger.reserve(rare_event, "training", request="b")
    admitted = Composed(tuple(entry.event for entry in ledger.entries()))
    assert delta_interval(admitted, 1.0).lower <= 1e-6


# Raised accounts


def test_slacks_that_were_granted_before_a_raise_count_after_it() -> None:
    """Each raise leaves the same delta, and the pure filter is filled before the next."""
    event, granted = GaussianLoss(40.0), 0.0
    standing = AccountState(Budget(1.0, 1e-6)).after(LaplaceLoss(10.0))
    for _ in range(12):
        assert standing.union is not None
        rule, *_ = standing.union.members
        assert isinstance(rule, PureFilter)
        spent, *rest = standing.spent
        while spent and (price := rule.price(event, spent)) and (spent + price).within(rule.cap):
            spent += price
            granted += delta_of(event, price.loss / LOSS_UNITS)
        standing = AccountState(standing.budget, standing.union, (spent, *rest))
        standing = standing.raised(Budget(standing.budget.epsilon * 1.3, 1e-6))
    assert 0 < granted <= rule.aside / DELTA_UNITS * (1 + 1e-6)


def test_after_a_raise_slack_and_loss_still_run_out_together() -> None:
    event, spent = GaussianLoss(40.0), NOTHING
    small, large = (PureFilter.of(epsilon, Fraction(1e-6), Fraction(0)) for epsilon in (1.0, 3.0))
    while spent.loss < small.cap.loss // 2 and (price := small.price(event, spent)):
        spent += price
    while (price := large.price(event, spent)) and (spent + price).within(large.cap):
        spent += price
    assert spent.loss > 0.9 * large.cap.loss


def rare(chance: float) -> Law:
    """A release that shows its data set with a small chance: its ratio is then exp(20), and else hardly changed."""
    other = chance * np.exp(-20.0)
    return [(chance, float(other)), (1 - chance, 1 - float(other))]


def test_no_long_game_of_tiny_charges_with_raises_in_between_exceeds_the_budget() -> None:
    """Hundreds of rare disclosures, each exact; whoever saw one stops, for there is no more to see.

    The release shows the data set as often as `Sampled(GaussianLoss(0.1), rate)` does at an epsilon of 20, so it keeps
    that promise. The owner raises epsilon again and again, and delta twice.
    """
    event = Sampled(GaussianLoss(0.1), 4e-8)
    chance = delta_interval(event, 20.0).lower
    assert chance > 2e-8
    standing, asked = AccountState(Budget(2.0, 1e-3)).after(LaplaceLoss(2.0)), 0
    for turn in range(24):
        standing, count = charged_until_refused(standing, event, 2000)
        asked += count
        standing = standing.raised(Budget(2.0 * 1.05 ** (turn + 1), 1e-3 * 2 ** (turn // 10)))
    assert asked > 300
    assert standing.union is not None
    aside = sum(member.aside for member in standing.union.members) / DELTA_UNITS
    paths, p, q = [], 1.0, 1.0
    for _ in range(asked):
        (a, b), (c, d) = rare(chance)
        paths.append((p * a, q * b))
        p, q = p * c, q * d
    together = [(u * x, v * y) for u, v in response(0.5) for x, y in (*paths, (p, q))]
    assert 0.1 * aside < hockey_stick(together, standing.budget.epsilon) <= aside < standing.budget.delta


def test_a_price_that_is_not_known_to_cover_is_none_so_that_a_raise_cannot_revive_it() -> None:
    dear = Repeated(Sampled(GaussianLoss(0.6), 0.2), 400)
    rule = GaussianFilter.of(1.0, Fraction(1e-6), Fraction(0))
    assert rule.price(dear, NOTHING) is None


# Failures are one number


def test_every_member_counts_the_same_failure() -> None:
    union = chosen(Budget(3.0, 1e-6), LaplaceLoss(10.0))
    before = union.opening(LaplaceLoss(10.0))
    lopsided = DiscreteLoss(0.1, LossTable(0, (1 - 1e-9,), 1e-9), LossTable(0, (1 - 3e-9,), 3e-9))
    for event, failure in (
        (Composed((GaussianLoss(50.0), ApproximateLoss(0.01, 1e-9))), 1e-9),
        (Sampled(ApproximateLoss(3.0, 1e-7), 0.01), 1e-9),
        (lopsided, 3e-9),
    ):
        spent = [amount for amount in union.after(event, before) if amount is not None]
        assert len(spent) >= 2
        assert len({amount.delta for amount in spent}) == 1
        assert spent[0].delta >= failure * DELTA_UNITS * (1 - 1e-9)


def test_a_first_plan_that_is_in_a_cap_costs_nothing_there() -> None:
    first = Composed((GaussianLoss(8.0), ApproximateLoss(0.1, 1e-9)))
    union = chosen(Budget(1.0, 1e-6), first)
    spent = union.opening(first)
    assert [amount == NOTHING for amount in spent] == [getattr(m, "first", None) == first for m in union.members]


def test_parallel_parts_cost_the_dearest_loss_failure_and_slack() -> None:
    training = Repeated(Sampled(GaussianLoss(1.0), 0.01), 100)
    parts: list[Event] = [ApproximateLoss(0.3, 1e-9), ApproximateLoss(0.01, 1e-7), training]
    together = gaussian_price(Parallel(tuple(parts)), 0.5, 0.5, 1e-8)
    alone = [gaussian_price(part, 0.5, 0.5, 1e-8) for part in parts]
    assert together is not None
    for part in ("loss", "delta", "slack"):
        dearest = max(getattr(price, part) for price in alone if price is not None)
        assert dearest <= getattr(together, part) <= dearest * (1 + 1e-9) + 1
    assert together.slack > 0
    assert together.delta > 0


def test_many_parallel_parts_cost_their_sum_however_small_each_is() -> None:
    pairs = [Parallel((GaussianLoss(2e8 + i), PureLoss(1e-12 * (i + 1)))) for i in range(50)]
    price = gaussian_price(Composed(tuple(pairs)), 1.0)
    assert price is not None
    alone = [gaussian_price(pair, 1.0) for pair in pairs]
    assert price.loss >= 0.9 * sum(each.loss for each in alone if each is not None)


# Every search ends

WAITS = {"_wait", "_close", "_after_fork", "often"}
"""For a lock, for lists to be empty, and up to a number that is given."""


def test_no_search_of_the_room_is_without_a_bound() -> None:
    rooms = (*discreet.accounting.__path__, *discreet.ledger.__path__)
    for file in sorted(file for room in rooms for file in Path(room).rglob("*.py")):
        nodes = list(ast.walk(ast.parse(file.read_text())))
        waits = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name in WAITS]
        excused = {loop.lineno for wait in waits for loop in ast.walk(wait) if isinstance(loop, ast.While)}
        loops = {node.lineno for node in nodes if isinstance(node, ast.While)} - excused
        assert not loops, f"{file.name} {loops}: count the steps, as `search` does"


def test_a_search_ends_whatever_it_is_asked_of() -> None:
    assert grown(lambda x: False, 0.0, 1.0, 1e9) is None
    assert grown(lambda x: False, 0.0, 0.0, 1e9) is None
    assert grown(lambda x: True, 0.0, float("nan"), 1e9) is None
    for answer in (True, False):
        ends = narrowed(lambda x: answer, Ends(0.0, 1.0), lambda ends: False)  # noqa: B023
        assert ends.high - ends.low < 1e-50 or ends.high == np.nextafter(ends.low, 2.0)
    assert narrowed(lambda x: True, Ends(float("nan"), 1.0), lambda ends: False).high == 1.0


def test_pricing_ends_for_losses_whose_exponentials_overflow() -> None:
    standing = AccountState(Budget(1.0, 1e-6)).after(LaplaceLoss(10.0))
    for event in (Sampled(GaussianLoss(0.03), 1e-9), Sampled(GaussianLoss(0.02), 1e-12)):
        after = standing.after(event)
        assert after.holds
        assert after.spent != standing.spent


def test_a_union_has_every_kind_of_filter() -> None:
    assert FilterUnion(tuple(MEMBERS[:3])).holds((NOTHING, NOTHING, NOTHING))


def test_no_table_that_shows_its_data_set_is_paid_whatever_its_steps_are() -> None:
    """A loss of 300 and more with a chance of about 1: where ratios of steps are beyond floats, it cost nothing."""
    most = LossTable(0, (1e-300, 1 - 1e-12))
    for step in (300.0, 1e3, 1e290):
        event = DiscreteLoss(step, most, LossTable(7, (1.0,)))
        assert delta_of(event, 1.0) > 0.9
        for asked in (event, Repeated(event, 2)):
            with pytest.raises(BudgetExceeded):
                MemoryLedger(Budget(1.0, 1e-6)).reserve(asked, "all", request="all")


# What is tiny


def broken(event: Event) -> bool:
    """Whether a table fails in it: what does not fail then has a ratio of its own."""
    return any(isinstance(part, DiscreteLoss) and fails(part) for part in walked(event))


def test_every_kind_of_event_is_tried() -> None:
    kinds = {one for one in vars(events).values() if isinstance(one, type) and issubclass(one, Event)}
    assert {*LEAVES, *JOINED} == kinds - {Event, NoPromise}


@SLOW
@given(EVENTS)
def test_no_charge_that_loses_is_free_in_any_filter(event: Event) -> None:
    for member in MEMBERS:
        price = member.price(event, NOTHING)
        if price is not None:
            assert price.loss > 0 or not loses(event), (member, event)
            assert price.loss == 0 or loses(event) or broken(event), (member, event)
            assert price.loss > 0 or price.slack == 0
            assert price.delta > 0 or not fails(event)
