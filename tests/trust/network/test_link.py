"""Lines of frames: whole, in order, and broken in one way only."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

import discreet.trust.network.link as link_module
from discreet.core.errors import ParameterError
from discreet.trust.network.link import Link, address_of, called, host_and_port
from discreet.trust.network.listener import listening
from tests.trust.network.stage import federation, identity

MOST = 1 << 24


@contextlib.asynccontextmanager
async def line() -> AsyncIterator[tuple[Link, Link]]:
    """Both ends: the server's, who called, and that of east."""
    met: asyncio.Queue[Link] = asyncio.Queue()
    listener = await listening("127.0.0.1:0", identity("east"), federation(), met.put)
    try:
        near = await called(listener.address, identity("server"), federation())
        far = await met.get()
        try:
            yield near, far
        finally:
            await asyncio.gather(near.down(), far.down())
    finally:
        await listener.close()


def on_a_line(play: Callable[[Link, Link], Awaitable[None]]) -> None:
    async def played() -> None:
        async with line() as ends:
            await asyncio.wait_for(play(*ends), 60)

    asyncio.run(played())


def test_frames_arrive_whole_and_in_order() -> None:
    async def play(near: Link, far: Link) -> None:
        frames = [b"", b"x", bytes(range(256)) * 20_000, b"last"]
        sending = asyncio.ensure_future(asyncio.wait([asyncio.ensure_future(send_all(near, frames))]))
        assert [await far.receive(MOST) for _ in frames] == frames
        await sending
        await far.send(b"answer")
        assert await near.receive(MOST) == b"answer"
        assert near.open
        assert far.open

    async def send_all(near: Link, frames: list[bytes]) -> None:
        for frame in frames:
            await near.send(frame)

    on_a_line(play)


@pytest.mark.parametrize("length", [MOST + 1, 2**64 - 1])
def test_a_frame_of_absurd_length_breaks_the_line(length: int) -> None:
    async def play(near: Link, far: Link) -> None:
        near._writer.write(length.to_bytes(8, "big") + b"x" * 1000)
        with pytest.raises(ConnectionError, match=f"line to server is broken .*frame of {length} bytes"):
            await far.receive(MOST)
        assert not far.open
        with pytest.raises(ConnectionError):
            await near.receive(MOST)

    on_a_line(play)


def test_a_receiver_may_allow_less() -> None:
    async def play(near: Link, far: Link) -> None:
        await near.send(b"four")
        await near.send(b"fives")
        assert await far.receive(most=4) == b"four"
        with pytest.raises(ConnectionError, match="5 bytes where 4 are the most"):
            await far.receive(most=4)

    on_a_line(play)


@pytest.mark.parametrize("rest", [b"", b"\0\0\0", (9).to_bytes(8, "big"), (9).to_bytes(8, "big") + b"12345678"])
def test_a_line_that_ends_is_broken_wherever_it_ends(rest: bytes) -> None:
    async def play(near: Link, far: Link) -> None:
        near._writer.write(rest)
        await near.down()
        with pytest.raises(ConnectionError, match="the line to server is broken"):
            await far.receive(MOST)
        assert not near.open
        with pytest.raises(ConnectionError, match="the line to east is broken"):
            await near.send(b"x")

    on_a_line(play)


def test_sending_to_one_who_is_gone_fails_in_the_end() -> None:
    async def play(near: Link, far: Link) -> None:
        far.cut()
        with pytest.raises(ConnectionError, match="the line to east is broken"):
            await send_for_ever(near)
        assert not near.open

    async def send_for_ever(near: Link) -> None:
        while True:
            await near.send(b"x" * 100_000)

    on_a_line(play)


def test_a_line_may_be_closed_again_and_again() -> None:
    async def play(near: Link, far: Link) -> None:
        await near.down()
        near.cut()
        await near.down()
        far.cut()
        far.cut()

    on_a_line(play)


def test_hanging_up_does_not_wait_for_one_who_stopped_listening(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "GOODBYE", 0.05)

    async def play(near: Link, far: Link) -> None:
        far._reader._transport.pause_reading()  # type: ignore[attr-defined]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(near.send(bytes(1 << 26)), 0.05)
        await near.down()
        assert not near.open

    on_a_line(play)


def test_signs_of_life_are_asked_for() -> None:
    async def play(near: Link, far: Link) -> None:
        for end in (near, far):
            line = end._writer.get_extra_info("socket")
            assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            if hasattr(socket, "TCP_KEEPIDLE"):
                assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60

    on_a_line(play)


@pytest.mark.parametrize(
    "address", ["", "here", "7000", ":7000", "here:", "here:x", "here:-1", "here:65536", "here:1²", "\0:1"]
)
def test_an_address_is_a_host_and_a_port(address: str) -> None:
    with pytest.raises(ParameterError, match="Write host:port"):
        host_and_port(address)


@pytest.mark.parametrize("address", ["a..b:7000", f"{'x' * 70}.org:7000"])
def test_a_name_that_no_host_can_have_is_found_nowhere(address: str) -> None:
    with pytest.raises(ConnectionError, match="nobody of the federation answers at"):
        asyncio.run(called(address, identity("server"), federation()))


def test_where_nobody_listens_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ConnectionError, match=f"nobody of the federation answers at {address}"):
        asyncio.run(called(address, identity("server"), federation()))


@pytest.mark.parametrize("host", ["a..b", "203.0.113.7"])
def test_an_address_that_cannot_be_listened_at_is_refused(host: str) -> None:
    with pytest.raises(ParameterError, match="Choose another address"):
        asyncio.run(listening(f"{host}:0", identity("server"), federation(), asyncio.Queue[Link]().put))


def test_a_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ParameterError, match=f"{address} cannot be used"):
            asyncio.run(listening(address, identity("server"), federation(), asyncio.Queue[Link]().put))


def test_addresses_of_both_families_can_be_read_back() -> None:
    class Server:
        def __init__(self, *name: str | int) -> None:
            self.sockets = [self]
            self._name = name

        def getsockname(self) -> tuple[str | int, ...]:
            return self._name

    for name in (("127.0.0.1", 7000), ("::1", 7000, 0, 0)):
        assert host_and_port(address_of(Server(*name))) == name[:2]  # type: ignore[arg-type]
