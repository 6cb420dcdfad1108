"""A line between two members: frames of bytes, over TLS."""

from __future__ import annotations

import asyncio
import contextlib
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


class Link:
    """One end of a line. Whatever breaks it is a `ConnectionError`.

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
            raise self._broken() from why

    async def receive(self) -> bytes:
        """The next frame. Whoever stops waiting in the middle must close the line."""
        try:
            length = int.from_bytes(await self._reader.readexactly(LENGTH), "big")
            if length > LARGEST:
                raise self._broken()
            return await self._reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError) as why:
            raise self._broken() from why

    def close(self) -> None:
        """Hang up."""
        self._writer.close()

    async def down(self) -> None:
        """Hang up, and wait until it is done."""
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), GOODBYE)

    def _broken(self) -> ConnectionError:
        self.close()
        return ConnectionError(f"the line to {self.name} is broken")


def host_and_port(address: str) -> tuple[str, int]:
    """The two parts of `host:port`.

    Examples
    --------
    >>> host_and_port("[::1]:7000")
    ('::1', 7000)
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise ParameterError("address", f"{address!r} is not one", "Write host:port.")
    return host.strip("[]"), int(port)


async def called(address: str, identity: Identity, federation: Federation) -> Link:
    """A line to the member who listens there."""
    host, port = host_and_port(address)
    try:
        reader, writer = await asyncio.open_connection(
            host,
            port,
            ssl=context("caller", identity, federation),
            limit=BUFFER,
            ssl_handshake_timeout=HANDSHAKE,
            ssl_shutdown_timeout=GOODBYE,
        )
        return _met(reader, writer, federation)
    except OSError as why:
        raise ConnectionError(f"nobody of the federation answers at {address} ({type(why).__name__})") from why


async def listening(
    address: str, identity: Identity, federation: Federation, met: Callable[[Link], Awaitable[None]]
) -> asyncio.Server:
    """Take calls at this address; `met` is awaited with every line on which a member calls."""

    async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await met(_met(reader, writer, federation))
        except (ProtocolError, ConnectionError, asyncio.CancelledError):
            writer.close()

    host, port = host_and_port(address)
    try:
        return await asyncio.start_server(
            taken,
            host,
            port,
            ssl=context("called", identity, federation),
            limit=BUFFER,
            ssl_handshake_timeout=HANDSHAKE,
            ssl_shutdown_timeout=GOODBYE,
        )
    except OSError as why:
        raise ParameterError("listen", f"{address} cannot be used ({why})", "Choose another address.") from why


def _met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, federation: Federation) -> Link:
    with contextlib.ExitStack() as stack:
        stack.callback(writer.close)
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        link = Link(reader, writer, peer(shown, federation))
        stack.pop_all()
    return link
