"""One who sits on a line between the server and a party, and sees the bytes of TLS alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Literal

from discreet.trust.network.link import address_of, host_and_port
from tests.trust.network.proxy import Lines


@dataclass(frozen=True)
class Trouble:
    """What befalls the bytes of one direction of a line, at a place."""

    what: Literal["cut", "stall", "flip", "nothing"] = "nothing"
    way: Literal["to the server", "to the party"] = "to the server"
    place: int = 0


class Relay:
    """Passes bytes between the server and one party, up to a place."""

    def __init__(self, party: str, trouble: Trouble = Trouble()) -> None:  # noqa: B008
        self.trouble, self._party = trouble, party
        self.carried = {"to the server": 0, "to the party": 0}
        self.address = ""
        self._lines = Lines()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._met, "127.0.0.1", 0)
        self.address = address_of(self._server)

    async def close(self) -> None:
        self._server.close()
        await self._lines.end()

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        trouble, self.trouble = self.trouble, Trouble()
        back_reader, back_writer = await asyncio.open_connection(*host_and_port(self._party))
        try:
            await self._lines.lasting(
                self._carried(reader, back_writer, "to the party", trouble),
                self._carried(back_reader, writer, "to the server", trouble),
            )
        finally:
            writer.transport.abort()
            back_writer.transport.abort()

    async def _carried(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: str, trouble: Trouble
    ) -> None:
        left = trouble.place if trouble.way == way and trouble.what != "nothing" else None
        while data := await reader.read(1 << 16):
            if left is not None and len(data) > left:
                data = await self._troubled(data, left, writer, trouble)
                left, trouble = None, replace(trouble, what="nothing")
            elif left is not None:
                left -= len(data)
            self.carried[way] += len(data)
            writer.write(data)
            await writer.drain()

    async def _troubled(self, data: bytes, place: int, writer: asyncio.StreamWriter, trouble: Trouble) -> bytes:
        if trouble.what == "flip":
            return data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        writer.write(data[:place])
        await writer.drain()
        if trouble.what == "stall":
            await asyncio.Event().wait()
        raise ConnectionError
