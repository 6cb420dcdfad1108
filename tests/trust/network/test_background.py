"""Waiting for asynchronous work from plain code: one thing at a time, and always to an end."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.core.errors import DiscreetError
from discreet.trust.network.background import Background, Closed
from tests.trust.network.stage import LONG


async def nothing() -> None:
    pass


async def for_ever() -> None:
    await asyncio.Event().wait()


@pytest.fixture
def background() -> Iterator[Background]:
    one = Background()
    yield one
    one.close(nothing)
    assert not one._thread.is_alive()


async def seven() -> int:
    return 7


def test_work_gives_its_result_or_its_error(background: Background) -> None:
    async def failing() -> None:
        raise ValueError("no")

    assert background.run(seven) == 7
    with pytest.raises(ValueError, match="no"):
        background.run(failing)
    assert background.run(seven) == 7


def test_a_notebook_with_a_running_loop_can_wait(background: Background) -> None:
    async def cell() -> int:
        return background.run(seven)

    assert asyncio.run(cell()) == 7


def test_one_thing_is_done_at_a_time(background: Background) -> None:
    under_way, most = 0, 0

    async def work() -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1

    with ThreadPoolExecutor(8) as threads:
        for future in [threads.submit(background.run, work) for _ in range(40)]:
            future.result(LONG)
    assert most == 1


def test_what_is_interrupted_has_ended_before_the_next_begins(background: Background) -> None:
    """As when somebody presses Control-C in a long round, and asks again at once."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    main, events = threading.get_ident(), list[str]()

    def interrupt(*_: object) -> None:
        if not events:
            events.append("interrupted")
            raise KeyboardInterrupt

    async def long() -> None:
        try:
            while True:  # a single signal may come just before the wait that it is to interrupt
                signal.pthread_kill(main, signal.SIGINT)
                await asyncio.sleep(0.01)
        finally:
            await asyncio.sleep(0.01)
            events.append("ended")

    async def next_one() -> None:
        events.append("begun")

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            background.run(long)
        background.run(next_one)
    finally:
        signal.signal(signal.SIGINT, before)
    assert events == ["interrupted", "ended", "begun"]


def test_after_closing_nothing_is_done() -> None:
    one = Background()
    one.close(nothing)
    one.close(for_ever)
    with pytest.raises(Closed, match=r"it was closed\. Nothing was opened\. Make a new one\."):
        one.run(seven)


def test_closing_ends_what_others_wait_for() -> None:
    """Both what is under way and what waits for its turn; the last thing is done all the same."""
    one, done, started = Background(), list[str](), threading.Event()

    async def work() -> None:
        started.set()
        try:
            await for_ever()
        finally:
            done.append("work")

    async def last() -> None:
        done.append("last")

    with ThreadPoolExecutor(3) as threads:
        waiting = [threads.submit(one.run, work)]
        assert started.wait(LONG)
        waiting += [threads.submit(one.run, for_ever) for _ in range(2)]
        one.close(last)
        for future in waiting:
            assert isinstance(future.exception(LONG), DiscreetError)
    assert sorted(done) == ["last", "work"]
    assert not one._thread.is_alive()


def test_it_can_be_closed_from_its_own_thread() -> None:
    """The collector of garbage may run anywhere."""
    one = Background()

    async def closing() -> None:
        one.close(nothing)
        await for_ever()

    with pytest.raises(Closed):
        one.run(closing)
    one._thread.join(LONG)
    assert not one._thread.is_alive()
