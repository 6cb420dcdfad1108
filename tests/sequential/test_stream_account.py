"""A stream is paid for once, before it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
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
from discreet.schema.schema import Schema
from discreet.sequential import (
    FAST,
    BernoulliCurator,
    EpisodeSums,
    GramSums,
    LaplaceCurator,
    RunningSums,
    StreamAccount,
    TreeCounter,
    resume_stream,
    save_stream,
)
from discreet.trust.private_data import PrivateData


def test_each_stream_pays_its_event_and_more_is_refused() -> None:
    streams: list[Any] = [
        TreeCounter(10, Laplace(1.0)),
        EpisodeSums(1.0),
        RunningSums(3, 100, 1.0),
        GramSums(2, 100, 1.0, 1e-6),
    ]
    for stream in streams:
        ledger = MemoryLedger(Budget(1.0, 2e-6))
        stream.open(ledger, "a trial")
        assert ledger.entries()[0].event == stream.event
        with pytest.raises(BudgetExceeded):
            stream.open(ledger, "another")


def test_a_curator_costs_no_more_than_its_epsilon_whatever_that_is() -> None:
    for epsilon in (0.1, 0.3, 0.7, 1 / 3, 1.1, 3.3, 17.77):
        for curator in (
            LaplaceCurator(epsilon),
            BernoulliCurator(epsilon),
            EpisodeSums(epsilon),
            RunningSums(2, 9, epsilon),
        ):
            curator.open(Budget(epsilon))
        GramSums(2, 9, epsilon).open(Budget(epsilon, 1e-6))


def test_a_key_opens_one_stream_which_is_resumed_without_another_charge(tmp_path: Path) -> None:
    ledger, visits = MemoryLedger(Budget(1.0)), TreeCounter(10, Laplace(1.0))
    stream = visits.open(ledger, "visits", key="2026")
    with pytest.raises(NotPermitted, match="opened under the key '2026' before"):
        visits.open(ledger, "visits", key="2026")
    save_stream(stream, tmp_path / "state")
    resume_stream(visits, tmp_path / "state").update(1.0)
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
    TreeCounter(10, Laplace(1.0), contributions=3).open(paid, "visits")
    assert len(paid.entries()) == 1


def test_an_account_of_users_opens_series_only_where_the_price_is_for_rows_that_fall_together() -> None:
    ledger = MemoryLedger(Budget(1.0, 1e-6), Neighbors.ADD_REMOVE, Unit("user", column="who", rows=3))
    with pytest.raises(NotPermitted, match="the price of the stream is for 1"):
        StreamAccount(ledger).permit(FAST(20, Gaussian(20.0), 20, contributions=3), "visits")
    with pytest.raises(NotPermitted, match="the price of the stream is for 1"):
        StreamAccount(ledger).permit(FAST(20, Laplace(20.0), 1, contributions=3), "visits")
    assert ledger.entries() == ()
    FAST(20, Gaussian(20.0), 20, contributions=9).open(ledger, "visits")


def test_a_stream_from_known_bits_says_so_in_the_ledger_and_on_its_receipt() -> None:
    for bits, secret in ((DeterministicBits(0), False), (None, True)):
        ledger = MemoryLedger(Budget(1.0))
        receipt = TreeCounter(10, Laplace(1.0)).open(ledger, bits=bits).receipt
        assert (ledger.entries()[0].secret, receipt.secret if receipt else None) == (secret, secret)


def test_nodes_whose_edges_nobody_limits_pay_for_no_stream() -> None:
    nodes = MemoryLedger(Budget(1.0), Neighbors.ADD_REMOVE, Unit("node"))
    with pytest.raises(NotPermitted, match="nothing limits how many updates these are"):
        StreamAccount(nodes).permit(TreeCounter(10, Laplace(1.0)), "new edges")
    assert nodes.entries() == ()
    edges = MemoryLedger(Budget(1.0), Neighbors.ADD_REMOVE, Unit("edge"))
    TreeCounter(10, Laplace(1.0)).open(edges, "new edges")


def test_a_budget_alone_is_an_account_in_memory_and_anything_else_is_none() -> None:
    account, visits = StreamAccount(Budget(1.0)), TreeCounter(10, Laplace(1.0))
    permit = account.permit(visits, "visits")
    assert permit.open(visits).receipt == permit.receipt
    with pytest.raises(BudgetExceeded):
        account.permit(visits, "visits")
    with pytest.raises(ParameterError, match=r"the account is 1\.0.*SqliteLedger.open\(path\)"):
        visits.open(1.0)  # type: ignore[arg-type]


def test_a_permit_opens_the_stream_that_it_was_made_for_and_once() -> None:
    account, visits = StreamAccount(Budget(1.0)), TreeCounter(10, Laplace(1.0))
    permit = account.permit(visits, "visits")
    with pytest.raises(NotPermitted, match="does not pay for TreeCounter"):
        permit.open(TreeCounter(10, Laplace(0.5)))
    stream = permit.open(visits)
    (entry,) = account.ledger.entries()
    assert (stream.receipt, entry.committed) == (permit.receipt, True)
    assert (permit.receipt.key, permit.receipt.head) == (entry.key, account.ledger.head)
    with pytest.raises(UnplannedRelease):
        permit.open(visits)


def test_the_permit_of_a_table_is_refused_for_a_stream_before_any_charge() -> None:
    data = PrivateData.of(np.ones((9, 1)), Schema.numeric(0.0, 1.0, 1), Budget(1.0))
    with pytest.raises(NotPermitted, match=r"a PrivateData opens nothing that goes on.*StreamAccount"):
        data.permit(TreeCounter(10, Laplace(1.0)), "visits")
    assert data.ledger.entries() == ()


def test_a_permit_for_something_else_opens_no_stream() -> None:
    data = PrivateData.of(np.ones((9, 1)), Schema.numeric(0.0, 1.0, 1), Budget(1.0))
    visits = TreeCounter(10, Laplace(1.0))
    with (
        data.permit(visits.event, "visits") as permit,
        pytest.raises(NotPermitted, match="does not pay for TreeCounter"),
    ):
        permit.open(visits)


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
