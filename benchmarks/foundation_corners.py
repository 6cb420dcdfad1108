"""The accountant at the corners: tiny rates, few or many releases, tiny deltas."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from tests.accounting.corner_plans import CORNERS, Plan

from benchmarks.rows import Row, at_least, at_most
from discreet.accounting.accountant import epsilon, epsilon_interval
from discreet.core.events import GaussianLoss, Repeated, Sampled

KNOWN = {  # by a Fourier integral in 64-bit mantissas, convolutions in positive numbers, a lattice 8 times finer
    Plan(1.2e-5, 0.74, 147_087, 6e-13): (0.299724, 0.299728),
    Plan(2e-5, 0.85, 23, 5e-14): (0.048465, 0.048468),
    Plan(0.01, 1.0, 1000, 1e-100): (29.5984, 29.5991),
}
DRAWN = 60


def corners() -> Iterator[Row]:
    """Epsilon within a thousandth, in a second; the bounds tell how far it can be."""
    for plan, (low, high) in KNOWN.items():
        found = epsilon(plan.event, plan.delta)
        yield at_most(f"epsilon of {_words(plan)}, relative excess", found / high - 1, 1e-3)
        yield at_least("the same, never below the reference", found, low)
    yield from _spread("known corners", (*KNOWN, *CORNERS))
    chance = random.Random(int(time.time()))
    yield from _spread(f"{DRAWN} plans at random", tuple(Plan.drawn(chance) for _ in range(DRAWN)))
    yield from _fixed_size()


def _words(plan: Plan) -> str:
    return f"q {plan.rate:g}, sigma {plan.multiplier:g}, T {plan.times}, delta {plan.delta:g}"


def _spread(name: str, plans: tuple[Plan, ...]) -> Iterator[Row]:
    """How far apart the bounds are, and how long the one from above takes."""
    apart, seconds, worst, slowest = 0.0, 0.0, "", ""
    for plan in plans:
        start = time.process_time()
        epsilon(plan.event, plan.delta)
        spent = time.process_time() - start
        found = epsilon_interval(plan.event, plan.delta)
        gap = (found.upper - found.lower) / max(found.upper, 0.01)
        apart, worst = max((apart, worst), (gap, _words(plan)))
        seconds, slowest = max((seconds, slowest), (spent, _words(plan)))
    yield at_most(f"{name}: bounds apart, of epsilon or 0.01 ({worst})", apart, 5e-3)
    yield at_most(f"{name}: processor seconds of one call ({slowest})", seconds, 1.0)


def _fixed_size() -> Iterator[Row]:
    """A release that keeps the promise reaches nearly all of the bound."""
    for rate, multiplier, times, delta in ((0.1, 1.0, 10, 1e-5), (0.05, 3.0, 500, 1e-6), (0.004, 1.1, 14_000, 1e-5)):
        event = Repeated(Sampled(GaussianLoss(multiplier), rate, "fixed_size"), times)
        found = epsilon_interval(event, delta)
        words = _words(Plan(rate, multiplier, times, delta))
        yield at_most(f"samples of fixed size, {words}: bounds apart", found.upper / found.lower - 1, 0.01)
