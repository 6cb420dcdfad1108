"""The line from a client to a site: JSON over HTTP, TLS beyond this machine, retries that are charged once."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from discreet.core import errors
from discreet.core.errors import DiscreetError, EngineFailure, ParameterError
from discreet.core.held import unheld
from discreet.crypto.errors import Disagreement
from discreet.service.server.site_file import is_this_machine
from discreet.service.server.site_refusals import NotHere, ReadOnlySite, TooLarge, TooMany, Unrecognised

TRIES = 5
PAUSE = 0.2  # seconds before the second try; twice as long before each further one
MOST_ANSWER = 2**28  # bytes
OWN: dict[str, type[DiscreetError]] = {
    kind.__name__: kind for kind in (NotHere, ReadOnlySite, TooLarge, TooMany, Unrecognised)
}
AGAIN = (429, 503)


class _OwnConnection(threading.local):
    """The connection of each thread, opened when it is first used."""

    def __init__(self, host: str, port: int | None, context: ssl.SSLContext | None, timeout: float) -> None:
        self._place: tuple[str, int | None] = (host, port)
        self._context, self._timeout = context, timeout
        self._line: http.client.HTTPConnection | None = None

    def exchanged(self, method: str, place: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        if self._line is None:
            self._line = self._opened()
        self._line.request(method, place, body, headers)
        answer = self._line.getresponse()
        data = answer.read(MOST_ANSWER + 1)
        if len(data) > MOST_ANSWER:
            raise http.client.HTTPException("the answer is too long")
        return answer.status, data

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _opened(self) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(*self._place, timeout=self._timeout)
        return http.client.HTTPSConnection(*self._place, timeout=self._timeout, context=self._context)


@unheld("releases")
class SiteLine:
    """Sends requests with a key, one connection for each thread.

    Parameters
    ----------
    address : str
        Such as "https://site.example:8400"; "http://" on this machine alone.
    key : str
        Which the site gave out. It is sent in a header, and shown nowhere.
    trusted : path, optional
        Certificates to trust in place of the system's.
    timeout : float
        Seconds that an answer may take to arrive.
    """

    def __init__(self, address: str, key: str, trusted: str | Path | None = None, timeout: float = 120.0) -> None:
        parts = urlsplit(address)
        asked = "connect"
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ParameterError(asked, f"{address!r:.80} is no address of a site", 'Give "https://HOST:PORT".')
        if parts.scheme == "http" and not is_this_machine(parts.hostname):
            raise ParameterError(asked, f"{parts.hostname} would get the key in the clear", "Use https://.")
        if not isinstance(key, str) or not key.isascii() or not key.isprintable() or " " in key or not key:
            raise ParameterError(asked, "the key is none that a site gives out", "Give it as it was shown.")
        self.address, self._key = f"{parts.scheme}://{parts.netloc}", key
        context = ssl.create_default_context(cafile=trusted) if parts.scheme == "https" else None
        self._own = _OwnConnection(parts.hostname, parts.port, context, timeout)

    def get(self, *path: str) -> Any:
        """What is there."""
        return self._sent("GET", path, None)[1]

    def post(self, *path: str, **fields: Any) -> tuple[int, Any]:
        """The status and the content of what a request gives; a request that may be charged carries its key."""
        return self._sent("POST", path, json.dumps(fields, allow_nan=False).encode())

    def close(self) -> None:
        """End the connection of this thread."""
        self._own.close()

    def _sent(self, method: str, path: tuple[str, ...], body: bytes | None) -> tuple[int, Any]:
        """Send, and again where the line broke or the site says so: what was paid for is under its key."""
        place = "/".join(["/api", *(quote(one, safe="") for one in path)])
        pause = PAUSE
        for left in reversed(range(TRIES)):
            try:
                status, data = self._own.exchanged(method, place, body, self._headers(body))
            except (OSError, http.client.HTTPException) as why:
                self.close()
                if isinstance(why, ssl.SSLCertVerificationError) or not left:
                    raise self._unreached(why) from why
            else:
                if status < 400:
                    return status, self._read(data)
                refusal = self._refusal(status, data)
                if status not in AGAIN or not left or isinstance(refusal, ReadOnlySite):
                    raise refusal
            time.sleep(pause)
            pause *= 2
        raise AssertionError("the last try raises")

    def _headers(self, body: bytes | None) -> dict[str, str]:
        kind = {"Content-Type": "application/json"} if body is not None else {}
        return {"Authorization": f"Bearer {self._key}", **kind}

    def _read(self, data: bytes) -> Any:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise self._unreached(ValueError("its answer is no JSON")) from None

    def _refusal(self, status: int, data: bytes) -> DiscreetError:
        """What the site refused, as the same kind of error."""
        try:
            said = json.loads(data)
            parts = [str(said[name]) for name in ("asked", "obstacle", "remedy", "consequence")]
            values = {str(name): one for name, one in dict(said.get("values", {})).items() if str(name).isidentifier()}
            kind: Any = OWN.get(said["error"]) or getattr(errors, str(said["error"]), DiscreetError)
            known = isinstance(kind, type) and issubclass(kind, DiscreetError)
            apart = {"asked", "obstacle", "remedy", "consequence", "values", "args", "settle"}
            values = {name: one for name, one in values.items() if name not in apart and not name.startswith("_")}
            return (kind if known else DiscreetError)(*parts, **values)
        except (ValueError, KeyError, TypeError, RecursionError):
            return EngineFailure(self.address, f"it answered with status {status}", "Ask its curator.", "")

    def _unreached(self, why: Exception) -> EngineFailure:
        obstacle = f"it cannot be reached ({why})"
        return EngineFailure(
            self.address,
            obstacle,
            "Ask again; with the same key, nothing is charged twice.",
            "It may have been charged.",
        )


def fields_of(said: Any, asked: str, /, **kinds: Any) -> dict[str, Any]:
    """What a site said under these names, each of its kind; what it says may be anything.

    Examples
    --------
    >>> fields_of({"state": "queued", "more": 1}, "answer", state=str)
    {'state': 'queued'}
    """
    whole = isinstance(said, dict) and all(isinstance(said.get(name), kind) for name, kind in kinds.items())
    if not whole:
        obstacle = f"what the site sent has no {', '.join(kinds)}"
        raise Disagreement(
            asked, obstacle, "Use the same version of discreet there and here.", "Nothing of it is used."
        )
    return {name: said.get(name) for name in kinds}
