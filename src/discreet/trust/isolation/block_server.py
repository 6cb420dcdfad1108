"""A server of isolated processes, seen from its parent: started, given its job, and killed with all its children."""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from types import TracebackType

from discreet.core.identity import home, libraries
from discreet.trust.isolation.job import END, READY, START, Job
from discreet.trust.isolation.page import Page

PATIENCE = 120.0  # seconds in which it loads its libraries
PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from discreet.trust.isolation.fork_server import main; main(*{})"
ENVIRONMENT = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM")}
PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # where libraries find theirs
LONGEST = 1000  # letters of an obstacle


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
