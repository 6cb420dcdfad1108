"""Conversations: adaptive queries at a fixed price, error bars, and what a retry gives."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, NotPermitted, ParameterError, UncommittedCharge
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.tables.conversation import Conversation
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source_of import source_of
from tests.conformance.forks import in_a_fork

SCHEMA = Schema({"age": Number(0, 80), "sex": Category(("f", "m"))})
RECORDS = 50_000
ONE = Budget(1.0)
rng = np.random.default_rng(1)
TABLE: dict[str, Any] = {
    "age": np.clip(rng.gamma(4, 8, RECORDS), 0, 79.9),
    "sex": rng.choice(["f", "m"], RECORDS, p=[0.7, 0.3]).tolist(),
}
SOURCE = source_of(TABLE, SCHEMA)  # opened once for all


WOMEN = np.array(TABLE["sex"]) == "f"


def exact(lower: float, upper: float) -> int:
    """How many women are of such an age."""
    return int((WOMEN & (TABLE["age"] >= lower) & (TABLE["age"] < upper)).sum())


def people(budget: Budget = ONE, seed: int = 0, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    return PrivateData.of(SOURCE, SCHEMA, budget, neighbors=neighbors, bits=DeterministicBits(seed))


@pytest.mark.parametrize(("delta", "neighbors"), [(0.0, Neighbors.ADD_REMOVE), (1e-6, Neighbors.REPLACE)])
def test_all_ranges_are_answered_within_their_error_bars(delta: float, neighbors: Neighbors) -> None:
    with Conversation(
        people(Budget(1.0, delta), neighbors=neighbors), ("age", "sex"), bins=16, epsilon=1.0, delta=delta, queries=300
    ) as talk:
        wrong, sources = 0, []
        for lower in range(0, 80, 5):
            for upper in range(lower + 5, 85, 5):
                answer = talk.ask({"age": (lower, upper), "sex": "f"})
                wrong += abs(answer.value - exact(lower, upper)) > answer.half_width
                sources.append(answer.source)
    assert len(sources) == 136
    assert sources.count("measured") <= 20
    assert sources.count("unchecked") == 0
    assert wrong <= 20  # at one in twenty, 21 of 136 have a chance of 1e-6
    assert talk.receipt.event == talk.mechanism.event


def test_the_next_query_may_depend_on_the_last_answer() -> None:
    """Search the median age by halving."""
    low, high = 0, 32
    with Conversation(people(), ("age",), bins=32, epsilon=1.0, updates=10) as talk:
        whole = talk.ask({}).value
        while high - low > 1:
            middle = (low + high) // 2
            below = talk.ask({"age": (0, 2.5 * middle)}).value
            low, high = (low, middle) if below > whole / 2 else (middle, high)
    assert 2.5 * low == pytest.approx(np.median(TABLE["age"]), abs=4)


def test_the_whole_price_is_charged_on_entering_and_only_once() -> None:
    data = people()
    with Conversation(data, ("age",), epsilon=1.0) as talk:
        for _ in range(50):
            talk.ask({"age": (0, 40)})
    with pytest.raises(BudgetExceeded), Conversation(data, ("age",), epsilon=0.01):
        pass


def test_when_all_updates_are_used_guesses_go_on_without_error_bars() -> None:
    with Conversation(people(), ("age",), bins=8, epsilon=1.0, updates=1) as talk:
        answers = [talk.ask({"age": (10 * i, 10 * i + 10)}) for i in range(8)]
    assert [answer.source for answer in answers].count("measured") == 1
    assert answers[-1].source == "unchecked"
    assert answers[-1].half_width == np.inf
    assert str(answers[-1]).endswith("unchecked")
    assert "±" in str(answers[0])


def test_a_unit_of_several_rows_gets_as_much_more_noise() -> None:
    table = {**TABLE, "person": np.arange(RECORDS) // 2}
    unit = Unit("user", column="person", rows=2)
    data = PrivateData.of(table, SCHEMA, Budget(1.0), unit=unit, bits=DeterministicBits(1))
    with Conversation(data, ("age",), bins=8) as wide, Conversation(people(), ("age",), bins=8) as narrow:
        pairs = [(talk.ask({"age": (20, 30)}), talk.mechanism.threshold) for talk in (wide, narrow)]
    assert pairs[0][1] == pytest.approx(2 * pairs[1][1])
    assert [answer.source for answer, _ in pairs] == ["measured", "measured"]
    assert pairs[0][0].half_width == pytest.approx(2 * pairs[1][0].half_width)


def ledger(folder: Path) -> SqliteLedger:
    return SqliteLedger.create(folder / "one.ledger", Budget(1.0), name="people", neighbors=Neighbors.ADD_REMOVE)


def test_a_key_holds_the_same_conversation_again_and_no_other(tmp_path: Path) -> None:
    data = PrivateData.of(TABLE, SCHEMA, ledger(tmp_path))
    asked: list[dict[str, Any]] = [{"age": (0, 40)}, {"age": (40, 80)}, {"age": (0, 40)}]
    with Conversation(data, ("age",), bins=8, key="talk") as talk:
        first = [talk.ask(one) for one in asked]
    with Conversation(data, ("age",), bins=8, key="talk") as again:
        held = [again.ask(one) for one in asked]
        assert [(one.value, one.interval, one.source) for one in held] == [
            (one.value, one.interval, one.source) for one in first
        ]
        with pytest.raises(NotPermitted, match="held before"):
            again.ask({"age": (0, 10)})
    assert again.receipt.replayed
    with (
        Conversation(data, ("age",), bins=8, key="talk") as other,
        pytest.raises(NotPermitted, match="held before"),
    ):
        other.ask({"age": (40, 80)})


def test_a_conversation_that_broke_off_stays_paid_and_is_not_given_again(tmp_path: Path) -> None:
    data = PrivateData.of(TABLE, SCHEMA, ledger(tmp_path))
    talk = Conversation(data, ("age",), bins=8, key="talk")
    with pytest.raises(ParameterError, match="not among its columns"), talk:
        talk.ask({"weight": (0, 40)})
    with pytest.raises(NotPermitted, match="not open"):
        talk.ask({"age": (0, 40)})
    with pytest.raises(UncommittedCharge), Conversation(data, ("age",), bins=8, key="talk"):
        pass


def test_it_can_be_asked_inside_its_block_alone_and_not_be_pickled() -> None:
    talk = Conversation(people(), ("age",), bins=8)
    with pytest.raises(NotPermitted, match="not open"):
        talk.ask({})
    with pytest.raises(NotPermitted, match="nothing was charged"):
        talk.receipt  # noqa: B018
    with talk:
        with pytest.raises(ParameterError, match="The plan was charged and stays so"):
            talk.ask({"age": (1, 2)})
        with pytest.raises(TypeError):
            pickle.dumps(talk)
        inside = talk._talk
        talk.ask({})
    with pytest.raises(NotPermitted, match=r"not open\. The plan was charged and stays so"):
        talk.ask({})
    with pytest.raises(NotPermitted, match="these online queries have ended"):
        inside.ask(None)  # type: ignore[union-attr, arg-type]


def test_a_curator_alone_can_hold_it() -> None:
    source: Any = source_of(TABLE, SCHEMA)
    data = PrivateData(Local(source), MemoryLedger(Budget(1.0)))
    with pytest.raises(NotPermitted), Conversation(data, ("age",)):
        pass


def test_pooled_units_are_counted_however_many_they_are() -> None:
    """A thousand cells on the fine grid of pooled units: counts beyond 8,388 were once clipped."""
    number = 10_000
    visits = {"who": np.arange(number).astype(str).tolist(), "age": np.full(number, 30.0), "sex": ["f"] * number}
    unit = Unit("user", column="who", pooled=True)
    private = PrivateData.of(visits, SCHEMA, ONE, unit=unit, bits=DeterministicBits(5))
    with Conversation(private, ("age", "sex"), bins=500, updates=3) as talk:
        answer = talk.ask({"sex": "f"})
    assert answer.source == "measured"
    assert abs(answer.value - number) < 60


def test_a_fork_is_given_no_answer() -> None:
    talk = Conversation(people(), ("age", "sex"), bins=4, epsilon=1.0, updates=3)
    with talk:
        assert in_a_fork(lambda: talk.ask({"sex": "f"})) == "refused"
        assert in_a_fork(lambda: talk.__exit__(None, None, None)) == "refused"
        talk.ask({"sex": "f"})
    assert in_a_fork(talk.__enter__) == "refused"
