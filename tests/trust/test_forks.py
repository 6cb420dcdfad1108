"""What was paid for once is released once: not by every child of the process that paid."""

from __future__ import annotations

import signal
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.neighbors import RECORD, Neighbors
from discreet.learners.selection.private_pipeline import ListedPermit, TransformedPermit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.multiplicative_weights import MultiplicativeWeights
from discreet.noise.system_bits import system_bits
from discreet.questions.columns.total import count_of
from discreet.questions.transformation import Transformation
from discreet.schema.schema import Category, Schema, Text
from discreet.trust.curator import CuratorsView
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.source_of import source_of
from tests.conformance.forks import in_a_fork

SCHEMA = Schema.numeric(0.0, 1.0, 1)
ROWS = np.ones((1000, 1))


def shared_ledger(folder: Path) -> SqliteLedger:
    path, relation = folder / "ledger", Neighbors.ADD_REMOVE
    return SqliteLedger.create(path, Budget(2.0), name="a", neighbors=relation, unit=RECORD)


def test_a_fork_is_given_nothing_by_a_permit_of_its_parent(tmp_path: Path) -> None:
    """With a ledger that processes share, too: the plan was paid for once."""
    question, noise = count_of(SCHEMA, "x0"), Laplace(1.0)
    shared = SqliteLedger.create(
        tmp_path / "ledger", Budget(1.0), name="a", neighbors=Neighbors.ADD_REMOVE, unit=RECORD
    )
    for ledger in (Budget(1.0), shared):
        data = PrivateData.of(ROWS, SCHEMA, ledger)
        with data.permit(noise.event, "count") as permit:
            others = (TransformedPermit(permit, Transformation), ListedPermit(permit, {}))  # type: ignore[arg-type]
            for one in (permit, *others):
                assert in_a_fork(partial(one.ask, question, noise)) == "refused"
            assert in_a_fork(lambda: permit.artefact(lambda: {"n": 1}, "n")) == "refused"
            assert in_a_fork(lambda: permit.__exit__(None, None, None)) == "refused"
            assert in_a_fork(permit.__enter__) == "refused"
            assert in_a_fork(lambda: permit.check_pays(noise.event)) == "refused"
            assert permit.ask(question, noise).shape == (1,)
        assert len(data.ledger.entries()) == 1


def test_a_fork_pays_for_a_permit_of_its_own(tmp_path: Path) -> None:
    ledger = SqliteLedger.create(
        tmp_path / "ledger", Budget(2.0), name="a", neighbors=Neighbors.ADD_REMOVE, unit=RECORD
    )
    data = PrivateData.of(ROWS, SCHEMA, ledger)

    def ask() -> None:
        with data.permit(Laplace(1.0).event, "count") as permit:
            permit.ask(count_of(SCHEMA, "x0"), Laplace(1.0))

    assert in_a_fork(ask) == "done"
    ask()
    assert len(ledger.entries()) == 2


def test_a_fork_is_given_nothing_by_online_queries() -> None:
    mechanism = MultiplicativeWeights()
    online: Any = mechanism.opening.release(mechanism.worst_neighbors().first, system_bits())  # type: ignore[arg-type]
    assert in_a_fork(lambda: online.ask(mechanism.queries[0])) == "refused"
    assert in_a_fork(lambda: np.asarray(online)) == "refused"
    online.ask(mechanism.queries[0])


def test_a_fork_neither_asks_parties_nor_takes_part() -> None:
    records = dict.fromkeys(("a", "b"), ROWS)
    with SecureSum.rehearsal(records, SCHEMA, threshold=2) as together:
        question = count_of(SCHEMA, "x0")
        assert in_a_fork(lambda: together.ask(question, Laplace(1.0))) == "refused"
        party = next(iter(together._here.values()))._party
        assert in_a_fork(lambda: party.charged(Laplace(1.0).event, "count", "r1")) == "refused"
        assert in_a_fork(lambda: party.rounds.claim("r1")) == "refused"
        assert together.ask(question, Laplace(1.0)).shape == (1,)


def test_an_account_in_memory_refuses_a_fork_that_finds_its_lock_taken() -> None:
    ledger = MemoryLedger(Budget(1.0))
    reserved: Any = ledger.reserve(Laplace(1.0).event, "count", request="count")

    with ledger._book.reading():
        assert in_a_fork(lambda: ledger.commit(reserved, b"")) == "refused"


def test_an_account_in_memory_does_not_keep_a_fork_waiting_that_reads() -> None:
    """Another thread has the lock, and there is none such in the fork."""
    ledger, taken, done = MemoryLedger(Budget(1.0)), threading.Event(), threading.Event()

    def hold() -> None:
        with ledger._book.reading():
            taken.set()
            done.wait()

    def read(act: Any) -> Any:
        signal.alarm(20)  # for the fork alone
        return act()

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    ends = [in_a_fork(lambda act=act: read(act)) for act in (ledger.balance, ledger.entries)]  # type: ignore[misc]
    done.set()
    thread.join()
    assert ends == ["refused", "refused"]


class Raced(CuratorsView):
    """A view whose last list is always that of another thread, which puts its own there after every change."""

    other: CuratorsView | None = None

    @property
    def _listing(self) -> CuratorsView | None:
        return self.other

    @_listing.setter
    def _listing(self, view: CuratorsView | None) -> None:
        pass


def test_no_thread_is_given_the_lists_of_another() -> None:
    source = source_of({"town": ["Ulm", "Bonn"]}, Schema({"town": Text()}))
    view = Raced(source, Neighbors.ADD_REMOVE, system_bits())
    view.other = CuratorsView(source, Neighbors.ADD_REMOVE, system_bits()).listing({"town": Category(["Bonn"])})
    assert view.listing({"town": Category(["Ulm"])}).schema.category("town").values == ("Ulm",)
    assert view.listing({"town": Category(["Bonn"])}) is view.other
