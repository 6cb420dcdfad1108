"""Where questions are taken in, priced, put before a curator where they are dear, asked, and given again."""

from __future__ import annotations

import dataclasses
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

from discreet.core.budget import Budget
from discreet.core.checks import check_text
from discreet.core.errors import (
    BudgetExceeded,
    DiscreetError,
    EngineFailure,
    KeyReused,
    NotPermitted,
    UncommittedCharge,
)
from discreet.core.held import unheld
from discreet.ledger.book_ledger import fresh_key
from discreet.query.asked_question import AskedQuestion, plain_text
from discreet.service.server.analyst_ledger import AnalystLedger
from discreet.service.server.caller_limits import CallerLimits
from discreet.service.server.question_size import check_size
from discreet.service.server.site_answer import SiteAnswer, next_moment, plain_result, receipt_of
from discreet.service.server.site_data_set import SiteDataSet
from discreet.service.server.site_file import SiteFile, UserEntry
from discreet.service.server.site_refusals import TooMany
from discreet.service.server.site_store import AskedEntry, SiteStore
from discreet.trust.stored import Stored

PARTS = 5  # of a deadline: the moments at which results are recorded
PREVIEWS = 4  # of each caller at a time: some take long, and this process is everybody's
JOBS = 2  # long questions that are worked on at a time
UNFINISHED = 32  # questions of each caller that wait for a curator, or for their turn
REMEMBERED, AT_HAND = 1024, 2**28  # answers that are at hand without the ledger, and bytes of all their results
LONGEST_KEY = 200
SAID = {
    "waiting": "It waits for a curator, since it costs more than may be asked without one. Nothing was charged.",
    "queued": "It waits for its turn.",
    "running": "It is being worked on.",
}


