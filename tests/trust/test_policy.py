"""What a party's owner allows: every rule refuses before any charge, and a hostile asker finds no way around it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.crypto.errors import TooFewSurvivors
from discreet.crypto.messages import Message, Signed
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust import policy as policy_module
from discreet.trust.call import Call
from discreet.trust.party import Party, Seat
from discreet.trust.policy import OVER, Policy, set_digest
from discreet.trust.round import InProcess
from discreet.trust.secure_sum import SecureSum
from tests.trust.network.stage import HEADS, NAMES, NOISE, counted, federation, heads_of, identity, party

pytestmark = pytest.mark.filterwarnings("ignore::discreet.trust.secure_sum.OtherSurvivors")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqliteLedger]:
    account = SqliteLedger.create(tmp_path / "l", Budget(1e4, 1e-6), name="west", neighbors=Neighbors.ADD_REMOVE)
    with account:
        yield account


def call(round: str, noise: Gaussian = NOISE) -> Signed:
    written = Call.of(HEADS, noise.event, federation()).written()
    return Message(round, "server", "call", written).signed(identity("server"))


def asking(west: Party, *others: str) -> SecureSum:
    return SecureSum(federation(), identity("server"), [west, *(party(name) for name in others or NAMES[:3])])


@pytest.mark.parametrize("name", ["parties", "units", "sets", "daily"])
@pytest.mark.parametrize("value", [0, -1, 2.5, "3", True, float("nan")])
def test_numbers_that_are_none_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        Policy(**{name: value})


def test_a_party_takes_no_part_where_a_sum_may_be_over_too_few() -> None:
    party("west", policy=Policy(parties=3))
    with pytest.raises(NotPermitted, match=r"over 3 parties, and .* asks for 4\. Nothing was .* threshold of 4"):
        party("west", policy=Policy(parties=4))


def test_the_fewest_units_are_those_that_the_smallest_parties_state() -> None:
    agreed = dataclasses.replace(federation(), sizes=(16, 32, 64, 128))
    assert agreed.fewest_units == 16 + 32 + 64
    party("west", federation=agreed, policy=Policy(units=112))
    with pytest.raises(NotPermitted, match=r"over 112 units, .* asks for 113\. Nothing was released or spent"):
        party("west", federation=agreed, policy=Policy(units=113))
    with pytest.raises(NotPermitted, match="no sizes are stated"):
        party("west", policy=Policy(units=1))
    wrongs: list[Any] = [(16, 32), (16, 32, 64, -1), (1.5, 1, 1, 1)]
    for wrong in wrongs:
        with pytest.raises(ParameterError, match="sizes"):
            dataclasses.replace(agreed, sizes=wrong)
    assert len({agreed.digest, federation().digest, dataclasses.replace(agreed, sizes=(1, 1, 1, 1)).digest}) == 3


def test_no_table_decides_whether_a_party_takes_part() -> None:
    """Else its size would show, of which one record is a part: a party that states more than it has is believed."""
    agreed = dataclasses.replace(federation(), sizes=(1000,) * 4)
    assert Party(identity("west"), np.zeros((0, 1)), agreed, policy=Policy(units=3000)).name == "west"


def test_questions_of_a_day_are_counted_and_the_next_day_begins_anew(
    ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    west = party("west", ledger=ledger, policy=Policy(daily=2))
    with asking(west) as trust:
        for _ in range(2):
            assert counted(trust.ask(HEADS, NOISE)) == heads_of(*NAMES)
        assert counted(trust.ask(HEADS, NOISE)) == heads_of(*NAMES[:3])
    assert len(ledger.entries()) == 2
    again = party("west", ledger=ledger, policy=Policy(daily=2))  # who starts again has not forgotten
    with pytest.raises(NotPermitted, match=r"2 questions were answered today.*Nothing was released or spent.*tomorrow"):
        again.seated(call("r1"))
    monkeypatch.setattr(policy_module, "today", lambda: "2999-01-01")
    assert again.seated(call("r2")).round == "r2"


@pytest.mark.parametrize("paying", [True, False])
def test_rounds_that_are_begun_at_once_do_not_pass_the_limit_together(paying: bool) -> None:
    """An asker who opens ten seats before the first is paid for."""
    account = MemoryLedger(Budget(1e4, 1e-6)) if paying else None
    west = party("west", ledger=account, policy=Policy(daily=3))
    seats = [west.seated(call(f"r{number}")) for number in range(10)]
    for seat in seats[:3]:
        seat._vector()
    for seat in seats[3:]:
        with pytest.raises(NotPermitted, match="allows 3 a day"):
            seat._vector()
    assert len(west.answered) == 3


def test_sums_are_over_so_many_sets_of_parties_and_no_more(ledger: SqliteLedger) -> None:
    """An asker who leaves one party out, and asks in other words, to subtract."""
    rule = Policy(sets=1)
    with asking(party("west", ledger=ledger, policy=rule)) as trust:
        for noise in (NOISE, Gaussian(0.3)):
            assert counted(trust.ask(HEADS, noise)) == heads_of(*NAMES)
    with asking(party("west", ledger=ledger, policy=rule), *NAMES[1:3]) as trust:
        for noise in (NOISE, Gaussian(0.5)):
            with pytest.raises(TooFewSurvivors, match=r"other parties than the 1 set.*show the sum of a few"):
                trust.ask(HEADS, noise)
    assert len(ledger.entries()) == 2
    assert {entry.purpose.rpartition(OVER)[2] for entry in ledger.entries()} == {set_digest(NAMES)}
    with asking(party("west", ledger=ledger, policy=Policy(sets=2)), *NAMES[1:3]) as trust:
        assert counted(trust.ask(HEADS, NOISE)) == heads_of(*NAMES[1:])
    with asking(party("west", ledger=ledger, policy=rule)) as trust:  # a set that is known is one of the two
        assert counted(trust.ask(HEADS, NOISE)) == heads_of(*NAMES)


class Late(InProcess):
    """A relay that says a party has left once the others have paid, though its vector is there."""

    async def exchange(self, message: Signed, hear: Any, most: int) -> None:
        if message.message.kind == "delivery":
            await super().exchange(message, lambda _: None, most)
            raise ConnectionError("said to be gone")
        await super().exchange(message, hear, most)


def test_a_relay_that_invents_who_survives_gets_no_signature() -> None:
    """Enough parties have the rule: nothing is opened, and what was charged stays so."""
    for rule, opened in ((Policy(), True), (Policy(sets=1), False)):
        parties = [party(name, policy=rule) for name in NAMES]
        with SecureSum(federation(), identity("server"), parties) as trust:
            trust._here["north"] = Late(parties[NAMES.index("north")])
            if opened:
                assert counted(trust.ask(HEADS, NOISE)) == heads_of("east", "south", "west")
            else:
                with pytest.raises(TooFewSurvivors, match=r"some have left since it was paid for.*charged stays so"):
                    trust.ask(HEADS, NOISE)


def test_a_scheme_that_does_not_say_who_is_in_a_sum_is_refused_with_such_a_rule() -> None:
    agreed = dataclasses.replace(federation(), scheme="odo")
    rules = party("west", federation=agreed, policy=Policy(sets=1))
    seat = object.__new__(Seat)
    seat._party, seat._speaker = rules, cast(Any, object())
    with pytest.raises(NotPermitted, match=r"scheme 'odo' does not say who is in a sum.*masks"):
        seat._watch()
