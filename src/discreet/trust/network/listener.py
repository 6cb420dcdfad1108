"""Accepts calls: from members only, and from each and from unknown callers a limited number at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable

from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.held import unheld
from discreet.crypto.identity import Identity
from discreet.trust.network.link import Link, Members, Paused, address_of, context, host_and_port, in_words, secured

LOG = logging.getLogger(__name__)
HALF_OPEN = 64  # callers who have not shown yet that they are members
LINES = 8  # of one member, who may have lost some without noticing
TURNS = 5  # of the loop, in which a call that was just accepted is made known, cut and closed
Met = Callable[[Link], Awaitable[object]]


@unheld("own turns")
class Listener:
    """Takes calls at an address, until it is closed.

    Whoever calls when as many handshakes are under way as there may be, or as many lines to the same member, takes the
    place of the oldest. Every caller who is turned away is one line in the log.

    Parameters
    ----------
    identity : Identity
        Who is called.
    federation : Members
        Public. Who may call.
    met : callable
        Awaited with every line on which a member calls. It owns the line, unless it fails.
    """

    def __init__(self, identity: Identity, federation: Members, met: Met) -> None:
        self._federation, self._met = federation, met
        self._secured = context("called", identity, federation)
        self._half_open: dict[asyncio.Task[None], asyncio.Transport] = {}
        self._lines: dict[str, list[asyncio.Task[None]]] = defaultdict(list)
        self._server: asyncio.Server | None = None
        self._open = True
        self.address = ""

    async def open(self, address: str) -> None:
        """Begin; `address` has the port, if the system was to choose it."""
        host, port = host_and_port(address)
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: Paused(self._accept), host, port)
        except (OSError, UnicodeError) as why:
            raise ParameterError("listen", f"{address} cannot be used ({why})", "Choose another address.") from why
        self.address = address_of(self._server)

    async def close(self) -> None:
        """Take no more calls, and hang up on everybody."""
        self._open = False
        if self._server is not None:
            await _closed(self._server)
        tasks = [*self._half_open, *(task for some in self._lines.values() for task in some)]
        for task in tasks:
            task.cancel()
        for transport in self._half_open.values():
            transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # for the lines that were cut

    def _accept(self, transport: asyncio.Transport) -> None:
        if not self._open:
            transport.abort()
            return
        if len(self._half_open) >= HALF_OPEN:
            oldest = next(iter(self._half_open))
            oldest.cancel(f"{HALF_OPEN} others are connecting")
            self._half_open.pop(oldest).abort()  # the task may not have begun
        self._half_open[asyncio.ensure_future(self._taken(transport))] = transport

    async def _taken(self, transport: asyncio.Transport) -> None:
        """One call, from the first byte to the last; whatever goes wrong ends here."""
        who, task = _caller(transport), asyncio.current_task()
        assert task is not None
        try:
            link = await self._let_in(transport, task)
            who = link.name
            try:
                await self._met(link)
            except BaseException:
                link.cut()
                raise
        except (OSError, DiscreetError) as why:
            LOG.warning("%s was turned away: %s", who, in_words(why))
        except asyncio.CancelledError as why:
            if why.args:
                LOG.warning("%s was turned away: %s", who, why.args[0])
        except Exception as why:  # a mistake of ours, whose message may quote what nobody should read
            LOG.error("%s was turned away: %s", who, type(why).__name__)
        finally:
            self._half_open.pop(task, None)
            if task in self._lines.get(who, ()):
                self._lines[who].remove(task)

    async def _let_in(self, transport: asyncio.Transport, task: asyncio.Task[None]) -> Link:
        link = await secured(transport, self._secured, self._federation, called=True)
        self._half_open.pop(task, None)
        lines = self._lines[link.name]
        if len(lines) >= LINES:
            lines.pop(0).cancel(f"it has {LINES} lines that are newer")
        lines.append(task)
        return link


async def listening(address: str, identity: Identity, federation: Members, met: Met) -> Listener:
    listener = Listener(identity, federation, met)
    await listener.open(address)
    return listener


async def _closed(server: asyncio.Server) -> None:
    """Accept no more, and end the server when nothing is under way: it would lose what it has just accepted."""
    for one in server.sockets:
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().remove_reader(one.fileno())
    for _ in range(TURNS):
        await asyncio.sleep(0)
    server.close()


def _caller(transport: asyncio.Transport) -> str:
    host, port = (transport.get_extra_info("peername") or ("nowhere", 0))[:2]
    return f"a caller at {host} port {port}"
