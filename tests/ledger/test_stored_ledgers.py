"""What holds for a ledger in a file and for one in a database alike: at once, after damage and after deaths."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, KeyReused, LedgerBroken, LedgerError, ParameterError, UncommittedCharge
from discreet.core.events import GaussianLoss, PureLoss
from discreet.core.ledger import Committed, Reservation
from discreet.ledger import chain, file_lock
from discreet.ledger.anchor import Anchor, AnchoredHead
from discreet.ledger.file_lock import held
from discreet.ledger.stored_ledger import StoredLedger
from tests.ledger.group_soak import soak
from tests.ledger.places import DatabasePlace, FilePlace, Place, rewritten
from tests.ledger.test_ledger_sharing import fresh

pytestmark = pytest.mark.xdist_group("postgres")
forks = pytest.mark.skipif(sys.platform == "win32", reason="no fork")
EVENT = PureLoss(2.0**-6)


@pytest.fixture(params=["file", "database"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "file":
        return FilePlace(str(tmp_path))
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    return DatabasePlace(request.getfixturevalue("postgres"), str(tmp_path), f"survey {secrets.token_hex(4)}")


@pytest.fixture
def ledger(place: Place) -> Iterator[StoredLedger]:
    made = place.created(Budget(1.0))
    yield made
    made.close()


def asked(ledger: StoredLedger, key: str | None = None, event: Any = EVENT) -> Reservation | Committed:
    return ledger.reserve(event, "count", request="count", key=key)


def charged(ledger: StoredLedger, key: str, result: bytes = b"7") -> Committed:
    paid = asked(ledger, key)
    assert isinstance(paid, Reservation)
    return ledger.commit(paid, result)


def together(ledger: StoredLedger, *acts: Callable[[], Any]) -> list[Future[Any]]:
    """These, decided in one transaction: they queue while another thread holds the lock."""
    leads, go_on = threading.Event(), threading.Event()

    def hold(page: Any) -> None:
        leads.set()
        go_on.wait()

    with ThreadPoolExecutor(len(acts) + 1) as pool:
        pool.submit(ledger._book.decided, hold)
        leads.wait()
        told = []
        try:
            for number, act in enumerate(acts, 1):
                told.append(pool.submit(act))
                while len(ledger._book.turns._waiting) + sum(each.done() for each in told) < number:
                    threading.Event().wait(0.001)
            batches = ledger._book.turns.batches
        finally:
            go_on.set()
    assert ledger._book.turns.batches == batches + 2
    return told


def test_a_charge_is_paid_once_and_its_result_is_given_again(ledger: StoredLedger, place: Place) -> None:
    first = charged(ledger, "k", b"42")
    ledger.close()
    with place.opened(expected_head=first.head) as again:
        found = asked(again, "k")
        assert isinstance(found, Committed)
        assert (found.result, found.replayed, found.head) == (b"42", True, first.head)
        assert again.balance().certified == EVENT.epsilon
        assert again.verify().entries == 3
        with pytest.raises(KeyReused):
            again.reserve(EVENT, "count", request="other", key="k")
        asked(again, "dangling")
        with pytest.raises(UncommittedCharge):
            asked(again, "dangling")


def test_what_wait_together_are_decided_one_by_one_and_a_refusal_is_its_own(ledger: StoredLedger) -> None:
    charged(ledger, "old")
    dear, zero = PureLoss(0.75), ledger.balance().certified
    acts = [
        lambda: asked(ledger, "a"),
        lambda: asked(ledger, "b", dear),
        lambda: asked(ledger, "c", dear),  # no room for a second one
        lambda: ledger.reserve(EVENT, "count", request="other", key="old"),
        lambda: ledger.commit(Reservation("nobody's", 1, "0" * 64), b""),
        lambda: asked(ledger, "a"),
        lambda: asked(ledger, "d"),
    ]
    told = together(ledger, *acts)
    assert [type(each.exception()) for each in told] == [
        *(type(None), type(None), BudgetExceeded, KeyReused, LedgerError, UncommittedCharge, type(None))
    ]
    assert ledger.balance().certified == zero + 2 * EVENT.epsilon + dear.epsilon
    assert [each.result().number for each in (told[0], told[1], told[6])] == [3, 4, 5]
    assert ledger.verify().entries == 6


def test_a_result_is_given_again_in_the_transaction_that_commits_it(ledger: StoredLedger, place: Place) -> None:
    paid, crossed = asked(ledger, "k"), asked(ledger, "l")
    assert isinstance(paid, Reservation)
    assert isinstance(crossed, Reservation)
    told = together(
        ledger,
        lambda: ledger.commit(paid, b"5"),
        lambda: asked(ledger, "k"),
        lambda: ledger.commit(paid, b"6"),
        lambda: ledger.commit(paid, b"5"),
        lambda: ledger.reserve(EVENT, "count", request="other", key="k"),
        lambda: asked(ledger, "l"),
        lambda: ledger.commit(crossed, b"8"),
    )
    assert [type(each.exception()) for each in told] == [
        *(type(None), type(None), KeyReused, type(None), KeyReused, UncommittedCharge, type(None))
    ]
    first, again, same = (told[number].result() for number in (0, 1, 3))
    assert [(one.result, one.replayed, one.head) for one in (first, again, same)] == [
        (b"5", replayed, first.head) for replayed in (False, True, True)
    ]
    with place.opened(expected_head=told[6].result().head) as other:
        assert [other.reserve(EVENT, "count", request="count", key=key).result for key in "kl"] == [b"5", b"8"]  # type: ignore[union-attr]
        assert other.verify().entries == 5


def test_of_those_who_fail_to_be_written_together_none_was_charged(ledger: StoredLedger, place: Place) -> None:
    paid = asked(ledger, "before")
    assert isinstance(paid, Reservation)
    before = ledger.accounts, ledger.head, dict(ledger._book.chain.dangling)

    def full(page: Any) -> None:
        page.add("expire", page.chain.head, account=None, reason="never written")
        raise OSError("the disk is full")

    acts = [lambda: asked(ledger, "a"), lambda: ledger.commit(paid, b"7"), lambda: ledger._book.decided(full)]
    told = together(ledger, *acts, lambda: asked(ledger, "b"))
    assert [type(each.exception()) for each in told] == [LedgerError] * 4
    assert len({id(each.exception()) for each in told}) == 4
    assert (ledger.accounts, ledger.head, dict(ledger._book.chain.dangling)) == before
    assert ledger._book.chain.reserved == {"before"}
    assert ledger.commit(paid, b"7").replayed is False
    for key in "ab":
        charged(ledger, key)
    assert ledger.verify().entries == 7
    with place.opened() as again:
        assert again.accounts == ledger.accounts


def test_what_stops_an_entry_half_way_takes_it_back(ledger: StoredLedger) -> None:
    def half(page: Any) -> None:
        page.add("expire", page.chain.head, account=None, reason="over")
        raise ValueError("not this")

    with pytest.raises(ValueError, match="not this"):
        ledger._book.decided(half)
    assert ledger.accounts[None].expired == ""
    charged(ledger, "k")
    assert ledger.verify().entries == 3


def test_a_leader_that_is_interrupted_leaves_the_others_an_answer(ledger: StoredLedger) -> None:
    def interrupted(page: Any) -> None:
        raise KeyboardInterrupt

    told = together(ledger, lambda: ledger._book.decided(interrupted), lambda: asked(ledger, "a"))
    assert isinstance(told[0].exception(), KeyboardInterrupt)
    assert isinstance(told[1].exception(), LedgerError)
    assert "interrupted" in str(told[1].exception())
    charged(ledger, "a")
    assert ledger.verify().entries == 3


def test_a_committed_key_is_answered_while_others_write(ledger: StoredLedger) -> None:
    charged(ledger, "k", b"42")
    leads, go_on = threading.Event(), threading.Event()

    def hold(page: Any) -> None:
        page.add("expire", page.chain.head, account=None, reason="while it is read")
        leads.set()
        go_on.wait()

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(ledger._book.decided, hold)
        leads.wait()
        reading = pool.submit(asked, ledger, "k")
        try:
            found = reading.result(timeout=60)
            assert isinstance(found, Committed)
            assert found.result == b"42"
            assert not writing.done()
        finally:
            go_on.set()


@pytest.mark.parametrize("crash", ["before the mark", "before its sync"])
def test_what_was_committed_at_a_crash_is_handed_out_once_the_anchor_speaks_for_it(
    ledger: StoredLedger, place: Place, monkeypatch: pytest.MonkeyPatch, crash: str
) -> None:
    before = ledger._book.mark
    charged(ledger, "k")
    ledger.close()
    if crash == "before the mark":
        place.anchor.create(before)
    with place.opened() as again:
        done: list[str] = []
        for act in (Anchor.advance, Anchor.sync):
            monkeypatch.setattr(Anchor, act.__name__, noted(done, act))
        assert isinstance(asked(again, "k"), Committed)
        assert done == (["advance", "sync"] if crash == "before the mark" else ["sync"])
        assert isinstance(asked(again, "k"), Committed)
        assert done[-1:] == ["sync"]
        assert len(done) < 3
    place.edited("delete from result where number = 2", "delete from entry where number = 2")
    with pytest.raises(LedgerBroken, match="lacks the anchored entry 2"):
        place.opened()


def noted(done: list[str], act: Callable[..., Any]) -> Callable[..., Any]:
    """The same, with its name noted when it is done."""

    def then(*given: Any) -> Any:
        found = act(*given)
        done.append(act.__name__)
        return found

    return then


def test_a_commit_is_on_disk_then_its_mark_and_then_it_is_told(
    ledger: StoredLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid, done, told = asked(ledger, "k"), list[str](), list[Any]()
    assert isinstance(paid, Reservation)
    store = type(ledger._book.store)
    for kind, act in ((Anchor, Anchor.advance), (Anchor, Anchor.sync), (store, store.flush)):
        monkeypatch.setattr(kind, act.__name__, noted(done, act))
    told.append(ledger.commit(paid, b"7"))
    assert done == ["flush", "advance", "sync"]
    assert isinstance(asked(ledger, "k"), Committed)
    assert len(done) == 3

    def failing(anchor: Anchor) -> None:
        raise LedgerError("anchor", "it cannot be written", "Retry.", "")

    monkeypatch.setattr(Anchor, "sync", failing)
    more = asked(ledger, "more")
    assert isinstance(more, Reservation)
    for _ in range(2):
        with pytest.raises(LedgerError, match="cannot be written"):
            ledger.commit(more, b"8")
    with pytest.raises(LedgerError, match="cannot be written"):
        asked(ledger, "more")


def test_processes_that_share_an_anchor_move_it_one_after_the_other(ledger: StoredLedger, place: Place) -> None:
    charged(ledger, "a")
    newest = ledger._book.mark
    with open(place.anchor.path, "r+b") as other, ThreadPoolExecutor(1) as pool, held(other.fileno()):
        moved = pool.submit(place.anchor.advance, AnchoredHead(newest.number + 1, "0" * 64))
        with pytest.raises(TimeoutError):
            moved.result(0.05)
        other.write(AnchoredHead(newest.number + 2, "1" * 64).line)
        other.flush()
        file_lock._unlock(other.fileno())
        moved.result(60)
        assert place.anchor.read().number == newest.number + 2


def test_the_newest_charges_are_read_without_the_others(place: Place) -> None:
    caps = {"ann": Budget(1.0), "bob": Budget(1.0)}
    with place.created(Budget(1.0), analysts=caps) as ledger:
        for number in range(9):
            who = "ann" if number % 3 else "bob"
            paid = ledger.reserve(EVENT, '"analyst":"bob"', request="count", key=f"k{number}", analyst=who)
            assert isinstance(paid, Reservation)
            if number != 4:
                ledger.commit(paid, b"7")
        whole = ledger.entries()
        assert [one.key for one in whole] == [f"k{number}" for number in range(9)]
        assert ledger.latest(2) == whole[-2:]
        assert ledger.latest(100) == whole
        assert ledger.latest(2, "bob") == (whole[3], whole[6])
        assert ledger.latest(2, "b") == ()
        assert ledger.entries(whole[7].number) == whole[7:]
        assert ledger.dangling() == (whole[4],)
        with ledger._book.reading() as stored, closing(stored.newest("")) as links:
            assert next(links).key == "k8"


def test_two_hundred_threads_around_the_last_cent(place: Place) -> None:
    """Two servers, and room for 150 charges and a bit."""
    with place.created(Budget(150.5 / 256)) as one, second(place, one) as two:
        start = threading.Barrier(200)

        def ask(number: int) -> bool:
            start.wait()
            try:
                paid = asked((one, two)[number % 2], None, PureLoss(1 / 256))
            except BudgetExceeded:
                return False
            assert isinstance(paid, Reservation)
            (two, one)[number % 2].commit(paid, b"7")
            return True

        with ThreadPoolExecutor(200) as pool:
            assert sum(pool.map(ask, range(200))) == 150
        for each in (one, two):
            assert each.balance().certified == 150 / 256
            assert each.verify().entries == 301


def test_of_many_threads_that_admit_an_analyst_one_does(place: Place, ledger: StoredLedger) -> None:
    """Each decides on the newest page: two entries for one name, or the cap of a refused thread, are a race."""
    start = threading.Barrier(32)
    with second(place, ledger) as other, ThreadPoolExecutor(32) as pool:

        def admit(number: int) -> float:
            start.wait()
            cap = (number // 2 + 1) / 64
            try:
                (ledger, other)[number % 2].admit(f"analyst {number // 16}", Budget(cap))
            except ParameterError:
                return 0.0
            return cap

        admitted = list(pool.map(admit, range(32)))
        for each in (ledger, other):
            assert each.verify().entries == 3
            for number in range(2):
                [cap] = [cap for cap in admitted[number * 16 : number * 16 + 16] if cap]
                assert each.balance(f"analyst {number}").budget.epsilon == cap
    with place.opened() as again:
        assert set(again.accounts) == {None, "analyst 0", "analyst 1"}


def second(place: Place, first: StoredLedger) -> StoredLedger:
    """The same ledger, opened by another server."""
    if isinstance(place, FilePlace):
        return place.opened()
    return DatabasePlace(place.address, place.folder, place.name, "second").opened(expected_head=first.head)


def test_a_key_is_charged_once_by_two_servers(place: Place, ledger: StoredLedger) -> None:
    start = threading.Barrier(16)
    with second(place, ledger) as other, ThreadPoolExecutor(16) as pool:

        def ask(number: int) -> str:
            start.wait()
            try:
                return type(asked((ledger, other)[number % 2], "k")).__name__
            except UncommittedCharge:
                return "UncommittedCharge"

        assert sorted(pool.map(ask, range(16))) == ["Reservation", *["UncommittedCharge"] * 15]
        charged(other, "new")
        assert isinstance(asked(ledger, "new"), Committed)


def test_a_clock_that_is_moved_back_does_not_take_entries_back_in_time(
    ledger: StoredLedger, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = iter(["2031-05-02", "2031-05-02", "2020-01-01", "2020-01-01", "2031-05-03"])
    monkeypatch.setattr(chain, "today", lambda: next(days))
    for key in "abc":
        asked(ledger, key)
    assert [entry.at for entry in ledger.entries()] == ["2031-05-02"] * 3
    with place.opened() as again:
        asked(again, "d")
        asked(again, "e")
    assert [entry.at for entry in ledger.entries()][3:] == ["2031-05-02", "2031-05-03"]


@pytest.mark.parametrize(
    "edit",
    [
        """update entry set body = replace(body, '"epsilon":0.015625', '"epsilon":0.0015625') where number = 3""",
        "update entry set hash = 'ff' || substr(hash, 3) where number = 3",
        "update entry set number = 30 where number = 3",
        "update entry set key = 'z' where number = 3",
    ],
)
def test_an_edited_entry_is_found(ledger: StoredLedger, place: Place, edit: str) -> None:
    for key in "ab":
        charged(ledger, key)
    asked(ledger, "c")
    ledger.close()
    place.edited("delete from result where number = 30", edit)
    with pytest.raises(LedgerBroken, match=r"does not follow|columns"):
        place.opened()


def test_an_edited_result_is_never_handed_out(ledger: StoredLedger, place: Place) -> None:
    charged(ledger, "k")
    place.edited("update result set bytes = '00' where number = 2")
    for act in (lambda: asked(ledger, "k"), ledger.verify):
        with pytest.raises(LedgerBroken, match="stored result"):
            act()


def test_a_store_that_was_cut_is_found_by_the_anchor_and_by_whoever_saw_more(
    ledger: StoredLedger, place: Place
) -> None:
    for key in "ab":
        charged(ledger, key)
    asked(ledger, "c")
    place.edited("delete from result where number > 3", "delete from entry where number > 3")
    with pytest.raises(LedgerBroken, match="which was seen before, is gone"):
        asked(ledger, "d")
    with pytest.raises(LedgerBroken, match="is gone"):
        asked(ledger, "a")
    with pytest.raises(LedgerBroken, match="lacks the anchored entry 5"):
        place.opened()


def test_a_balance_made_lighter_is_found_even_if_every_hash_is_made_anew(ledger: StoredLedger, place: Place) -> None:
    def lighter(fields: dict[str, Any]) -> None:
        if (fields["kind"], fields["key"]) == ("reserve", "b"):
            fields["charges"][0]["spent"][0]["loss"] = str(int(fields["charges"][0]["spent"][0]["loss"]) * 3 // 4)

    def uncharged(fields: dict[str, Any]) -> None:
        if (fields["kind"], fields["key"]) == ("reserve", "b"):
            fields["charges"] = []

    for key in "ab":
        charged(ledger, key)
    ledger.close()
    kept = place.bodies()
    for change, fault in ((lighter, "less is spent"), (uncharged, "not charged to the data set")):
        rewritten(place, change)
        with place.opened() as again, pytest.raises(LedgerBroken, match=fault):
            again.verify()
        for number, body in kept:
            place.write(number, body, "0" * 60 + f"{number:04}")
        rewritten(place, lambda fields: None)
    with place.opened() as again:
        assert again.verify().entries == 5


def test_what_is_large_is_kept_and_found_again_unchanged(ledger: StoredLedger, place: Place) -> None:
    digest = "1d0e19f8ff98f0c9cca7cd4e8ff14f3ab0fb9dc3a0d6f9fd4bdb8a1c34e5b8c0"
    assert ledger.kept(digest) is None
    ledger.keep(b"a table")
    (kept,) = ledger._book.store.all_kept()
    with place.opened() as again:
        assert again.kept(kept) == b"a table"


def test_a_name_that_is_there_is_never_started_over(ledger: StoredLedger, place: Place) -> None:
    charged(ledger, "k")
    places = [place]
    if isinstance(place, DatabasePlace):
        places.append(DatabasePlace(place.address, place.folder, place.name, "second"))
    for each in places:
        with pytest.raises(LedgerError, match="there already"):
            each.created(Budget(1.0))
    assert ledger.verify().entries == 3


@forks
def test_a_fork_opens_the_ledger_anew_and_does_not_wait_for_threads_that_are_not_in_it(place: Place) -> None:
    place.created(Budget(1.0)).close()
    process = fresh.Process(target=fork_and_charge, args=(place,))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    with place.opened() as ledger:
        assert ledger.verify().entries == 1 + 2 + 3 * 2


def fork_and_charge(place: Place) -> None:
    ledger = place.opened()
    charged(ledger, "parent")
    ledger._book.turns._leader = object()  # type: ignore[assignment]  # a thread that leads, and is in no fork
    for number in range(3):
        process = os.fork()
        if process == 0:
            try:
                signal.alarm(30)
                charged(ledger, f"child {number}")
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(process, 0)[1] == 0
    ledger._book.turns._leader = None
    assert len(ledger.entries()) == 4


def soaked(place: Place, kills: int) -> None:
    process = fresh.Process(target=soak_alone, args=(place, kills))
    process.start()
    process.join()
    assert process.exitcode == 0


def soak_alone(place: Place, kills: int) -> None:
    """In a process of its own, so that nothing else lives where it forks."""
    found = soak(place, kills, seed=7, room=600)
    assert (found.lost, found.twice, found.over) == (0, 0, 0)
    assert found.released > kills


@forks
def test_killed_in_the_midst_of_many_charges_nothing_is_lost_twice_or_over(place: Place) -> None:
    soaked(place, 8 if isinstance(place, FilePlace) else 4)


@forks
@pytest.mark.slow
def test_killed_five_thousand_times_nothing_is_lost_twice_or_over(tmp_path: Path) -> None:
    for number in range(100):
        soaked(FilePlace(str(tmp_path), f"soak {number}"), 50)


@forks
@pytest.mark.slow
def test_killed_with_its_database_nothing_is_lost_twice_or_over(postgres: str, tmp_path: Path) -> None:
    for _ in range(5):
        soaked(DatabasePlace(postgres, str(tmp_path), f"soak {secrets.token_hex(4)}", secrets.token_hex(4)), 40)


def test_a_charge_of_any_kind_is_followed_alike_by_whoever_opens_next(place: Place) -> None:
    with place.created(Budget(2.0, 1e-6), analysts={"ann": Budget(1.0, 1e-7)}) as ledger:
        for event in (GaussianLoss(50.0), PureLoss(0.01), GaussianLoss(80.0)):
            asked(ledger.within(analyst="ann"), event=event)
        ledger.raise_cap(Budget(1.5, 1e-7), "a second wave", analyst="ann")
        with place.opened() as again:
            assert again.accounts == ledger.accounts
            assert again.chain() == ledger.chain()
