"""What an untrusted function returns for blocks of records, each in a process of its own, for a public time."""

from __future__ import annotations

import dataclasses
import math
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any, Literal, get_args

from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.core.identity import home, libraries
from discreet.trust.isolation.job import END, MOST_LINES, READY, START, Job, Page, Shipment

PATIENCE = 120.0  # seconds in which it loads its libraries
PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from discreet.trust.isolation.fork_server import main; main(*{})"
ENVIRONMENT = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM")}
PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # where libraries find theirs
LONGEST = 1000  # letters of an obstacle
Form = Literal["full", "process"]
PART = 15 / 16  # of its slot, for a block; in the rest it is killed, and its memory freed
FAR = 32  # slots of real time that a block has, however busy the machine is
REMEDIES: dict[Form, str] = {
    "full": "Use Linux on x86-64 or 64-bit Arm; or pass isolation='process', for a function that you trust not to open "
    "files, connections or other processes.",
    "process": "Use Linux, or another Unix.",
}


class BlockServer:
    """A fresh interpreter in a session of its own, with a clean environment and a few lines to here.

    Parameters
    ----------
    job : Job
        Public. What its children do.
    lines : int
        Public. How many children it has at a time, one for each line.

    Raises
    ------
    OSError
        It cannot do that here; the message says why.
    """

    def __init__(self, job: Job, lines: int = 1) -> None:
        pairs = [socket.socketpair() for _ in range(lines)]
        self._lines = [ours for ours, _ in pairs]
        theirs = [line.fileno() for _, line in pairs]
        command = [sys.executable, "-I", "-S", "-c", PROGRAM.format(theirs), *libraries(), home()]
        environment = ENVIRONMENT | {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        with ExitStack() as opened:
            for _, line in pairs:
                opened.enter_context(line)
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=environment,
                pass_fds=theirs,
                start_new_session=True,
            )
        try:
            self._tell(job)
        except BaseException:
            self.close()
            raise

    def _tell(self, job: Job) -> None:
        told = pickle.dumps(job)
        first = self._lines[0]
        first.settimeout(PATIENCE)
        first.sendall(len(told).to_bytes(8, "little") + told)
        if (heard := first.recv(LONGEST)) != READY:
            raise OSError(heard.decode(errors="replace") or "the process that is to start others ended")

    def start(self, page: Page, line: int = 0) -> None:
        """Start a process for a page. A server that is gone is not missed: its pages have no answers."""
        with suppress(OSError):
            socket.send_fds(self._lines[line], [START], [page.descriptor])

    def end(self, line: int = 0) -> None:
        """Kill what was started there."""
        with suppress(OSError):
            self._lines[line].sendall(END)

    def done(self, lines: set[int], seconds: float) -> set[int]:
        """Which of these lines have done with what they were given, as soon as one has, or after so many seconds."""
        waiting = {self._lines[line]: line for line in lines}
        ready, _, _ = select.select([*waiting], [], [], max(seconds, 0.0))
        for line in ready:
            with suppress(OSError):
                line.recv(1)  # nothing, where the server is gone
        return {waiting[line] for line in ready}

    def close(self) -> None:
        """Kill the whole session."""
        for line in self._lines:
            line.close()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> BlockServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def isolated(
    of: Callable[[Array], Any], blocks: Sequence[Array], size: int, seconds: float, form: Form = "full"
) -> list[Array | None]:
    """What a function returns for each block; None where that is not `size` numbers in time.

    The time is divided into slots of equal length, in as many lines as there are processors. In each slot one block has
    a process, which takes the processor time of the slot, always: whether its function returns, fails, or does neither.
    On a machine that has nothing else to do, the whole takes all of its time and no more, where slots are longer than
    about 60 milliseconds: to start and end a process takes about four, for which a slot leaves a sixteenth. On a busy
    one it takes longer, as busy as that is, and the blocks have the same processor time. Before, a server starts, which
    loads libraries and knows no record.

    Parameters
    ----------
    of : callable
        A block in, numbers out.
    blocks : sequence of arrays of shape (rows, columns)
        The blocks.
    size : int
        Public. How many numbers are expected.
    seconds : float
        Public. How long the whole takes on a machine that has nothing else to do.
    form : {"full", "process"}
        Public. Whether system calls are filtered.

    Guarantee
    ---------
    A process starts from one that has seen no record, and has its own block and the function. It has no open file,
    limits of processor time and memory, and dies with its slot. In the full form it can make about thirty system calls,
    which concern itself alone: it opens nothing, sends nothing, starts, sees and signals no other process, shares no
    memory, and does not sleep. So what it answers depends on its own block, apart from what it may learn from the time
    that its own steps take: processors, caches and memory are shared with the block that runs beside it, and are not
    cleaned. How long the whole takes depends on these parameters and on what else the machine does.

    In the weaker form it may do what the system lets a process of this user do: read files, write, connect, outlive its
    slot, and sleep, which shows: a block that takes no processor time is given up after as long as 32 slots. Where the
    system lets anybody have name spaces, those take most of this away, in either form.
    """
    shipment = Shipment.of(of)
    slot = seconds / max(math.ceil(len(blocks) / processors()), 1)
    return answers(Job(shipment.function, shipment.modules, size, slot, form == "full"), blocks)


