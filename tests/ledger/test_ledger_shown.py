"""What a ledger shows: days and no hours, accounts as they are inside the lock, files that may only be read."""

from __future__ import annotations

import datetime
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import price
from discreet.core.answer import Records
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, NotPermitted
from discreet.core.events import GaussianLoss, LaplaceLoss, PureLoss
from discreet.core.ledger import Reservation
from discreet.core.neighbors import Neighbors
from discreet.ledger import book_ledger, chain
from discreet.ledger.account_state import AccountState
from discreet.ledger.ledger_file import LedgerFile
from discreet.ledger.ledger_view import show, verify
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Number, Schema
from discreet.trust.permit import Permit
from discreet.trust.random_stopping import RandomStopping, Trial

ADD_REMOVE = Neighbors.ADD_REMOVE
WHOLE, QUESTION = Budget(1.0), PureLoss(0.125)


def created(path: Path, budget: Budget = WHOLE) -> SqliteLedger:
    return SqliteLedger.create(path, budget, name="survey", neighbors=ADD_REMOVE)


def paid(ledger: Any, event: Any = QUESTION, **more: str) -> Reservation:
    found = ledger.reserve(event, "a question", request="q", **more)
    assert isinstance(found, Reservation)
    return found


# Time


class Clock(datetime.datetime):
    """A clock that is moved by hand."""

    hour_of_year = 0

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Clock:
        return cls(2030, 1, 1, 1, 2, 3, 456789, tz) + datetime.timedelta(hours=cls.hour_of_year)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Clock]]:
    monkeypatch.setattr(chain, "datetime", Clock)
    yield Clock
    Clock.hour_of_year = 0


def test_a_ledger_keeps_days_and_a_commit_has_that_of_its_reservation(tmp_path: Path, clock: type[Clock]) -> None:
    with created(tmp_path / "days.ledger") as ledger:
        reservation = paid(ledger)
        clock.hour_of_year = 30
        done = ledger.commit(reservation, b"")
        paid(ledger)
        assert [link.fields["at"] for link in ledger.chain()] == ["2030-01-01"] * 3 + ["2030-01-02"]
        assert done.at == "2030-01-01"
        assert "2030-01-02" in str(ledger)
        assert ":03" not in str(ledger)
        ledger.verify()


def test_the_number_of_trials_of_a_search_does_not_show_in_the_ledger(clock: type[Clock]) -> None:
    """Every trial takes five hours, and how many there are is drawn from the bits."""
    rows, shown = np.zeros((3, 1)), []
    tried: list[int] = []

    def trial(candidate: int, permit: Permit) -> Trial:
        clock.hour_of_year += 5
        tried[-1] += 1
        return Trial(0.0, candidate, {})

    for seed in range(6):
        clock.hour_of_year = 0
        tried.append(0)
        search = RandomStopping(trial, (PureLoss(0.25),), Schema({"x": Number(0, 1)}), 0.1, release_after=0.0)
        ledger = MemoryLedger(Budget(2.0, 1e-6))
        charge = ledger.reserve(search.event, "a search", request="s", key="k")
        assert isinstance(charge, Reservation)
        search.release(Records(rows, 1, ADD_REMOVE), DeterministicBits(seed))
        done = ledger.commit(charge, b"the best")
        shown.append((done, ledger.head, ledger.entries()))
    assert max(tried) > min(tried) + 3
    assert all(each == shown[0] for each in shown)


def test_times_of_early_ledgers_are_shown_as_days() -> None:
    assert chain.day("2026-05-03T10:11:12.123456+00:00") == chain.day("2026-05-03") == "2026-05-03"


# Accounts inside the lock


def test_whose_account_pays_is_decided_inside_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "shared.ledger"
    ledger = created(path)

    def admitted_meanwhile(*_: object) -> None:
        SqliteLedger.open(path).admit("ann", Budget(0.25))

    monkeypatch.setattr(book_ledger, "check_relation", admitted_meanwhile)
    with pytest.raises(NotPermitted, match="nobody is named"):
        paid(ledger)
    monkeypatch.setattr(book_ledger, "check_relation", lambda *_: None)
    paid(ledger, PureLoss(0.25), analyst="ann")
    with pytest.raises(BudgetExceeded, match="ann"):
        paid(ledger, PureLoss(0.25), analyst="ann")
    assert ledger.balance().certified == 0.25


