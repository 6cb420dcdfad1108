"""Hostile functions: what they see of others, what they reach, and how they fail."""

from __future__ import annotations

import ctypes
import dataclasses
import errno
import math
import mmap
import os
import platform
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.trust.isolation import isolated as isolation
from discreet.trust.isolation.fork_server import _taken
from discreet.trust.isolation.isolated import BlockServer, check_isolation, isolated, processors
from discreet.trust.isolation.job import Job, Page, Shipment
from discreet.trust.isolation.rehearsed import rehearsed
from discreet.trust.isolation.walls import CALLS, LIBC, SET_TURNS, TURN, filter_program, loaded, take_short_turns
from tests.trust.isolation import hostile
from tests.trust.isolation.hostile import FAILS, MARK, WAYS, errors_of, misbehaves, tries_all_ways
from tests.trust.isolation.unfiltered import obstacle, unfiltered

__all__ = ["unfiltered"]
SLOT = 0.15  # seconds of processor time
BLOCK = np.zeros((3, 2))
PROBES = {335, 336}  # of the kernel's own tracing; anybody else is killed
NUMBERS = {call.name: call.numbers[platform.machine() == "aarch64"] for call in CALLS}
OTHERS = sorted(set(range(1024)) - PROBES - set(NUMBERS.values()))
ORPHAN = """
import sys
sys.path.append({!r})
import numpy as np
from tests.trust.isolation.test_isolated import job
from tests.trust.isolation.hostile import loops
from discreet.trust.isolation.job import Page
from discreet.trust.isolation.rehearsed import rehearsed
from discreet.trust.isolation.isolated import BlockServer
server = BlockServer(job(loops))
server.start(Page(np.zeros((1, 1)), 1))
print(server.process.pid, flush=True)
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
"""
MOVE = "from discreet.trust.isolation.walls import move_out; raise SystemExit(not move_out())"
COMMON = """
import numpy as np
from discreet.trust.isolation.rehearsed import rehearsed
def many(rows):
    line, curve = np.linalg.lstsq(rows[:, 1:], rows[:, 0])[0], np.polyfit(rows[:, 0], rows[:, 1], 2)
    odd = [np.median(rows), np.nanmedian(rows), np.percentile(rows, 30), np.histogram(rows)[0][0], np.cov(rows.T)[0, 0]]
    return [*odd, np.ma.median(rows), np.fft.fft(rows).real.sum(), np.linalg.svd(rows)[1][0], *line, *curve]
assert len(rehearsed(many, np.arange(12.0).reshape(6, 2) ** 2, seconds=2.0)) == 12
"""


@pytest.fixture(autouse=True)
def filtered() -> None:
    if reason := obstacle():
        pytest.skip(reason)


def one(of: Any, size: int = 1, block: Array = BLOCK, slot: float = SLOT) -> Array | None:
    return isolated(of, [block], size, slot)[0]


def test_a_function_sees_nothing_and_reaches_nothing() -> None:
    others = [np.full((5, 2), MARK + i * 1e-9) for i in range(3)]
    found = isolated(tries_all_ways, [BLOCK, *others], len(WAYS), 4 * SLOT)[0]
    assert found is not None
    assert [name for name, worked in zip(WAYS, found, strict=True) if worked] == []


def refused_calls(block: Array) -> list[int]:
    """The error of every system call that there may be, allowed ones left out."""
    return errors_of([(number, *6 * [-1]) for number in OTHERS])


def test_every_other_system_call_is_refused() -> None:
    found = one(refused_calls, len(OTHERS))
    assert found is not None
    assert set(found.tolist()) == {errno.ENOSYS}


def maps_open_files(block: Array) -> list[int]:
    return errors_of([(NUMBERS["mmap"], 0, 4096, 1, 2, number, 0) for number in range(256)])


def test_no_file_is_open() -> None:
    assert set(one(maps_open_files, 256).tolist()) == {errno.EBADF}  # type: ignore[union-attr]


def test_random_numbers_differ_between_blocks() -> None:
    of = lambda block: [np.random.random(), random.random(), np.random.default_rng().random()]  # noqa: E731, NPY002
    first, second = isolated(of, [BLOCK, BLOCK], 3, SLOT)
    assert first is not None
    assert second is not None
    assert (first != second).all()


