"""A collector of reports over HTTP: it sees messages, never values."""

from __future__ import annotations

import base64
import io
import json
import socket
import sqlite3
import sys
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from discreet.core.errors import DiscreetError, KeyReused, ParameterError
from discreet.local.protocol import published
from discreet.local.randomizer import UNCOUNTED
from discreet.local.report_store import Envelope, ReportStore

MOST_BYTES = 8 * 2**20  # of a request
MOST_REPORTS = 10_000  # in a request
PATIENCE = 30  # seconds for a request to arrive, from its first byte to its last
DIGITS = 18  # of a length
BACKLOG = 1024  # devices that wait to be heard


class Collector(ThreadingHTTPServer):
    """Serves a store.

    `GET /protocol` says what devices have to know (`local.protocol`). `GET /status` has the number of reports.
    `POST /reports` takes `{"reports": [{"id": 32 hexadecimal digits, "message": base64}, ...]}` and answers, once they
    are on disk, `{"new": ..., "repeated": ...}`. A request is counted whole or, with status 400, 409, 413 or 503 and an
    `error`, not at all; it may be sent again until it is answered.

    Nothing about a sender is kept or logged. Put a server in front of it that ends TLS and keeps no addresses.

    Parameters
    ----------
    store : ReportStore
        Where reports are kept.
    host, port : str, int
        Where to listen; port 0 for any that is free.
    """

    daemon_threads = True
    request_queue_size = BACKLOG

    def __init__(self, store: ReportStore, host: str = "127.0.0.1", port: int = 0) -> None:
        self.store = store
        super().__init__((host, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong, and not with whom: the base class prints addresses."""
        print(f"a request was not answered: {sys.exc_info()[1]!r}", file=sys.stderr, flush=True)


class _Patient(io.RawIOBase):
    """What arrives from a sender until a moment: however slowly it comes, nobody waits longer."""

    def __init__(self, line: socket.socket) -> None:
        self.until = 0.0
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("a request took too long to arrive")
        self._line.settimeout(left)
        return self._line.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    """Answers one request after the other of a connection."""

    server: Collector
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "discreet", ""
    timeout = PATIENCE
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._arriving = _Patient(self.connection)
        self.rfile = io.BufferedReader(self._arriving)

    def handle_one_request(self) -> None:
        """Give all of it, from the first byte to the last, the same seconds."""
        self._arriving.until = time.monotonic() + PATIENCE
        super().handle_one_request()

    def do_GET(self) -> None:
        alone = "Content-Length" not in self.headers and "Transfer-Encoding" not in self.headers
        self.close_connection = self.close_connection or not alone  # what else there is would be read as a request
        match self.path:
            case "/protocol":
                self._answer(HTTPStatus.OK, published(self.server.store.randomizer))
            case "/status":
                self._answer(HTTPStatus.OK, {"n": self.server.store.count()})
            case _:
                self._answer(HTTPStatus.NOT_FOUND, {"error": "There are /protocol, /status and /reports."})

    def do_POST(self) -> None:
        length = self._length()
        if self.path != "/reports":
            self._answer(HTTPStatus.NOT_FOUND, {"error": "Post to /reports."}, close=True)
        elif length is None:
            error = f"Send a body, and once, in decimal digits, its Content-Length. {UNCOUNTED}"
            self._answer(HTTPStatus.BAD_REQUEST, {"error": error}, close=True)
        elif length > MOST_BYTES:
            error = f"Send at most {MOST_BYTES} bytes. {UNCOUNTED}"
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": error}, close=True)
        else:
            self._collect(self.rfile.read(length))

    def _length(self) -> int | None:
        """How long the body is, if that is said in the one way in which nobody can be mistaken about it."""
        said = self.headers.get_all("Content-Length", [])
        plain = len(said) == 1 and "Transfer-Encoding" not in self.headers and said[0].isascii() and said[0].isdecimal()
        return int(said[0]) if plain and len(said[0]) <= DIGITS else None

    def _collect(self, body: bytes) -> None:
        try:
            done = self.server.store.add(envelopes(body))
            self._answer(HTTPStatus.OK, vars(done))
        except KeyReused as refusal:
            self._answer(HTTPStatus.CONFLICT, {"error": str(refusal)})
        except (DiscreetError, ValueError) as refusal:
            self._answer(HTTPStatus.BAD_REQUEST, {"error": str(refusal)})
        except sqlite3.Error as trouble:  # a full disk
            error = f"collect: the store says: {trouble}. Nothing was counted. Send it again later."
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, {"error": error})

    def _answer(self, status: HTTPStatus, content: dict[str, Any], close: bool = False) -> None:
        """Send headers and body together, since a sender may wait with its receipt of the first part for the second."""
        body, line = json.dumps(content).encode(), self.wfile
        self.wfile = together = io.BytesIO()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if close or self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile = line
        self.connection.settimeout(PATIENCE)
        self.wfile.write(together.getvalue() + body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log: addresses and times would undo what devices do."""


def envelopes(body: bytes) -> list[Envelope]:
    """The messages of a request.

    Examples
    --------
    >>> envelopes(b'{"reports": [{"id": "000102030405060708090a0b0c0d0e0f", "message": "QUI="}]}')[0].message
    b'AB'
    """
    try:
        listed = json.loads(body)["reports"]
        found = [Envelope(bytes.fromhex(one["id"]), base64.b64decode(one["message"], validate=True)) for one in listed]
    except (ValueError, KeyError, TypeError, RecursionError) as why:
        form = '{"reports": [{"id": "...", "message": "..."}, ...]}'
        raise ParameterError("collect", f"the request is not of the form {form} ({why})", "", UNCOUNTED) from why
    if len(found) > MOST_REPORTS:
        raise ParameterError("collect", f"{len(found)} reports at once", f"Send {MOST_REPORTS}.", UNCOUNTED)
    return found
