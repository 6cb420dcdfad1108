"""Every stream that goes on: saved under all of its public parameters, resumed once, used by one process and thread."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.sequential.bandits.reward_map import Clipped
from discreet.sequential.filters.kalman_model import KalmanModel
from discreet.sequential.filters.transfer_function import TransferFunction
from discreet.sequential.resumable import BITS, Resumable
from discreet.sequential.saved_stream import resume_stream, save_stream
from discreet.sequential.series.pid_controller import PIDController
from tests.conformance.forks import in_a_fork
from tests.conformance.walk import for_each, public_classes

WALK = {"A": 1.0, "C": 1.0, "Q": 0.01}
VALUES: dict[str, tuple[Any, Any]] = {
    "adjacency": ("event", "signal"),
    "arms": (2, 3),
    "bins": (8, 9),
    "bound": (Bound("linf", 1.0), Bound("linf", 2.0)),
    "bounds": ((0.0, 1.0), (0.0, 2.0)),
    "confidence": (0.95, 0.9),
    "contributions": (1, 2),
    "controller": (PIDController(), PIDController(window=4)),
    "delta": (1e-6, 1e-5),
    "dimension": (2, 3),
    "epsilon": (1.0, 2.0),
    "first": (8, 16),
    "horizon": (16, 17),
    "kind": ("square_root", "tree"),
    "memberships": (1, 2),
    "model": (KalmanModel(R=1.0, **WALK), KalmanModel(R=1.0, start=1.0, **WALK)),
    "neighbors": (Neighbors.REPLACE, Neighbors.ADD_REMOVE),
    "noise": (Gaussian(1.0), Gaussian(2.0)),
    "placement": ("input", "output"),
    "q": (0.5, (0.5, 0.9)),
    "reward_map": (Clipped(), Clipped(0.0, 2.0)),
    "rounds": (10, 11),
    "runs": (2, 3),
    "samples": (3, 4),
    "sampling": ("adaptive", "fixed"),
    "series": (2, 3),
    "size": (1, 2),
    "step_variance": (1.0, 2.0),
    "streams": (1, 100),
    "system": (TransferFunction([0.5, 0.5]), TransferFunction([0.5, 0.4])),
    "window": (5, 6),
}
"""Two values of each public parameter that a stream has, of which either will do."""


def streams() -> list[type[Resumable]]:
    """Every class that goes on, wherever it is defined in the room."""
    return [
        kind for kind in public_classes("sequential") if issubclass(kind, Resumable) and not inspect.isabstract(kind)
    ]


def parameters(kind: type[Resumable]) -> list[str]:
    return [name for name in inspect.signature(kind.__init__).parameters if name not in ("self", BITS)]


def made(kind: type[Resumable], /, **others: Any) -> Any:
    return kind(**{name: VALUES[name][0] for name in parameters(kind)} | others)


@contextmanager
def new_path() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        yield Path(folder) / "state"


def updated(stream: Any) -> Any:
    """What one update releases."""
    if hasattr(stream, "membership"):
        return stream.update(np.ones(2), np.arange(2))
    if hasattr(stream, "dimension"):
        return stream.privatise(np.ones((2, 2)), np.ones(2))
    if hasattr(stream, "privatise"):
        return stream.privatise(np.ones(2), np.zeros(2, np.int64), np.ones(2, np.bool_))
    return stream.update(0.5)


def test_the_walk_finds_every_kind_of_stream() -> None:
    assert {one.__name__ for one in streams()} >= {"TreeCounter", "FAST", "KalmanStream", "OnlineMoments", "GramSums"}


@for_each(streams())
def test_a_state_is_refused_wherever_one_public_parameter_differs(kind: type[Resumable]) -> None:
    saved = made(kind)
    updated(saved)
    with new_path() as path:
        save_stream(saved, path)
        for name in parameters(kind):
            other = made(kind, **{name: VALUES[name][1]})
            with pytest.raises(NotPermitted, match="Make it with the same ones"):
                resume_stream(other, path)
            assert path.exists(), name
            assert not other.closed, name
        resume_stream(made(kind), path)
        assert not path.exists()


@for_each(streams())
def test_the_same_object_goes_on_from_the_state_that_it_saved(kind: type[Resumable]) -> None:
    stream = made(kind)
    updated(stream)
    with new_path() as path:
        save_stream(stream, path)
        with pytest.raises(NotPermitted, match="its state was saved"):
            updated(stream)
        other = made(kind)
        updated(other)
        with pytest.raises(NotPermitted, match="updates of its own"):
            resume_stream(other, path)
        resume_stream(stream, path)
        updated(stream)


@for_each(streams())
def test_arrays_of_other_shapes_and_types_are_refused(kind: type[Resumable]) -> None:
    stream = made(kind)
    updated(stream)
    state = stream.state()
    for name, array in state.items():
        for wrong in (np.zeros((*array.shape, 2), array.dtype), array.astype(np.float32)):
            with pytest.raises(NotPermitted, match=f"its {name} is of shape"):
                made(kind).restore({**state, name: wrong})
        with pytest.raises(NotPermitted, match=f"its {name} is missing"):
            made(kind).restore({one: part for one, part in state.items() if one != name})


@for_each(streams())
def test_a_fork_neither_goes_on_nor_saves_nor_resumes(kind: type[Resumable]) -> None:
    stream, saved = made(kind), made(kind)
    with new_path() as path:
        save_stream(saved, path)
        for use in (
            lambda: updated(stream),
            lambda: save_stream(stream, f"{path} of a child"),
            lambda: resume_stream(saved, path),
            stream.state,
        ):
            assert in_a_fork(use) == "refused"
        assert [one.name for one in path.parent.iterdir()] == ["state"]
    updated(stream)


@for_each(streams())
def test_threads_take_turns(kind: type[Resumable]) -> None:
    """While one thread has the object, another is not let in: nothing of it is entered by both."""
    stream, done = made(kind), threading.Event()

    def use() -> None:
        updated(stream)
        done.set()

    with stream._lock:
        thread = threading.Thread(target=use)
        thread.start()
        assert not done.wait(0.01)
    thread.join()
    assert done.is_set()
