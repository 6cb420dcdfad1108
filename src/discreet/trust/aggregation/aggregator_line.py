"""How devices, leaders and askers reach an aggregator: HTTP with TLS, or on this machine; answers of bounded size."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import ssl
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from discreet.core.errors import EngineFailure
from discreet.crypto.errors import UNOPENED
from discreet.trust.aggregation.dap import HpkeConfig, Rejected, read_configs, rejected
from discreet.trust.aggregation.published_task import PublishedTask, check_address

MOST_ANSWER = 64 * 2**20  # bytes
PATIENCE = 60.0  # seconds for an answer
ATTEMPTS, PAUSE = 4, 0.2  # tries, and seconds before the second one; twice as long before each further one
LATER = (429, 502, 503, 504)
PROBLEM = "urn:ietf:params:ppm:dap:error:"


def written_id(identifier: bytes) -> str:
    """An identifier in a path: base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(identifier).decode().rstrip("=")


@dataclass(frozen=True)
class AggregatorLine:
    """One aggregator of a task, as others reach it.

    Parameters
    ----------
    published : PublishedTask
        Public. The task.
    address : str
        Public. The leader's or the helper's.
    token : bytes
        With which requests show who they are from; none for devices.
    trusted : str, optional
        Public. A file of certificates to trust in place of the system's.
    attempts : int
        Public. How often a request is tried while nobody answers.
    """

    published: PublishedTask
    address: str
    token: bytes = field(default=b"", repr=False)
    trusted: str | None = None
    attempts: int = ATTEMPTS

    def __post_init__(self) -> None:
        check_address(self.address)

    def configs(self) -> list[HpkeConfig]:
        """The keys to seal shares for, the first one to be used."""
        return read_configs(self.asked("GET", f"/hpke_config?task_id={written_id(self.published.identifier)}"))

    def begin(self, job: bytes, request: bytes) -> bytes:
        return self.told("PUT", f"aggregation_jobs/{written_id(job)}", request)

    def finish(self, job: bytes, request: bytes) -> bytes:
        return self.told("POST", f"aggregation_jobs/{written_id(job)}", request)

    def share(self, request: bytes) -> bytes:
        return self.told("POST", "aggregate_shares", request)

    def told(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """What it answers to a request about the task."""
        return self.asked(method, f"/tasks/{written_id(self.published.identifier)}/{path}", body)

    def asked(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """What it answers; a request is sent again, in the same words, while nobody does.

        Raises
        ------
        Rejected
            It refused; `kind` is the reason.
        EngineFailure
            Nobody answered.
        """
        trouble = "it did not answer"
        for attempt in range(self.attempts):
            if attempt:
                time.sleep(PAUSE * 2 ** (attempt - 1))
            try:
                status, answer = self._once(method, path, body)
            except (OSError, http.client.HTTPException) as why:
                trouble = f"it could not be reached ({type(why).__name__})"
                continue
            if status < 300:
                return answer
            if status not in LATER:
                raise _refusal(status, answer)
            trouble = f"it answers with status {status}"
        remedy = "Send it again later: the same words are counted once."
        raise EngineFailure(f"aggregator at {self.address}", trouble, remedy, UNOPENED)

    def _once(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        with contextlib.closing(self._line()) as line:
            headers = {"Authorization": f"Bearer {self.token.hex()}"} if self.token else {}
            line.request(method, urlsplit(self.address).path + path, body, headers)
            answer = line.getresponse()
            found = answer.read(MOST_ANSWER + 1)
            if len(found) > MOST_ANSWER:
                raise rejected("invalidMessage", f"it answers with more than {MOST_ANSWER} bytes", "Ask its owner.")
            return answer.status, found

    def _line(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.address)
        assert parts.hostname is not None
        if parts.scheme == "http":
            return http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
        context = ssl.create_default_context(cafile=self.trusted)
        return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=PATIENCE, context=context)


def _refusal(status: int, answer: bytes) -> Rejected:
    """The error that an aggregator's problem document tells of; what it says is shown, and not believed."""
    try:
        told = json.loads(answer[: 2**14])
        kind, why, remedy = str(told["type"]).removeprefix(PROBLEM), str(told["detail"]), str(told.get("remedy", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        kind, why, remedy = "", f"status {status}", ""
    return rejected(kind[:40], f"it refuses: {why[:500]}", remedy[:500] or "Ask its owner.")
