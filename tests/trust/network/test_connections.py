"""Where a server meets its parties: late, lost and found again, silent, strange, or two at once."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gc
import signal
import socket
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

import discreet.trust.network.connections as connections_module
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.crypto.errors import TooFewSurvivors
from discreet.noise.deterministic import DeterministicBits
from discreet.trust.network.background import Closed
from discreet.trust.network.connections import Connections, Remote
from discreet.trust.network.link import Link, called
from discreet.trust.network.listener import Listener, listening
from discreet.trust.secure_sum import SecureSum
from tests.trust.network.stage import (
    HEADS,
    LONG,
    NAMES,
    NOISE,
    Playing,
    Stage,
    counted,
    federation,
    heads_of,
    identity,
    in_time,
    party,
    server,
)

ALL = heads_of(*NAMES)
OTHERS: set[threading.Thread] = set()


@pytest.fixture
def stage() -> Iterator[Stage]:
    with Stage() as one:
        yield one


@pytest.fixture
def playing(stage: Stage) -> dict[str, Playing]:
    return {name: stage.listens(party(name)) for name in NAMES}


def addresses(playing: dict[str, Playing]) -> list[str]:
    return [one.address for one in playing.values()]


def total(trust: SecureSum) -> float:
    return counted(in_time(lambda: trust.ask(HEADS, NOISE)))


@pytest.fixture(autouse=True)
def others() -> None:
    """Threads of trust models that other tests keep for the whole session."""
    OTHERS.clear()
    OTHERS.update(threading.enumerate())


def threads() -> list[str]:
    """Of trust models that were made since the test began."""
    return [one.name for one in threading.enumerate() if one.name == "discreet" and one not in OTHERS]


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


def test_a_server_asks_again_and_again_on_the_same_lines(playing: dict[str, Playing]) -> None:
    with server(addresses(playing)) as trust:
        assert [total(trust) for _ in range(3)] == [ALL] * 3
        assert trust.secret
    assert trust.secret  # a receipt may be made after the end


def test_noise_that_is_not_secret_is_told(stage: Stage) -> None:
    playing = [stage.listens(party(name, bits=DeterministicBits(i))) for i, name in enumerate(NAMES)]
    with server([one.address for one in playing]) as trust:
        total(trust)
        assert not trust.secret


def test_parties_that_start_late_are_waited_for(stage: Stage) -> None:
    places = {name: free_address() for name in NAMES}
    with ThreadPoolExecutor(1) as thread, server(list(places.values())) as trust:
        asking = thread.submit(total, trust)
        for name, address in places.items():
            stage.listens(party(name), address)
        assert asking.result(LONG) == ALL


def at_last(play: Callable[[float], None]) -> None:
    """Play with little patience, and with more where a busy machine was too slow for it: the outcome is the same."""
    for patience in (0.3, 1.5, 7.5):
        with contextlib.suppress(AssertionError, TooFewSurvivors):
            play(patience)
            return
    play(30.0)


def test_patience_with_the_absent_ends(playing: dict[str, Playing]) -> None:
    nobody = free_address()

    def play(patience: float) -> None:
        with server([*addresses(playing)[:3], nobody], patience=patience) as trust:
            assert [total(trust), total(trust)] == [heads_of(*NAMES[:3])] * 2
        with server([*addresses(playing)[:2], nobody], patience=patience) as trust:
            error = too_few(trust)
        assert f"{nobody}: nobody of the federation answers at {nobody}" in error
        assert "south: it was not met" in error

    at_last(play)


def too_few(trust: SecureSum) -> str:
    """The error of a round for which too few are left."""
    with pytest.raises(TooFewSurvivors) as few:
        total(trust)
    return str(few.value)


def test_a_party_that_is_restarted_takes_part_again(stage: Stage, playing: dict[str, Playing]) -> None:
    with server(addresses(playing)) as trust:
        assert total(trust) == ALL
        playing["north"].stop()
        assert total(trust) == ALL - heads_of("north")
        stage.listens(party("north"), playing["north"].address)
        assert total(trust) == ALL


def test_a_server_that_is_restarted_meets_the_same_parties(playing: dict[str, Playing]) -> None:
    for _ in range(2):
        with server(addresses(playing)) as trust:
            assert total(trust) == ALL
    for one in playing.values():
        one.tells("the line to server is broken")


def test_two_servers_of_one_federation_are_both_answered(playing: dict[str, Playing]) -> None:
    with server(addresses(playing)) as one, server(addresses(playing)) as other:
        assert [total(one), total(other), total(one)] == [ALL] * 3


def test_threads_may_ask_at_once(playing: dict[str, Playing]) -> None:
    with server(addresses(playing)) as trust, ThreadPoolExecutor(4) as many:
        assert list(many.map(lambda _: total(trust), range(8))) == [ALL] * 8


def test_a_notebook_may_ask(playing: dict[str, Playing]) -> None:
    async def cell() -> float:
        with server(addresses(playing)) as trust:
            return total(trust)

    assert asyncio.run(cell()) == ALL


def test_a_round_that_is_interrupted_is_followed_by_a_good_one(
    playing: dict[str, Playing], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every step: no answer to the first round is taken for one to the second."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    main, hear, armed = threading.get_ident(), Remote._heard, ""

    def interrupt(*_: object) -> None:
        nonlocal armed
        if armed:
            armed = ""
            raise KeyboardInterrupt

    async def heard(remote, asked, ear, most):  # type: ignore[no-untyped-def]
        while armed == asked.kind:
            signal.pthread_kill(main, signal.SIGINT)
            await asyncio.sleep(0.01)
        return await hear(remote, asked, ear, most)

    monkeypatch.setattr(Remote, "_heard", heard)
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with server(addresses(playing)) as trust:
            for kind in ("call", "announcements", "delivery", "survivors", "agreements"):
                armed = kind
                with pytest.raises(KeyboardInterrupt):
                    trust.ask(HEADS, NOISE)
                assert total(trust) == ALL
    finally:
        signal.signal(signal.SIGINT, before)


def test_closing_twice_and_asking_afterwards(playing: dict[str, Playing]) -> None:
    trust = server(addresses(playing))
    assert total(trust) == ALL
    trust.close()
    trust.close()
    with pytest.raises(Closed, match="Make a new one"):
        total(trust)
    assert threads() == []


def test_closing_ends_a_round_under_way(stage: Stage, playing: dict[str, Playing]) -> None:
    with silent_host() as (address, called_up), ThreadPoolExecutor(1) as thread:
        trust = server([*addresses(playing)[:3], address])
        asking = thread.submit(total, trust)
        called_up()
        trust.close()
        assert isinstance(asking.exception(LONG), Closed)
    assert threads() == []


def test_a_server_that_is_forgotten_hangs_up(playing: dict[str, Playing]) -> None:
    trust = server(addresses(playing))
    assert total(trust) == ALL
    gone = weakref.ref(trust)
    del trust
    gc.collect()
    assert gone() is None
    for one in playing.values():
        one.tells("the line to server is broken")
    assert threads() == []


@contextmanager
def silent_host():  # type: ignore[no-untyped-def]
    """One who takes up the receiver and says nothing; and a wait until it has been called."""
    with socket.create_server(("127.0.0.1", 0)) as host:
        host.settimeout(LONG)
        lines = []

        def called_up() -> None:
            lines.append(host.accept()[0])

        try:
            yield f"127.0.0.1:{host.getsockname()[1]}", called_up
        finally:
            for line in lines:
                line.close()


def test_one_who_never_speaks_tls_does_not_hold_up_the_others(playing: dict[str, Playing]) -> None:
    def play(patience: float) -> None:
        with silent_host() as (address, _), server([*addresses(playing)[:3], address], patience=patience) as trust:
            assert [total(trust) for _ in range(2)] == [heads_of(*NAMES[:3])] * 2

    at_last(play)


@contextmanager
def mute(stage: Stage) -> Iterator[str]:
    """West's host, where somebody answers with the right key and never says hello."""
    met: list[Link] = []

    async def taken(link: Link) -> None:
        met.append(link)

    async def opened() -> Listener:
        return await listening("127.0.0.1:0", identity("west"), federation(), taken)

    async def closed(listener: Listener) -> None:
        await listener.close()
        await asyncio.gather(*(one.down() for one in met))

    listener = stage.run(opened())
    try:
        yield listener.address
    finally:
        stage.run(closed(listener))