@unheld("own turns")
class QuestionDesk:
    """Takes questions of known users about data sets that they may ask.

    How long the records take shows in nothing: an answer, the state of its question and the caller's place among those
    who are being answered all change at the same public moment, and its result is recorded at one that is a little
    earlier, a multiple of a fifth of the deadline.

    Where the process dies in between, the next one gives a recorded result at once, and has a dangling charge
    otherwise. That tells at which fifth the result was recorded, which the order of the ledger's entries tells too; to
    wait longer would hide neither, and when a process dies depends on no record.

    Parameters
    ----------
    file : SiteFile
        Public. Limits, deadlines and prices above which a curator is asked.
    store : SiteStore
        What is remembered beside the ledgers.
    """

    def __init__(self, file: SiteFile, store: SiteStore) -> None:
        self._file, self._store = file, store
        self._limits = CallerLimits(file.requests, file.running)
        self._previews = CallerLimits(file.requests, PREVIEWS)
        self._jobs = ThreadPoolExecutor(JOBS, thread_name_prefix="job")
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, SiteAnswer] = OrderedDict()
        self._bytes = 0
        self._turns: dict[str, tuple[threading.Lock, int]] = {}
        self._asked: dict[tuple[str, str, str], tuple[str, str, float, float]] = {}
        self._closed = False

    def close(self) -> None:
        """Begin nothing more; what is being worked on is taken up again at the next start."""
        with self._lock:
            self._closed = True
        self._jobs.shutdown(wait=False, cancel_futures=True)

    def count(self, user: UserEntry) -> None:
        """Count a request of a caller; refused where there were too many."""
        with self._lock:
            self._limits.count(user.name)

    @contextmanager
    def previewing(self, user: UserEntry) -> Iterator[None]:
        """One of the prices that a caller looks at; refused where there are too many at a time."""
        with self._previews.running(user.name):
            yield

    def ask(
        self,
        user: UserEntry,
        data: SiteDataSet,
        question: Any,
        *,
        epsilon: float,
        delta: float = 0.0,
        key: str | None = None,
    ) -> SiteAnswer:
        """Answer a question, or say what it waits for; whatever is refused here was not charged, unless it says so.

        The answer is `due` at a public moment: whoever hands it on waits until then. What was paid for before is due
        at once. A refusal that follows a charge is raised at such a moment, too.
        """
        begun = time.monotonic()
        asked, budget = AskedQuestion.read(question), Budget(epsilon, delta)
        key = fresh_key() if key is None else _checked_key(key)
        entry = self._noted(user, data, asked, budget, key)
        if entry.state in ("waiting", "queued", "running"):
            return self._unfinished(entry)
        if entry.state == "denied":
            raise _denied(entry)
        if asked.long and entry.state in ("asked", "failed"):
            return self._queue(data, entry)
        return self._answered(data, entry, asked, begun)

    def remembered(
        self, user: UserEntry, data: SiteDataSet, question: Any, epsilon: float, delta: float, key: str
    ) -> SiteAnswer | None:
        """The answer to the same question that this process gave before under its key; None where none was due yet."""
        with self._lock:
            known = self._asked.get((user.name, data.name, key))
        same = known is not None and known[1:] == (plain_text(question), epsilon, delta)
        return self.due_answer(known[0]) if known is not None and same else None

    def due_answer(self, id: str) -> SiteAnswer | None:
        """An answer of this process that has left before; None where it is not at hand."""
        kept = self._at_hand(id)
        return kept if kept is not None and kept.due == 0.0 else None

    def answer(self, data: SiteDataSet, entry: AskedEntry) -> SiteAnswer:
        """The answer to a question that was asked before, for nothing; or what it waits for."""
        if (kept := self.due_answer(entry.id)) is not None:
            return kept
        if entry.state in ("waiting", "queued", "running"):
            return self._unfinished(entry)
        if entry.state == "denied":
            raise _denied(entry)
        if entry.state == "done":
            return self._answered(data, entry, AskedQuestion.read(entry.plain), time.monotonic())
        raise NotPermitted(
            f"the answer to {entry.key!r}",
            f"there is none ({entry.why or 'it was not answered'})",
            "Ask the same again with the same key; if its charge has no result, with another.",
        )

    def approve(self, curator: UserEntry, data: SiteDataSet, entry: AskedEntry) -> SiteAnswer:
        """Let a question be asked that waits for a curator: it is worked on from now on."""
        self._check_open(data)
        if not self._store.moved(entry.id, ("waiting",), "queued", f"approved by {curator.name}"):
            raise _not_waiting(entry)
        return self._queue(data, entry)

    def deny(self, curator: UserEntry, entry: AskedEntry, reason: str) -> None:
        """Let a question not be asked, for a reason that its analyst is told."""
        if not self._store.moved(entry.id, ("waiting",), "denied", f"{curator.name}: {reason[:500]}"):
            raise _not_waiting(entry)

    def again(self, data: SiteDataSet, entry: AskedEntry) -> SiteAnswer:
        """Ask once more what was charged and never answered: under a new key, which is charged anew."""
        self._check_open(data)
        if not self._store.moved(entry.id, ("dangling",), "failed", "asked again under another key"):
            raise _not_waiting(entry)
        id, key = secrets.token_hex(16), f"{entry.key[: LONGEST_KEY - 20]}-{secrets.token_hex(4)}"
        new = AskedEntry(
            id, entry.user, entry.data, key, entry.question, entry.epsilon, entry.delta, "queued", "", today()
        )
        return self._queue(data, self._store.add_asked(new))

    def resume(self, data: SiteDataSet) -> None:
        """After a start: go on with what was queued; what was being worked on is looked up in the ledger first.

        What was answered just before the end is said to be done, which may not have been written down any more.
        """
        with suppress(DiscreetError), data.ledger() as ledger:
            for entry in self._store.asked(data=data.name, state="asked"):
                if ledger.answered(charge_key(entry.user, entry.key)):
                    self._store.done_at(entry.id, 0.0)
        for entry in self._store.asked(data=data.name, state="running"):
            self._store.moved(entry.id, ("running",), "queued")
        for entry in reversed(self._store.asked(data=data.name, state="queued")):
            self._submit(data, entry)

    def _noted(self, user: UserEntry, data: SiteDataSet, asked: AskedQuestion, budget: Budget, key: str) -> AskedEntry:
        """The question as it is written down; where it takes long, it is priced first, unless it is known already."""
        quick = not asked.long and not self._waits(user, data, budget)
        known = None if quick else self._store.asked_by_key(user.name, data.name, key)
        try:
            known = known or self._added(user, data, asked, budget, key)
        except DiscreetError:  # what is refused now may have been paid for before
            if not quick or (known := self._store.asked_by_key(user.name, data.name, key)) is None:
                raise
        if (known.question, known.epsilon, known.delta) != (asked.text, budget.epsilon, budget.delta):
            obstacle = f"you asked another question under the key {key!r}"
            raise KeyReused(f"ask {asked.name:.80}", obstacle, "Use a new key for a new question.", key=key)
        if known.state != "done":
            self._check_open(data)
        return known

    def _added(self, user: UserEntry, data: SiteDataSet, asked: AskedQuestion, budget: Budget, key: str) -> AskedEntry:
        """Write a question down; the one that is there already, where its key was used before."""
        check_size(asked, len(data.schema.columns))
        state = self._first_state(user, data, asked, budget)
        entry = AskedEntry(
            secrets.token_hex(16), user.name, data.name, key, asked.text, budget.epsilon, budget.delta, state, "",
            today(),
        )  # fmt: skip
        return self._store.add_asked(entry)

    def _waits(self, user: UserEntry, data: SiteDataSet, budget: Budget) -> bool:
        """Whether it costs more than may be asked without a curator."""
        above = data.entry.above
        return above is not None and budget.epsilon > above and user.role != "curator"

    def _first_state(self, user: UserEntry, data: SiteDataSet, asked: AskedQuestion, budget: Budget) -> str:
        """Whether it is asked at once or waits; what waits is refused now if it would be refused then."""
        self._check_open(data)
        waits = self._waits(user, data, budget)
        if not waits and not asked.long:
            return "asked"
        states = self._store.counted("state", user.name)
        if sum(states.get(state, 0) for state in ("waiting", "queued", "running")) >= UNFINISHED:
            obstacle = f"{UNFINISHED} of your questions are waiting, as many as are allowed"
            raise TooMany(f"ask {asked.name:.80}", obstacle, "Wait until some are answered.")
        price = data.priced(asked, budget, user.name)
        if not data.affords(price.event, user.name):
            raise _unaffordable(data, price.purpose, budget, user.name)
        return "waiting" if waits else "asked"

    def _check_open(self, data: SiteDataSet) -> None:
        """Refuse what would be charged while a curator has frozen the data set."""
        frozen = self._store.frozen(data.name)
        if frozen is not None:
            obstacle = f"curator {frozen[1]} has frozen it: {frozen[0]}"
            raise NotPermitted(f"data set {data.name}", obstacle, "Wait until it is open again. Paid answers stay.")

    def _queue(self, data: SiteDataSet, entry: AskedEntry) -> SiteAnswer:
        self._store.moved(entry.id, ("asked", "failed", "queued"), "queued")
        self._submit(data, entry)
        return self._unfinished(self._store.asked_by_id(entry.id) or entry)

    def _submit(self, data: SiteDataSet, entry: AskedEntry) -> None:
        if not self._closed:
            self._jobs.submit(self._work, data, entry)

    def _work(self, data: SiteDataSet, entry: AskedEntry) -> None:
        """Answer a queued question; what it came to is read off its state, from a public moment on."""
        if not self._store.moved(entry.id, ("queued",), "running"):
            return
        begun = time.monotonic()
        try:
            self._check_open(data)
            found = self._released(data, entry, AskedQuestion.read(entry.plain), begun, self._file.long)
            wait_until(next_moment(begun, time.monotonic(), self._file.long))
            self._remember(found, entry, 0.0)
            self._store.done_at(entry.id, 0.0)
        except UncommittedCharge as why:
            self._ended(entry, "dangling", str(why))
        except DiscreetError as why:
            self._ended(entry, "failed", str(why))
        except Exception as why:
            self._ended(entry, "failed", f"it ended by a mistake ({type(why).__name__})")

    def _ended(self, entry: AskedEntry, state: str, why: str) -> None:
        """What became of a question that was worked on; where the site ends, it is taken up again at the next start."""
        if not self._closed:
            self._store.moved(entry.id, ("running",), state, why)

    def _unfinished(self, entry: AskedEntry) -> SiteAnswer:
        return SiteAnswer(entry.id, entry.data, entry.key, entry.state, text=SAID[entry.state])

    def _answered(self, data: SiteDataSet, entry: AskedEntry, asked: AskedQuestion, begun: float) -> SiteAnswer:
        """The answer of now, or of earlier; its due moment hides how long the records took."""
        if kept := self._at_hand(entry.id):
            return kept
        with self._limits.running(entry.user) as place, self._turn(entry.id):
            if kept := self._at_hand(entry.id):
                return kept
            period = self._file.long if asked.long else self._file.cheap
            found = self._released(data, entry, asked, begun, period)
            due = 0.0 if found.replayed else next_moment(begun, time.monotonic(), period)
            self._remember(found, entry, due)
            place.until(due)
            if entry.state != "done":
                self._store.done_at(entry.id, due)
        return _due(found, due)

    def _at_hand(self, id: str) -> SiteAnswer | None:
        """An answer that this process gave, or is about to give when it is due."""
        with self._lock:
            kept = self._answers.get(id)
            if kept is not None and 0.0 < kept.due <= time.monotonic():
                self._answers[id] = kept = _due(kept, 0.0)
        return kept

    @contextmanager
    def _turn(self, id: str) -> Iterator[None]:
        """One after the other, where the same question is sent several times at once."""
        with self._lock:
            lock, waiting = self._turns.get(id, (threading.Lock(), 0))
            self._turns[id] = lock, waiting + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, waiting = self._turns.pop(id)
                if waiting > 1:
                    self._turns[id] = lock, waiting - 1

    def _released(
        self, data: SiteDataSet, entry: AskedEntry, asked: AskedQuestion, begun: float, period: float
    ) -> SiteAnswer:
        """Ask, or have the ledger give it again; the charge is made in here, and nowhere else.

        What fails after its charge fails at a public moment, too.
        """
        with data.ledger() as ledger:
            paying = AnalystLedger(ledger, entry.user, partial(_rest, begun, period / PARTS))
            try:
                budget = Budget(entry.epsilon, entry.delta)
                released = asked.ask(data.private(paying), budget, charge_key(entry.user, entry.key))
            except Exception as why:
                if paying.reserved:
                    wait_until(next_moment(begun, time.monotonic(), period))
                self._failed(entry, paying, why)
                if isinstance(why, DiscreetError):
                    raise
                raise _mistaken(asked, paying, why) from why
            kept = _kept(paying)
        replayed = not paying.reserved
        receipt = receipt_of(released)
        return SiteAnswer(
            entry.id, data.name, entry.key, "done", plain_result(released), str(released), receipt,
            tuple(paying.committed), kept, released, replayed,
        )  # fmt: skip

    def _failed(self, entry: AskedEntry, paying: AnalystLedger, why: Exception) -> None:
        """What was refused before its charge was never asked; what was charged keeps its state for the curator."""
        if isinstance(why, UncommittedCharge):
            self._store.moved(entry.id, ("asked", "failed"), "dangling", str(why))
        elif not paying.reserved:
            self._store.forget(entry.id)
        else:
            self._store.moved(entry.id, ("asked",), "failed", str(why) if isinstance(why, DiscreetError) else "")

    def _remember(self, found: SiteAnswer, entry: AskedEntry, due: float) -> None:
        with self._lock:
            before = self._answers.pop(found.id, None)
            self._answers[found.id] = _due(found, due)
            self._bytes += found.size - (0 if before is None else before.size)
            place = (entry.user, entry.data, entry.key)
            self._asked[place] = (entry.id, entry.question, entry.epsilon, entry.delta)
            while len(self._answers) > REMEMBERED or self._bytes > AT_HAND:
                self._bytes -= self._answers.popitem(last=False)[1].size
            while len(self._asked) > 2 * REMEMBERED:
                del self._asked[next(iter(self._asked))]


