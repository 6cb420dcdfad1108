"""The account of a data set that is elsewhere: a charge is the question itself, sent to the site that answers it."""

from __future__ import annotations

import base64
import json
import math
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from discreet.accounting.accountant import epsilon, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.checkpoint import Checkpoint
from discreet.core.errors import EngineFailure, LedgerError, NotPermitted
from discreet.core.events import Event, read, written
from discreet.core.ledger import Balance, Committed, Entry, Reservation
from discreet.core.neighbors import Neighbors, Unit
from discreet.crypto.errors import Disagreement
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.ledger.book import result_digest
from discreet.ledger.book_ledger import fresh_key
from discreet.query.schema_file import SchemaFile
from discreet.service.client.site_line import SiteLine, fields_of
from discreet.trust.telling import DeclaredQuestion, told

LEAST_PAUSE, MOST_PAUSE = 0.1, 5.0  # seconds between two looks at a question that is being worked on
MOST_LOOKS = 20_000  # more than a day of them
WAYS = "Ask statistics, learners, SQL or reports; or site.ask(...) in words."


class SiteLedger:
    """Sends what is charged, as it was declared, to the site; takes its releases, and recomputes what they cost.

    The site computes the price itself. What it says that it charged is compared with what was asked here, and so is,
    when the releases are read, the question and the noise of each; a site that charged another event is refused.

    Parameters
    ----------
    line : SiteLine
        To the site.
    name : str
        Public. Of the data set.
    described : SchemaFile
        Public. Its columns, relation and unit.
    """

    elsewhere = True

    def __init__(self, line: SiteLine, name: str, described: SchemaFile) -> None:
        self._line, self._name, self._described = line, name, described

    @property
    def neighbors(self) -> Neighbors | None:
        """The relation."""
        return self._described.neighbors

    @property
    def unit(self) -> Unit | None:
        """The unit."""
        return self._described.unit

    @cached_property
    def budget(self) -> Budget:
        """The cap for everybody together, as it was when it was first looked at."""
        return self.balance().budget

    @property
    def head(self) -> str:
        """The newest head that this caller knows: that of the last of its charges."""
        entries = self.entries()
        return entries[-1].head if entries else ""

    def reserve(
        self,
        event: Event,
        purpose: str,
        *,
        request: bytes | str,
        key: str | None = None,
        analyst: str | None = None,
        waiver: str | None = None,
        secret: bool = True,
    ) -> Reservation | Committed:
        """Have the site answer the question that is being asked, and give what it paid for."""
        asked = told()
        if asked is None:
            obstacle = "it is charged and answered elsewhere, where only questions are taken that are declared"
            raise NotPermitted(purpose, obstacle, WAYS)
        if asked.paid is None:
            asked.paid = self._answered(asked, purpose, fresh_key() if key is None else key)
        if not asked.paid:
            raise _disagrees(purpose, "it charged for less than was asked")
        done, theirs = asked.paid.pop(0)
        if written(theirs) != written(event):
            raise _disagrees(purpose, "it charged for something else than was asked")
        found: Committed = done
        return found

    def _answered(self, asked: DeclaredQuestion, purpose: str, key: str) -> list[tuple[Committed, Event]]:
        """What the site paid for, once it has an answer."""
        price = {"epsilon": asked.budget.epsilon, "delta": asked.budget.delta}
        status, said = self._line.post(
            "data", self._name, "ask", question=_plain(asked.plain), key=key, stored=True, **price
        )
        pause, here_first = LEAST_PAUSE, status == 202
        for _ in range(MOST_LOOKS):
            if status != 202:
                break
            if fields_of(said, purpose, state=str)["state"] == "waiting":
                obstacle = "it waits for a curator of the site"
                raise NotPermitted(
                    purpose, obstacle, f"Ask the same again later with key={key!r}.", "Nothing was charged."
                )
            time.sleep(pause)
            pause = min(MOST_PAUSE, 1.5 * pause)
            status, said = self._line.post("asked", fields_of(said, purpose, id=str)["id"], "answer", stored=True)
        else:
            obstacle = "it is still being worked on"
            raise EngineFailure(purpose, obstacle, f"Ask the same again later with key={key!r}.", "It may be charged.")
        return self._read(asked, purpose, said, here_first)

    def _read(
        self, asked: DeclaredQuestion, purpose: str, said: Any, here_first: bool
    ) -> list[tuple[Committed, Event]]:
        """What the site paid for; paid now, where this question has been worked on since it was asked here."""
        try:
            paid = [
                _committed({**one, **({"replayed": False} if here_first else {})}, read(json.dumps(one["event"])))
                for one in said["paid"]
            ]
            asked.kept = {result_digest(data): data for data in map(base64.b64decode, said["kept"].values())}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as why:
            raise _disagrees(purpose, "what it sent is no answer") from why
        return paid

    def commit(self, reservation: Reservation, result: bytes, stated: Mapping[str, Any] | None = None) -> Committed:
        """Refused: what is charged there is committed there."""
        raise LedgerError(self._name, "its account is elsewhere", WAYS)

    def keep(self, data: bytes) -> None:
        """Refused, as `commit`."""
        raise LedgerError(self._name, "its account is elsewhere", WAYS)

    def kept(self, digest: str) -> bytes | None:
        """What the site sent with its answer that is too large for a result, under its digest."""
        asked = told()
        return None if asked is None else asked.kept.get(digest)

    def fail(self, reservation: Reservation, asked: str) -> None:
        """Nothing: nothing is reserved here."""

    def affords(self, event: Event, *, analyst: str | None = None) -> bool:
        """Whether the site would charge this now."""
        return self.often(event, 1) > 0

    def often(self, event: Event, most: int, *, analyst: str | None = None) -> int:
        """How often the site would charge this from now on."""
        said = self._line.post("data", self._name, "often", event=json.loads(written(event)), most=most)[1]
        times = said.get("times") if isinstance(said, dict) else None
        if not isinstance(times, int) or not 0 <= times <= most:
            raise _disagrees(f"price in {self._name}", "what it sent is no number of times")
        return times

    def balance(self, analyst: str | None = None) -> Balance:
        """How the account of the data set stands, or the own one of this caller, where it has one."""
        view = self._line.get("data", self._name)
        try:
            found = view["balances"].get("data set" if analyst is None else analyst)
            if found is not None:
                return Balance(Budget(found["epsilon"], found["delta"]), float(found["certified"]))
        except (KeyError, TypeError, ValueError, AttributeError) as why:
            raise _disagrees(f"balance of {self._name}", "what it sent is no balance") from why
        raise NotPermitted(f"balance of {self._name}", "there is none to be seen", "Ask a curator of the site.")

    def entries(self) -> tuple[Entry, ...]:
        """The charges of this caller, oldest first."""
        said = self._line.get("data", self._name, "history")
        try:
            return tuple(map(_entry, said["charges"]))
        except (KeyError, TypeError, ValueError, AttributeError) as why:
            raise _disagrees(f"history of {self._name}", "what it sent is no history") from why


