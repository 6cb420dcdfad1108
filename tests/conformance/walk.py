"""Finds what lives in a room by walking it: nothing has to be registered."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

import discreet
from discreet.core.events import NoPromise
from tests.narrow import here

ON_A_GPU = {"discreet.deep.forms.gpu_norms", "discreet.deep.forms.gpu_sums"}


def rooms() -> list[str]:
    """Every room of the package."""
    return sorted(module.name for module in pkgutil.iter_modules(discreet.__path__) if module.ispkg)


def for_each(found: Iterable[Any]) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Make one test of a claim about each of these; a failure says which of them it is about."""

    every = list(found)

    def made(claim: Callable[[Any], None]) -> Callable[[], None]:
        tried = here(every) if claim.__module__.startswith("tests.conformance.") else every

        def test() -> None:
            assert every
            for one in tried:
                try:
                    claim(one)
                except BaseException as failure:
                    failure.add_note(f"about {getattr(one, '__name__', one)}")
                    raise

        test.__name__, test.__qualname__, test.__doc__ = claim.__name__, claim.__qualname__, claim.__doc__
        test.__module__ = claim.__module__
        vars(test)["about"], vars(test)["claim"] = every, claim
        return test

    return made


def modules(room: str) -> Iterator[Any]:
    """Every module of a room, and of the rooms inside it."""
    package = importlib.import_module(f"discreet.{room}")
    for module in pkgutil.walk_packages(package.__path__, f"discreet.{room}."):
        if module.name not in ON_A_GPU or importlib.util.find_spec("triton") is not None:
            yield importlib.import_module(module.name)


@functools.cache
def public_classes(room: str) -> list[type[Any]]:
    """The public classes that a room defines itself."""
    return [
        kind
        for module in modules(room)
        for name, kind in vars(module).items()
        if inspect.isclass(kind) and kind.__module__ == module.__name__ and not name.startswith("_")
    ]


BROUGHT = {
    "release": "MechanismTrial(...) of tests/mechanisms/trial.py",
    "reports": "ReportTrial(...) of tests/local/trial.py",
    "fit": "LearnerTrial(...) of tests/learners/trial.py",
    "open": "CounterTrial(...), or another StreamTrial, of tests/sequential/trial.py",
}
"""What releases again or at once, by the method that does so; and what the test file of such a class brings."""
TRAINED = {"answer": "TrainingTrial(...) of tests/deep/trial.py", "run": "TrainingTrial(...) of tests/deep/trial.py"}
"""The same of what trains, by its own event, that of its mechanism, or that of its plan."""


def concrete(kind: type[Any]) -> bool:
    """Whether objects of a class can be made."""
    return not (inspect.isabstract(kind) or getattr(kind, "_is_protocol", False))


def promises(kind: type[Any]) -> bool:
    """Whether a class has an event, and so a price: before any data, or, of an estimator, after a fit."""
    annotated = any("event" in vars(base).get("__annotations__", {}) for base in kind.__mro__)
    own = annotated or hasattr(kind, "event") or issubclass(kind, BaseEstimator)
    return own and not isinstance(getattr(kind, "event", None), NoPromise)


@functools.cache
def promising(verb: str) -> list[type[Any]]:
    """Every class, in every room, that has an event and a method of this name, and promises something."""
    return [kind for kind in _with(verb) if promises(kind)]


def mechanisms() -> list[type[Any]]:
    """Everything that turns an answer into a release."""
    return promising("release")


def randomizers() -> list[type[Any]]:
    """Everything that turns one person's value into one report."""
    return [kind for kind in promising("reports") if hasattr(kind, "worst_pair")]


def learners() -> list[type[Any]]:
    """Every estimator."""
    return [kind for kind in promising("fit") if issubclass(kind, BaseEstimator)]


def mirror(kind: type[Any]) -> Any:
    """The test file that mirrors the file of a class."""
    return importlib.import_module(_mirror(kind))


def _mirror(kind: type[Any]) -> str:
    room, _, name = kind.__module__.replace(discreet.__name__, "tests", 1).rpartition(".")
    return f"{room}.test_{name}"


def has_mirror(kind: Any) -> bool:
    """Whether there is a test file that mirrors the file of a class or function."""
    return _mirror(kind) in sys.modules or importlib.util.find_spec(_mirror(kind)) is not None


def reasons(kind: Any, name: str) -> dict[str, str]:
    """The reasons that the test file of a class or function gives under a name; imported only where it has that."""
    found = importlib.util.find_spec(_mirror(kind)) if has_mirror(kind) else None
    if found is None or found.origin is None or name not in Path(found.origin).read_text():
        return {}
    given: dict[str, str] = getattr(mirror(kind), name, {})
    return given


def trial(kind: type[Any]) -> Any:
    """How a class is tried: as its own test file says; by its name, where a file has several that differ."""
    file = _mirror(kind)
    brought = mirror(kind) if has_mirror(kind) else None
    found = getattr(brought, "TRIALS", {}).get(kind.__name__, getattr(brought, "TRIAL", None))
    if found is None:
        known = {**TRAINED, **BROUGHT} if promises(kind) else TRAINED
        verbs = [verb for verb in known if callable(getattr(kind, verb, None))]
        wanted = " or ".join(known[verb] for verb in verbs)
        raise AssertionError(
            f"{kind.__module__} has {kind.__name__}, with an event and `{'`, `'.join(verbs)}`, and nobody tries it: "
            f"let {file.replace('.', '/')}.py have TRIAL = {wanted}, or TRIALS = {{{kind.__name__!r}: ...}}"
        )
    return found


def statistics() -> list[Any]:
    """Every function that asks records for a figure, in whatever form they come.

    One that takes private data alone asks about its units, as `choose_rows` does, and has tests of its own.
    """
    return [
        function
        for module in (*modules("statistics"), *modules("microdata"))
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
        if {"data", "epsilon"} <= set(inspect.signature(function).parameters)
        if inspect.signature(function).parameters["data"].annotation != "PrivateData"
    ]


def streams() -> list[type[Any]]:
    """Every description of what goes on: a permit opens the one object that takes updates."""
    return promising("open")


def training_steps() -> list[type[Any]]:
    """Every question that names the mechanism which releases it: a step, which others ask again and again."""
    return [kind for kind in _with("answer") if hasattr(kind, "mechanism")]


def training_runs() -> list[type[Any]]:
    """Every run that asks what a plan says, or what it says itself, and pays for it."""
    return [kind for kind in _with("run") if promises(kind) or "plan" in inspect.signature(kind).parameters]


def _with(verb: str) -> list[type[Any]]:
    every = (kind for room in rooms() for kind in public_classes(room))
    return [kind for kind in every if callable(getattr(kind, verb, None)) and concrete(kind)]
