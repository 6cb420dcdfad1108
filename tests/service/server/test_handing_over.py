"""What threads make reaches whoever waits for it, in whichever order, and whoever has gone stops nobody."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.service.server.handing_over import HandingOver


def test_many_at_once_and_one_after_the_other_are_all_handed_over() -> None:
    async def all_of_them() -> list[int]:
        handing, found = HandingOver(), []
        with ThreadPoolExecutor(8) as threads:
            for _ in range(3):  # the loop is woken anew each time
                works = [handing.done(threads, lambda number=number: number) for number in range(50)]  # type: ignore
                found += await asyncio.wait_for(asyncio.gather(*works), 30)
        return found

    assert asyncio.run(all_of_them()) == 3 * [*range(50)]


def test_what_fails_fails_for_its_own_caller() -> None:
    async def both() -> list[object]:
        handing = HandingOver()
        with ThreadPoolExecutor(2) as threads:
            works = handing.done(threads, lambda: 1 // 0), handing.done(threads, lambda: 5)
            return await asyncio.wait_for(asyncio.gather(*works, return_exceptions=True), 30)

    failed, done = asyncio.run(both())
    assert isinstance(failed, ZeroDivisionError)
    assert done == 5


def test_whoever_has_gone_stops_nobody() -> None:
    async def one_goes() -> int:
        handing, let = HandingOver(), threading.Event()
        with ThreadPoolExecutor(2) as threads:
            gone, stays = (asyncio.ensure_future(handing.done(threads, work)) for work in (let.wait, lambda: 5))
            await asyncio.sleep(0.05)
            gone.cancel()
            let.set()
            with pytest.raises(asyncio.CancelledError):
                await gone
            await asyncio.wait_for(stays, 30)
            return int(await asyncio.wait_for(handing.done(threads, lambda: 7), 30))

    assert asyncio.run(one_goes()) == 7


def test_what_was_made_for_whoever_has_gone_keeps_back_nothing_that_was_made_after_it() -> None:
    async def handed_together() -> int:
        handing, let = HandingOver(), threading.Event()
        with ThreadPoolExecutor(1) as threads:
            works = let.wait, lambda: 5
            gone, stays = (asyncio.ensure_future(handing.done(threads, work)) for work in works)
            await asyncio.sleep(0.05)
            gone.cancel()
            let.set()
            while len(handing._made) < 2:
                time.sleep(0.01)  # the loop looks at neither before both are there
            return int(await asyncio.wait_for(stays, 10))

    assert asyncio.run(handed_together()) == 5
