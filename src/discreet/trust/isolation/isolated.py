"""What an untrusted function returns for blocks of records, each in a process of its own, at public times."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, get_args

from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.trust.isolation.block_server import BlockServer
from discreet.trust.isolation.job import MOST_PAGES, Job
from discreet.trust.isolation.page import Page
from discreet.trust.isolation.shipment import Shipment

Form = Literal["full", "process"]
MOST_LINES = 8
PART = 15 / 16  # of its slot, for a block; in the rest it is killed, and its memory freed

REMEDIES: dict[Form, str] = {
    "full": "Use Linux on x86-64 or 64-bit Arm; or pass isolation='process', for a function that you trust not to open "
    "files, connections or other processes.",
    "process": "Use Linux, or another Unix.",
}


def isolated(
    of: Callable[[Array], Any], blocks: Sequence[Array], size: int, seconds: float, form: Form = "full"
) -> list[Array | None]:
    """What a function returns for each block; None where that is not `size` numbers in time.

    The time is divided into slots of equal length. In each, as many blocks as there are processors have a process each,
    which begins and is killed at times that depend on nothing but these parameters. The whole takes all of its time,
    always; before, a server starts, which loads libraries and knows no record.

    Parameters
    ----------
    of : callable
        A block in, numbers out.
    blocks : sequence of arrays of shape (rows, columns)
        The blocks.
    size : int
        Public. How many numbers are expected.
    seconds : float
        Public. How long the whole takes.
    form : {"full", "process"}
        Public. Whether system calls are filtered.

    Guarantee
    ---------
    A process starts from one that has seen no record, and has its own block and the function. It has no open file,
    limits of processor time and memory, and dies with its slot. In the full form it can make about thirty system calls,
    which concern itself alone: it opens nothing, sends nothing, starts, sees and signals no other process, and shares
    no memory. So what it answers depends on its own block, apart from what it may learn from the time that its own
    steps take: processors, caches and memory are shared with the block that runs beside it, and are not cleaned.

    In the weaker form it may do what the system lets a process of this user do: read files, write, connect, outlive its
    slot. Where the system lets anybody have name spaces, those take most of this away, in either form.
    """
    shipment = Shipment.of(of)
    slot = seconds / max(math.ceil(len(blocks) / processors()), 1)
    return answers(Job(shipment.function, shipment.modules, size, slot, form == "full"), blocks)


def answers(job: Job, blocks: Sequence[Array]) -> list[Array | None]:
    """What the processes of a job return for blocks, in slots of as many seconds as each may take."""
    results: list[Array | None] = []
    workers, slot = processors(), job.seconds
    with started(job, min(workers, MOST_LINES)) as server:
        start = end = time.monotonic()
        pages = [Page(block, job.size) for block in blocks[:workers]]
        for number, first in enumerate(range(workers, len(blocks) + workers, workers)):
            _wait_until(end)
            server.start(pages)
            following = [Page(block, job.size) for block in blocks[first : first + workers]]
            _wait_until(end + PART * slot)
            server.end()
            results += [page.answer() for page in pages]
            pages, end = following, start + (number + 1) * slot
    _wait_until(end)
    return results


def processors() -> int:
    """How many blocks are computed at a time: a fact about the machine."""
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(known, MOST_PAGES)


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
