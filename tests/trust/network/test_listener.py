"""Where calls come in: strangers, crowds and mistakes cost a line in the log, and nothing is left open."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import socket
import struct
import warnings
from collections.abc import AsyncIterator, Iterator

import pytest

import discreet.trust.network.link as link_module
import discreet.trust.network.listener as listener_module
from discreet.crypto.identity import Identity
from discreet.noise.system_bits import system_bits
from discreet.trust.network.link import Link, called, host_and_port
from discreet.trust.network.listener import Listener, listening
from tests.trust.network.stage import LONG, federation, identity


@contextlib.asynccontextmanager
async def a_listener(met: listener_module.Met | None = None) -> AsyncIterator[tuple[Listener, asyncio.Queue[Link]]]:
    """East's listener, and the lines on which members have come in."""
    lines: asyncio.Queue[Link] = asyncio.Queue()

    async def kept(link: Link) -> None:
        lines.put_nowait(link)
        with contextlib.suppress(ConnectionError):
            await link.receive(0)

    listener = await listening("127.0.0.1:0", identity("east"), federation(), met or kept)
    try:
        yield listener, lines
    finally:
        await listener.close()


async def connected(listener: Listener) -> socket.socket:
    """A caller who says nothing so far."""
    line = socket.socket()
    line.setblocking(False)
    await asyncio.get_running_loop().sock_connect(line, host_and_port(listener.address))
    return line


async def hung_up(line: socket.socket) -> None:
    """Wait until the other end has hung up."""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(LONG):
            while await asyncio.get_running_loop().sock_recv(line, 1 << 16):
                pass
    line.close()


async def logged(caplog: pytest.LogCaptureFixture, count: int) -> list[str]:
    """So many lines of the log, for so many callers: each of one line, and no traceback among them."""
    async with asyncio.timeout(LONG):
        while len(records(caplog)) < count:
            await asyncio.sleep(0.001)
    told = records(caplog)
    assert all(one.exc_info is None and "\n" not in one.getMessage() for one in told)
    assert {one.name for one in told} == {listener_module.__name__}
    assert len(told) == count
    return [one.getMessage() for one in told]