def charge_key(user: str, key: str) -> str:
    """The key in the ledger: nobody can use, or find out, that of somebody else."""
    return f"{user}/{key}"


def wait_until(moment: float) -> None:
    """Sleep until a moment of the clock that only goes forward."""
    left = moment - time.monotonic()
    if left > 0:
        time.sleep(left)


def _rest(begun: float, period: float) -> None:
    wait_until(next_moment(begun, time.monotonic(), period))


def today() -> str:
    """The day, in UTC."""
    return datetime.now(UTC).date().isoformat()


def _due(found: SiteAnswer, moment: float) -> SiteAnswer:
    return dataclasses.replace(found, due=moment, replayed=found.replayed or moment == 0.0)


def _kept(paying: AnalystLedger) -> dict[str, bytes]:
    """What is kept beside the ledger, of artefacts that are too large for it."""
    found = {}
    for _, done in paying.committed:
        made = done.result.startswith(b'{"releases"') and not done.result.endswith(b'"artefact":null}')
        artefact = Stored.read(done.result).artefact if made else None
        if artefact is not None and artefact.values is None and (data := paying.kept(artefact.digest)) is not None:
            found[artefact.digest] = data
    return found


def _checked_key(key: str) -> str:
    check_text("ask", "key", key)
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        raise NotPermitted("ask", f"the key has {len(key)} letters", f"Give 1 to {LONGEST_KEY} printable ones.")
    return key