def answers(job: Job, blocks: Sequence[Array]) -> list[Array | None]:
    """What the processes of a job return for blocks, each in a slot of as many seconds as it may take.

    Block n is computed on line n modulo the number of lines, after those before it there. What starts when depends on
    the slots and on when a line has taken the processor time of the one before, which does not depend on the block.
    """
    results: list[Array | None] = [None] * len(blocks)
    lines, slot = max(min(processors(), len(blocks)), 1), job.seconds
    running: dict[int, _Running] = {}
    with started(dataclasses.replace(job, seconds=PART * slot), lines) as server:
        start = time.monotonic()
        waiting = {line: _Turn(line, start) for line in range(lines)}
        while running or waiting:
            now = time.monotonic()
            for line, turn in [(line, turn) for line, turn in waiting.items() if turn.at <= now]:
                del waiting[line]
                if turn.block < len(blocks):
                    running[line] = _Running(turn.block, Page(blocks[turn.block], job.size), now)
                    server.start(running[line].page, line)
            for line in [line for line, one in running.items() if one.began + FAR * slot <= now]:
                server.end(line)
            times = [turn.at for turn in waiting.values()] + [one.began + FAR * slot for one in running.values()]
            done = server.done({*running}, min(times, default=now) - time.monotonic())
            for line in done:
                one = running.pop(line)
                results[one.block] = one.page.answer()
                following = one.block + lines
                at = start + following // lines * slot
                waiting[line] = _Turn(following, max(at, time.monotonic() + (1 - PART) * slot))
    if not job.rehearsal:
        _wait_until(start + math.ceil(len(blocks) / lines) * slot)
    return results


@dataclass(frozen=True)
class _Turn:
    """A block that waits for its turn on a line, and when it may begin."""

    block: int
    at: float


@dataclass(frozen=True)
class _Running:
    """A block that is computed."""

    block: int
    page: Page
    began: float


def processors() -> int:
    """How many blocks are computed at a time: a fact about the machine."""
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(known, MOST_LINES)


def check_isolation(asked: str, of: Callable[[Array], Any], form: Form) -> None:
    """Refuse, before any charge, a form that this system does not have, and a function that cannot be sent."""
    if form not in get_args(Form):
        raise ParameterError(asked, f"the isolation is {form!r}", "Give 'full' or 'process'.")
    try_form(form)
    Shipment.of(of)


@cache
def try_form(form: Form) -> None:
    """Start a server of a form, without any record; once, if it can be done."""
    started(Job(b"", (), 0, 1.0, form == "full")).close()


def started(job: Job, lines: int = 1) -> BlockServer:
    """A server of a job, which starts one process on each of its lines."""
    if not hasattr(os, "fork"):
        raise NotPermitted("isolation", "this system cannot fork", REMEDIES["process"])
    try:
        return BlockServer(job, lines)
    except OSError as why:
        remedy = REMEDIES["full" if job.full else "process"]
        raise NotPermitted("isolation", f"functions cannot be isolated here ({why})", remedy) from why


def _wait_until(deadline: float) -> None:
    while (left := deadline - time.monotonic()) > 0:
        time.sleep(left)
