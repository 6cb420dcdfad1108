"""A service in a thread of its own, for tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.gelu_net.gelu_server import GeluServer
from discreet.crypto.identity import Identity
from discreet.trust.gelu_net.gelu_members import GeluMembers
from discreet.trust.gelu_net.gelu_service import GeluService
from tests.crypto.gelu_net.two_sides import ANN, BOB, SERVER

MEMBERS = GeluMembers(PartyCertificate.of(SERVER), (PartyCertificate.of(ANN), PartyCertificate.of(BOB)))
LONG = 60.0  # seconds: whatever takes longer hangs


def members_of(client: Identity) -> GeluMembers:
    return GeluMembers(MEMBERS.server, (PartyCertificate.of(client),))


@contextmanager
def listening(server: GeluServer, told: list[str]) -> Iterator[str]:
    """Where the service listens while the block lasts."""
    loop, there = asyncio.new_event_loop(), threading.Event()

    def tell(line: str) -> None:
        told.append(line)
        there.set()

    service = GeluService(server, MEMBERS, tell)
    task = loop.create_task(service.listen("127.0.0.1:0"))

    def live() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    thread = threading.Thread(target=live)
    thread.start()
    assert there.wait(LONG)
    try:
        yield told[0].rpartition(" ")[2]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(LONG)
