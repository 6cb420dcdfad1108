"""One who sits on a line between the server and a party, has broken TLS, and follows a script.

It holds the keys of both ends for TLS, so it sees every frame; what it never does is sign.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from discreet.crypto.messages import Signed
from discreet.trust.network.link import Link, called
from discreet.trust.network.listener import listening
from tests.trust.network.stage import federation, identity

Send = Callable[[bytes], Awaitable[None]]
BY_PARTIES = ("hello", "keys", "shares", "masked", "agreement", "reveal")
BY_SERVER = ("call", "announcements", "delivery", "survivors", "agreements")


@dataclass(frozen=True)
class Frame:
    """A message as it travels, on the line of one party; whose it is does not matter to a proxy."""

    line: str
    data: bytes = field(repr=False)

    @property
    def signed(self) -> Signed:
        return Signed.from_bytes(self.data, self.line)

    @property
    def kind(self) -> str:
        return self.signed.message.kind

    @property
    def round(self) -> str:
        return self.signed.message.round


class Script:
    """What is done to the first message of a kind, once armed; a script that is not, passes all on."""

    armed = True

    def __init__(self, kind: str) -> None:
        self.kind = kind

    async def play(self, frame: Frame, send: Send) -> None:
        if self.armed and frame.kind == self.kind:
            self.armed = False
            await self.strike(frame, send)
        else:
            self.passed(frame)
            await send(frame.data)

    def passed(self, frame: Frame) -> None:
        """Take note of a message that is passed on as it is."""

    async def strike(self, frame: Frame, send: Send) -> None:
        await send(frame.data)


class Dropped(Script):
    async def strike(self, frame: Frame, send: Send) -> None:
        pass


class Doubled(Script):
    async def strike(self, frame: Frame, send: Send) -> None:
        await send(frame.data)
        await send(frame.data)


class Delayed(Script):
    def __init__(self, kind: str, seconds: float) -> None:
        super().__init__(kind)
        self.seconds = seconds

    async def strike(self, frame: Frame, send: Send) -> None:
        await asyncio.sleep(self.seconds)
        await send(frame.data)


class Corrupted(Script):
    """One byte is another: at a place from 0, the first, to 1, the last."""

    def __init__(self, kind: str, place: float) -> None:
        super().__init__(kind)
        self.place = place

    async def strike(self, frame: Frame, send: Send) -> None:
        data = bytearray(frame.data)
        data[round(self.place * (len(data) - 1))] ^= 0x55
        await send(bytes(data))


class Replayed(Script):
    """The message of an earlier round comes before the true one, or instead of it."""

    armed = False

    def __init__(self, kind: str, instead: bool) -> None:
        super().__init__(kind)
        self.instead = instead
        self.earlier: bytes | None = None

    def passed(self, frame: Frame) -> None:
        if frame.kind == self.kind:
            self.earlier = frame.data

    async def strike(self, frame: Frame, send: Send) -> None:
        assert self.earlier is not None
        await send(self.earlier)
        if not self.instead:
            await send(frame.data)


class CutBefore(Script):
    async def strike(self, frame: Frame, send: Send) -> None:
        raise ConnectionError


class CutAfter(Script):
    async def strike(self, frame: Frame, send: Send) -> None:
        await send(frame.data)
        raise ConnectionError


class Swapped(Script):
    """Messages of two parties, each on the line of the other: two scripts that share a table."""

    def __init__(self, kind: str, table: asyncio.Queue[bytes], other: asyncio.Queue[bytes]) -> None:
        super().__init__(kind)
        self._table, self._other = table, other

    @classmethod
    def pair(cls, kind: str) -> tuple[Swapped, Swapped]:
        tables: list[asyncio.Queue[bytes]] = [asyncio.Queue(), asyncio.Queue()]
        return cls(kind, *tables), cls(kind, *reversed(tables))

    async def strike(self, frame: Frame, send: Send) -> None:
        self._table.put_nowait(frame.data)
        await send(await self._other.get())


class Proxy:
    """Stands between the server and one party, with the keys of both.

    Whoever calls, the server or the party, reaches the proxy, and the proxy calls the other at `address` in its name.
    """

    def __init__(self, party: str, address: str, script: Script, caller: str = "server") -> None:
        self.party, self.script = party, script
        self._far, self._caller = address, caller
        self.seen: list[Frame] = []
        self.address = ""
        self._lines = Lines()

    async def open(self) -> None:
        shown = self.party if self._caller == "server" else "server"
        self._listener = await listening("127.0.0.1:0", identity(shown), federation(), self._met)
        self.address = self._listener.address

    async def close(self) -> None:
        await self._lines.end()
        await self._listener.close()

    async def _met(self, near: Link) -> None:
        with contextlib.suppress(ConnectionError):
            far = await called(self._far, identity(self._caller), federation())
            try:
                await self._lines.lasting(self._carried(near, far), self._carried(far, near))
            finally:
                await far.down()
        await near.down()

    async def _carried(self, source: Link, target: Link) -> None:
        while True:
            frame = Frame(self.party, await source.receive(1 << 20))
            self.seen.append(frame)
            await self.script.play(frame, target.send)


class Lines:
    """The tasks of open lines: held as long as they last, and ended on demand."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    async def lasting(self, *ways: Coroutine[Any, Any, None]) -> None:
        """Carry both ways until one is over, however it ends."""
        tasks = [asyncio.ensure_future(way) for way in ways]
        self._tasks.update(tasks)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            self._tasks.difference_update(tasks)
        for end in ends:
            if not isinstance(end, ConnectionError | asyncio.CancelledError | None):
                raise end

    async def end(self) -> None:
        """End all that are left."""
        for task in self._tasks:
            task.cancel()
        while self._tasks:
            await asyncio.sleep(0.001)