def test_one_who_never_says_hello_does_not_hold_up_the_others(stage: Stage, playing: dict[str, Playing]) -> None:
    def play(patience: float) -> None:
        with mute(stage) as address, server([*addresses(playing)[:3], address], patience=patience) as trust:
            assert [total(trust) for _ in range(2)] == [heads_of(*NAMES[:3])] * 2
        with mute(stage) as address, server([address], patience=patience / 3) as trust:
            assert "hello" in too_few(trust)

    at_last(play)


def test_a_host_that_cannot_be_reached_costs_later_rounds_a_moment_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call goes on in the background, and is not waited for again."""
    calls: list[str] = []

    async def never(address: str, *rest: object) -> Link:
        calls.append(address)
        await asyncio.Event().wait()
        raise AssertionError

    async def gathered() -> None:
        connections = Connections(federation(), identity("server"), ["203.0.113.7:7000"], patience=1e9)
        connections._before = 0  # as after a first round
        monkeypatch.setattr(connections_module, "AGAIN", 0.01)
        assert await connections.gathered(4) == {}
        monkeypatch.setattr(connections_module, "AGAIN", 1e9)
        assert await asyncio.wait_for(connections.gathered(4), LONG) == {}
        assert connections.absent == {calls[0]: "it was called and has not said hello"}

    monkeypatch.setattr(connections_module, "called", never)
    asyncio.run(gathered())
    assert len(calls) == 1


def test_a_party_with_another_federation_file_is_named_and_told(stage: Stage, playing: dict[str, Playing]) -> None:
    other = stage.listens(party("west", federation=federation(4)))

    def play(patience: float) -> None:
        with server([*addresses(playing)[:3], other.address], patience=patience) as trust:
            assert total(trust) == heads_of(*NAMES[:3])
            assert "another federation file" in trust._connections.absent.get("west", "")

    at_last(play)
    other.tells("server refuses: hello: 'west' has another federation file")


def test_a_line_that_comes_anew_takes_the_place_of_the_old(stage: Stage) -> None:
    async def met_twice() -> None:
        connections = Connections(federation(), identity("server"), [], patience=10.0)
        address = await connections.open("127.0.0.1:0")
        old, new = [await called(address, identity("west"), federation()) for _ in range(2)]
        for link in (old, new):
            await link.send(party("west").hello().to_bytes())
            assert "west" in await connections.gathered(1)
        with pytest.raises(ConnectionError):
            await old.receive(0)
        assert (await connections.gathered(1))["west"].present
        assert new.open
        await connections.close()
        await asyncio.gather(old.down(), new.down())

    stage.run(met_twice())


def calling(stage: Stage, trust: SecureSum) -> dict[str, Playing]:
    """Parties that call the server."""
    assert trust.address is not None
    return {name: stage.connects(party(name), trust.address) for name in NAMES}


def test_parties_may_call_the_server(stage: Stage) -> None:
    with server(listen="127.0.0.1:0") as trust:
        calling(stage, trust)
        assert [total(trust) for _ in range(2)] == [ALL] * 2


def test_a_party_whose_line_breaks_calls_again(stage: Stage) -> None:
    with server(listen="127.0.0.1:0") as trust:
        playing = calling(stage, trust)
        assert total(trust) == ALL
        trust._background.run(trust._connections._met["north"].down)
        playing["north"].tells("is connected to", times=2)
        assert total(trust) == ALL


def test_parties_call_until_there_is_a_server_and_when_there_is_one_again(stage: Stage) -> None:
    address = free_address()
    playing = {name: stage.connects(party(name), address) for name in NAMES}
    for one in playing.values():
        one.tells("nobody of the federation answers at")
    for _ in range(2):
        with server(listen=address) as trust:
            assert total(trust) == ALL


def test_one_who_is_refused_calls_less_and_less_often(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line on which nothing was asked is no reason to hurry."""
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr("discreet.trust.network.serving.asyncio.sleep", noted)
    with server(listen="127.0.0.1:0") as trust:
        assert trust.address is not None
        other = stage.connects(party("west", federation=federation(4)), trust.address)
        other.tells("another federation file", times=4)
        other.stop()
    assert pauses[:3] == [0.1, 0.2, 0.4]


