"""A worker as the process sees it that started it: one line, on which questions and releases pass each other."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from discreet.core.errors import EngineFailure
from discreet.core.held import unheld
from discreet.core.identity import home, libraries
from discreet.trust.isolation.isolated import ENVIRONMENT, PASSED_ON
from discreet.trust.worker.framed_line import FramedLine
from discreet.trust.worker.records_place import RecordsPlace
from discreet.trust.worker.worker_process import ANSWERED, unanswered

PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from discreet.trust.worker.worker_process import main; main({})"
STARTING = 120.0  # seconds in which records are opened
REMEMBERED, LARGEST = 256, 2**18  # questions as they are sent, and bytes of such a one
LONGEST = 2000  # letters of what a worker says of its place
FACTS = {"units": int, "curated": bool, "secret": bool, "rereads": bool, "shows_all_rows": bool, "walls": str}


@unheld("one call")
class AwaitedRelease:
    """What one thread waits for: a release, as it was written, or word that there is none."""

    __slots__ = ("release", "wake")

    def __init__(self) -> None:
        self.release: bytes | None = None
        self.wake = threading.Lock()
        self.wake.acquire()

    def settle(self, release: bytes | None) -> None:
        """Tell the thread; once."""
        self.release = release
        self.wake.release()


@unheld("own turns")
class WorkerLine:
    """Starts the worker of a data set when it is first asked, and again when it ended; it ends with this process.

    Parameters
    ----------
    place : RecordsPlace
        Where its records are.
    patience : float
        Public. Seconds after which a question counts as not answered, and the worker is ended.
    """

    def __init__(self, place: RecordsPlace, patience: float = 600.0) -> None:
        self.place, self._patience = place, patience
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: FramedLine | None = None
        self._waiting: dict[int, AwaitedRelease] = {}
        self._numbers = 0
        self._questions: dict[Any, bytes] = {}
        self._facts: dict[str, Any] = {}
        self._closed = False
        self.trouble = ""
        """Why its records could not be opened, when it was last started: for the curator, since it may name paths."""

    @property
    def facts(self) -> dict[str, Any]:
        """What it said when it was last started; nothing before that. Its numbers are claims."""
        return self._facts

    @property
    def process_id(self) -> int | None:
        """Of the worker that runs, if one does."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def start(self) -> dict[str, Any]:
        """Start it where it does not run, and say what is public about its source."""
        with self._lock:
            if self._closed:
                raise unanswered(self.place.name)
            if self._line is None:
                self._begin()
            return self._facts

    def warm(self) -> None:
        """Start it in the background, so that the first question need not wait."""
        threading.Thread(target=self._started, daemon=True).start()

    def _started(self) -> None:
        with suppress(EngineFailure):  # the first question says so, too
            self.start()

    def ask(self, lists: Any, question: Any, mechanism: Any) -> bytes:
        """The release of a question, as it was written; `EngineFailure` where there is none."""
        message = pickle.dumps((pickle.dumps(lists), self._written(lists, question), cloudpickle.dumps(mechanism)))
        if self._line is None:
            self.start()
        awaited = AwaitedRelease()
        with self._lock:
            line = self._line
            if line is None:
                raise unanswered(self.place.name)
            self._numbers += 1
            number = self._numbers
            self._waiting[number] = awaited
        try:
            line.send(number.to_bytes(8, "little") + message)
            if not awaited.wake.acquire(timeout=self._patience):
                self._end(line)
        except OSError:
            raise unanswered(self.place.name) from None
        finally:
            self._waiting.pop(number, None)
        if awaited.release is None:
            raise unanswered(self.place.name)
        return awaited.release

    def _written(self, lists: Any, question: Any) -> bytes:
        """A question as it is sent; one that has a recipe is determined by it, and is written once."""
        recipe = getattr(question, "recipe", None)
        if recipe is None or lists:
            return cloudpickle.dumps(question)
        name = recipe.written()
        with self._lock:
            found = self._questions.get(name)
        if found is not None:
            return found
        found = cloudpickle.dumps(question)
        with self._lock:
            if len(found) <= LARGEST:
                self._questions[name] = found
            if len(self._questions) > REMEMBERED:
                del self._questions[next(iter(self._questions))]
        return found

    def close(self) -> None:
        """End the worker, for good."""
        with self._lock:
            self._closed, line = True, self._line
        if line is not None:
            self._end(line)

    def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-I", "-S", "-c", PROGRAM.format(theirs.fileno()), *libraries(), home()]
        environment = ENVIRONMENT | {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        with theirs:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        line = FramedLine(ours)
        ours.settimeout(STARTING)
        try:
            line.send(cloudpickle.dumps(self.place))
            self._facts = _read_facts(self.place.name, line.receive())
        except NotOpened as why:
            self._stop(line)
            self.trouble = str(why)
            remedy = "Let the curator check the place of the records."
            raise EngineFailure(f"records of {self.place.name}", "they cannot be opened", remedy) from None
        except (OSError, EngineFailure):
            self._stop(line)
            raise unanswered(self.place.name) from None
        self.trouble = ""
        ours.settimeout(None)
        self._line = line
        threading.Thread(target=self._read, args=(line, self._process), daemon=True).start()

    def _read(self, line: FramedLine, process: subprocess.Popen[bytes]) -> None:
        """Hand each release to whoever waits for it; at the end, tell all that there is none."""
        while (message := line.receive()) is not None:
            number, kind, release = int.from_bytes(message[:8], "little"), message[8:9], message[9:]
            with self._lock:  # so that nobody else tells the same thread
                awaited = self._waiting.pop(number, None)
            if awaited is not None:
                awaited.settle(release if kind == ANSWERED else None)
        self._end(line)
        process.wait()

    def _end(self, line: FramedLine) -> None:
        with self._lock:
            if self._line is not line:
                return
            self._line, left, self._waiting = None, list(self._waiting.values()), {}
            self._stop(line)
        for awaited in left:
            awaited.settle(None)

    def _stop(self, line: FramedLine) -> None:
        line.close()
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@dataclass(frozen=True)
class RestingLine:
    """A line on which nobody is asked: for prices and previews, and for whoever answers elsewhere.

    Parameters
    ----------
    place : RecordsPlace
        Public. What is known of the records; where they are does not matter.
    facts : mapping
        Public. What the worker said of its source when it last ran.
    """

    place: RecordsPlace
    facts: dict[str, Any] = field(default_factory=dict)

    def start(self) -> dict[str, Any]:
        """Nothing is started."""
        return self.facts

    def ask(self, lists: Any, question: Any, mechanism: Any) -> bytes:
        """Refused."""
        raise unanswered(self.place.name)


class NotOpened(Exception):
    """The place of the records is at fault: what is said of it is for its owner."""


def _read_facts(name: str, said: bytes | None) -> dict[str, Any]:
    """What a worker says of its source, if it is of the right kinds."""
    try:
        facts = json.loads(said or b"{}")
        if "failed" in facts:
            raise NotOpened(str(facts["failed"])[:LONGEST])
        known = {key: facts[key] for key in FACTS}
    except (ValueError, KeyError, TypeError):
        raise unanswered(name) from None
    for key, kind in FACTS.items():
        if not isinstance(known[key], kind) and not (key == "units" and known[key] is None):
            raise unanswered(name)
    return known
