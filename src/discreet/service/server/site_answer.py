"""What a site gives to a question: an answer with its receipt, or word of what it waits for."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.events import Event, written
from discreet.core.held import unheld
from discreet.core.ledger import Committed
from discreet.core.receipt import Receipt
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.query.report import Report
from discreet.releases.release import Release, finite

MOST_SHOWN = 2**20  # letters of a result that is shown; of a longer one the client makes its own

KEPT_WRITTEN = 2**15  # bytes of an answer that are kept as they are sent


@unheld("cache")
@dataclass(frozen=True)
class SiteAnswer:
    """An answer, or what is known of one that is not there yet.

    Parameters
    ----------
    id : str
        Of the question, by which its answer is asked for again.
    data, key : str
        The data set, and the key under which it was paid for.
    state : str
        "done"; or "waiting" for a curator, "queued", "running".
    result : dict, optional
        What was released, as plain numbers, texts and lists.
    text : str
        The same for people; or what is waited for.
    receipt : Receipt, optional
        What it cost.
    paid : tuple of (Event, Committed)
        What the ledger has: from it the same result can be made elsewhere.
    released : Release, Report or learner, optional
        The result itself.
    replayed : bool
        Whether it was paid for earlier, and cost nothing now.
    due : float
        When it may leave, by the clock that only goes forward.
    """

    id: str
    data: str
    key: str
    state: str
    result: dict[str, Any] | None = None
    text: str = ""
    receipt: Receipt | None = None
    paid: tuple[tuple[Event, Committed], ...] = field(default=(), repr=False)
    kept: dict[str, bytes] = field(default_factory=dict, repr=False)
    released: Any = field(default=None, repr=False)
    replayed: bool = False
    due: float = 0.0
    _written: dict[bool, bytes] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def done(self) -> bool:
        """Whether there is an answer."""
        return self.state == "done"

    @property
    def size(self) -> int:
        """The bytes of what was paid for."""
        return sum(len(done.result) for _, done in self.paid) + sum(map(len, self.kept.values()))

    def to_dict(self, stored: bool = False) -> dict[str, Any]:
        """The answer as plain numbers, texts and lists; with what the ledger has, if that is asked for."""
        about = {"id": self.id, "data": self.data, "key": self.key, "state": self.state, "text": self.text}
        if not self.done or self.receipt is None:
            return about
        found = {**about, "result": self.result, "receipt": finite(self.receipt.to_dict())}
        return (
            found
            if not stored
            else {**found, "paid": [_paid(*one, self.replayed) for one in self.paid], "kept": self._kept()}
        )

    def written(self, stored: bool = False) -> bytes:
        """The same as JSON; a short one is kept, since the next one who asks is given the same bytes."""
        found = self._written.get(stored)
        if found is None:
            found = json.dumps(self.to_dict(stored), allow_nan=False, separators=(",", ":")).encode()
            if self.due == 0.0 and len(found) <= KEPT_WRITTEN:
                self._written[stored] = found
        return found

    def _kept(self) -> dict[str, str]:
        return {digest: base64.b64encode(data).decode() for digest, data in self.kept.items()}


def _paid(event: Event, done: Committed, replayed: bool) -> dict[str, Any]:
    return {
        "event": json.loads(written(event)),
        "key": done.key,
        "number": done.number,
        "head": done.head,
        "at": done.at,
        "replayed": replayed,
        "result": base64.b64encode(done.result).decode(),
        "stated": None if done.stated is None else dict(done.stated),
        "checkpoint": None if done.checkpoint is None else vars(done.checkpoint),
    }


def receipt_of(released: Any) -> Receipt:
    """The receipt of whatever a question came to."""
    found: Receipt = released.receipt_ if isinstance(released, PrivateEstimator) else released.receipt
    return found


def plain_result(released: Any) -> dict[str, Any]:
    """What was released, as plain numbers, texts and lists; a long one is not even written out."""
    if _count(released) > MOST_SHOWN // 4:
        return _too_long(released)
    match released:
        case Report():
            found = json.loads(released.to_json())
        case PrivateEstimator():
            found = {"kind": type(released).__name__, "attributes": _attributes(released)}
        case Release():
            found = finite(released.figures())
        case _:
            found = {"kind": type(released).__name__, "text": str(released)}
    flat = not any(isinstance(one, list | dict) for one in found.values())
    if not flat and len(json.dumps(found)) > MOST_SHOWN:
        found = _too_long(released)
    found.pop("receipt", None)
    return found


def _count(released: Any) -> int:
    """How many numbers there are in its arrays."""
    return sum(one.size for one in vars(released).values() if isinstance(one, np.ndarray))


def _too_long(released: Any) -> dict[str, Any]:
    return {"kind": type(released).__name__, "text": "too long to be shown; see the client"}


def _attributes(model: PrivateEstimator) -> dict[str, Any]:
    """The fitted attributes that are numbers, texts and arrays."""
    found = {}
    for name, value in vars(model).items():
        plain = value.tolist() if hasattr(value, "tolist") else value
        if name.endswith("_") and not name.startswith("_") and _is_plain(plain):
            found[name] = finite(plain)
    return found


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def next_moment(begun: float, now: float, period: float) -> float:
    """The first public moment after now: a multiple of the period after it began.

    Examples
    --------
    >>> next_moment(10.0, 10.1, 0.25), next_moment(10.0, 10.6, 0.25), next_moment(10.0, 10.6, 0.0)
    (10.25, 10.75, 10.6)
    """
    return begun + period * (math.floor((now - begun) / period) + 1) if period > 0 else now
