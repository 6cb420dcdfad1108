"""Leader and helper over HTTP: the paths and problem documents of draft-ietf-ppm-dap-13."""

from __future__ import annotations

import hmac
import sqlite3
import ssl
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import numpy as np

from discreet.core.errors import BudgetExceeded, DiscreetError, EngineFailure, ParameterError
from discreet.core.held import unheld
from discreet.crypto.errors import Disagreement, Malformed, TooFewReports
from discreet.display.plain import plain
from discreet.query.task_file import written_task
from discreet.service.bounded_http import BoundedHandler, BoundedServer
from discreet.trust.aggregation.aggregator_line import PROBLEM, written_id
from discreet.trust.aggregation.dap import Rejected, rejected
from discreet.trust.aggregation.helper import Helper
from discreet.trust.aggregation.leader import Leader
from discreet.trust.aggregation.published_task import is_loopback
from discreet.trust.aggregation.stored_aggregator import StoredAggregator

MOST_UPLOAD = 8 * 2**20  # bytes of a request of a device
MOST_JOB = 64 * 2**20  # bytes of a request of the leader
EVERY = 1.0  # seconds between two looks at what waits to be verified
STATUS: dict[str, HTTPStatus] = {
    "unauthorizedRequest": HTTPStatus.FORBIDDEN,
    "unrecognizedTask": HTTPStatus.NOT_FOUND,
    "unrecognizedAggregationJob": HTTPStatus.NOT_FOUND,
    "busy": HTTPStatus.SERVICE_UNAVAILABLE,
}


