"""One who holds records: it believes nobody, pays first, pays once, and never loses a charge."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, KeyReused, NotPermitted, ParameterError, UncommittedCharge
from discreet.core.events import GaussianLoss, LaplaceLoss
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.crypto.errors import BadSignature, OutOfOrder, RoundReused, TooFewSurvivors, UnknownParty
from discreet.crypto.messages import Message, Signed
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import GaussianShare
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe, recipe
from discreet.schema.schema import Schema
from discreet.trust import party as party_module
from discreet.trust.call import Call, prepared
from discreet.trust.party import Party, RoundAccount
from discreet.trust.policy import Policy
from discreet.trust.secure_sum import SecureSum
from tests.trust.holding import HolderTrial
from tests.trust.network.stage import (
    HEADS,
    NAMES,
    NOISE,
    PACKAGES,
    ROWS,
    counted,
    federation,
    heads_of,
    identity,
    party,
)

TRIALS = {
    "RoundAccount": HolderTrial(
        lambda: RoundAccount(MemoryLedger(Budget(1.0)), Neighbors.ADD_REMOVE, RECORD, secret=True)
    )
}

READ_ELSEWHERE = {
    "Party": "opens its records as private data do",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""
COUNT = Recipe("count", {"column": "x0"})


def test_without_rules_everything_may_be_asked() -> None:
    Policy().check(COUNT, LaplaceLoss(1e-3))


def test_only_the_recipes_on_the_list_may_be_asked() -> None:
    Policy([COUNT.name]).check(COUNT, LaplaceLoss(1.0))
    for others in ([], ["discreet.statistics.moments.count"], [COUNT.name + " "]):
        with pytest.raises(NotPermitted, match="does not allow it"):
            Policy(others).check(COUNT, LaplaceLoss(1.0))
    with pytest.raises(ParameterError, match="single text"):
        Policy(COUNT.name)


@pytest.mark.parametrize(
    ("event", "most", "allowed"),
    [
        (LaplaceLoss(10.0), Budget(0.1), True),
        (LaplaceLoss(9.99), Budget(0.1), False),
        (GaussianLoss(1e3), Budget(100.0), False),
        (GaussianLoss(5.0), Budget(1.0, 1e-6), True),
        (GaussianLoss(4.0), Budget(1.0, 1e-6), False),
    ],
)
def test_no_question_may_cost_more_than_the_most(event: Any, most: Budget, allowed: bool) -> None:
    """Gaussian noise of 4.22 sensitivities has epsilon 1 at delta 1e-6, and an infinite one at delta 0."""
    if allowed:
        Policy(most=most).check(COUNT, event)
    else:
        with pytest.raises(NotPermitted, match="one question may cost"):
            Policy(most=most).check(COUNT, event)


@pytest.mark.parametrize("policy", [Policy([COUNT.name]), Policy(most=Budget(1.0, 1e-6))])
def test_a_party_refuses_before_it_builds_or_pays(
    policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "l"
    with SqliteLedger.create(path, Budget(1e4, 1e-6), name="ward", neighbors=Neighbors.ADD_REMOVE) as ledger:
        strict = party("west", ledger=ledger, policy=policy)
        others = [party(name) for name in NAMES[:3]]
        with SecureSum(federation(), identity("server"), [strict, *others]) as trust:
            assert counted(trust.ask(HEADS, NOISE)) == heads_of(*NAMES[:3])
        assert ledger.entries() == ()
    monkeypatch.setattr(party_module, "question_of", None)
    with (
        SecureSum(federation(), identity("server"), [strict]) as trust,
        pytest.raises(TooFewSurvivors, match=r"one question may cost|does not allow"),
    ):
        trust.ask(HEADS, NOISE)


def call(round: str = "r1", sender: str = "server", kind: str = "call") -> Signed:
    return Message(round, sender, kind, Call.of(HEADS, NOISE.event, federation()).written()).signed(identity(sender))


def ledger_at(path: Path, epsilon: float = 1e4, **options: Any) -> SqliteLedger:
    options = {"neighbors": Neighbors.ADD_REMOVE, **options}
    return SqliteLedger.create(path, Budget(epsilon, 1e-6), name="ward", **options)


@pytest.fixture
def ledgers(tmp_path: Path) -> Iterator[dict[str, SqliteLedger]]:
    opened = {name: ledger_at(tmp_path / name) for name in NAMES}
    yield opened
    for one in opened.values():
        one.close()


def asking(parties: list[Party]) -> SecureSum:
    return SecureSum(federation(), identity("server"), parties)


def test_it_says_who_it_is_and_what_it_takes_part_in() -> None:
    message = party("north").hello().verified(federation().roster)
    assert message.sender == "north"
    facts = json.loads(message.body)
    assert facts == {"federation": federation().digest.hex(), "units": None, "secret": True}


def test_it_tells_how_many_records_it_has_only_where_that_is_public() -> None:
    agreed = dataclasses.replace(federation(4), neighbors=Neighbors.REPLACE)
    assert json.loads(party("north", federation=agreed).hello().message.body)["units"] == 32
    users = Party(identity("north"), {"x0": np.zeros(32)}, dataclasses.replace(agreed, unit=Unit("user", "x0")))
    assert json.loads(users.hello().message.body)["units"] is None


def test_it_is_called_by_the_server_alone() -> None:
    one = party("north")
    for wrong in (call(sender="west"), call(kind="keys")):
        with pytest.raises(UnknownParty):
            one.seated(wrong)
    with pytest.raises(BadSignature):
        one.seated(dataclasses.replace(call(), signature=bytes(64)))
    assert one.seated(call()).round == "r1"


def test_it_takes_part_in_a_round_once() -> None:
    one = party("north")
    one.seated(call())
    with pytest.raises(RoundReused):
        one.seated(call())


def test_an_unknown_step_is_out_of_order() -> None:
    with pytest.raises(OutOfOrder, match="no such step"):
        party("north").seated(call()).answer(call(kind="lunch"))


def test_the_purpose_tells_what_is_asked_and_promised() -> None:
    assert party("north").seated(call()).purpose.startswith("heads() with ")


@pytest.mark.parametrize(
    "wrong",
    [
        {"neighbors": Neighbors.REPLACE},
        {"unit": Unit("user", "x0", rows=2)},
    ],
)
def test_a_ledger_for_another_relation_or_unit_is_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    with ledger_at(tmp_path / "l", **wrong) as ledger, pytest.raises(ParameterError, match="another relation or unit"):
        party("north", ledger=ledger)


def test_it_refuses_what_its_account_cannot_pay_before_it_takes_a_seat(tmp_path: Path) -> None:
    with ledger_at(tmp_path / "l", epsilon=0.1) as ledger:
        one = party("north", ledger=ledger)
        with pytest.raises(BudgetExceeded, match="its account cannot pay"):
            one.seated(call())
        assert ledger.entries() == ()


def test_every_round_is_paid_for_once_by_all_whose_vectors_left(ledgers: dict[str, SqliteLedger]) -> None:
    with asking([party(name, ledger=ledgers[name]) for name in NAMES]) as trust:
        for rounds in (1, 2, 3):
            assert counted(trust.ask(HEADS, NOISE)) == heads_of(*NAMES)
            for one in ledgers.values():
                assert [entry.event for entry in one.entries()] == [NOISE.event] * rounds
                assert all(entry.committed for entry in one.entries())


def test_nobody_pays_for_a_round_that_ended_before_vectors_were_asked_for(ledgers: dict[str, SqliteLedger]) -> None:
    with asking([party(name, ledger=ledgers[name]) for name in NAMES[:2]]) as trust, pytest.raises(TooFewSurvivors):
        trust.ask(HEADS, NOISE)
    assert all(one.entries() == () for one in ledgers.values())


class Struck:
    """A table on which the lightning strikes while it is read."""

    def __init__(self, source: Any) -> None:
        self.schema, self.unit = source.schema, source.unit

    def sum(self, question: Any) -> np.ndarray:
        raise SystemExit("struck")


def test_who_dies_between_paying_and_sending_has_paid(tmp_path: Path) -> None:
    """And the charge is still there for its next life."""
    path = tmp_path / "l"
    with ledger_at(path) as ledger:
        one = party("north", ledger=ledger)
        one.source = Struck(one.source)  # type: ignore[assignment]
        with pytest.raises(SystemExit):
            one.seated(call())._vector()
    with SqliteLedger.open(path) as again:
        assert [entry.event for entry in again.entries()] == [NOISE.event]


def test_a_round_that_is_replayed_to_its_next_life_is_refused(
    ledgers: dict[str, SqliteLedger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process forgets which rounds it has seen; its ledger does not, and nothing is paid twice."""
    monkeypatch.setattr("discreet.trust.secure_sum.secrets.token_hex", lambda _: "the same round")
    with asking([party(name, ledger=ledgers[name]) for name in NAMES]) as trust:
        assert counted(trust.ask(HEADS, NOISE)) == heads_of(*NAMES)
    with (
        asking([party(name, ledger=ledgers[name]) for name in NAMES]) as trust,
        pytest.raises(TooFewSurvivors, match="it was paid for and run before"),
    ):
        trust.ask(HEADS, NOISE)
    assert [len(one.entries()) for one in ledgers.values()] == [1] * 4