def test_absent_callers_are_named(stage: Stage) -> None:
    with server(listen="127.0.0.1:0", patience=0.2) as trust, pytest.raises(TooFewSurvivors) as few:
        total(trust)
    assert all(f"{name}: it was not met" in str(few.value) for name in NAMES)


def test_strangers_who_call_and_say_nothing_do_no_harm(stage: Stage) -> None:
    """Not even at the end, when they are still on the line."""
    trust = server(listen="127.0.0.1:0")
    host, _, port = str(trust.address).partition(":")
    with socket.create_connection((host, int(port))), socket.create_connection((host, int(port))) as second:
        second.sendall(b"GET / HTTP/1.1\r\n\r\n")
        with trust:
            calling(stage, trust)
            assert total(trust) == ALL
        gc.collect()


def test_a_port_in_use_is_found_at_once_and_leaves_nothing_behind() -> None:
    with server(listen="127.0.0.1:0") as trust:
        with pytest.raises(ParameterError, match="cannot be used"):
            server(listen=trust.address)
        assert len(threads()) == 1
    assert threads() == []


@pytest.mark.parametrize("wrong", [{"parties": ["here"]}, {"listen": "here"}, {"patience": 0.0}, {"patience": np.nan}])
def test_a_mistake_is_found_before_anything_is_begun(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        server(**wrong)  # type: ignore[arg-type]
    assert threads() == []


def test_the_number_of_units_needs_everybody(stage: Stage) -> None:
    agreed = dataclasses.replace(federation(4), neighbors=Neighbors.REPLACE)
    playing = [stage.listens(party(name, federation=agreed)) for name in NAMES]
    places = [one.address for one in playing]
    with SecureSum(agreed, identity("server"), places) as trust:
        assert trust.units == 16 + 32 + 64 + 128
    with (
        SecureSum(agreed, identity("server"), places[:3], patience=0.2) as trust,
        pytest.raises(TooFewSurvivors, match="west: it was not met"),
    ):
        assert trust.units
