"""States of counters: used once, by a counter with the same terms."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.counters.counter import Counter
from discreet.sequential.counters.doubling_counter import DoublingCounter
from discreet.sequential.counters.square_root_counter import SquareRootCounter
from discreet.sequential.counters.tree_counter import TreeCounter
from discreet.sequential.saved_stream import resume_stream, save_stream

MAKE: list[Callable[[Bits], Counter]] = [
    lambda bits: TreeCounter(100, Gaussian(1.0), size=2, bits=bits),
    lambda bits: SquareRootCounter(100, Gaussian(1.0), size=2, bits=bits),
    lambda bits: DoublingCounter(Gaussian(1.0), size=2, first=8, bits=bits),
]


def test_a_resumed_counter_releases_what_the_first_would_have(tmp_path: Path) -> None:
    """From the same bits on: 70 updates in one go, and 45 of them before saving."""
    values = np.random.default_rng(0).random((70, 2))
    for make in MAKE:
        whole, bits = make(DeterministicBits(1)), DeterministicBits(1)
        expected = [whole.update(value) for value in values]
        first, second = make(bits), make(bits)
        found = [first.update(value) for value in values[:45]]
        save_stream(first, tmp_path / "state")
        resume_stream(second, tmp_path / "state")
        found += [second.update(value) for value in values[45:]]
        np.testing.assert_array_equal(found, expected)
        assert list(tmp_path.iterdir()) == []


def test_nothing_goes_on_twice_from_one_state(tmp_path: Path) -> None:
    for make in MAKE:
        counter = make(DeterministicBits(0))
        counter.update([1.0, 0.0])
        path = tmp_path / "state"
        save_stream(counter, path)
        with pytest.raises(NotPermitted, match="its state was saved"):
            counter.update([1.0, 0.0])
        with pytest.raises(NotPermitted, match="saved already"):
            save_stream(counter, tmp_path / "again")
        with pytest.raises(FileExistsError):
            save_stream(make(DeterministicBits(0)), path)
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            copy.deepcopy(counter)
        resume_stream(make(DeterministicBits(0)), path)
        with pytest.raises(NotPermitted, match="Each state is resumed once"):
            resume_stream(make(DeterministicBits(0)), path)


def test_other_terms_are_refused_and_the_file_is_kept(tmp_path: Path) -> None:
    counter = TreeCounter(100, Gaussian(1.0))
    save_stream(counter, tmp_path / "state")
    for other in (
        TreeCounter(100, Gaussian(0.5)),
        TreeCounter(99, Gaussian(1.0)),
        SquareRootCounter(100, Gaussian(1.0)),
    ):
        with pytest.raises(NotPermitted, match="Make it with the same ones"):
            resume_stream(other, tmp_path / "state")
    resume_stream(TreeCounter(100, Gaussian(1.0)), tmp_path / "state")


def test_one_paid_stream_is_not_resumed_as_many(tmp_path: Path) -> None:
    """Each of the others would get noise of its own for the same sum."""
    counter = TreeCounter(100, Gaussian(1.0))
    counter.update(1.0)
    save_stream(counter, tmp_path / "state")
    with pytest.raises(NotPermitted, match=r"streams=1.*streams=1000"):
        resume_stream(TreeCounter(100, Gaussian(1.0), streams=1000), tmp_path / "state")
    with pytest.raises(NotPermitted, match="its clock is of shape"):
        TreeCounter(100, Gaussian(1.0), streams=1000).restore(counter.state())


def test_a_state_under_two_names_is_resumed_once(tmp_path: Path) -> None:
    counter, path = TreeCounter(100, Gaussian(1.0)), tmp_path / "state"
    save_stream(counter, path)
    os.link(path, tmp_path / "other")
    with pytest.raises(NotPermitted, match="another name"):
        resume_stream(TreeCounter(100, Gaussian(1.0)), path)
    (tmp_path / "other").unlink()
    (tmp_path / "other").symlink_to(path)
    resume_stream(TreeCounter(100, Gaussian(1.0)), tmp_path / "other")
    assert not path.exists()
    with pytest.raises(NotPermitted, match="Each state is resumed once"):
        resume_stream(TreeCounter(100, Gaussian(1.0)), path)


def test_what_the_former_version_wrote_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "state"
    np.savez(path, terms=np.array("TreeCounter, horizon 100"), clock=np.zeros(1))
    path = path.with_suffix(".npz")
    with pytest.raises(NotPermitted, match=r"form 1, of another version.* Go on with the version that saved it"):
        resume_stream(TreeCounter(100, Gaussian(1.0)), path)
    assert path.exists()


def test_half_a_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "state"
    save_stream(TreeCounter(100, Gaussian(1.0)), path)
    whole = path.read_bytes()
    for part in (whole[: len(whole) // 2], b"", whole[:-1], b"no archive"):
        path.write_bytes(part)
        with pytest.raises(NotPermitted, match="no saved stream"):
            resume_stream(TreeCounter(100, Gaussian(1.0)), path)
    path.write_bytes(whole)
    resume_stream(TreeCounter(100, Gaussian(1.0)), path)


def test_arrays_that_do_not_fit_leave_the_file_and_close_the_stream(tmp_path: Path) -> None:
    path, counter = tmp_path / "state", TreeCounter(100, Gaussian(1.0))
    save_stream(counter, path)
    with np.load(path) as found:
        parts = {name: found[name] for name in found.files}
    for clock in (-1, 101):
        with path.open("wb") as file:
            np.savez(file, **{**parts, "state clock": np.array([clock])})
        other = TreeCounter(100, Gaussian(1.0))
        with pytest.raises(NotPermitted, match="its clock is not between 0 and 100"):
            resume_stream(other, path)
        assert path.exists()
        with pytest.raises(NotPermitted, match="its state was saved"):
            other.update(1.0)


def test_a_stream_that_cannot_be_written_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError("no space left")

    counter = TreeCounter(100, Gaussian(1.0))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space left"):
            save_stream(counter, tmp_path / "state")
    assert list(tmp_path.iterdir()) == []
    counter.update(1.0)
    save_stream(counter, tmp_path / "state")


def test_threads_that_race_for_a_state_get_it_once(tmp_path: Path) -> None:
    save_stream(TreeCounter(100, Gaussian(1.0)), tmp_path / "state")
    got: list[bool] = []

    def resume() -> None:
        try:
            resume_stream(TreeCounter(100, Gaussian(1.0)), tmp_path / "state")
        except NotPermitted:
            got.append(False)
        else:
            got.append(True)

    threads = [threading.Thread(target=resume) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [False] * 7 + [True]


def test_threads_lose_no_update_of_a_counter() -> None:
    counter = TreeCounter(2000, Gaussian(1e-9))
    threads = [threading.Thread(target=lambda: [counter.update(1.0) for _ in range(100)]) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(counter.clock[0]) == 1600
    assert round(float(counter.update(0.0))) == 1600