def test_a_round_whose_charge_was_cut_short_stays_spent_and_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reserved, and dead before the commit: a charge that dangles is still a charge."""

    def struck(*_: object) -> None:
        raise SystemExit("struck")

    path = tmp_path / "l"
    with ledger_at(path) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(SqliteLedger, "commit", struck)
            with pytest.raises(SystemExit):
                party("north", ledger=ledger).seated(call())._vector()
        spent = ledger.balance().certified
        assert spent > 0
    with SqliteLedger.open(path) as again:
        with pytest.raises(UncommittedCharge):
            party("north", ledger=again).seated(call())._vector()
        assert [entry.committed for entry in again.entries()] == [False]
        assert again.balance().certified == spent


def test_one_round_cannot_pay_for_another_question(tmp_path: Path) -> None:
    """Not even in the next life, when the round is called again with something else."""
    with ledger_at(tmp_path / "l") as ledger:
        party("north", ledger=ledger).seated(call())._vector()
        seat = party("north", ledger=ledger).seated(call())
        seat.call = dataclasses.replace(seat.call, event=dataclasses.replace(NOISE, multiplier=0.5).event)
        with pytest.raises(KeyReused, match="another request"):
            seat._vector()
        assert len(ledger.entries()) == 1


def test_what_leaves_is_the_sum_and_the_noise() -> None:
    """Of the party's own records, on the grid of all: the noise is below a hundredth of the count."""
    seat = party("west").seated(call())
    empty = prepared(seat.call, seat.question, federation())
    own = empty.grid.values(seat._vector().astype(np.int64))
    assert np.allclose(own, 64, atol=4)
    assert not np.array_equal(own, np.full(3, 64.0))


