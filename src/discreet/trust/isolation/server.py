"""A server of isolated processes, as it is seen from here: started fresh, told its job, and killed whole."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

from discreet.core.installed import home, libraries
from discreet.trust.isolation.job import END, READY, START, Job
from discreet.trust.isolation.page import Page

PATIENCE = 120.0  # seconds in which it loads its libraries
PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from discreet.trust.isolation.fork_server import main; main({})"
ENVIRONMENT = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM")}
PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # where libraries find theirs
LONGEST = 1000  # letters of an obstacle


class Server:
    """A fresh interpreter in a session of its own, with a clean environment and one line to here.

    Parameters
    ----------
    job : Job
        Public. What its children do.

    Raises
    ------
    OSError
        It cannot do that here; the message says why.
    """

    def __init__(self, job: Job) -> None:
        self._line, theirs = socket.socketpair()
        command = [sys.executable, "-I", "-S", "-c", PROGRAM.format(theirs.fileno()), *libraries(), home()]
        environment = ENVIRONMENT | {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        with theirs:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        try:
            self._tell(job)
        except BaseException:
            self.close()
            raise

    def _tell(self, job: Job) -> None:
        told = pickle.dumps(job)
        self._line.settimeout(PATIENCE)
        self._line.sendall(len(told).to_bytes(8, "little") + told)
        if (heard := self._line.recv(LONGEST)) != READY:
            raise OSError(heard.decode(errors="replace") or "the process that is to start others ended")

    def start(self, pages: Sequence[Page]) -> None:
        """Start a process for each page. A server that is gone is not missed: its pages have no answers."""
        with suppress(OSError):
            socket.send_fds(self._line, [START], [page.descriptor for page in pages])

    def end(self) -> None:
        """Kill all that were started."""
        with suppress(OSError):
            self._line.sendall(END)

    def close(self) -> None:
        """Kill the whole session."""
        self._line.close()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
