"""A site: what its file describes, opened, for any face that is put on it, of programs or of people.

    site = Site.open("site.toml")
    ann = site.caller(key)                      # or site.caller_of(session token)
    site.plan(ann, "patients", "mean of age", epsilon=0.1)
    site.ask(ann, "patients", "mean of age", epsilon=0.1, key="monday")

Every method takes the caller first, and refuses by a `DiscreetError`, whose status on a line is `status_of(error)`.
What belongs to somebody else is refused as what does not exist (`NotHere`). This process reads no record: those are
with the workers.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.held import unheld
from discreet.core.ledger import Balance, Entry
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.book import Verified
from discreet.query.asked_question import AskedQuestion
from discreet.query.forecast.forecast import Forecast
from discreet.query.forecast.plan import plan
from discreet.schema.schema import Schema
from discreet.service.key_file import read_identity
from discreet.service.server.analyst_ledger import AnalystLedger
from discreet.service.server.api_keys import ApiKeys, Session
from discreet.service.server.question_desk import QuestionDesk, wait_until
from discreet.service.server.question_size import check_size
from discreet.service.server.site_answer import SiteAnswer
from discreet.service.server.site_data_set import SiteDataSet
from discreet.service.server.site_file import SiteFile, UserEntry, read_site
from discreet.service.server.site_refusals import ReadOnlySite, Unrecognised, no_such
from discreet.service.server.site_store import AskedEntry, SiteStore
from discreet.trust.private_data import PrivateData

MOST_LISTED = 500  # questions that are given at a time
MOST_ASSUMED = 100_000  # records that a plan makes up for somebody else
STORE, LOCK = "site.state", "site.lock"
LEDGER = "Its ledger cannot be used, so that nothing can be paid for until its owner has set it right."
RECORDS = "Its records cannot be opened: the curator has to check their place."


@dataclass(frozen=True)
class DataSetView:
    """What a caller may know of a data set: all of it public.

    Parameters
    ----------
    name, about : str
        What it is called, and what it is.
    schema : Schema
        Its columns.
    neighbors : Neighbors
        The relation.
    unit : Unit
        Whose presence is hidden.
    balances : mapping of str to Balance
        The account of the data set, under "data set", and that of the caller where it has one; empty in trouble.
    assumed : int, optional
        How many records plans assume.
    units : int, optional
        How many there are, where the relation makes it public and the worker runs.
    curated, rereads, shows_all_rows : bool
        What its source allows to be asked.
    above : float, optional
        The epsilon above which a question waits for a curator.
    frozen : str
        Why nobody may ask; nothing, as a rule.
    trouble : str
        What is wrong with its ledger; nothing, as a rule.
    unopened : str
        Why its records could not be opened when they were last needed; nothing, as a rule.
    """

    name: str
    about: str
    schema: Schema
    neighbors: Neighbors
    unit: Unit
    balances: dict[str, Balance]
    assumed: int | None
    units: int | None
    curated: bool
    rereads: bool
    shows_all_rows: bool
    above: float | None
    frozen: str
    trouble: str
    unopened: str


@unheld("own turns")
class Site:
    """Data sets, their users, and everything that these may do. Threads may share it; a process opens it once.

    Parameters
    ----------
    file : SiteFile
        What its file says.
    """

    def __init__(self, file: SiteFile) -> None:
        self.file = file
        self._lock = locked(file.beside(LOCK), f"serve {file.path.parent}")
        try:
            self._open(file)
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self, file: SiteFile) -> None:
        self.identity = None if file.identity is None else read_identity(file.identity)
        self.store = SiteStore(file.beside(STORE))
        self.keys = ApiKeys(self.store)
        self.desk = QuestionDesk(file, self.store)
        self._reading = threading.Lock()
        self._data = {name: SiteDataSet(entry, self.identity) for name, entry in file.data.items()}
        for one in self._data.values():
            one.line.warm()
            self.desk.resume(one)

    @classmethod
    def open(cls, path: str | Path) -> Site:
        """The site that a file describes; refused where another process serves it."""
        return cls(read_site(path))

    def close(self) -> None:
        """End the workers, and let go of all files."""
        self.desk.close()
        with self._reading:
            for one in self._data.values():
                one.close()
        self.store.close()
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    # Who asks

    def caller(self, key: str) -> UserEntry:
        """Whose API key this is; `Unrecognised`, whatever is wrong with it."""
        return self._user(self.keys.user_of(key))

    def known_caller(self, key: str) -> UserEntry | None:
        """The same, of a key that was recognised before and is good still; None where that takes a longer look."""
        user = self.keys.known_user(key)
        return None if user is None else self._user(user)

    def login(self, key: str) -> Session:
        """A session of a browser for the holder of a key: a token for its cookie, and one for its forms."""
        return self.keys.begin_session(self.caller(key).name)

    def session(self, token: str) -> Session:
        """The session of a cookie; its user is `site.caller_of(token)`."""
        return self.keys.session(token)

    def caller_of(self, token: str) -> UserEntry:
        """Whose session this is."""
        return self._user(self.session(token).user)

    def logout(self, token: str) -> None:
        """End a session."""
        self.keys.end_session(token)

    def _user(self, name: str) -> UserEntry:
        if name not in self.file.users:
            self._read_users()
        if name not in self.file.users:
            raise Unrecognised("this site", "nobody is known by this key", "Ask a curator for a key.")
        return self.file.users[name]

    def _read_users(self) -> None:
        """Take in who was added to the file since; all else in it counts from the next start."""
        with self._reading, suppress(DiscreetError):
            users = read_site(self.file.path).users
            fitting = {name: one for name, one in users.items() if self._data.keys() >= {*one.data}}
            self.file = replace(self.file, users=fitting)

    # What there is

    def data_sets(self, caller: UserEntry) -> list[DataSetView]:
        """All data sets that exist for a caller."""
        return [self._view(caller, one) for name, one in self._data.items() if caller.sees(name)]

    def data_set(self, caller: UserEntry, name: str) -> DataSetView:
        """What a caller may know of a data set."""
        return self._view(caller, self._found(caller, name))

    def plan(
        self,
        caller: UserEntry,
        name: str,
        *questions: Any,
        epsilon: float | Sequence[float] | None = None,
        delta: float = 0.0,
        n: int | None = None,
        for_error: float | None = None,
    ) -> Forecast:
        """What questions would cost and how far off they would be, from public facts alone; no worker is asked.

        `n` is assumed, or `assumed` of the data set where it is not given; at most 100,000.
        """
        found = self._found(caller, name)
        assumed = found.entry.assumed if n is None else n
        if assumed is not None and assumed > MOST_ASSUMED:
            assumed = MOST_ASSUMED if n is None else _too_many(n)
        asked = [AskedQuestion.read(one) for one in questions]
        for one in asked:
            check_size(one, len(found.schema.columns))
        with self.desk.previewing(caller), found.ledger() as ledger:
            offline = PrivateData(found.offline, AnalystLedger(ledger, caller.name))
            meant = [one.planned for one in asked]
            return plan(offline, *meant, n=assumed, epsilon=epsilon, delta=delta, for_error=for_error)

    def often(self, caller: UserEntry, name: str, event: Event, most: int) -> int:
        """How often the accounts could pay for an event now, at most so often."""
        with self.desk.previewing(caller), self._found(caller, name).ledger() as ledger:
            return ledger.often(event, min(most, 10_000), analyst=caller.name)

    # Asking

    def ask(
        self,
        caller: UserEntry,
        name: str,
        question: Any,
        *,
        epsilon: float,
        delta: float = 0.0,
        key: str | None = None,
    ) -> SiteAnswer:
        """Answer a question at a public moment, or say what it waits for.

        Parameters
        ----------
        caller : UserEntry
            Who asks.
        name : str
            Public. The data set.
        question : str or dict
            Public. In words, SQL, or a plain form; see `AskedQuestion`.
        epsilon, delta : float
            Public. What it may cost.
        key : str, optional
            Public. Makes a retry safe: the same question with the same key is charged once. A fresh one by default.
        """
        answer = self.ask_early(caller, name, question, epsilon=epsilon, delta=delta, key=key)
        wait_until(answer.due)
        return answer

    def ask_early(
        self,
        caller: UserEntry,
        name: str,
        question: Any,
        *,
        epsilon: float,
        delta: float = 0.0,
        key: str | None = None,
    ) -> SiteAnswer:
        """The same before it is due: whoever calls this waits until `answer.due` before handing on anything of it."""
        found = self._found(caller, name)
        if caller.role == "auditor":
            raise NotPermitted(f"ask {name}", "an auditor looks at what was asked, and asks nothing", "Ask an analyst.")
        return self.desk.ask(caller, found, question, epsilon=epsilon, delta=delta, key=key)

    def remembered(self, caller: UserEntry, name: str, said: Mapping[str, Any]) -> SiteAnswer | None:
        """The answer to a question that this process answered before under the same key: at once, without a wait."""
        key, epsilon = said.get("key"), said.get("epsilon")
        if key is None or not isinstance(epsilon, int | float) or name not in self._data or not caller.sees(name):
            return None
        given = said.get("question"), float(epsilon), float(said.get("delta", 0.0)), key
        return self.desk.remembered(caller, self._data[name], *given)

    def due_answer(self, caller: UserEntry, name: str, id: str) -> SiteAnswer | None:
        """An answer that left before, whose identifier was noted for this caller; None where it has to be looked up."""
        return self.desk.due_answer(id) if name in self._data and caller.sees(name) else None

    def asked(
        self, caller: UserEntry, name: str | None = None, state: str | None = None, most: int = MOST_LISTED
    ) -> list[AskedEntry]:
        """Questions, the newest first, at most so many: an analyst's own; all, for curators and auditors."""
        if name is not None:
            self._found(caller, name)
        return self.store.asked(_own(caller), name, state, most)

    def own_asked(self, caller: UserEntry, most: int = MOST_LISTED) -> list[AskedEntry]:
        """Questions of the caller, the newest first."""
        return self.store.asked(caller.name, most=most)

    def counted(self, caller: UserEntry, by: Literal["user", "state"]) -> dict[str, int]:
        """How many questions each user asked, or how many are in each state: an analyst's own, or all."""
        return self.store.counted(by, _own(caller))

    def question(self, caller: UserEntry, id: str) -> AskedEntry:
        """A question by its identifier: an analyst's own, or any for curators and auditors."""
        entry = self.store.asked_by_id(id)
        own = entry is not None and (caller.role != "analyst" or entry.user == caller.name)
        if entry is None or not own or entry.data not in self._data:
            raise no_such("question", id)
        return entry

    def answer(self, caller: UserEntry, id: str) -> SiteAnswer:
        """The answer to an own question, once more and for nothing; or what it waits for.

        Results are their analyst's: curators and auditors see question, price and proof, and not the answer.
        """
        entry = self.question(caller, id)
        if entry.user != caller.name:
            raise no_such("answer", id)
        return self.desk.answer(self._data[entry.data], entry)

    # What curators do

    def approvals(self, caller: UserEntry) -> list[AskedEntry]:
        """Questions that wait for a curator: all for curators, an analyst's own."""
        return self.asked(caller, state="waiting")

    def approve(self, caller: UserEntry, id: str) -> SiteAnswer:
        """Let a question be asked that waits."""
        self._check_curator(caller, "approve")
        entry = self.question(caller, id)
        return self.desk.approve(caller, self._data[entry.data], entry)

    def deny(self, caller: UserEntry, id: str, reason: str) -> None:
        """Let a question not be asked, for a reason that its analyst is told."""
        self._check_curator(caller, "deny")
        self.desk.deny(caller, self.question(caller, id), reason)

    def again(self, caller: UserEntry, id: str) -> SiteAnswer:
        """Ask once more what was charged and never answered, under a new key, which is charged anew."""
        self._check_curator(caller, "ask again")
        entry = self.question(caller, id)
        return self.desk.again(self._data[entry.data], entry)

    def freeze(self, caller: UserEntry, name: str, reason: str) -> None:
        """Let nobody ask a data set; what was paid for can still be given again."""
        self._check_curator(caller, "freeze")
        found = self._found(caller, name)
        with self._reading:
            self.store.freeze(found.name, reason[:500], caller.name)

    def thaw(self, caller: UserEntry, name: str) -> None:
        """Let a data set be asked again."""
        self._check_curator(caller, "thaw")
        found = self._found(caller, name)
        with self._reading:
            self.store.thaw(found.name)

    def reopen(self, caller: UserEntry, name: str) -> str:
        """Open a ledger again that was set right; what is still wrong with it."""
        self._check_curator(caller, "reopen")
        found = self._found(caller, name)
        found.open()
        return found.trouble

    def dangling(self, caller: UserEntry, name: str) -> list[Entry]:
        """Charges that have no result: spent, and never handed out."""
        with self._found(caller, name).ledger() as ledger:
            return [one for one in ledger.dangling() if _own(caller) in (None, one.analyst)]

    # What was done

    def history(self, caller: UserEntry, name: str, most: int = MOST_LISTED) -> tuple[Entry, ...]:
        """The newest charges of a data set, the oldest first: an analyst's own, or all for curators and auditors."""
        return self._found(caller, name).latest(most, _own(caller))

    def prices(self, caller: UserEntry, name: str) -> list[float]:
        """What each of all these charges cost by itself, the oldest first."""
        return self._found(caller, name).prices(_own(caller))

    def whole_history(self, caller: UserEntry, name: str) -> tuple[Entry, ...]:
        """Every charge of a data set, the oldest first; for curators and auditors."""
        with self._watched(caller, name).ledger() as ledger:
            return ledger.entries()

    def verify(self, caller: UserEntry, name: str) -> Verified:
        """Check the whole ledger of a data set; for curators and auditors."""
        with self._watched(caller, name).ledger() as ledger:
            return ledger.verify()

    def _watched(self, caller: UserEntry, name: str) -> SiteDataSet:
        """A data set whose whole ledger a caller may look at: curators and auditors alone."""
        if caller.role == "analyst":
            raise no_such("ledger", name)
        return self._found(caller, name)

    def _found(self, caller: UserEntry, name: str) -> SiteDataSet:
        if name not in self._data or not caller.sees(name):
            raise no_such("data set", name)
        return self._data[name]

    def _view(self, caller: UserEntry, one: SiteDataSet) -> DataSetView:
        trust, frozen = one.offline, self.store.frozen(one.name)
        return DataSetView(
            one.name,
            one.entry.about,
            one.schema,
            one.neighbors,
            one.unit,
            _balances(one, caller.name),
            one.entry.assumed,
            trust.units,
            trust.curated,
            trust.rereads,
            trust.shows_all_rows,
            one.entry.above,
            "" if frozen is None else f"{frozen[0]} ({frozen[1]})",
            _shown_to(caller, one.trouble, LEDGER),
            _shown_to(caller, one.line.trouble, RECORDS),
        )

    def _check_curator(self, caller: UserEntry, what: str) -> None:
        if caller.role != "curator":
            raise no_such("way", what)


def _shown_to(caller: UserEntry, trouble: str, plainly: str) -> str:
    """What is wrong, for curators and auditors; for analysts that something is, since the rest may name paths."""
    return trouble and (plainly if caller.role == "analyst" else trouble)


def _own(caller: UserEntry) -> str | None:
    """Whose questions and charges a caller sees: an analyst the own ones, others those of everybody."""
    return caller.name if caller.role == "analyst" else None


def _balances(one: SiteDataSet, user: str) -> dict[str, Balance]:
    """How accounts stand; nothing, where the ledger cannot be used."""
    try:
        return {} if one.trouble else one.balances(user)
    except ReadOnlySite:
        return {}


def locked(path: Path, asked: str) -> int:
    """Keep other processes from serving the same site; refused where one does."""
    lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise ParameterError(asked, "another process serves this site", "Stop it first, or use its address.") from None
    return lock


def _too_many(n: int) -> int:
    raise ParameterError("plan", f"n is {n}", f"Give at most {MOST_ASSUMED:,}; errors change little beyond.", n=n)
