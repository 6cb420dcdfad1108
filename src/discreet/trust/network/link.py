"""A line between two members: frames of bytes, over TLS."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import ssl
import tempfile
from collections.abc import Callable, Iterator
from typing import Literal, Protocol

from discreet.core.errors import ParameterError
from discreet.crypto.certificate import PartyCertificate, to_pem
from discreet.crypto.errors import UNOPENED, UnknownParty
from discreet.crypto.identity import Identity

LENGTH = 8  # bytes of the length of a frame
LONGEST_CALL = 1 << 24  # bytes of a frame while there is no round, whose terms set a limit
BUFFER = 1 << 22
HANDSHAKE = 20.0  # seconds
GOODBYE = 2.0
SIGNS_OF_LIFE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""Who gives no sign of life, two minutes after the last, is gone: a host without power does not say goodbye."""


class Members(Protocol):
    """Who may be at the ends of a line: a federation, or a service and its clients."""

    @property
    def server(self) -> PartyCertificate:
        """The card of whoever is called, or calls, all others."""

    @property
    def parties(self) -> tuple[PartyCertificate, ...]:
        """The cards of all others."""


def context(end: Literal["caller", "called"], identity: Identity, federation: Members) -> ssl.SSLContext:
    """What one end of a line uses: TLS 1.3, its own certificate, and those of all members as the only ones it trusts.

    No authority and no host name is asked: a member is whoever holds the key that the federation lists.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT if end == "caller" else ssl.PROTOCOL_TLS_SERVER)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_REQUIRED
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    if end == "called":
        made.num_tickets = 0  # nobody comes back without showing a certificate
    cards = (federation.server, *federation.parties)
    made.load_verify_locations(cadata="\n".join(card.certificate.decode() for card in cards))
    _show(made, identity)
    return made


def _show(made: ssl.SSLContext, identity: Identity) -> None:
    """Load the own key, which the library takes from a file only, under a password that is nowhere written."""
    password = secrets.token_hex(32)
    with _file(to_pem(identity, password.encode())) as path:
        made.load_cert_chain(path, password=password)


@contextlib.contextmanager
def _file(data: bytes) -> Iterator[str]:
    """Where these bytes can be read while the block lasts: in memory, or in a folder of the owner's alone."""
    if os.path.isdir("/proc/self/fd") and hasattr(os, "memfd_create"):
        with open(os.memfd_create("discreet"), "wb") as file:
            file.write(data)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            path = os.path.join(folder, "key")
            with open(path, "xb") as file:
                file.write(data)
            yield path


def peer(shown: bytes | None, federation: Members) -> str:
    """Which member showed this certificate."""
    for card in (federation.server, *federation.parties):
        if card.binary == shown:
            return card.name
    raise UnknownParty("call", "whoever calls is not in the federation", "Agree on one federation.", UNOPENED)


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
        try:
            self._writer.write(len(data).to_bytes(LENGTH, "big"))
            self._writer.write(data)
            await self._writer.drain()
        except OSError as why:
            raise self._broken(why) from why

    async def receive(self, most: int) -> bytes:
        """The next frame, of at most `most` bytes. Whoever stops waiting in the middle must cut the line."""
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
        return ConnectionError(f"the line to {self.name} is broken ({in_words(why)})")


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
    """The address of a listening socket, in the form that `host_and_port` reads."""
    host, port = server.sockets[0].getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def called(address: str, identity: Identity, federation: Members) -> Link:
    """A line to the member who listens there."""
    host, port = host_and_port(address)
    shown = context("caller", identity, federation)
    try:
        transport, _ = await asyncio.get_running_loop().create_connection(Paused, host, port)
        return await secured(transport, shown, federation, called=False)
    except (OSError, UnicodeError) as why:
        raise ConnectionError(f"nobody of the federation answers at {address} ({in_words(why)})") from why


class Paused(asyncio.Protocol):
    """A line of which no byte is read before TLS takes over."""

    def __init__(self, made: Callable[[asyncio.Transport], None] = lambda _: None) -> None:
        self._made = made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait, with the name of who waits in any error."""
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        self._made(transport)


async def secured(transport: asyncio.Transport, shown: ssl.SSLContext, federation: Members, *, called: bool) -> Link:
    """The line under TLS, if a member is at its other end; else it is cut, as it is when the wait is cancelled."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=BUFFER, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    try:
        covered = await loop.start_tls(
            transport,
            protocol,
            shown,
            server_side=called,
            ssl_handshake_timeout=HANDSHAKE,
            ssl_shutdown_timeout=GOODBYE,
        )
        if covered is None:
            raise ConnectionError("it hung up")
        protocol.connection_made(covered)
        name = peer(covered.get_extra_info("ssl_object").getpeercert(binary_form=True), federation)
        _watched(covered.get_extra_info("socket"))
    except BaseException:
        transport.abort()
        raise
    return Link(reader, asyncio.StreamWriter(covered, protocol, reader, loop), name)


def _watched(line: socket.socket) -> None:
    """Let the operating system check that the other end is alive, at this interval where that can be set."""
    with contextlib.suppress(OSError):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in SIGNS_OF_LIFE.items():
            if hasattr(socket, option):
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def in_words(why: Exception) -> str:
    """What the operating system or the TLS library says, in short."""
    if isinstance(why, EOFError):
        return "it hung up"
    return str(getattr(why, "reason", None) or getattr(why, "strerror", None) or why)
