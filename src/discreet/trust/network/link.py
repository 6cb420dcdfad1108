"""A line between two members: frames of bytes, over TLS."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable

from discreet.core.errors import ParameterError
from discreet.crypto.errors import ProtocolError
from discreet.crypto.identity import Identity
from discreet.trust.federation import Federation
from discreet.trust.network.tls import context, peer

LENGTH = 8  # bytes that tell how long a frame is
LARGEST = 1 << 33  # bytes of a frame
BUFFER = 1 << 22
HANDSHAKE = 20.0  # seconds
GOODBYE = 2.0
SIGNS_OF_LIFE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""Who gives no sign of life, two minutes after the last, is gone: a host without power does not say goodbye."""


class Link:
    """One end of a line. Whatever breaks it is a `ConnectionError`, and closes it.

    Parameters
    ----------
    reader, writer : asyncio streams
        The line.
    name : str
        Who is at the other end.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str) -> None:
        self._reader, self._writer, self.name = reader, writer, name

    @property
    def open(self) -> bool:
        """Whether anything can still be sent and received."""
        return not self._writer.is_closing() and not self._reader.at_eof()

    async def send(self, data: bytes) -> None:
        """Send a frame."""
        try:
            self._writer.write(len(data).to_bytes(LENGTH, "big"))
            self._writer.write(data)
            await self._writer.drain()
        except OSError as why:
            raise self._broken(why) from why

    async def receive(self, most: int = LARGEST) -> bytes:
        """The next frame, of so many bytes at most. Whoever stops waiting in the middle must cut the line."""
        try:
            length = int.from_bytes(await self._reader.readexactly(LENGTH), "big")
            if length > most:
                raise OSError(f"it sends a frame of {length} bytes where {most} are the most")
            return await self._reader.readexactly(length)
        except (OSError, EOFError) as why:
            raise self._broken(why) from why

    def cut(self) -> None:
        """Hang up at once."""
        self._writer.transport.abort()

    async def down(self) -> None:
        """Hang up, and wait until it is done; not for long, if the other end has stopped listening."""
        self._writer.close()
        closed = asyncio.ensure_future(self._writer.wait_closed())
        try:
            await asyncio.wait([closed], timeout=GOODBYE)
        finally:
            self.cut()
            await asyncio.gather(closed, return_exceptions=True)

    def _broken(self, why: Exception) -> ConnectionError:
        self.cut()
        return ConnectionError(f"the line to {self.name} is broken ({_in_words(why)})")


def host_and_port(address: str) -> tuple[str, int]:
    """The two parts of `host:port`.

    Examples
    --------
    >>> host_and_port("[::1]:7000")
    ('::1', 7000)
    """
    host, _, port = address.rpartition(":")
    if not host or not host.isprintable() or not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise ParameterError("address", f"{address!r} is not one", "Write host:port.")
    return host.strip("[]"), int(port)


def address_of(server: asyncio.Server) -> str:
    """Where it listens, as `host_and_port` reads it."""
    host, port = server.sockets[0].getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def called(address: str, identity: Identity, federation: Federation) -> Link:
    """A line to the member who listens there."""
    host, port = host_and_port(address)
    secured = context("caller", identity, federation)
    try:
        reader, writer = await asyncio.open_connection(
            host,
            port,
            ssl=secured,
            limit=BUFFER,
            ssl_handshake_timeout=HANDSHAKE,
            ssl_shutdown_timeout=GOODBYE,
        )
    except (OSError, UnicodeError) as why:
        raise ConnectionError(f"nobody of the federation answers at {address} ({_in_words(why)})") from why
    return _met(reader, writer, federation)


async def listening(
    address: str, identity: Identity, federation: Federation, met: Callable[[Link], Awaitable[object]]
) -> asyncio.Server:
    """Take calls at this address; `met` is awaited with every line on which a member calls, and owns the line."""

    async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            link = _met(reader, writer, federation)
        except ProtocolError:
            return
        with contextlib.suppress(asyncio.CancelledError):  # the end of this task, of which streams would complain
            await met(link)

    host, port = host_and_port(address)
    secured = context("called", identity, federation)
    try:
        return await asyncio.start_server(
            taken,
            host,
            port,
            ssl=secured,
            limit=BUFFER,
            ssl_handshake_timeout=HANDSHAKE,
            ssl_shutdown_timeout=GOODBYE,
        )
    except (OSError, UnicodeError) as why:
        raise ParameterError("listen", f"{address} cannot be used ({why})", "Choose another address.") from why


def _met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, federation: Federation) -> Link:
    """The line, if a member is at its other end; nobody else is listened to."""
    with contextlib.ExitStack() as stack:
        stack.callback(writer.transport.abort)
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        link = Link(reader, writer, peer(shown, federation))
        _watched(writer.get_extra_info("socket"))
        stack.pop_all()
    return link


def _watched(line: socket.socket) -> None:
    """Let the operating system look for signs of life, where it can be told how often; a dead line tells by itself."""
    with contextlib.suppress(OSError):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in SIGNS_OF_LIFE.items():
            if hasattr(socket, option):
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def _in_words(why: Exception) -> str:
    """What the operating system or the TLS library says, in short."""
    if isinstance(why, EOFError):
        return "it hung up"
    return str(getattr(why, "reason", None) or getattr(why, "strerror", None) or why)
