"""A stream is paid for once, before it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, NotPermitted, ParameterError, UnplannedRelease
from discreet.core.events import PureLoss
from discreet.core.ledger import Reservation
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential import (
    FAST,
    EpisodeSums,
    GramSums,
    OnlineMoments,
    RunningSums,
    StreamAccount,
    TreeCounter,
    resume_stream,
    save_stream,
)


def test_each_stream_pays_its_event_and_more_is_refused() -> None:
    streams: list[Any] = [
        TreeCounter(10, Laplace(1.0)),
        EpisodeSums(1.0),
        RunningSums(3, 100, 1.0),
        GramSums(2, 100, 1.0, 1e-6),
    ]
    for stream in streams:
        ledger = MemoryLedger(Budget(1.0, 2e-6))
        assert StreamAccount(ledger).permit(stream, "a trial").open(stream) is stream
        assert ledger.entries()[0].event == stream.event
        with pytest.raises(BudgetExceeded):
            StreamAccount(ledger).permit(stream, "another")


def test_a_key_opens_one_stream_which_is_resumed_without_another_charge(tmp_path: Path) -> None:
    ledger = MemoryLedger(Budget(1.0))
    first, second = (TreeCounter(10, Laplace(1.0)) for _ in range(2))
    StreamAccount(ledger).permit(first, "visits", key="2026").open(first)
    with pytest.raises(NotPermitted, match="opened under the key '2026' before"):
        StreamAccount(ledger).permit(second, "visits", key="2026")
    save_stream(first, tmp_path / "state")
    resume_stream(second, tmp_path / "state")
    second.update(1.0)
    assert len(ledger.entries()) == 1


def test_other_neighbors_and_larger_units_are_refused_before_any_charge() -> None:
    units = (Unit("user", column="who", rows=3), Unit("user", column="who", pooled=True), Unit("attribute", column="x"))
    replace = MemoryLedger(Budget(1.0), Neighbors.REPLACE)
    with pytest.raises(NotPermitted, match="Make the stream for the neighbors of the account"):
        StreamAccount(replace).permit(TreeCounter(10, Laplace(1.0)), "visits")
    for unit in units:
        ledger = MemoryLedger(Budget(1.0), Neighbors.ADD_REMOVE, unit)
        with pytest.raises(NotPermitted, match="Allow as many contributions"):
            StreamAccount(ledger).permit(TreeCounter(10, Laplace(1.0), contributions=2), "visits")
        assert ledger.entries() == ()
    paid = MemoryLedger(Budget(1.0), Neighbors.ADD_REMOVE, units[0])
    StreamAccount(paid).permit(stream := TreeCounter(10, Laplace(1.0), contributions=3), "visits").open(stream)
    assert len(paid.entries()) == 1


def test_an_account_of_users_opens_series_only_where_the_price_is_for_rows_that_fall_together() -> None:
    ledger = MemoryLedger(Budget(1.0, 1e-6), Neighbors.ADD_REMOVE, Unit("user", column="who", rows=3))
    with pytest.raises(NotPermitted, match="the price of the stream is for 1"):
        StreamAccount(ledger).permit(FAST(20, Gaussian(20.0), 20, contributions=3), "visits")
    with pytest.raises(NotPermitted, match="the price of the stream is for 1"):
        StreamAccount(ledger).permit(FAST(20, Laplace(20.0), 1, contributions=3), "visits")
    assert ledger.entries() == ()
    StreamAccount(ledger).permit(stream := FAST(20, Gaussian(20.0), 20, contributions=9), "visits").open(stream)


def test_a_stream_from_known_bits_says_so_in_the_ledger() -> None:
    known = DeterministicBits(0)
    streams: list[Any] = [
        TreeCounter(10, Laplace(1.0), bits=known),
        OnlineMoments((0, 1), Gaussian(9.0), bits=known),
        FAST(9, Laplace(1.0), 3, bits=known),
        EpisodeSums(1.0, bits=known),
        RunningSums(3, 100, 1.0, bits=known),
        GramSums(2, 100, 1.0, 1e-6, bits=known),
    ]
    for stream in (*streams, TreeCounter(10, Laplace(1.0))):
        ledger = MemoryLedger(Budget(1.0, 2e-6))
        StreamAccount(ledger).permit(stream, "a trial").open(stream)
        assert ledger.entries()[0].secret is (stream not in streams)


def test_nodes_whose_edges_nobody_limits_pay_for_no_stream() -> None:
    nodes = MemoryLedger(Budget(1.0), Neighbors.ADD_REMOVE, Unit("node"))
    with pytest.raises(NotPermitted, match="nothing limits how many updates these are"):
        StreamAccount(nodes).permit(TreeCounter(10, Laplace(1.0)), "new edges")
    assert nodes.entries() == ()
    edges = MemoryLedger(Budget(1.0), Neighbors.ADD_REMOVE, Unit("edge"))
    StreamAccount(edges).permit(stream := TreeCounter(10, Laplace(1.0)), "new edges").open(stream)


def test_a_budget_alone_is_an_account_in_memory_and_anything_else_is_none() -> None:
    account, stream = StreamAccount(Budget(1.0)), TreeCounter(10, Laplace(1.0))
    permit = account.permit(stream, "visits")
    assert permit.open(stream).receipt == permit.receipt
    with pytest.raises(BudgetExceeded):
        account.permit(TreeCounter(10, Laplace(1.0)), "visits")
    with pytest.raises(ParameterError, match=r"the account is 1\.0.*SqliteLedger.open\(path\)"):
        StreamAccount(1.0)  # type: ignore[arg-type]


def test_a_permit_opens_the_stream_that_it_was_made_for_and_once() -> None:
    account, stream = StreamAccount(Budget(1.0)), TreeCounter(10, Laplace(1.0))
    permit = account.permit(stream, "visits")
    with pytest.raises(NotPermitted, match="does not pay for TreeCounter"):
        permit.open(TreeCounter(10, Laplace(1.0)))
    permit.open(stream)
    (entry,) = account.ledger.entries()
    assert (stream.receipt, entry.committed) == (permit.receipt, True)
    assert (permit.receipt.key, permit.receipt.head) == (entry.key, account.ledger.head)
    with pytest.raises(UnplannedRelease):
        permit.open(stream)


def test_a_price_alone_opens_no_stream() -> None:
    account = StreamAccount(Budget(1.0))
    with pytest.raises(ParameterError, match="Give the stream itself as the plan"):
        account.permit(PureLoss(1.0), "visits")
    assert account.ledger.entries() == ()


def test_a_stream_pays_under_the_request_that_ledgers_have_had_for_it() -> None:
    ledger, stream = MemoryLedger(Budget(1.0)), TreeCounter(10, Laplace(1.0))
    paid = ledger.reserve(stream.event, "visits", request=stream.terms, key="2026")
    assert isinstance(paid, Reservation)
    ledger.commit(paid, stream.terms.encode())
    with pytest.raises(NotPermitted, match="opened under the key '2026' before"):
        StreamAccount(ledger).permit(stream, "visits", key="2026")
