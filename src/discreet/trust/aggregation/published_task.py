"""A task as it is given to devices: where its aggregators are, for whom its sum is sealed, and when it runs."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from urllib.parse import urlsplit

from discreet.core.errors import ParameterError
from discreet.crypto.messages import framed
from discreet.trust.aggregation.aggregation_task import AggregationTask

SKEW = 300  # seconds by which a device's clock may be ahead
HOUR, DAY = 3600, 24 * 3600
KEY = 32  # bytes


@dataclass(frozen=True)
class PublishedTask:
    """What devices, leader, helper and collector all have: an aggregation task and how it is carried out.

    Nothing in it is secret. Its identifier follows from all of it, and every sealed share is bound to the identifier: a
    device that is shown another address, collector or time makes reports that are of no use here.

    Parameters
    ----------
    task : AggregationTask
        Public. The question and the noise, for two aggregators.
    leader, helper : str
        Public. Their addresses: https, or http on this machine.
    collector : bytes
        Public. The key for which shares of the sum are sealed.
    start, duration : int
        Public. When reports are taken, in seconds since 1970, and for how many seconds.
    precision : int
        Public. Seconds to which the time of a report is rounded down.

    Examples
    --------
    >>> from discreet.core.events import LaplaceLoss
    >>> from discreet.questions.recipe import Recipe
    >>> from discreet.schema.schema import Schema
    >>> count = AggregationTask("1", Recipe("count", {"column": "x0"}), LaplaceLoss(1.0), Schema.numeric(0.0, 1.0, 1))
    >>> published = PublishedTask(count, "http://127.0.0.1:8001", "http://127.0.0.1:8002", bytes(range(32)), 0)
    >>> published.rounded(4000), len(published.identifier)
    (3600, 32)
    """

    task: AggregationTask
    leader: str
    helper: str
    collector: bytes
    start: int
    duration: int = 365 * DAY
    precision: int = HOUR

    def __post_init__(self) -> None:
        if self.task.aggregators != 2:
            raise ParameterError("task", f"it has {self.task.aggregators} aggregators", "Have a leader and a helper.")
        for address in (self.leader, self.helper):
            check_address(address)
        if self.leader == self.helper:
            raise ParameterError("task", "leader and helper have one address", "Let two people run them.")
        if len(self.collector) != KEY:
            raise ParameterError("task", f"the collector's key has {len(self.collector)} bytes", f"Give {KEY}.")
        if not (0 <= self.start < 2**40 and 1 <= self.duration < 2**40 and 1 <= self.precision <= 2**32):
            raise ParameterError("task", "its times make no sense", "Give a start, a duration and a precision.")

    @cached_property
    def identifier(self) -> bytes:
        """The DAP task_id, 32 bytes: a hash of everything here."""
        numbers = [self.leader, self.helper, self.start, self.duration, self.precision]
        return sha256(
            framed(b"discreet task 1", self.task.digest, json.dumps(numbers).encode(), self.collector)
        ).digest()

    def rounded(self, now: float) -> int:
        """The time of a report that is made now."""
        return int(now) // self.precision * self.precision

    def is_early(self, time: int, now: float) -> bool:
        """Whether a report's time has not come yet, by more than clocks differ."""
        return time > now + SKEW

    def is_outside(self, time: int) -> bool:
        """Whether a report was made before the task began or after it ended."""
        return not self.rounded(self.start) <= time < self.start + self.duration


def check_address(address: str) -> None:
    """Refuse an address that others on the way could read: only https, or http on this machine."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    plain = bool(host) and not (parts.username or parts.query or parts.fragment) and not parts.path.endswith("/")
    if not plain or not (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))):
        remedy = "Give https://HOST, or http://127.0.0.1:PORT on this machine."
        raise ParameterError("address of an aggregator", f"{address[:80]!r} is read by others on the way", remedy)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("example.org")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
