"""An HTTP server for strangers: requests of bounded size, number and time, no logs, TLS where others could listen."""

from __future__ import annotations

import io
import json
import socket
import ssl
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from discreet.core.errors import ParameterError
from discreet.core.held import unheld

PATIENCE = 30  # seconds for a request to arrive, from its first byte to its last
DIGITS = 18  # of a length
BACKLOG = 1024  # senders that wait to be heard
MOST_LINES = 128  # connections that are heard at a time


class BoundedServer(ThreadingHTTPServer):
    """Hears so many senders at a time, each in a thread; the others wait.

    Parameters
    ----------
    host, port : str, int
        Where to listen; port 0 for any that is free.
    handler : type
        What answers requests.
    context : ssl.SSLContext, optional
        The certificate to show; without one, what is said is in the clear.
    """

    daemon_threads = True
    request_queue_size = BACKLOG

    def __init__(
        self, host: str, port: int, handler: type[BoundedHandler], context: ssl.SSLContext | None = None
    ) -> None:
        self._context, self._free = context, threading.BoundedSemaphore(MOST_LINES)
        super().__init__((host, port), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hear a sender when it is its turn."""
        self._free.acquire()
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Shake hands in the sender's own thread, so that nobody else waits for it."""
        try:
            if self._context is not None:
                request.settimeout(PATIENCE)
                request = self._context.wrap_socket(request, server_side=True)
            super().process_request_thread(request, client_address)
        except OSError:  # no handshake came about
            self.handle_error(request, client_address)
            self.shutdown_request(request)
        finally:
            self._free.release()

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


@unheld("one call")
class BoundedHandler(BaseHTTPRequestHandler):
    """Answers one request after the other of a connection; a subclass has `do_GET` and the like."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "discreet", ""
    timeout = PATIENCE
    disable_nagle_algorithm = True
    uncounted: ClassVar[str] = "Nothing was changed."
    """What a refusal says of what was asked."""

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._arriving = _Patient(self.connection)
        self.rfile = io.BufferedReader(self._arriving)

    def handle_one_request(self) -> None:
        """Give all of it, from the first byte to the last, the same seconds."""
        self._arriving.until = time.monotonic() + PATIENCE
        super().handle_one_request()

    def check_alone(self) -> None:
        """End the line after a question that has a body: what else there is would be read as another."""
        alone = "Content-Length" not in self.headers and "Transfer-Encoding" not in self.headers
        self.close_connection = self.close_connection or not alone

    def body(self, most: int) -> bytes | None:
        """The body of a request; None where it was refused, and that was answered."""
        length = self._length()
        if length is None:
            error = f"Send a body, and once, in decimal digits, its Content-Length. {self.uncounted}"
            self.answer(HTTPStatus.BAD_REQUEST, {"error": error}, close=True)
        elif length > most:
            error = f"Send at most {most} bytes. {self.uncounted}"
            self.answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": error}, close=True)
        else:
            return self.rfile.read(length)
        return None

    def _length(self) -> int | None:
        """How long the body is, if that is said in the one way in which nobody can be mistaken about it."""
        said = self.headers.get_all("Content-Length", [])
        plain = len(said) == 1 and "Transfer-Encoding" not in self.headers and said[0].isascii() and said[0].isdecimal()
        return int(said[0]) if plain and len(said[0]) <= DIGITS else None

    def answer(
        self,
        status: HTTPStatus,
        content: dict[str, Any] | bytes,
        close: bool = False,
        kind: str = "application/json",
    ) -> None:
        """Send headers and body together, since a sender may wait with its receipt of the first part for the second."""
        body, line = content if isinstance(content, bytes) else json.dumps(content).encode(), self.wfile
        self.wfile = together = io.BytesIO()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if close or self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile = line
        self.connection.settimeout(PATIENCE)
        self.wfile.write(together.getvalue() + body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log: addresses and times would undo what devices do."""


def host_and_port(asked: str, listen: str) -> tuple[str, int]:
    """Where to listen, from HOST:PORT."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise ParameterError(asked, f"--listen is {listen}", "Give HOST:PORT, say 127.0.0.1:8080.")
    return host, int(port)