def test_the_noise_is_for_all_rows_of_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """One person's three rows move a sum three times as far as one row does."""
    seat = party("west").seated(call())
    wide = dataclasses.replace(federation(), unit=Unit("user", column="who", rows=3))
    seen: list[Answer] = []
    monkeypatch.setattr(seat._party, "federation", wide)
    monkeypatch.setattr(GaussianShare, "masked", lambda share, own, bits: seen.append(own))
    seat._vector()
    assert [own.bound for own in seen] == [seat.question.bound.times(3)]


def test_two_lines_may_ask_one_party_at_once(ledgers: dict[str, SqliteLedger]) -> None:
    """As after a server's restart; each round is paid for on its own."""
    one = party("north", ledger=ledgers["north"])
    seats = [one.seated(call(f"r{i}")) for i in range(8)]

    async def asked() -> None:
        await asyncio.gather(*(asyncio.to_thread(seat._vector) for seat in seats))

    asyncio.run(asked())
    assert len(ledgers["north"].entries()) == 8


@recipe("tests.trust.test_party:brittle")
def brittle(schema: Schema) -> BoundedSum:
    """Fails for values from one half on."""

    def of(records: Array) -> Array:
        if (records >= 0.5).any():
            raise ValueError(f"{records.max()} is too large")
        return np.ones((len(records), 1))

    return BoundedSum(of, Bound("l2", 1.0), ("x0",))


def test_a_record_on_which_a_sum_fails_is_left_out_of_it(caplog: pytest.LogCaptureFixture) -> None:
    """And no other: else one record would take the whole sum of its party away."""
    one = Party(identity("north"), np.array([[0.25], [0.75], [0.25]] * 100), federation(), packages=PACKAGES)
    said = Call.of(brittle(federation().schema), NOISE.event, federation()).written()
    seat = one.seated(Message("r1", "server", "call", said).signed(identity("server")))
    assert seat.question.grid.values(seat._own_sum()).tolist() == [200.0]
    assert not caplog.records


def fail(question: BoundedSum) -> Steps:
    """As an engine does."""
    raise ValueError("0.75 is too large")


def test_whether_a_sum_fails_is_told_to_the_owner_alone(
    ledgers: dict[str, SqliteLedger], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each question would tell, for next to nothing, whether a party has a value as large as that."""
    question, parties = brittle(federation().schema), [party(name, ledger=ledgers[name]) for name in NAMES]
    fails = Party(
        identity("north"), np.array([[0.25], [0.75]]), federation(), ledger=ledgers["north"], packages=PACKAGES
    )
    monkeypatch.setattr(fails.source, "sum", fail)
    told: list[str] = []
    fails.tell = told.append
    with asking([fails if one.name == "north" else one for one in parties]) as trust:
        assert trust.ask(question, NOISE)[0] == pytest.approx(sum(ROWS.values()) - ROWS["north"], abs=4)
    assert [len(one.entries()) for one in ledgers.values()] == [1] * 4
    assert len(told) == 1
    assert "ValueError in fail, line" in told[0]
    assert "0.75" not in told[0]
    assert not caplog.records


def test_without_anybody_to_tell_a_failure_is_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Party(identity("north"), np.ones((3, 1)), federation(), packages=PACKAGES)
    monkeypatch.setattr(one.source, "sum", fail)
    said = Call.of(brittle(federation().schema), NOISE.event, federation()).written()
    own = one.seated(Message("r1", "server", "call", said).signed(identity("server")))._vector()
    assert own.shape == (1,)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "sent noise alone" in caplog.text


def test_a_forged_bound_is_refused_before_anything_is_paid(ledgers: dict[str, SqliteLedger]) -> None:
    """Weights that cancel would make a record a billion times longer than its bound, and the noise too small for it."""
    parameters = {"column": "x0", "bins": 4, "fanout": 4, "depth": 2, "steps": (1 - 10**9, 10**9), "exponent": -30}
    forged = Call(Recipe("tree", {**parameters, "norm": "l1"}), NOISE.event, "whatever")
    one = party("north", ledger=ledgers["north"])
    with pytest.raises(NotPermitted, match="weight is -999999999"):
        one.seated(Message("r1", "server", "call", forged.written()).signed(identity("server")))
    assert ledgers["north"].entries() == ()
