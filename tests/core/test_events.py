"""Events are data that last: their JSON reads back to the same event, and nothing impossible can be written."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core import events
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, ParameterError, Unaccountable
from discreet.core.events import (
    COMBINATORS,
    LEAVES,
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
    read,
    walked,
    written,
)
from discreet.ledger.account_state import AccountState
from discreet.ledger.memory_ledger import MemoryLedger

size = st.floats(0, 1e6, allow_nan=False)
positive = st.floats(1e-6, 1e6)


def _renyi(orders: list[float], value: float) -> Event:
    return RenyiLoss(tuple(sorted(set(orders))), tuple(value for _ in set(orders)))


def _response(step: float) -> Event:
    table = LossTable(-1, (1 / (1 + math.exp(step)), 0.0, 1 / (1 + math.exp(-step))))
    return DiscreteLoss(step, table, table)


leaves = st.one_of(
    st.builds(PureLoss, size),
    st.builds(ApproximateLoss, size, st.floats(0, 1)),
    st.builds(GaussianLoss, positive),
    st.builds(LaplaceLoss, positive),
    st.builds(ConcentratedLoss, size),
    st.builds(_renyi, st.lists(st.one_of(st.floats(1.001, 1e3), st.just(math.inf)), min_size=1, max_size=4), size),
    st.builds(_response, st.floats(1e-3, 20)),
    st.builds(NoPromise, st.text()),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Composed, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Parallel, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Repeated, inner, st.integers(1, 10**6)),
        st.builds(Sampled, inner, st.floats(1e-9, 1), st.sampled_from(["poisson", "fixed_size"])),
    ),
    max_leaves=6,
)


@given(trees)
def test_an_event_survives_json(event: Event) -> None:
    assert read(written(event)) == event
    assert written(read(written(event))) == written(event)


def test_the_family_is_closed_and_every_member_has_a_kind() -> None:
    family = {kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, Event)} - {Event}
    assert family == set(events.LEAVES + events.COMBINATORS)
    assert len(events.KINDS) == len(family)


def test_the_json_form_of_today_is_the_one_that_ledgers_keep() -> None:
    plan = Composed((Repeated(Sampled(GaussianLoss(1.1), 0.01), 100), RenyiLoss((2.0, math.inf), (0.5, 1.0))))
    assert json.loads(written(plan)) == {
        "discreet.event": 1,
        "event": {
            "is": "composed",
            "events": [
                {
                    "is": "repeated",
                    "times": 100,
                    "event": {
                        "is": "sampled",
                        "rate": 0.01,
                        "scheme": "poisson",
                        "event": {"is": "gaussian", "multiplier": 1.1},
                    },
                },
                {"is": "renyi", "orders": [2.0, "inf"], "values": [0.5, 1.0]},
            ],
        },
    }


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (PureLoss, {"epsilon": -1.0}),
        (PureLoss, {"epsilon": math.inf}),
        (PureLoss, {"epsilon": math.nan}),
        (ApproximateLoss, {"epsilon": 1.0, "delta": 1.5}),
        (GaussianLoss, {"multiplier": 0.0}),
        (GaussianLoss, {"multiplier": math.inf}),
        (LaplaceLoss, {"multiplier": math.nan}),
        (ConcentratedLoss, {"rho": -0.1}),
        (RenyiLoss, {"orders": (1.0,), "values": (0.1,)}),
        (RenyiLoss, {"orders": (3.0, 2.0), "values": (0.1, 0.1)}),
        (RenyiLoss, {"orders": (2.0,), "values": ()}),
        (Repeated, {"event": PureLoss(1.0), "times": 0}),
        (Repeated, {"event": PureLoss(1.0), "times": 1.5}),
        (Repeated, {"event": LaplaceLoss(1e300), "times": 2**70}),
        (Sampled, {"event": PureLoss(1.0), "rate": 0.0}),
        (Sampled, {"event": PureLoss(1.0), "rate": 0.5, "scheme": "shuffled"}),
        (Parallel, {"events": ()}),
        (DiscreteLoss, {"step": 1.0, "remove": LossTable(0, (0.5,)), "add": LossTable(0, (1.0,))}),
        (DiscreteLoss, {"step": 1.0, "remove": LossTable(-9, (1.0,)), "add": LossTable(0, (1.0,))}),
        (DiscreteLoss, {"step": 1.0, "remove": LossTable(-(2**31), (0.0,), 1.0), "add": LossTable(0, (1.0,))}),
        (DiscreteLoss, {"step": 1.0, "remove": LossTable(0.5, (1.0,)), "add": LossTable(0, (1.0,))}),  # type: ignore[arg-type]
        (DiscreteLoss, {"step": 1.0, "remove": (0, (1.0,)), "add": LossTable(0, (1.0,))}),
        (LaplaceLoss, {"multiplier": 5e-324}),
        (Composed, {"events": (PureLoss(1.0), 3)}),
        (Repeated, {"event": None, "times": 2}),
        (Sampled, {"event": "pure", "rate": 0.5}),
    ],
)
def test_an_impossible_event_cannot_be_made(kind: type[Event], fields: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        kind(**fields)


ODD: list[Any] = [None, "1", b"1", 1j, [], {}, (), object(), 10**400, -(10**5000), math.nan, math.inf, -1.0, 5e-324]
ODD += [1e100, 1.7e308, True, np.float16(0.1), np.longdouble(0.1), np.array(0.5), np.array([0.5]), np.array([1, 2])]
ODD += [Decimal("0.1"), Fraction(1, 3)]
PARTS: dict[type[Any], dict[str, Any]] = {
    PureLoss: {"epsilon": 1.0},
    ApproximateLoss: {"epsilon": 1.0, "delta": 0.5},
    GaussianLoss: {"multiplier": 1.0},
    LaplaceLoss: {"multiplier": 1.0},
    ConcentratedLoss: {"rho": 1.0},
    RenyiLoss: {"orders": (2.0,), "values": (1.0,)},
    DiscreteLoss: {"step": 1.0, "remove": LossTable(0, (1.0,)), "add": LossTable(0, (1.0,))},
    Repeated: {"event": PureLoss(1.0), "times": 2},
    Sampled: {"event": PureLoss(1.0), "rate": 0.5, "scheme": "poisson"},
    Composed: {"events": (PureLoss(1.0),)},
    Parallel: {"events": (PureLoss(1.0),)},
}


def test_whatever_an_event_is_made_of_it_is_refused_by_name_or_has_a_price() -> None:
    """Somebody else may send it: a party prices what it is asked."""
    assert {*PARTS, NoPromise} == {*LEAVES, *COMBINATORS}
    for kind, usual in PARTS.items():
        for name in usual:
            for odd in (*ODD, [None], [10**400], LossTable(0, (1.0 - 1e-10,), 1e-10)):
                try:
                    event = kind(**{**usual, name: odd})
                except ParameterError:
                    continue
                assert read(written(event)) == event
                ledger = MemoryLedger(Budget(1.0, 1e-6))
                with suppress(BudgetExceeded, Unaccountable):
                    ledger.reserve(event, "odd", request="odd")
    with pytest.raises(ParameterError):
        LossTable(0, 3)  # type: ignore[arg-type]


def test_events_far_apart_in_size_have_a_price() -> None:
    """And no errors of arithmetic or of memory."""
    for budget in (Budget(1.0, 1e-6), Budget(1.0)):
        for event in (Composed((GaussianLoss(1.0), GaussianLoss(1e-17))), GaussianLoss(1e-17), GaussianLoss(1e-300)):
            assert not AccountState(budget).after(event).holds
        assert AccountState(budget).after(Repeated(LaplaceLoss(1.7e308), 2**53)).holds


class Changing:
    """A number that is another one whenever somebody looks."""

    def __init__(self) -> None:
        self.said = [1e-9, 1e9]

    def __float__(self) -> float:
        return self.said.pop()


def test_what_was_checked_is_what_is_kept() -> None:
    assert GaussianLoss(Changing()).multiplier == 1e9  # type: ignore[arg-type]
    assert type(PureLoss(np.float64(0.5)).epsilon) is float
    assert type(LaplaceLoss(np.int64(2)).multiplier) is int  # type: ignore[arg-type]
    assert type(LossTable(0, (0.5,), Fraction(1, 2)).infinity) is float  # type: ignore[arg-type]


def test_many_huge_losses_have_a_price_that_nobody_can_pay() -> None:
    for event in (PureLoss(1e3), PureLoss(1.7e308), LaplaceLoss(1e-300), ApproximateLoss(1e308, 1.0)):
        for budget in (Budget(1.0), Budget(3.0, 0.1)):
            with pytest.raises(BudgetExceeded):
                MemoryLedger(budget).reserve(Repeated(event, 2**53), "huge", request="huge")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"discreet.event":2,"event":{"is":"pure","epsilon":1.0}}',
        '{"discreet.event":1,"event":{"is":"free"}}',
        '{"discreet.event":1,"event":{"is":"pure","epsilon":1.0,"bonus":1}}',
        '{"discreet.event":1,"event":{"is":"pure","epsilon":-1.0}}',
        '{"discreet.event":1,"event":{"is":"pure","epsilon":"a"}}',
        '{"discreet.event":1,"event":{"is":"composed","events":3}}',
        '{"discreet.event":1,"event":5}',
        '{"discreet.event":1,"event":' + '{"is":"composed","events":[' * 5,
        "[" * 100_000,
    ],
)
def test_text_that_is_no_event_is_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        read(text)


def test_walking_visits_every_part() -> None:
    plan = Composed((Repeated(Sampled(GaussianLoss(1.0), 0.1), 2), PureLoss(1.0)))
    assert [event.kind for event in walked(plan)] == ["composed", "repeated", "sampled", "gaussian", "pure"]