def half_allowed_calls(block: Array) -> list[int]:
    """Calls that are allowed about oneself, asked about what all processes have in common."""
    address = int(np.ascontiguousarray(block).ctypes.data) // 4096 * 4096
    return errors_of(
        [
            (NUMBERS["futex"], address, 1, 1),
            (NUMBERS["futex"], address, 1 | 128, 1),
            (NUMBERS["madvise"], address, 4096, 12),
            (NUMBERS["madvise"], address, 4096, 14),
            (NUMBERS["clock_gettime"], -10, 0),
            (NUMBERS["sched_getaffinity"], 1, 128, address),
            (NUMBERS["mmap"], 0, 2**21, 3, 0x40022, -1, 0),
            (NUMBERS["futex"], address, 128, 1),
        ]
    )


def test_calls_about_others_are_refused() -> None:
    found = one(half_allowed_calls, 8)
    no = errno.ENOSYS
    assert found is not None
    assert found[[0, 2, 4, 5, 6, 7]].tolist() == [no] * 6
    assert no not in found[[1, 3]]


def test_whatever_goes_wrong_concerns_one_block_alone(capfd: pytest.CaptureFixture[str]) -> None:
    kinds = [kind for number in range(1, len(FAILS) + 1) for kind in (number, 0)]
    start = time.monotonic()
    found = isolated(misbehaves, [np.full((3, 1), float(kind)) for kind in kinds], 1, SLOT * len(FAILS))
    assert time.monotonic() - start >= SLOT * len(FAILS)
    assert [answer is not None and answer.tolist() == [1.0] for answer in found[1::2]] == [True] * len(FAILS)
    answered = [name for name, answer in zip(FAILS, found[::2], strict=True) if answer is not None]
    assert answered == []
    assert capfd.readouterr() == ("", "")


def works(block: Array) -> float:
    """For six tenths of its slot, of processor time."""
    end = time.process_time() + 0.06
    while time.process_time() < end:
        pass
    return 1.0


def test_a_busy_machine_leaves_no_block_without_its_answer() -> None:
    """Four processes that are always busy take most of the real time of two processors."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        found = isolated(works, [BLOCK] * 4, 1, 0.1 * math.ceil(4 / processors()))
    finally:
        for one in busy:
            one.kill()
            one.wait()
    assert [answer is not None for answer in found] == [True] * 4


def test_a_block_takes_its_processor_time_whether_it_answers_fails_or_does_neither() -> None:
    """No line is done before, and a process has at most one second of processor time in a second."""
    for of in (hostile.computes, hostile.raises_its_record, lambda block: os._exit(0), hostile.crashes, hostile.loops):
        with BlockServer(dataclasses.replace(job(of), seconds=0.3)) as server:
            page, start = Page(BLOCK, 1), time.monotonic()
            server.start(page)
            assert server.done({0}, 60.0) == {0}
            assert time.monotonic() - start >= 0.3


@pytest.mark.skipif(sys.platform != "linux" or processors() < 2, reason="a processor is shared, or nothing is told")
def test_the_processor_time_of_a_block_is_known_whether_or_not_it_asks_for_it() -> None:
    """On another processor the system counts ticks, of a millisecond or more, unless it is made to look."""
    first, second, *_ = sorted(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    if not (child := os.fork()):
        os.sched_setaffinity(0, {second})
        while True:
            pass
    try:
        os.sched_setaffinity(0, {first})
        seen = [_taken(child, 0.0, 1.0)]
        while len(seen) < 200 and seen[-1] < 2.0:
            if (now := _taken(child, 0.0, 1.0)) > seen[-1]:
                seen.append(now)
        assert np.median(np.diff(seen)) < 5e-4
        assert os.sched_getscheduler(child) == os.SCHED_OTHER
    finally:
        os.sched_setaffinity(0, before)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_rehearsal_is_not_waited_for() -> None:
    with BlockServer(dataclasses.replace(job(hostile.computes), seconds=1e4, rehearsal=True, size=4096)) as server:
        server.start(Page(BLOCK, 4096))
        assert server.done({0}, 60.0) == {0}


def test_what_takes_no_processor_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the weaker form, where a function can sleep."""
    monkeypatch.setattr(isolation, "FAR", 3)
    assert isolated(lambda block: time.sleep(600), [BLOCK, BLOCK], 1, 0.1, "process") == [None, None]


def test_what_runs_as_a_function_is_loaded_is_locked_in_as_well() -> None:
    assert isolated(hostile.StallsAsItIsLoaded(), [BLOCK], 1, SLOT) == [None]