@unheld("own turns")
class AggregatorServer(BoundedServer):
    """Serves one aggregator of each of some tasks.

    Devices ask for `/hpke_config?task_id=...` and `/tasks/{task}/task`, and post to `/tasks/{task}/reports`; the leader
    calls the helper's `aggregation_jobs` and `aggregate_shares`, and the asker the leader's `collection_jobs` and
    `batch`, with a token. An upload is taken whole or, with a problem document, not at all. Nothing about a sender is
    kept or logged.

    Parameters
    ----------
    host, port : str, int
        Where to listen; port 0 for any that is free. Beyond this machine only with a certificate.
    context : ssl.SSLContext, optional
        With the certificate to show.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0, context: ssl.SSLContext | None = None) -> None:
        check_covered(host, context)
        self.by_path: dict[str, StoredAggregator] = {}
        self._stopped, self._lock = threading.Event(), threading.Lock()
        super().__init__(host, port, _AggregatorHandler, context)

    def add(self, one: StoredAggregator) -> None:
        """Serve an aggregator of a task."""
        with self._lock:
            self.by_path = {**self.by_path, written_id(one.published.identifier): one}

    def verify_for_ever(self, tell: Callable[[str], None]) -> None:
        """Have leaders verify what waits, until the server is closed; trouble is told, and tried again."""
        while not self._stopped.wait(EVERY):
            for leader in self.by_path.values():
                try:
                    while isinstance(leader, Leader) and not self._stopped.is_set() and leader.verify():
                        pass
                except (DiscreetError, sqlite3.Error) as trouble:
                    tell(f"not verified, and to be tried again: {trouble}")

    def server_close(self) -> None:
        self._stopped.set()
        super().server_close()


def check_covered(host: str, context: ssl.SSLContext | None) -> None:
    """Refuse to listen in the clear where others could read along."""
    if context is None and not is_loopback(host):
        obstacle = f"{host} is reached from elsewhere, and there is no certificate"
        raise ParameterError("aggregate", obstacle, "Give --certificate and --key, or listen at 127.0.0.1.")


class _AggregatorHandler(BoundedHandler):
    """Answers one request after the other of a connection."""

    server: AggregatorServer

    def do_GET(self) -> None:
        self.check_alone()
        self._answered(None)

    def do_PUT(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        upload = self.path.endswith("/reports")
        body = self.body(MOST_UPLOAD if upload or not self._is_known_caller() else MOST_JOB)
        if body is not None:
            self._answered(body)

    def _is_known_caller(self) -> bool:
        """Whether a token is one of those that are in use: others may send no more than devices."""
        found = self._aggregator(urlsplit(self.path).path.split("/"))
        return found is not None and (self._is_leader(found) or self._is_asker(found))

    def _aggregator(self, parts: list[str]) -> StoredAggregator | None:
        return self.server.by_path.get(parts[2]) if len(parts) > 3 and parts[1] == "tasks" else None

    def _token(self) -> bytes:
        scheme, _, token = str(self.headers.get("Authorization", "")).partition(" ")
        with suppress(ValueError):
            return bytes.fromhex(token) if scheme == "Bearer" else b""
        return b""

    def _is_leader(self, one: StoredAggregator) -> bool:
        return hmac.compare_digest(self._token(), one.secrets.token)

    def _is_asker(self, one: StoredAggregator) -> bool:
        return hmac.compare_digest(sha256(self._token()).digest(), one.secrets.asker)

    def _answered(self, body: bytes | None) -> None:
        """Do what is asked; whatever is refused changes nothing, and is answered with a problem document."""
        try:
            self.answer(HTTPStatus.OK, self._done(body), kind="application/octet-stream")
        except Rejected as refusal:
            kind = getattr(refusal, "kind", "")
            self._refused(STATUS.get(kind, HTTPStatus.BAD_REQUEST), kind, refusal)
        except TooFewReports as refusal:
            self._refused(HTTPStatus.BAD_REQUEST, "invalidBatchSize", refusal)
        except (Disagreement, BudgetExceeded) as refusal:
            self._refused(HTTPStatus.CONFLICT, "batchMismatch", refusal)
        except EngineFailure as trouble:  # the helper is out of reach
            self._refused(HTTPStatus.SERVICE_UNAVAILABLE, "", trouble)
        except Malformed as refusal:
            self._refused(HTTPStatus.BAD_REQUEST, "invalidMessage", refusal)
        except DiscreetError as refusal:
            self._refused(HTTPStatus.CONFLICT, "", refusal)
        except sqlite3.Error:  # a full disk
            self._refused(HTTPStatus.SERVICE_UNAVAILABLE, "", "its store cannot be written")

    def _refused(self, status: HTTPStatus, kind: str, why: DiscreetError | str) -> None:
        detail, remedy = (why, "") if isinstance(why, str) else (why.obstacle, why.remedy)
        content = {"type": PROBLEM + kind if kind else "about:blank", "title": status.phrase, "detail": detail}
        self.answer(status, content | {"remedy": remedy}, kind="application/problem+json")

    def _done(self, body: bytes | None) -> bytes:
        asked = urlsplit(self.path)
        parts = asked.path.split("/")
        if asked.path == "/hpke_config" and body is None:
            named = parse_qs(asked.query).get("task_id", [""])[0]
            return self._known(self.server.by_path.get(named)).configs()
        one = self._known(self._aggregator(parts))
        match (self.command, parts[3:], one):
            case ("GET", ["task"], _):
                return written_task(one.published).encode()
            case ("POST", ["reports"], Leader()):
                one.upload(body or b"")
                return b""
            case ("GET", ["batch"], Leader()) if self._is_asker(one):
                batch = one.batch
                return np.array([batch.accepted, batch.failed, batch.repeated], ">u8").tobytes()
            case ("PUT", ["collection_jobs", _], Leader()) if self._is_asker(one):
                return one.collect().written()
            case ("PUT", ["aggregation_jobs", job], Helper()) if self._is_leader(one):
                return one.begin(job.encode()[:64], body or b"")
            case ("POST", ["aggregation_jobs", job], Helper()) if self._is_leader(one):
                return one.finish(job.encode()[:64], body or b"")
            case ("POST", ["aggregate_shares"], Helper()) if self._is_leader(one):
                return one.share(body or b"")
        raise rejected("unauthorizedRequest", "it is not answered here, or not to this sender", "Check who asks what.")

    def _known(self, one: StoredAggregator | None) -> StoredAggregator:
        if one is None:
            raise rejected("unrecognizedTask", "there is no such task here", "Check its identifier.")
        return one


def tell_owner(line: str) -> None:
    """Print what the owner should know; it quotes no report and no address."""
    print(plain(line), file=sys.stderr, flush=True)
