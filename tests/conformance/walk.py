"""Finds what lives in a room by walking it: nothing has to be registered."""

from __future__ import annotations

import importlib.util
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sklearn.base import BaseEstimator

import discreet
from discreet.core.events import NoPromise
from discreet.sequential.continual_release import ContinualRelease
from tests.learners.trial import LearnerTrial
from tests.narrow import here
from tests.sequential.trial import StreamTrial

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


def public_classes(room: str) -> list[type[Any]]:
    """The public classes that a room defines itself."""
    return [
        kind
        for module in modules(room)
        for name, kind in vars(module).items()
        if inspect.isclass(kind) and kind.__module__ == module.__name__ and not name.startswith("_")
    ]


def mechanisms() -> list[type[Any]]:
    """Everything that can release, and promises something."""
    found = [kind for kind in public_classes("mechanisms") if hasattr(kind, "release") and not inspect.isabstract(kind)]
    return [kind for kind in found if not isinstance(getattr(kind, "event", None), NoPromise)]


def randomizers() -> list[type[Any]]:
    """Everything that turns one person's value into a report."""
    return [kind for kind in public_classes("local") if hasattr(kind, "worst_pair") and not inspect.isabstract(kind)]


def learners() -> list[type[Any]]:
    """Every estimator, in every room."""
    found = (kind for room in rooms() for kind in public_classes(room))
    return [kind for kind in found if issubclass(kind, BaseEstimator) and not inspect.isabstract(kind)]


def mirror(kind: type[Any]) -> Any:
    """The test file that mirrors the file of a class."""
    return importlib.import_module(
        kind.__module__.replace(discreet.__name__, "tests", 1).rpartition(".")[0]
        + f".test_{kind.__module__.rpartition('.')[2]}"
    )


def learner_trial(kind: type[Any]) -> LearnerTrial:
    """How a learner is set for its trial: as its own test file says; by its name, where a file has several."""
    brought = mirror(kind)
    found: LearnerTrial = brought.TRIALS[kind.__name__] if hasattr(brought, "TRIALS") else brought.TRIAL
    return found


def statistics() -> list[Any]:
    """Every function that asks records for a figure, in whatever form they come.

    One that takes private data alone asks about its units, as `choose_rows` does, and has tests of its own.
    """
    return [
        function
        for module in modules("statistics")
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
        if {"data", "epsilon"} <= set(inspect.signature(function).parameters)
        if inspect.signature(function).parameters["data"].annotation != "PrivateData"
    ]


def streams() -> list[type[Any]]:
    """Every description, in every room, of which a permit opens an object that goes on."""
    found = (kind for room in rooms() for kind in public_classes(room))
    return [kind for kind in found if issubclass(kind, ContinualRelease) and not inspect.isabstract(kind)]


def stream_trial(kind: type[Any]) -> StreamTrial:
    """How a stream is tried: as its own test file says; by its name, where a file has several."""
    brought = mirror(kind)
    found: StreamTrial = brought.TRIALS[kind.__name__] if hasattr(brought, "TRIALS") else brought.TRIAL
    return found