def gone(process: int) -> bool:
    """Whether a session has ended, which takes the system a moment."""
    for _ in range(600):
        try:
            os.killpg(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def job(of: Any, full: bool = True) -> Job:
    shipment = Shipment.of(of)
    return Job(shipment.function, shipment.modules, 1, 60.0, full)


def test_a_session_is_killed_whole() -> None:
    page = Page(BLOCK, 1)
    for full, of in (
        (True, hostile.loops),
        (False, lambda block: hostile.leaves_a_grandchild() and hostile.loops(block)),
    ):
        with BlockServer(job(of, full)) as server:
            server.start(page)
        assert gone(server.process.pid)
    assert page.answer() is None


def test_what_runs_on_is_killed_with_its_slot() -> None:
    page = Page(BLOCK, 1)
    counted = [0.0]
    with BlockServer(job(hostile.counts_on_its_page)) as server:
        server.start(page)
        for _ in range(100):
            time.sleep(0.05)
            if counted[-1]:
                server.end()
            counted.append(np.frombuffer(os.pread(page.descriptor, 8, 24))[0])
            if counted[-1] and counted[-1] == counted[-2]:
                break
    assert counted[-1] == counted[-2] > 0


def test_a_session_dies_with_whoever_started_it() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHAN.format(os.getcwd())], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert gone(int(done.stdout))


def test_a_page_can_be_made_neither_longer_nor_shorter() -> None:
    page = Page(BLOCK, 2)
    for length in (8, 8000):
        with pytest.raises(PermissionError):
            os.ftruncate(page.descriptor, length)
    with pytest.raises(PermissionError):
        os.pwrite(page.descriptor, bytes(8000), 0)
    assert page.answer() is None


def test_where_full_isolation_is_not_to_be_had_the_weaker_form_has_to_be_asked_for(unfiltered: None) -> None:
    with pytest.raises(NotPermitted, match=r"no filter.*Nothing was released or spent.*isolation='process'"):
        check_isolation("sample", np.mean, "full")
    check_isolation("sample", np.mean, "process")
    with pytest.raises(ParameterError, match="the isolation is 'none'"):
        check_isolation("sample", np.mean, "none")  # type: ignore[arg-type]


def test_a_machine_without_a_known_filter_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "s390x")
    filter_program.cache_clear()
    with pytest.raises(OSError, match="no filter is known for s390x"):
        filter_program()
    filter_program.cache_clear()


def test_a_library_that_shares_memory_is_refused() -> None:
    with mmap.mmap(-1, 4096), pytest.raises(OSError, match="shares memory"):
        loaded()


def looks_around(block: Array) -> list[float]:
    """Past open files: which of these are there."""
    return [os.path.exists(hostile.__file__), os.path.exists("/proc/self"), os.path.exists("/etc"), os.getppid() != 1]


def test_where_there_are_name_spaces_the_weaker_form_hides_files_and_processes_too() -> None:
    if subprocess.run([sys.executable, "-c", MOVE], check=False).returncode:
        pytest.skip("the system gives nobody name spaces of their own")
    assert isolated(looks_around, [BLOCK], 4, SLOT, "process")[0].tolist() == [0.0, 0.0, 0.0, 0.0]  # type: ignore[union-attr]


def test_what_numpy_loads_late_is_there() -> None:
    """In a fresh interpreter, which has not loaded it."""
    subprocess.run([sys.executable, "-W", "error", "-c", COMMON], check=True)


def test_a_rehearsal_tells_what_a_function_gives_or_why_it_fails() -> None:
    for of, why in (
        (hostile.raises_its_record, "ValueError: a record"),
        (lambda rows: __import__("this"), "Function not implemented"),
        (hostile.loops, "no answer in its time"),
    ):
        with pytest.raises(ParameterError, match=why):
            rehearsed(of, BLOCK, seconds=SLOT)


def test_the_weaker_form_answers_as_well() -> None:
    found = isolated(lambda block: block.sum(axis=0), [BLOCK + 1, BLOCK], 2, 2 * SLOT, "process")
    assert [answer.tolist() for answer in found if answer is not None] == [[3.0, 3.0], [0.0, 0.0]]


def turns() -> int:
    """How long a turn this process has asked for, in nanoseconds, as sched_getattr tells."""
    told = ctypes.create_string_buffer(48)
    LIBC.syscall({"x86_64": 315, "aarch64": 275}[platform.machine()], 0, told, 48, 0)
    return int.from_bytes(told.raw[24:32], sys.byteorder)


def ended(work: Callable[[], bool]) -> int:
    """How a fork ends that does this: 0 where it finds it true."""
    if not (child := os.fork()):
        code = 2
        try:
            code = int(not work())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in SET_TURNS, reason="no such call is known here")
def test_the_server_asks_for_short_turns_and_blocks_have_those_of_everybody() -> None:
    usual = turns()

    def asks() -> bool:
        take_short_turns()
        return turns() == (TURN if usual else 0) and ended(lambda: turns() == usual) == 0  # 0: a Linux before 6.12

    assert ended(asks) == 0
    assert turns() == usual
