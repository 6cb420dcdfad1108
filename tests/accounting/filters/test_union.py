"""The union of filters, by exact enumeration of adaptive games; `union.md` has the proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq

from discreet.accounting.accountant import delta as delta_of
from discreet.accounting.accountant import epsilon as epsilon_of
from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.accounting.filters.amount import DELTA_UNITS, NOTHING
from discreet.accounting.filters.gaussian_filter import GaussianFilter
from discreet.accounting.filters.pure_filter import PureFilter
from discreet.accounting.filters.renyi_filter import RenyiFilter
from discreet.accounting.filters.union import FilterUnion, Spent, chosen
from discreet.core.budget import Budget
from discreet.core.errors import Unaccountable
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
)
from discreet.ledger.account_state import AccountState
from tests.accounting.games import Law, Path, adaptively, hockey_stick, response, worst_law

TRAINING = Repeated(Sampled(GaussianLoss(1.0), 0.01), 1000)


def after_all(budget: Budget, events: list[Event]) -> AccountState:
    standing = AccountState(budget)
    for event in events:
        standing = standing.after(event)
        if not standing.holds:
            break
    return standing


def count(budget: Budget, event: Event, most: int) -> int:
    """How often the event is paid."""
    standing, times = AccountState(budget).after(event), 0
    while standing.holds and times < most:
        standing, times = standing.after(event), times + 1
    return times


# What a fresh account pays


def test_a_fresh_account_pays_a_plan_of_exactly_its_budget() -> None:
    epsilon = 2.0
    budget = Budget(epsilon, 1e-6)
    table = LossTable(-1, (0.2, 0.3, 0.5))
    plans: list[Event] = [
        PureLoss(epsilon),
        LaplaceLoss(1 / epsilon),
        ApproximateLoss(epsilon, 1e-6),
        Composed((PureLoss(epsilon / 2), ApproximateLoss(epsilon / 2, 1e-6))),
        Repeated(DiscreteLoss(epsilon / 64, table, table), 64),
    ]
    for plan in plans:
        assert after_all(budget, [plan]).holds, plan
        assert AccountState(budget).affords(plan)
    families: list[Callable[[float], Event]] = [
        GaussianLoss,
        lambda m: Repeated(GaussianLoss(5 * m), 25),
        lambda m: Repeated(Sampled(GaussianLoss(m), 0.1), 50),
        lambda m: Composed((LaplaceLoss(2 * m), GaussianLoss(m))),
        lambda m: ConcentratedLoss(0.1 / m**2),
    ]
    for family in families:
        low, high = 0.1, 40.0
        while high > 1.003 * low:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if delta_of(family(middle), epsilon) <= 1e-6 else (middle, high)
        assert after_all(budget, [family(high)]).holds, family(high)
        assert not after_all(budget, [family(low)]).holds, family(low)
        assert [AccountState(budget).affords(family(m)) for m in (low, high)] == [False, True]


def test_equal_questions_add_up_to_the_budget() -> None:
    for k in range(1, 11):
        assert count(Budget(1.0, 1e-6), PureLoss(1 / k), 20) == k
        assert count(Budget(1.0, 1e-6), LaplaceLoss(float(k)), 20) == k
        assert count(Budget(1.0), LaplaceLoss(float(k)), 20) == k


def test_many_gaussian_questions_cost_nearly_their_tight_price() -> None:
    for epsilon in (0.5, 8.0):
        tight = 10 * gaussian_multiplier(epsilon, 1e-6)
        assert 100 <= count(Budget(1.04 * epsilon, 1e-6), GaussianLoss(tight), 200) <= 108


def test_training_and_then_questions_cost_nearly_their_tight_price() -> None:
    events: list[Event] = [TRAINING, *[LaplaceLoss(20.0)] * 30]
    tight = epsilon_of(Composed(tuple(events)), 1e-6)
    for enough in (1.06, 1.2):  # with a larger budget the Renyi filter comes in and takes its share
        assert after_all(Budget(enough * tight, 1e-6), events).holds
    assert not after_all(Budget(0.999 * tight, 1e-6), events).holds


def test_an_account_whose_first_question_may_fail_goes_on() -> None:
    standing = after_all(Budget(5.0, 1e-6), [ApproximateLoss(0.1, 2e-7), *[GaussianLoss(20.0)] * 20])
    assert standing.holds
    assert after_all(Budget(5.0, 1e-6), [GaussianLoss(20.0), ApproximateLoss(0.1, 3e-8)]).holds
    assert not after_all(Budget(5.0, 1e-6), [GaussianLoss(20.0), ApproximateLoss(0.1, 5e-7)]).holds


def test_after_a_report_the_plain_sum_of_epsilons_is_paid() -> None:
    for epsilon, part in ((2.0, 0.5), (1.0, 0.4), (1.0, 0.97), (8.0, 0.9), (8.0, 0.999)):
        report = GaussianLoss(gaussian_multiplier(part * epsilon, 1e-6))
        left = epsilon - epsilon_of(report, 1e-6)
        assert after_all(Budget(epsilon, 1e-6), [report, PureLoss(left)]).holds, (epsilon, part)
        assert after_all(Budget(epsilon, 1e-6), [report, *[LaplaceLoss(10 / left)] * 10]).holds
        assert not after_all(Budget(epsilon, 1e-6), [report, PureLoss(left + 0.05 * epsilon)]).holds


def test_plain_sums_after_training_and_of_large_accounts_are_paid_but_for_a_few_hundredths() -> None:
    large = GaussianLoss(gaussian_multiplier(4.0, 1e-6))
    for epsilon, plan in ((3.0, TRAINING), (8.0, large)):
        left = epsilon - 1.04 * epsilon_of(plan, 1e-6)
        assert after_all(Budget(epsilon, 1e-6), [plan, PureLoss(left)]).holds


def test_a_report_after_questions_is_paid_by_its_epsilon_at_a_slack() -> None:
    before: list[Event] = [PureLoss(0.5), PureLoss(0.5)]
    for last in (GaussianLoss(gaussian_multiplier(0.8, 1e-6)), ConcentratedLoss(0.008)):
        assert after_all(Budget(2.0, 1e-6), [*before, last]).holds
    assert not after_all(Budget(2.0, 1e-6), [*before, GaussianLoss(gaussian_multiplier(1.05, 1e-6))]).holds


def test_every_kind_of_first_charge_gets_members_within_delta() -> None:
    table = LossTable(0, (1 - 1e-9,), 1e-9)
    events: list[Event] = [
        PureLoss(0.0),
        PureLoss(1e-300),
        GaussianLoss(1e6),
        RenyiLoss((2.0, 8.0), (0.001, 0.01)),
        DiscreteLoss(0.1, table, table),
        Parallel((GaussianLoss(50.0), PureLoss(0.1))),
        Sampled(ConcentratedLoss(0.01), 0.01),
        TRAINING,
    ]
    for budget in (Budget(1.0, 1e-6), Budget(0.01, 1e-15), Budget(2.0**40, 0.5)):
        for event in events:
            union = chosen(budget, event)
            assert union.delta <= Fraction(budget.delta)
            assert all(member.sound for member in union.members), (budget, event)
            if delta_of(event, min(budget.epsilon, 500.0)) <= budget.delta:
                assert union.holds(union.opening(event)), (budget, event)


def test_without_delta_there_is_the_pure_filter_alone() -> None:
    union = chosen(Budget(1.0), PureLoss(0.5))
    assert union.members == (PureFilter.of(1.0, Fraction(0), Fraction(0)),)
    assert union.delta == 0
    assert union.opening(GaussianLoss(100.0)) == (None,)


def test_what_promises_nothing_has_no_union() -> None:
    with pytest.raises(Unaccountable):
        chosen(Budget(1.0, 1e-6), NoPromise("none"))


def test_a_member_that_was_broken_stays_broken() -> None:
    union = chosen(Budget(3.0, 1e-6), PureLoss(0.1))
    spent = union.opening(PureLoss(0.1))
    assert len(union.living(spent)) == 3
    spent = union.after(ConcentratedLoss(1e-6), spent)
    alive = union.living(spent)
    assert [type(member) for member in alive] == [PureFilter, RenyiFilter]
    assert union.living(union.after(PureLoss(0.0), spent)).keys() == alive.keys()
    spent = union.after(PureLoss(2.9), union.opening(PureLoss(0.1)))
    assert [type(member) for member in union.living(spent)] == [PureFilter]


# No game loses more than the sum of the deltas


@dataclass
class Adversary:
    """Asks at random, with whatever the union still admits on the path it is on."""

    union: FilterUnion
    budget: Budget
    seed: int

    def __post_init__(self) -> None:
        self.spent: dict[Path, Spent] = {(): (NOTHING,) * len(self.union.members)}

    def __call__(self, path: Path) -> Law | None:
        spent = self.spent[path]
        rng = np.random.default_rng([self.seed, len(path), *path])
        for _ in range(8 if len(path) < 4 else 0):
            loss = float(rng.choice([0.1, 0.3, 0.7, 1.2, 2.0]) * self.budget.epsilon / 2)
            leak = float(rng.choice([0.0, 0.0, 0.1, 0.3])) * self.budget.delta
            event: Event = ApproximateLoss(loss, leak) if leak else PureLoss(loss)
            if rng.random() < 0.25:
                event = Sampled(PureLoss(4.0 * self.budget.epsilon), 0.05)
            after = self.after(event, spent)
            if self.union.holds(after):
                law = worst_law(event)
                self.spent |= {(*path, i): after for i in range(len(law))}
                return law
        return None

    def after(self, event: Event, spent: Spent) -> Spent:
        return self.union.after(event, spent)


class Forgetful(Adversary):
    """Has to do with an account that charges a member only what that member admits."""

    def after(self, event: Event, spent: Spent) -> Spent:
        whole = self.union.after(event, spent)
        living = self.union.living(whole)
        return tuple(
            new if member in living or not living else old
            for member, new, old in zip(self.union.members, whole, spent, strict=True)
        )


def members(epsilon: float, delta: float) -> FilterUnion:
    """All kinds at once, with shares of delta that let each of them matter; failures have one for all."""
    share = Fraction(delta) / 6
    order = 6.0
    return FilterUnion(
        (
            PureFilter.of(epsilon, Fraction(0), 2 * share),
            GaussianFilter.of(epsilon, 2 * share, 2 * share),
            RenyiFilter.of(epsilon, 2 * share, 2 * share, order),
        )
    )


def worst_delta(kind: type[Adversary], union: FilterUnion, budget: Budget) -> float:
    laws = [adaptively(kind(union, budget, seed)) for seed in range(25)]
    assert all(math.fsum(p for p, _ in law) == pytest.approx(1) for law in laws)
    return max(hockey_stick(law, budget.epsilon) for law in laws)


@pytest.mark.parametrize("budget", [Budget(1.0, 0.05), Budget(3.0, 0.2), Budget(0.7, 0.01), Budget(2.0)])
def test_no_adaptive_adversary_exceeds_the_budget(budget: Budget) -> None:
    first = PureLoss(0.1 * budget.epsilon)
    unions = [chosen(budget, first)] + ([members(budget.epsilon, budget.delta)] if budget.delta else [])
    for union in unions:
        assert union.delta <= Fraction(budget.delta)
        assert worst_delta(Adversary, union, budget) <= budget.delta + 1e-12


class AfterFirst(Adversary):
    """Asks the first plan, for which the union was chosen, and then at random."""

    first: Event = ApproximateLoss(0.5, 0.03)

    def __call__(self, path: Path) -> Law | None:
        if path:
            return super().__call__(path)
        opening, law = self.union.opening(self.first), worst_law(self.first)
        assert self.union.holds(opening)
        self.spent |= {(i,): opening for i in range(len(law))}
        return law


def test_no_adaptive_adversary_exceeds_the_budget_after_a_first_plan_with_its_loss_distribution() -> None:
    for budget in (Budget(1.0, 0.05), Budget(1.5, 0.04)):
        union = chosen(budget, AfterFirst.first)
        assert [getattr(member, "first", None) for member in union.members].count(AfterFirst.first) >= 1
        assert 0.0299 < worst_delta(AfterFirst, union, budget) <= budget.delta + 1e-12


def test_a_first_plan_that_may_fail_leaves_less_for_failures_that_follow() -> None:
    first = Composed((GaussianLoss(8.0), ApproximateLoss(0.1, 1e-9)))
    plain, other, gaussian = chosen(Budget(1.0, 1e-6), first).members
    assert isinstance(gaussian, GaussianFilter)
    assert isinstance(plain, PureFilter)
    assert plain.first == gaussian.first == first
    assert plain.cap.delta == gaussian.cap.delta
    assert gaussian.cap.delta + 0.999e-9 * DELTA_UNITS < other.cap.delta


def test_the_same_adversaries_exceed_the_budget_where_a_broken_member_is_forgotten() -> None:
    budget = Budget(1.0, 0.05)
    assert worst_delta(Forgetful, members(1.0, 0.05), budget) > budget.delta


def test_members_cannot_share_one_delta() -> None:
    """Two filters that each keep (1, 0.05), and one game that ends in either: together they lose more."""
    budget, first, small = Budget(1.0, 0.05), PureLoss(0.5), PureLoss(0.2)
    whole = Fraction(budget.delta)
    rules = PureFilter.of(1.0, Fraction(0), whole), GaussianFilter.of(1.0, whole, Fraction(0), first)
    union = FilterUnion(rules)
    account: dict[Path, Spent] = {}

    def adversary(path: Path) -> Law | None:
        """After the likelier answer it spends all that the second admits, after the other one all of the first."""
        if not path:
            return charged(path, first, union.opening(first))
        if path[0] != 1:
            leak = ApproximateLoss(0.0, budget.delta)
            return charged(path, leak, union.after(leak, account[path])) if len(path) == 1 else None
        after = union.after(small, account[path])
        return charged(path, small, after) if union.holds(after) else None

    def charged(path: Path, event: Event, spent: Spent) -> Law:
        assert union.holds(spent)
        account.update({(*path, i): spent for i in range(4)})
        return worst_law(event)

    lost = hockey_stick(adaptively(adversary), budget.epsilon)
    assert 1.1 * budget.delta < lost <= float(union.delta)


def test_a_running_loss_distribution_would_overspend() -> None:
    """Why only the first plan enters with its loss distribution: each path alone keeps the budget, together not."""
    epsilon, delta, first = 1.0, 0.05, 0.5

    def together(second: Law) -> float:
        return hockey_stick([(a * c, b * d) for a, b in response(first) for c, d in second], epsilon)

    dear = brentq(lambda e: together(response(e)) - delta, 0.5, 1.4)
    leaky = response(0.0, delta)
    assert together(response(dear)) == pytest.approx(delta)
    assert together(leaky) == pytest.approx(delta)

    def adversary(path: Path) -> Law | None:
        match path:
            case ():
                return response(first)
            case (1,):
                return response(dear)
            case (_,):
                return leaky
            case _:
                return None

    assert hockey_stick(adaptively(adversary), epsilon) > 1.3 * delta
