"""Messages of known length on a line between two processes of this machine."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

from discreet.core.held import unheld

MOST = 2**30  # bytes of a message
TOGETHER = 2**16  # bytes that are taken at a time


@unheld("own turns")
class FramedLine:
    """One end of a line: whole messages in, whole messages out.

    Parameters
    ----------
    end : socket
        Connected to the other process.

    Examples
    --------
    >>> ours, theirs = map(FramedLine, socket.socketpair())
    >>> ours.send(b"a question")
    >>> theirs.receive()
    b'a question'
    >>> ours.close()
    >>> theirs.receive() is None
    True
    >>> theirs.close()
    """

    def __init__(self, end: socket.socket) -> None:
        self._end, self._sending, self._receiving = end, threading.Lock(), threading.Lock()
        self._arrived, self._taken = b"", 0  # bytes that are there, and how many of them were given

    def send(self, message: bytes) -> None:
        """Send a message; threads take turns."""
        with self._sending:
            self._end.sendall(len(message).to_bytes(8, "little") + message)

    def receive(self) -> bytes | None:
        """The next message; None where the other end is gone, or said what is no message."""
        with self._receiving:
            head = self._exactly(8)
            length = None if head is None else int.from_bytes(head, "little")
            return None if length is None or length > MOST else self._exactly(length)

    def _exactly(self, size: int) -> bytes | None:
        """So many bytes; of what arrives with them, the rest is kept: short messages come several at a time."""
        found = self._arrived[self._taken : self._taken + size]
        if len(found) == size:
            self._taken += size
            return found
        parts = bytearray(found)
        self._arrived, self._taken = b"", 0
        while len(parts) < size:
            try:
                part = self._end.recv(min(max(size - len(parts), TOGETHER), 2**20))
            except OSError:
                return None
            if not part:
                return None
            self._taken = min(len(part), size - len(parts))
            self._arrived = part
            parts += part[: self._taken]
        return bytes(parts)

    def close(self) -> None:
        """End the line; whoever waits for a message at either end is told so."""
        with suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)
        self._end.close()