def _entry(said: Mapping[str, Any]) -> Entry:
    event = read(json.dumps(said["event"]))
    epsilon = math.inf if said["epsilon"] is None else said["epsilon"]
    return Entry(**{**said, "event": event, "epsilon": epsilon})


def _committed(said: Mapping[str, Any], event: Event) -> tuple[Committed, Event]:
    """What was paid for, and for which event; its checkpoint, if the site signs, has to be about the same."""
    result, signed = base64.b64decode(said["result"]), said["checkpoint"]
    checkpoint = None if signed is None else Checkpoint(**signed)
    if checkpoint is not None:
        cost = epsilon(event, checkpoint.delta) if checkpoint.delta else pure_epsilon(event)
        signed = checkpoint.head, checkpoint.result, checkpoint.epsilon
        if signed != (said["head"], result_digest(result), cost):
            raise ValueError("its checkpoint is of another charge")
    done = Committed(
        str(said["key"]),
        int(said["number"]),
        str(said["head"]),
        str(said["at"]),
        result,
        said["replayed"],
        said["stated"],
        checkpoint,
    )
    return done, event


def _plain(value: Any) -> Any:
    """Values as they travel: tuples are marked, so that they arrive as such."""
    match value:
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
        case tuple():
            return {"tuple": [_plain(one) for one in value]}
        case list():
            return [_plain(one) for one in value]
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): _plain(one) for key, one in value.items()}
        case PrivateEstimator():
            return {"learner": type(value).__name__, "parameters": _plain(value.said())}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    raise NotPermitted(
        "ask a site", f"a {type(value).__name__} does not travel", "Give numbers, texts, and lists of these."
    )


def _disagrees(purpose: str, obstacle: str) -> Disagreement:
    remedy = "Use the same version of discreet there and here; or ask a curator of the site."
    return Disagreement(purpose, obstacle, remedy, "It was charged there; nothing of it is used here.")
