"""The ledger's filter: the least budget that pays for a workload, over the workload's tight price."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.rows import Row, at_most, printed
from discreet.accounting.accountant import epsilon
from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.accounting.filters.amount import NOTHING
from discreet.accounting.filters.renyi_filter import RenyiFilter, best_order
from discreet.accounting.filters.union import chosen
from discreet.core.budget import Budget
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    Repeated,
    Sampled,
)
from discreet.ledger.account_state import AccountState

DELTA = 1e-6
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
TRAINING = Repeated(Sampled(GaussianLoss(1.0), 0.01), 1000)
CLOSE = 5e-4


@dataclass(frozen=True)
class Workload:
    """Charges, one after the other."""

    name: str
    charges: tuple[Event, ...]

    @property
    def tight(self) -> float:
        """The epsilon of all charges as one plan."""
        return epsilon(Composed(self.charges), DELTA)

    def paid(self, budget: Budget) -> bool:
        """Whether an account pays for all of them."""
        standing = AccountState(budget)
        for charge in self.charges:
            standing = standing.after(charge)
            if not standing.holds:
                return False
        return True

    def paid_by_one_order(self, budget: Budget) -> bool:
        """Whether a single Renyi filter does, with half of delta and the best order for Gaussian noise."""
        half = Fraction(budget.delta) / 2
        rule, spent = RenyiFilter.of(budget.epsilon, half, half, best_order(budget.epsilon, float(half))), NOTHING
        for charge in self.charges:
            price = rule.price(charge, spent)
            if price is None or not (spent := spent + price).within(rule.cap):
                return False
        return True

    def ratio(self, paid: Callable[[Budget], bool]) -> float:
        """The least budget from which on budgets pay, over the tight price; members come in with larger ones."""
        tight = self.tight

        def enough(share: float) -> bool:
            return paid(Budget(share * tight, DELTA))

        low, high = 1 - CLOSE, 1 + CLOSE
        while not enough(high):
            low, high = high, 1 + 2 * (high - 1)
        for step in range(1, 9):
            if not enough(beyond := high + 0.015 * step):
                low, high = beyond, beyond + 0.015
        while high - low > CLOSE:
            middle = (low + high) / 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high


def filters() -> Iterator[Row]:
    """How much more budget it takes to ask one thing after the other than all at once."""
    whole = [plan for budget in EPSILONS for plan in _whole(budget)]
    equal = [
        Workload(f"{k} Laplace of {budget:g}/{k}", (LaplaceLoss(k / budget),) * k)
        for budget in EPSILONS
        for k in range(1, 11)
    ]
    noisy = [
        Workload(f"100 Gaussian, {budget:g}", (GaussianLoss(10 * gaussian_multiplier(budget, DELTA)),) * 100)
        for budget in EPSILONS
    ]
    then = Workload("training, 30 Laplace of 0.05", (TRAINING, *(LaplaceLoss(20.0),) * 30))
    yield _worst("a first plan of the whole budget", whole, 1.005)
    yield _worst("k Laplace of epsilon/k, k = 1..10", equal, 1.005)
    yield _worst("100 equal Gaussian questions", noisy, 1.04)
    yield _worst("training and then 30 Laplace of 0.05", [then], 1.06)
    for workload in (*_alike(), *_unlike()):
        yield printed(f"least budget over tight price, {workload.name}", workload.ratio(workload.paid))
    yield _before("named before", [*noisy[::2], *equal[4::10], then, _alike()[0]], 1.0)
    yield _before("many alike", _alike()[1:], 1.0)
    *unlike, noisy_first = _unlike()
    yield _before("after questions", unlike, 1.0)
    yield _before("after Gaussian questions", [noisy_first], 1.0)
    yield from _speed()


def _whole(budget: float) -> list[Workload]:
    return [
        Workload(f"Gaussian, {budget:g}", (GaussianLoss(gaussian_multiplier(budget, DELTA)),)),
        Workload(f"Laplace, {budget:g}", (LaplaceLoss(1 / budget),)),
        Workload(f"approximate, {budget:g}", (ApproximateLoss(budget, DELTA),)),
        Workload(f"5 Laplace and 5 Gaussian, {budget:g}", (_mixed(budget),)),
        Workload("training", (TRAINING,)),
    ]


def _mixed(budget: float) -> Event:
    noise = 8 / budget
    return Composed((Repeated(LaplaceLoss(noise), 5), Repeated(GaussianLoss(noise), 5)))


def _alike() -> list[Workload]:
    return [
        Workload("5 Laplace of 0.3", (LaplaceLoss(1 / 0.3),) * 5),
        Workload("100 Laplace of 0.02", (LaplaceLoss(50.0),) * 100),
        Workload("100 Laplace of 0.2", (LaplaceLoss(5.0),) * 100),
        Workload("100 concentrated of 1e-4", (ConcentratedLoss(1e-4),) * 100),
        Workload("training 3 times", (TRAINING,) * 3),
    ]


def _unlike() -> list[Workload]:
    return [
        Workload("10 Laplace of 0.1, training", (*(LaplaceLoss(10.0),) * 10, TRAINING)),
        Workload("10 Gaussian of 20, training", (*(GaussianLoss(20.0),) * 10, TRAINING)),
        Workload("10 Laplace of 0.05, 30 concentrated", (*(LaplaceLoss(20.0),) * 10, *(ConcentratedLoss(1e-3),) * 30)),
        Workload("10 Gaussian of 20, 30 concentrated", (*(GaussianLoss(20.0),) * 10, *(ConcentratedLoss(1e-3),) * 30)),
    ]


def _before(claim: str, workloads: list[Workload], goal: float) -> Row:
    worst = max((one.ratio(one.paid) / one.ratio(one.paid_by_one_order), one.name) for one in workloads)
    return at_most(
        f"least budget over that of one Renyi filter with half of delta, {claim} ({worst[1]})", worst[0], goal
    )


def _worst(claim: str, workloads: list[Workload], goal: float) -> Row:
    ratio, name = max((workload.ratio(workload.paid), workload.name) for workload in workloads)
    return at_most(f"least budget over tight price, {claim}, worst ({name})", ratio, goal)


def _speed() -> Iterator[Row]:
    """Processor time of the first charge and of later ones, by the filter alone."""
    for name, first in (("Laplace", LaplaceLoss(50.0)), ("training", TRAINING)):
        begun = time.process_time()
        chosen(Budget(5.0123, DELTA), first)
        yield at_most(f"processor seconds of a first charge, {name}", time.process_time() - begun, 2.0)
    standing = AccountState(Budget(5.0, DELTA)).after(LaplaceLoss(50.0))
    begun = time.process_time()
    for number in range(200):
        standing = standing.after(LaplaceLoss(50.0 + number) if number % 2 else GaussianLoss(100.0 + number))
    yield at_most("processor milliseconds of a later charge", (time.process_time() - begun) / 200 * 1e3, 2.0)
