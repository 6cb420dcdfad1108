"""The request of a key: paid once, with one result."""

from __future__ import annotations

import hashlib

from discreet.core.errors import Dangling, KeyReused
from discreet.core.events import Event, written
from discreet.core.ledger import Committed
from discreet.ledger.chain import ChainEntry, canonical, day


def request_digest(event: Event, request: bytes | str, analyst: str | None) -> str:
    """What identifies a request under a key."""
    raw = request.encode() if isinstance(request, str) else request
    text = canonical([written(event), hashlib.sha256(raw).hexdigest(), analyst])
    return hashlib.sha256(text.encode()).hexdigest()


def result_digest(result: bytes) -> str:
    """What an entry keeps of a result."""
    return hashlib.sha256(result).hexdigest()


def paid(reserved: ChainEntry, done: ChainEntry | None, digest: str) -> ChainEntry:
    """The commit that this request, sent again, is answered with."""
    asked = f"key {reserved.key}"
    if reserved.fields["request"] != digest:
        raise KeyReused(asked, "it belongs to another request", "Use a new key for a new request.", key=reserved.key)
    if done is None:
        raise Dangling(
            asked,
            "it was charged and has no result yet; whoever charged it may still be at work, or died",
            "Wait, or ask with a new key, which is charged anew.",
            "The charge stays spent, and nothing was handed out for it.",
            key=reserved.key,
        )
    return done


def check_same(done: ChainEntry, result: bytes) -> None:
    """Refuse a second result for the same charge."""
    if done.fields["result"] != result_digest(result):
        raise KeyReused(
            f"commit {done.key}",
            "it was committed with another result, and one charge pays for one result",
            "Hand out the stored result, or reserve anew.",
            key=done.key,
        )


def committed(link: ChainEntry, result: bytes, replayed: bool) -> Committed:
    """The commit as its caller sees it."""
    fields = link.fields
    return Committed(link.key, link.number, link.hash, day(fields["at"]), result, replayed, fields.get("stated"))
