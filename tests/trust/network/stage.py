"""Four parties who listen on real sockets, in a thread of their own, and the server who asks them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from functools import cache
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np

from discreet.core.bound import Bound
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Schema
from discreet.trust.federation import Federation
from discreet.trust.network.serving import Serving
from discreet.trust.party import Party
from discreet.trust.secure_sum import SecureSum

Result = TypeVar("Result")

SCHEMA = Schema.numeric(0.0, 1.0, 1)
NAMES = ("east", "north", "south", "west")
ROWS = {"east": 16, "north": 32, "south": 64, "west": 128}
"""How many records each party has: the sum of some tells whose they are, under noise that is far below 8."""
NOISE = Gaussian(0.25)
PACKAGES = ("discreet", "tests")
LONG = 60.0  # seconds: whatever takes longer hangs


@recipe("tests.trust.network.stage:heads")
def heads(schema: Schema) -> BoundedSum:
    """How many records there are, thrice."""
    return BoundedSum(lambda records: np.full((len(records), 3), 0.5), Bound("l2", 1.0), ("x0",))


HEADS = heads(SCHEMA)


@cache
def identity(name: str) -> Identity:
    return Identity.drawn(name, DeterministicBits(sum(name.encode())))


@cache
def federation(threshold: int = 3, names: Sequence[str] = NAMES) -> Federation:
    cards = tuple(PartyCertificate.of(identity(name)) for name in names)
    return Federation(cards, PartyCertificate.of(identity("server")), threshold, SCHEMA)


def party(name: str, **options: Any) -> Party:
    options = {"packages": PACKAGES, "federation": federation(), **options}
    return Party(identity(name), np.zeros((ROWS[name], 1)), **options)


def server(parties: Sequence[str] = (), **options: Any) -> SecureSum:
    return SecureSum(federation(), identity("server"), parties, **options)


def heads_of(*names: str) -> float:
    """What the sum of these parties is, before noise."""
    return 0.5 * sum(ROWS[name] for name in names)


def counted(total: np.ndarray) -> float:
    """The exact sum under a noisy one: the nearest multiple of the smallest party's, 8."""
    return float(np.rint(total[0] / 8) * 8)


def in_time(work: Callable[[], Result]) -> Result:
    """What the work gives; whatever takes long hangs."""
    future: Future[Result] = Future()

    def worked() -> None:
        try:
            future.set_result(work())
        except BaseException as why:
            future.set_exception(why)

    threading.Thread(target=worked, daemon=True).start()
    return future.result(LONG)


class Stage:
    """A thread with an event loop, for everything that is not the server. Nothing may be left on it at the end."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.complaints: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _, context: self.complaints.append(context))
        self._thread = threading.Thread(target=self.loop.run_forever, name="stage")
        self._plays: list[Playing] = []  # tasks that nobody holds are garbage

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run(self._cleared())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(LONG)
        self.loop.close()
        if error is None:
            assert not self.complaints, self.complaints

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What it gives; whatever takes long hangs."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(LONG)

    def listens(self, one: Party, address: str = "127.0.0.1:0") -> Playing:
        """Let a party listen, and learn where."""
        self._plays.append(Playing(self, one, "listen", address))
        return self._plays[-1]

    def connects(self, one: Party, address: str) -> Playing:
        """Let a party call the server."""
        self._plays.append(Playing(self, one, "connect", address))
        return self._plays[-1]

    async def _cleared(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.loop.shutdown_default_executor()
        await asyncio.sleep(0.01)


class Playing:
    """A party that takes part until it is stopped, and all that it told its owner."""

    def __init__(self, stage: Stage, one: Party, how: str, address: str) -> None:
        self.told: list[str] = []
        self._stage, self._news = stage, threading.Condition()
        serving = Serving(one, self._tell)
        self._task = stage.run(_begun(serving.listen(address) if how == "listen" else serving.connect(address)))
        self.address = address
        if how == "listen":
            self.address = self.tells("listens at ").rpartition(" ")[2]

    def tells(self, words: str, times: int = 1) -> str:
        """Wait for a line with these words, to be told so many times."""
        with self._news:
            found = self._news.wait_for(lambda: [line for line in self.told if words in line][times - 1 :], LONG)
        assert found, self.told
        return found[0]

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        self._stage.run(_ended(self._task))

    def _tell(self, line: str) -> None:
        with self._news:
            self.told.append(line)
            self._news.notify_all()


async def _begun(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.ensure_future(work)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