def test_a_cap_that_somebody_raised_meanwhile_counts(tmp_path: Path) -> None:
    path = tmp_path / "shared.ledger"
    ledger, other = created(path), SqliteLedger.open(path)
    other.raise_cap(Budget(2.0), "a second wave")
    ledger.admit("ann", Budget(1.25))
    other.raise_cap(Budget(3.0), "a third wave")
    ledger.raise_cap(Budget(2.5), "trusted", analyst="ann")
    assert ledger.budget == Budget(3.0)
    assert ledger.balance("ann").budget == Budget(2.5)


def test_the_price_is_that_at_the_delta_inside_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "shared.ledger"
    ledger = created(path, Budget(1.0, 1e-9))

    def raised_meanwhile(*_: object) -> None:
        SqliteLedger.open(path).raise_cap(Budget(1.0, 1e-6), "more delta")

    monkeypatch.setattr(book_ledger, "check_relation", raised_meanwhile)
    paid(ledger, GaussianLoss(10.0))
    (entry,) = ledger.entries()
    assert entry.delta == 1e-6


# Read only


def as_reader(path: Path, read: Callable[[Path], str]) -> str:
    """What a process without rights to write finds; it is a child, for whoever runs the tests may write anywhere."""
    take, give = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            found = read(path)
        except BaseException as why:
            found = f"{type(why).__name__}: {why}"
        os.write(give, found.encode()[:60_000])
        os._exit(0)
    os.waitpid(child, 0)
    os.close(give)
    with os.fdopen(take, "rb") as pipe:
        return pipe.read().decode()


@pytest.fixture
def folder() -> Iterator[Path]:
    found = Path(tempfile.mkdtemp())
    found.chmod(0o755)
    yield found
    found.chmod(0o755)
    shutil.rmtree(found)


def locked_away(folder: Path) -> None:
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.parametrize("state", ["closed", "open", "with a log and no index"])
def test_a_ledger_that_may_not_be_written_is_shown_and_verified_and_not_charged(folder: Path, state: str) -> None:
    path = folder / "survey.ledger"
    ledger = created(path)
    ledger.commit(paid(ledger), b"1")
    shown = show(path)
    if state == "closed":
        ledger.close()
    elif state != "open":
        (folder / "backup").mkdir(mode=0o755)
        for suffix in ("", "-wal", ".head"):
            shutil.copy(f"{path}{suffix}", folder / "backup")
        path, folder = folder / "backup" / path.name, folder / "backup"
    locked_away(folder)
    assert as_reader(path, show) == shown
    assert as_reader(path, lambda path: str(verify(path).entries)) == "3"
    assert "LedgerError" in as_reader(path, lambda path: str(paid(SqliteLedger.open(path))))
    folder.chmod(0o755)
    ledger.close()


def test_a_ledger_that_was_read_only_is_charged_once_it_may_be_written(tmp_path: Path) -> None:
    path = tmp_path / "survey.ledger"
    created(path).close()
    ledger = SqliteLedger.open(path)
    file = ledger._book.store
    assert isinstance(file, LedgerFile)
    file._read_only = True
    assert ledger.balance().certified == 0.0
    paid(ledger)
    assert ledger.balance().certified == 0.125


def test_a_ledger_that_did_not_count_slacks_is_read_as_one_that_granted_them_in_proportion() -> None:
    account = AccountState(Budget(1.0, 1e-6))
    charge = account.charged(account.after(LaplaceLoss(10.0)))
    for part in (*charge["spent"], *(member["cap"] for member in charge["members"])):
        part.pop("slack", None)
    early = account.followed(charge, price(LaplaceLoss(10.0), account.budget), lambda: LaplaceLoss(10.0))
    assert early.union == account.after(LaplaceLoss(10.0)).union
    assert early.union is not None
    for member, spent in zip(early.union.members, early.spent, strict=True):
        assert spent is not None
        assert spent.slack * member.cap.loss >= member.cap.slack * spent.loss
        assert (spent.slack > 0) == (member.aside > 0 and spent.loss > 0)
    again = {"spent": [part and {**part} for part in early.charged(early.after(GaussianLoss(50.0)))["spent"]]}
    assert early.followed(again, price(GaussianLoss(50.0), account.budget), lambda: PureLoss(1.0)).holds