def records(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """All but the remark, of a loop that is debugged, that something took long."""
    return [one for one in caplog.records if not one.getMessage().startswith("Executing ")]


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Everything that is logged, by this library or by asyncio, from warnings on."""
    with caplog.at_level(logging.WARNING):
        yield caplog


def test_each_stranger_is_turned_away_with_one_line_in_the_log(quiet: pytest.LogCaptureFixture) -> None:
    """Who hangs up, resets the line, speaks another language, or shows another key; members come in all the same."""

    async def play() -> None:
        async with a_listener() as (listener, lines):
            (await connected(listener)).close()
            await logged(quiet, 1)
            reset = await connected(listener)
            reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            reset.close()
            await logged(quiet, 2)
            for words in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00" + b"\xff" * 512, b"\0" * 4096):
                line = await connected(listener)
                line.send(words)
                await hung_up(line)
            await logged(quiet, 5)
            stranger = await called(listener.address, Identity.drawn("east", system_bits()), federation())
            with pytest.raises(ConnectionError):
                await stranger.receive(0)
            told = await logged(quiet, 6)
            assert all(line.startswith("a caller at 127.0.0.1 port ") for line in told)
            member = await called(listener.address, identity("server"), federation())
            assert (await lines.get()).name == "server"
            await member.down()

    asyncio.run(play())
    assert len(records(quiet)) == 6


def test_many_callers_keep_no_member_out(quiet: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most so many handshakes are under way: the oldest gives way, and a member comes in."""
    monkeypatch.setattr(listener_module, "HALF_OPEN", 3)

    async def play() -> None:
        async with a_listener() as (listener, lines):
            crowd = [await connected(listener) for _ in range(10)]
            for line in crowd[:7]:
                await hung_up(line)
            assert len(listener._half_open) == 3
            member = await called(listener.address, identity("server"), federation())
            assert (await lines.get()).name == "server"
            told = await logged(quiet, 8)
            assert all("3 others are connecting" in line for line in told)
            await member.down()
            for line in crowd[8:]:
                line.close()
            await hung_up(crowd[7])

    asyncio.run(play())


def test_who_does_not_shake_hands_in_time_is_turned_away(
    quiet: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "HANDSHAKE", 0.05)

    async def play() -> None:
        async with a_listener() as (listener, _):
            await hung_up(await connected(listener))
            [told] = await logged(quiet, 1)
            assert "0.05 seconds" in told
            assert not listener._half_open

    asyncio.run(play())


def test_a_member_has_so_many_lines_at_most(quiet: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest: those before it may be of a process that is gone."""
    monkeypatch.setattr(listener_module, "LINES", 2)

    async def play() -> None:
        async with a_listener() as (listener, lines):
            mine = []
            for _ in range(3):
                mine.append(await called(listener.address, identity("server"), federation()))
                await lines.get()
            with pytest.raises(ConnectionError):
                await mine[0].receive(0)
            assert [one.open for one in mine[1:]] == [True, True]
            assert await logged(quiet, 1) == ["server was turned away: it has 2 lines that are newer"]
            other = await called(listener.address, identity("west"), federation())
            assert (await lines.get()).name == "west"
            await asyncio.gather(*(one.down() for one in (*mine, other)))

    asyncio.run(play())
    assert len(records(quiet)) == 1


def test_a_mistake_while_a_line_is_answered_is_one_line_that_quotes_nothing(quiet: pytest.LogCaptureFixture) -> None:
    async def mistaken(link: Link) -> None:
        raise RuntimeError("could not convert 'Ann Smith, 1971' to a number")

    async def play() -> None:
        async with a_listener(mistaken) as (listener, _):
            link = await called(listener.address, identity("server"), federation())
            with pytest.raises(ConnectionError):
                await link.receive(0)
            assert await logged(quiet, 1) == ["server was turned away: RuntimeError"]

    asyncio.run(play())


def test_strangers_are_forgotten() -> None:
    async def play() -> None:
        async with a_listener() as (listener, _):
            for _ in range(5):
                line = await connected(listener)
                line.send(b"GET / HTTP/1.1\r\n\r\n")
                await hung_up(line)
            while listener._half_open:
                await asyncio.sleep(0.001)
            assert dict(listener._lines) == {}

    asyncio.run(play())


@pytest.fixture
def only_new_garbage() -> Iterator[None]:
    """What there is before the test is not looked through again and again."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def left_open() -> list[str]:
    """What the collector of garbage complains about."""
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        gc.collect()
    return [str(one.message) for one in complaints if issubclass(one.category, ResourceWarning)]


@pytest.mark.usefixtures("only_new_garbage")
def test_a_call_that_is_given_up_at_any_moment_leaves_nothing_open() -> None:
    async def play(turns: int) -> bool:
        async with a_listener() as (listener, _):
            call = asyncio.ensure_future(called(listener.address, identity("server"), federation()))
            for _ in range(turns):
                await asyncio.sleep(0)
            over = call.done()
            call.cancel()
            [link] = await asyncio.gather(call, return_exceptions=True)
            if isinstance(link, Link):
                link.cut()
            return over

    left_open()
    for turns in range(1000):
        if asyncio.run(play(turns)):
            break
        assert left_open() == [], turns


@pytest.mark.usefixtures("only_new_garbage")
def test_a_listener_that_is_closed_at_any_moment_leaves_nothing_open() -> None:
    async def play(turns: int) -> bool:
        async with a_listener() as (listener, lines):
            stranger = await connected(listener)
            call = asyncio.ensure_future(called(listener.address, identity("server"), federation()))
            for _ in range(turns):
                await asyncio.sleep(0)
            over = not lines.empty()
            await listener.close()
            await hung_up(stranger)
            [link] = await asyncio.gather(call, return_exceptions=True)
            if isinstance(link, Link):
                link.cut()
            return over

    left_open()
    for turns in range(1000):
        if asyncio.run(play(turns)):
            break
        assert left_open() == [], turns
