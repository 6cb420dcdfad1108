"""A collector of reports over HTTP: it sees messages, never values."""

from __future__ import annotations

import base64
import json
import sqlite3
from http import HTTPStatus

from discreet.core.errors import DiscreetError, KeyReused, ParameterError
from discreet.local.protocol import published
from discreet.local.randomizer import UNCOUNTED
from discreet.local.report_store import Envelope, ReportStore
from discreet.service.bounded_http import BoundedHandler, BoundedServer

MOST_BYTES = 8 * 2**20  # of a request
MOST_REPORTS = 10_000  # in a request


class Collector(BoundedServer):
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

    def __init__(self, store: ReportStore, host: str = "127.0.0.1", port: int = 0) -> None:
        self.store = store
        super().__init__(host, port, _Handler)


class _Handler(BoundedHandler):
    """Answers one request after the other of a connection."""

    server: Collector
    uncounted = UNCOUNTED

    def do_GET(self) -> None:
        self.check_alone()
        match self.path:
            case "/protocol":
                self.answer(HTTPStatus.OK, published(self.server.store.randomizer))
            case "/status":
                self.answer(HTTPStatus.OK, {"n": self.server.store.count()})
            case _:
                self.answer(HTTPStatus.NOT_FOUND, {"error": "There are /protocol, /status and /reports."})

    def do_POST(self) -> None:
        if self.path != "/reports":
            self.answer(HTTPStatus.NOT_FOUND, {"error": "Post to /reports."}, close=True)
        elif (body := self.body(MOST_BYTES)) is not None:
            self._collect(body)

    def _collect(self, body: bytes) -> None:
        try:
            done = self.server.store.add(envelopes(body))
            self.answer(HTTPStatus.OK, vars(done))
        except KeyReused as refusal:
            self.answer(HTTPStatus.CONFLICT, {"error": str(refusal)})
        except (DiscreetError, ValueError) as refusal:
            self.answer(HTTPStatus.BAD_REQUEST, {"error": str(refusal)})
        except sqlite3.Error as trouble:  # a full disk
            error = f"collect: the store says: {trouble}. Nothing was counted. Send it again later."
            self.answer(HTTPStatus.SERVICE_UNAVAILABLE, {"error": error})


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
