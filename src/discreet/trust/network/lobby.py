"""Where a server meets its parties: it calls those whose addresses it has, and takes the calls of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from discreet.crypto.errors import ProtocolError
from discreet.crypto.identity import Identity
from discreet.trust.federation import Federation
from discreet.trust.network.link import Link, called, listening
from discreet.trust.network.remote import Remote

PAUSE = 0.1  # seconds between two attempts to reach a party


class Lobby:
    """The lines to all parties that were met.

    Parameters
    ----------
    federation : Federation
        Public. What all agreed on.
    identity : Identity
        The server's.
    addresses : sequence of str
        Where parties listen.
    listen : str, optional
        Where parties call.
    """

    def __init__(
        self, federation: Federation, identity: Identity, addresses: Sequence[str], listen: str | None
    ) -> None:
        self._federation, self._identity = federation, identity
        self._addresses, self._listen = tuple(addresses), listen
        self._server: asyncio.Server | None = None
        self._names: dict[str, str] = {}
        self._met: dict[str, Remote] = {}
        self._waited = False
        self.absent: dict[str, str] = {}

    async def gathered(self, expected: int, patience: float) -> dict[str, Remote]:
        """The parties that are present; the first time, so many are waited for as long as patience lasts.

        `absent` has the reasons of those that could not be met.
        """
        if self._listen is not None and self._server is None:
            self._server = await listening(self._listen, self._identity, self._federation, self._welcome)
        deadline = asyncio.get_running_loop().time() + patience
        while True:
            await asyncio.gather(*(self._call(address) for address in self._addresses))
            present = {name: one for name, one in self._met.items() if one.present}
            if self._waited or len(present) >= expected or asyncio.get_running_loop().time() > deadline:
                self._waited = True
                return present
            await asyncio.sleep(PAUSE)

    @property
    def address(self) -> str | None:
        """Where parties call, once it is open."""
        if self._server is None:
            return None
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"{host}:{port}"

    async def close(self) -> None:
        """Hang up on everybody."""
        if self._server is not None:
            self._server.close()
        for one in self._met.values():
            await one.gone()

    async def _call(self, address: str) -> None:
        known = self._met.get(self._names.get(address, ""))
        if known is not None and known.present:
            return
        try:
            link = await called(address, self._identity, self._federation)
            await self._welcome(link)
            self._names[address] = link.name
            self.absent.pop(address, None)
        except (ConnectionError, ProtocolError) as why:
            self.absent[address] = str(why)

    async def _welcome(self, link: Link) -> None:
        try:
            met = await Remote.met(link, self._federation)
        except (ConnectionError, ProtocolError, ValueError) as why:
            self.absent[link.name] = str(why)
            link.close()
            return
        if link.name in self._met:
            self._met[link.name].close()
        self.absent.pop(link.name, None)
        self._met[link.name] = met
