"""Makes each mistake of the table in a copy of the tree, and reports those that no test notices.

    python -m tests.mutants [word ...]

With words, only the mutants whose file or text has one of them. The result is written to build/mutants.json.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import Mutant

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "build" / "mutants.json"
SECONDS = 120  # of processor time for one mutant: whoever needs more has made it loop, which is noticed
STALE, BROKEN = 100, 101
FATES = {0: "survived", 1: "killed", 2: "killed", -signal.SIGXCPU: "killed", -signal.SIGKILL: "killed", STALE: "stale"}
ALLOWED = 0.03  # of all mutants may survive, each with its excuse


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed, survived or stale, or broken where the tests cannot be run."""

    mutant: Mutant
    fate: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.fate:9}{self.seconds:5.0f} s  {self.mutant.file}: {self.mutant.old!r} -> {self.mutant.new!r}"


def main(words: list[str]) -> int:
    """Try all mutants that have one of these words; all, without words."""
    waiting = [one for one in mutants() if not words or any(word in f"{one.file} {one.old}" for word in words)]
    running: dict[int, Trial] = {}
    outcomes: list[Outcome] = []
    _preload()
    with tempfile.TemporaryDirectory() as folder:
        free = [_copy(Path(folder) / str(number)) for number in range(os.cpu_count() or 1)]
        names = sorted({name for one in waiting for name in one.tests})
        if os.waitpid(_started(lambda: _collected(free[0], names)), 0)[1]:
            print("the tests that the table names cannot be collected")
            return 1
        while waiting or running:
            if waiting and free:
                trial = Trial(waiting.pop(0), free.pop(), time.monotonic())
                running[trial.start()] = trial
                continue
            child, status = os.wait()
            trial = running.pop(child)
            free.append(trial.copy)
            outcomes.append(trial.end(os.waitstatus_to_exitcode(status)))
            print(outcomes[-1], flush=True)
    return _reported(outcomes)


def mutants() -> list[Mutant]:
    """The mutants of every module of this folder that has a table of them."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    modules = [importlib.import_module(f"tests.mutants.{name}") for name in names]
    return [one for module in modules for one in getattr(module, "MUTANTS", ())]


def _copy(to: Path) -> Path:
    for name in ("src", "tests", "conftest.py", "pyproject.toml"):
        source = ROOT / name
        shutil.copytree(source, to / name) if source.is_dir() else shutil.copy(source, to / name)
    return to


def _preload() -> None:
    """What all tests import: forked children have it already."""
    import scipy.integrate
    import scipy.optimize
    import scipy.stats  # noqa: F401
    import sklearn.ensemble  # noqa: F401


@dataclass(frozen=True)
class Trial:
    """A mutant that is tried in a copy of the tree."""

    mutant: Mutant
    copy: Path
    began: float

    def start(self) -> int:
        """Make the mistake, and run the tests in a child that knows no other copy of the package."""
        text = self._original
        if text.count(self.mutant.old) == 1:
            self._file(self.copy).write_text(text.replace(self.mutant.old, self.mutant.new))
        return _started(lambda: _tested(self.copy, self.mutant.tests) if text.count(self.mutant.old) == 1 else STALE)

    def end(self, status: int) -> Outcome:
        """Put the original back."""
        self._file(self.copy).write_text(self._original)
        return Outcome(self.mutant, FATES.get(status, "broken"), time.monotonic() - self.began)

    @property
    def _original(self) -> str:
        return self._file(ROOT).read_text()

    def _file(self, tree: Path) -> Path:
        return tree / "src" / "discreet" / self.mutant.file


def _started(work: Callable[[], int]) -> int:
    """A child whose exit status is the result."""
    child = os.fork()
    if child == 0:
        status = BROKEN
        try:
            status = work()
        finally:
            os._exit(status)
    return child


def _collected(copy: Path, tests: Sequence[str]) -> int:
    """The exit status of pytest where it only looks for these tests, all at once: that takes longer than one mutant."""
    pytest = _in_copy(copy)
    return int(pytest(["-q", "--collect-only", *(f"tests/{name}" for name in tests)]))


def _tested(copy: Path, tests: Sequence[str]) -> int:
    """The exit status of pytest."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    pytest = _in_copy(copy)
    statuses = (int(pytest(["-x", "-q", "-m", "not slow", f"tests/{name}"])) for name in tests)
    return next((status for status in statuses if status), 0)


def _in_copy(copy: Path) -> Callable[[list[str]], int]:
    """Pytest in this process, which from now on is silent, and knows no other tree than this copy."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.chdir(copy)
    sys.dont_write_bytecode = True
    for name in [name for name in sys.modules if name.partition(".")[0] in ("discreet", "tests")]:
        del sys.modules[name]
    sys.path[:0] = [str(copy / "src"), str(copy)]
    import pytest

    return lambda arguments: pytest.main(["-p", "no:cacheprovider", "-p", "tests.mutants.quick", *arguments])


def _reported(outcomes: list[Outcome]) -> int:
    fates = Counter(outcome.fate for outcome in outcomes)
    left = [outcome.mutant for outcome in outcomes if outcome.fate == "survived"]
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps([vars(one) | {"mutant": vars(one.mutant)} for one in outcomes], indent=1))
    print(f"\n{len(outcomes)} mutants in {sum(one.seconds for one in outcomes):.0f} s of work: {dict(fates)}")
    for mutant in left:
        print(f"{mutant.file}: {mutant.old!r} -> {mutant.new!r}\n    {mutant.excuse or 'NOT EXPLAINED'}")
    print(f"{len(left)} survive: {len(left) / max(len(outcomes), 1):.1%}, and {ALLOWED:.0%} may")
    fine = all(mutant.excuse for mutant in left) and len(left) <= max(ALLOWED * len(outcomes), 1)
    return 0 if fine and not fates["stale"] and not fates["broken"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
