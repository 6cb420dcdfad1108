"""A collector of reports over HTTP: it sees messages, never values."""

from __future__ import annotations

import base64
import json
import sqlite3
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from discreet.core.errors import DiscreetError, KeyReused, ParameterError
from discreet.local.protocol import published
from discreet.local.randomizer import UNCOUNTED
from discreet.local.report_store import Envelope, ReportStore

MOST_BYTES = 8 * 2**20  # of a request
MOST_REPORTS = 10_000  # in a request
PATIENCE = 30  # seconds for a request to arrive


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

    def __init__(self, store: ReportStore, host: str = "127.0.0.1", port: int = 0) -> None:
        self.store = store
        super().__init__((host, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong, and not with whom: the base class prints addresses."""
        print(f"a request was not answered: {sys.exc_info()[1]!r}", file=sys.stderr, flush=True)


class _Handler(BaseHTTPRequestHandler):
    """Answers one request after the other of a connection."""

    server: Collector
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "discreet", ""
    timeout = PATIENCE

    def do_GET(self) -> None:
        match self.path:
            case "/protocol":
                self._answer(HTTPStatus.OK, published(self.server.store.randomizer))
            case "/status":
                self._answer(HTTPStatus.OK, {"n": self.server.store.count()})
            case _:
                self._answer(HTTPStatus.NOT_FOUND, {"error": "There are /protocol, /status and /reports."})

    def do_POST(self) -> None:
        try:
            if self.path != "/reports":
                self._answer(HTTPStatus.NOT_FOUND, {"error": "Post to /reports."}, close=True)
                return
            length = int(self.headers.get("Content-Length", "-1"))
            if not 0 <= length <= MOST_BYTES:
                error = f"Send at most {MOST_BYTES} bytes, and say how many."
                self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": error}, close=True)
                return
            done = self.server.store.add(envelopes(self.rfile.read(length)))
            self._answer(HTTPStatus.OK, vars(done))
        except KeyReused as refusal:
            self._answer(HTTPStatus.CONFLICT, {"error": str(refusal)})
        except (DiscreetError, ValueError) as refusal:
            self._answer(HTTPStatus.BAD_REQUEST, {"error": str(refusal)})
        except sqlite3.Error as trouble:  # a full disk
            error = f"collect: the store says: {trouble}. Nothing was counted. Send it again later."
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, {"error": error})

    def _answer(self, status: HTTPStatus, content: dict[str, Any], close: bool = False) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if close:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a log of addresses and times would undo what devices do."""


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