def _denied(entry: AskedEntry) -> NotPermitted:
    return NotPermitted(f"ask under {entry.key!r}", f"a curator said no ({entry.why})", "Ask for less, or ask them.")


def _not_waiting(entry: AskedEntry) -> NotPermitted:
    return NotPermitted(f"question {entry.id}", "it does not wait any more", "Look at its state.")


def _unaffordable(data: SiteDataSet, purpose: str, budget: Budget, user: str) -> BudgetExceeded:
    balances = data.balances(user)
    left = min(one.remaining for one in balances.values())
    obstacle = f"it needs epsilon {budget.epsilon:.4g}, and {left:.4g} is left"
    return BudgetExceeded(purpose, obstacle, "Ask for less, or with more noise.", left=left, needed=budget.epsilon)


def _mistaken(asked: AskedQuestion, paying: AnalystLedger, why: Exception) -> DiscreetError:
    """The refusal for what no check foresaw: before a charge it is the question's, after one nobody's."""
    if paying.reserved:
        obstacle, kept = "its answer could not be made", "The plan was charged and stays so; nothing was handed out."
        return EngineFailure(f"ask {asked.name:.80}", obstacle, "Tell the curator.", kept)
    obstacle = f"it cannot be asked so ({type(why).__name__}: {str(why)[:200]})"
    return NotPermitted(f"ask {asked.name:.80}", obstacle, "Look at what the statistic takes.")
