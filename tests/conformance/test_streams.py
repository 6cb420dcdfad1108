"""Every stream, found by walking, is put through the trial that its own test file brings.

Its price, computed again from what it releases; where its exact sums may go; that it is paid for first and opened once;
that it is saved under all of its public parameters and resumed once; that one process and one thread use it.
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, NotPermitted, UnplannedRelease
from discreet.core.exact import Exact
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.continual_release import OpenStream
from discreet.sequential.saved_stream import resume_stream, save_stream
from discreet.sequential.stream_account import StreamAccount
from discreet.trust.grant import Grant
from tests.conformance.forks import in_a_fork
from tests.conformance.walk import for_each, stream_trial, streams
from tests.sequential.trial import ROUNDING, StreamTrial, opened

ENOUGH = Budget(50.0, 0.01)
CHANGES = ("update", "add", "privatise", "_restore", "_state", "begin_update", "closed", "receipt")


@contextmanager
def new_path() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        yield Path(folder) / "state"


def test_the_walk_finds_every_kind_of_stream() -> None:
    found = {one.__name__ for one in streams()}
    assert found >= {"TreeCounter", "FAST", "KalmanStream", "OnlineMoments", "GramSums", "LaplaceCurator"}


@pytest.mark.parametrize("kind", streams(), ids=lambda kind: kind.__name__)
def test_no_pair_of_streams_is_farther_apart_than_the_price(kind: Any) -> None:
    check_price(stream_trial(kind))


def check_price(trial: StreamTrial) -> None:
    found = list(trial.losses())
    assert max(found) <= 1 + ROUNDING
    assert min(found) > 0.5
    assert max(found) > 0.85


@for_each(streams())
def test_exact_sums_leave_a_stream_with_noise_alone(kind: Any) -> None:
    check_flow(stream_trial(kind))


def check_flow(trial: StreamTrial) -> None:
    """Where all that leaves exact sums is noise, neither releases nor anything else that is kept tells of updates.

    So whatever tells of them is in an `Exact`, and leaves it with noise.
    """
    shown, kept = [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Exact, "noised", lambda exact, sums, noise: 0 * sums(exact._held) + noise)
        patch.setattr(Exact, "drawn", lambda exact, release: release(0 * exact._held))
        for value in (0.0, 1.0):
            stream = opened(trial.described(), DeterministicBits(7))
            shown.append(repr([trial.update(stream, value) for _ in range(5)]))
            kept.append(dict(outside(stream)))
    assert shown[0] == shown[1]
    assert kept[0].keys() == kept[1].keys()
    assert [name for name in kept[0] if kept[0][name] != kept[1][name]] == []


def outside(value: Any, name: str = "", seen: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """All numbers that an object keeps, however deep, but for those in exact sums."""
    if isinstance(value, Exact) or id(value) in seen:
        return
    if isinstance(value, np.ndarray | np.generic | int | float | str | bool):
        yield name, repr(np.asarray(value).tolist())
        return
    parts = value.items() if isinstance(value, dict) else vars(value).items() if hasattr(value, "__dict__") else ()
    if isinstance(value, list | tuple):
        parts = enumerate(value)
    for one, part in parts:
        yield from outside(part, f"{name}.{one}", (*seen, id(value)))


@for_each(streams())
def test_a_description_is_frozen_and_has_nothing_that_goes_on(kind: Any) -> None:
    one, same = stream_trial(kind).described(), stream_trial(kind).described()
    assert one == same
    assert hash(one) == hash(same)
    assert [name for name in CHANGES if hasattr(one, name)] == []
    assert not any(name == "bits" for name in one.parameters)
    for name in one.parameters:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, name, None)
    before = dict(vars(one))
    opened(one)
    assert {name: vars(one)[name] for name in before} == before


@for_each(streams())
def test_nothing_is_updated_before_it_is_paid_for_and_it_is_opened_once(kind: Any) -> None:
    trial = stream_trial(kind)
    described = trial.described()
    ledger = MemoryLedger(ENOUGH)
    permit = StreamAccount(ledger).permit(described, "a trial")
    stream = permit.open(trial.described())
    (entry,) = ledger.entries()
    assert (entry.event, entry.committed, stream.receipt) == (described.event, True, permit.receipt)
    with pytest.raises(UnplannedRelease):
        permit.open(described)
    with pytest.raises(BudgetExceeded):
        described.open(Budget(1e-5, 1e-12))
    for forged in (None, described, stream):
        with pytest.raises(NotPermitted, match="it was not paid for"):
            type(stream)(forged)
    grant = Grant(described, DeterministicBits(0), None)
    described.opened(grant)
    with pytest.raises(NotPermitted, match="was opened before"):
        described.opened(grant)
    trial.update(stream)


@for_each(streams())
def test_what_is_done_to_a_description_later_changes_nothing(kind: Any) -> None:
    trial = stream_trial(kind)
    for name, (_, other) in trial.parameters.items():
        ledger, described = MemoryLedger(ENOUGH), trial.described()
        permit = StreamAccount(ledger, DeterministicBits(1)).permit(described, "a trial")
        object.__setattr__(described, name, other)
        if trial.described().identity != described.copied().identity:
            with pytest.raises(NotPermitted, match="does not pay for"):
                permit.open(described.copied())
        stream = permit.open(trial.described())
        object.__setattr__(described, name, other)
        assert stream.description == trial.described()
        assert stream.description is not described
        whole = opened(trial.described(), DeterministicBits(1))
        assert repr([trial.update(stream) for _ in range(3)]) == repr([trial.update(whole) for _ in range(3)])


@for_each(streams())
def test_no_public_member_of_an_open_stream_shows_its_exact_sums(kind: Any) -> None:
    """Whatever is public and takes no argument is asked: the state is for files alone."""
    stream = opened(stream_trial(kind).described())
    assert not {"state", "restore"} & set(dir(stream))
    for name in (name for name in dir(stream) if not name.startswith("_")):
        assert not isinstance(getattr(stream, name), Exact), name


@for_each(streams())
def test_neither_copies_nor_pickles_are_made_of_an_open_stream(kind: Any) -> None:
    stream = opened(stream_trial(kind).described())
    for take in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            take(stream)


@for_each(streams())
def test_a_state_is_refused_wherever_one_public_parameter_differs(kind: Any) -> None:
    trial = stream_trial(kind)
    stream = trial.described().open(ENOUGH)
    trial.update(stream)
    with new_path() as path:
        save_stream(stream, path)
        for name, (_, other) in trial.parameters.items():
            with pytest.raises(NotPermitted, match="Make it with the same ones"):
                resume_stream(trial.described(**{name: other}), path)
            assert path.exists(), name
        resumed = resume_stream(trial.described(), path)
        assert not path.exists()
        assert resumed.receipt == stream.receipt
        with pytest.raises(NotPermitted, match="Each state is resumed once"):
            resume_stream(trial.described(), path)
        trial.update(resumed)


@for_each(streams())
def test_a_resumed_stream_releases_what_the_first_would_have(kind: Any) -> None:
    trial = stream_trial(kind)
    whole, bits = trial.described().open(ENOUGH, bits=DeterministicBits(1)), DeterministicBits(1)
    first = trial.described().open(ENOUGH, bits=bits)
    expected = [trial.update(whole) for _ in range(7)]
    found = [trial.update(first) for _ in range(4)]
    with new_path() as path:
        save_stream(first, path)
        with pytest.raises(NotPermitted, match="its state was saved"):
            trial.update(first)
        with pytest.raises(NotPermitted, match="saved already"):
            save_stream(first, f"{path} again")
        second = resume_stream(trial.described(), path, bits=bits)
    found += [trial.update(second) for _ in range(3)]
    ahead = getattr(getattr(second, "_counter", second), "_reserve", ())
    assert len(ahead) or repr(found) == repr(expected)  # what was drawn ahead is not saved


@for_each(streams())
def test_arrays_of_other_shapes_and_types_are_refused(kind: Any) -> None:
    trial = stream_trial(kind)
    stream = opened(trial.described())
    trial.update(stream)
    state = stream._state()
    for name, array in state.items():
        for wrong in (np.zeros((*array.shape, 2), array.dtype), array.astype(np.float32)):
            with pytest.raises(NotPermitted, match=f"its {name} is of shape"):
                opened(trial.described())._restore({**state, name: wrong})
        with pytest.raises(NotPermitted, match=f"its {name} is missing"):
            opened(trial.described())._restore({one: part for one, part in state.items() if one != name})


@for_each(streams())
def test_a_fork_neither_goes_on_nor_saves_nor_opens(kind: Any) -> None:
    trial = stream_trial(kind)
    stream = opened(trial.described())
    permit = StreamAccount(MemoryLedger(ENOUGH)).permit(trial.described(), "a trial")
    with new_path() as path:
        uses: list[Callable[[], object]] = [
            lambda: trial.update(stream),
            lambda: save_stream(stream, path),
            lambda: permit.open(trial.described()),
            stream._state,
            lambda: stream._restore({}),
        ]
        assert in_a_fork(lambda: all_refused(uses)) == "refused"
        assert list(path.parent.iterdir()) == []
    trial.update(stream)


def all_refused(uses: list[Callable[[], object]]) -> None:
    """Raise the refusal of a fork, if each of these raises it."""
    refusals = []
    for use in uses:
        with pytest.raises(NotPermitted, match="this process is a fork") as found:
            use()
        refusals.append(found.value)
    raise refusals[-1]


@for_each(streams())
def test_threads_take_turns(kind: Any) -> None:
    """While one thread has the object, another is not let in: nothing of it is entered by both."""
    trial = stream_trial(kind)
    stream, done = opened(trial.described()), threading.Event()
    assert isinstance(stream, OpenStream)

    def use() -> None:
        trial.update(stream)
        done.set()

    with stream._lock:
        thread = threading.Thread(target=use)
        thread.start()
        assert not done.wait(0.01)
    thread.join()
    assert done.is_set()
