"""The account of answers about a gallery: counted, capped, and without a promise."""

from __future__ import annotations

import string
from dataclasses import dataclass

from discreet.core.checks import check_whole
from discreet.core.errors import UNTOUCHED, DiscreetError, NotPermitted
from discreet.core.events import NoPromise
from discreet.core.ledger import Entry, Ledger
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.crypto.errors import Malformed, RoundReused
from discreet.trust.holder import Described, Holder
from discreet.trust.policy import today

EVENT = NoPromise("scores and decisions about templates: enough of them rebuild a template")
SESSION = 32  # letters of the name of a session
PREFIX, BY = "match ", " by "


@dataclass(frozen=True)
class MatchAccount(Holder):
    """Counts the answers of each asker in a ledger, and refuses one too many.

    There is no epsilon: a score is exact. What is left of a template after so many answers is what the cap decides; as
    many answers with scores as a template has numbers rebuild it.

    Parameters
    ----------
    ledger : Ledger
        Where answers are written.
    waiver : str
        Public. The owner's reason to answer without a promise.
    most : int
        Public. How many answers an asker is given, ever.
    daily : int, optional
        Public. How many on a day (UTC).

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.ledger.memory_ledger import MemoryLedger
    >>> account = MatchAccount(MemoryLedger(Budget(1.0)), "access control, board of 3 May", most=1)
    >>> account.count("desk", "0" * 32)
    >>> account.count("desk", "1" * 32)
    Traceback (most recent call last):
    discreet.core.errors.NotPermitted: match for 'desk': 1 answers were given, and 1 are the most. \
Nothing was released or spent. Ask the owner of the gallery.
    """

    ledger: Ledger
    waiver: str
    most: int
    daily: int | None = None

    neighbors = Neighbors.ADD_REMOVE
    unit: Unit = RECORD
    secret = True

    def __post_init__(self) -> None:
        if not isinstance(self.waiver, str) or not self.waiver.strip():
            remedy = "Give the owner's reason to answer without a promise; it goes on record."
            raise NotPermitted("matching", f"it keeps no promise ({EVENT.reason})", remedy)
        check_whole("matching", "most", self.most)
        if self.daily is not None:
            check_whole("matching", "daily", self.daily)

    def count(self, asker: str, session: str) -> None:
        """Write one answer, before it is computed; a session is answered once."""
        check_session(session)
        asked, key = f"match for {asker!r}", f"{PREFIX}{session}{BY}{asker}"
        self._check(asked, self._answered(asker))
        permit = self.permit(Described(EVENT, key), asked, key=key, waiver=self.waiver)
        permit.commit(b"")
        after = self._answered(asker)  # threads and processes may have counted at once: the first of them are answered
        place = next(place for place, entry in enumerate(after) if entry.key == key)
        self._check(asked, after[:place], "Nothing was released; the attempt was counted.")

    def left(self, asker: str) -> int:
        """How many answers there are for an asker yet, whatever the day."""
        return max(0, self.most - len(self._answered(asker)))

    def _answered(self, asker: str) -> list[Entry]:
        start = len(PREFIX) + SESSION + len(BY)
        return [one for one in self.ledger.entries() if one.key.startswith(PREFIX) and one.key[start:] == asker]

    def _check(self, asked: str, before: list[Entry], consequence: str = UNTOUCHED) -> None:
        remedy = "Ask the owner of the gallery."
        if len(before) >= self.most:
            obstacle = f"{len(before)} answers were given, and {self.most} are the most"
            raise NotPermitted(asked, obstacle, remedy, consequence, answered=len(before))
        of_today = sum(entry.at[:10] == today() for entry in before)
        if self.daily is not None and of_today >= self.daily:
            obstacle = f"{of_today} answers were given today, and {self.daily} are the most"
            raise NotPermitted(asked, obstacle, "Ask again tomorrow (UTC).", consequence, answered=of_today)

    def _reused(self, purpose: str, key: str) -> DiscreetError | None:
        return RoundReused(purpose, "this session was answered before", "Begin a new one.", UNTOUCHED)


def check_session(session: str) -> None:
    """Refuse a name that no session has."""
    if len(session) != SESSION or not set(session) <= set(string.hexdigits.lower()):
        raise Malformed("session", "its name is none", f"Give {SESSION} hexadecimal digits.", UNTOUCHED)
