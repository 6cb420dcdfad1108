"""Files of states: written once, read once, kept where they cannot be read; those of the former version are read.

What holds for every stream is in tests/conformance/test_streams.py.
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential import FAST, FilterStream, OnlineMoments, SquareRootCounter, TransferFunction, TreeCounter
from discreet.sequential.saved_stream import resume_stream, save_stream
from tests.conformance.walk import stream_trial, streams

FORMER = Path(__file__).parent / "former"  # written by the version whose streams were one object each
DEFAULTS: dict[str, Any] = {
    "TreeCounter": TreeCounter(8, Laplace(1.0)),
    "FAST": FAST(9, Laplace(1.0), 3),
    "FilterStream": FilterStream(TransferFunction([0.5, 0.5]), Gaussian(1.0)),
    "OnlineMoments": OnlineMoments((0.0, 1.0), Gaussian(1.0)),
}
COUNTER = TreeCounter(100, Laplace(1.0))


def saved(path: Path, updates: int = 0, **more: Any) -> None:
    stream = COUNTER.open(Budget(1.0), **more)
    for _ in range(updates):
        stream.update(1.0)
    save_stream(stream, path)


def test_a_file_is_new_and_nothing_else_can_be_written_over(tmp_path: Path) -> None:
    saved(tmp_path / "state")
    with pytest.raises(FileExistsError):
        saved(tmp_path / "state")


def test_other_terms_are_refused_and_the_file_is_kept(tmp_path: Path) -> None:
    saved(tmp_path / "state")
    for other in (TreeCounter(100, Laplace(0.5)), TreeCounter(99, Laplace(1.0)), SquareRootCounter(100, Gaussian(1.0))):
        with pytest.raises(NotPermitted, match="Make it with the same ones"):
            resume_stream(other, tmp_path / "state")
    resume_stream(COUNTER, tmp_path / "state")


def test_one_paid_stream_is_not_resumed_as_many(tmp_path: Path) -> None:
    """Each of the others would get noise of its own for the same sum."""
    many = TreeCounter(100, Laplace(1.0), streams=1000)
    stream = COUNTER.open(Budget(1.0))
    stream.update(1.0)
    with pytest.raises(NotPermitted, match="its clock is of shape"):
        many.open(Budget(1.0))._restore(stream._state())
    save_stream(stream, tmp_path / "state")
    with pytest.raises(NotPermitted, match=r"streams=1\).*streams=1000"):
        resume_stream(many, tmp_path / "state")


def test_a_state_under_two_names_is_resumed_once(tmp_path: Path) -> None:
    path = tmp_path / "state"
    saved(path)
    os.link(path, tmp_path / "other")
    with pytest.raises(NotPermitted, match="another name"):
        resume_stream(COUNTER, path)
    (tmp_path / "other").unlink()
    (tmp_path / "other").symlink_to(path)
    resume_stream(COUNTER, tmp_path / "other")
    assert not path.exists()
    with pytest.raises(NotPermitted, match="Each state is resumed once"):
        resume_stream(COUNTER, path)


def test_files_of_the_former_version_are_read(tmp_path: Path) -> None:
    """Of every kind that could be saved, and with defaults that were not given."""
    tried: dict[str, Any] = {f"defaults_{name}": one for name, one in DEFAULTS.items()}
    tried |= {kind.__name__: stream_trial(kind).described() for kind in streams()}
    there = {path.stem for path in FORMER.glob("*.npz")}
    assert set(tried) - there == {"LaplaceCurator", "BernoulliCurator"}  # which had nothing to save
    assert there <= set(tried)
    for name in sorted(there):
        path = tmp_path / name
        shutil.copy(FORMER / f"{name}.npz", path)
        with np.load(path) as found:
            expected = {one[6:]: found[one] for one in found.files if one.startswith("state ")}
        resumed = resume_stream(tried[name], path)
        state = resumed._state()
        assert state.keys() == expected.keys()
        for one, array in state.items():
            np.testing.assert_array_equal(array, expected[one], err_msg=f"{name}: {one}")
        assert resumed.receipt is None
        if not name.startswith("defaults"):
            stream_trial(type(tried[name])).update(resumed)


def test_what_the_first_version_wrote_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    np.savez(path, terms=np.array("TreeCounter, horizon 100"), clock=np.zeros(1))
    with pytest.raises(NotPermitted, match=r"form 1, of another version.* Go on with the version that saved it"):
        resume_stream(COUNTER, path)
    assert path.exists()


def test_secret_noise_does_not_go_on_from_known_bits(tmp_path: Path) -> None:
    for path, known in ((tmp_path / "secret", {}), (tmp_path / "known", {"bits": DeterministicBits(0)})):
        saved(path, 3, **known)
    with pytest.raises(NotPermitted, match="its noise was secret"):
        resume_stream(COUNTER, tmp_path / "secret", bits=DeterministicBits(0))
    assert (tmp_path / "secret").exists()
    receipt = resume_stream(COUNTER, tmp_path / "known", bits=DeterministicBits(0)).receipt
    assert receipt is not None
    assert not receipt.secret
    shutil.copy(FORMER / "defaults_TreeCounter.npz", tmp_path / "former")
    with pytest.raises(NotPermitted, match="its noise was secret"):
        resume_stream(DEFAULTS["TreeCounter"], tmp_path / "former", bits=DeterministicBits(0))


def test_what_is_not_open_is_not_saved_and_what_describes_nothing_is_not_resumed(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="is not open"):
        save_stream(COUNTER, tmp_path / "state")  # type: ignore[arg-type]
    saved(tmp_path / "state")
    with pytest.raises(ParameterError, match="describes none"):
        resume_stream(COUNTER.event, tmp_path / "state")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="the bits are 5"):
        resume_stream(COUNTER, tmp_path / "state", bits=5)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="the bits are 5"):
        COUNTER.open(Budget(1.0), bits=5)  # type: ignore[arg-type]
    assert (tmp_path / "state").exists()


def test_half_a_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "state"
    saved(path)
    whole = path.read_bytes()
    for part in (whole[: len(whole) // 2], b"", whole[:-1], b"no archive"):
        path.write_bytes(part)
        with pytest.raises(NotPermitted, match="no saved stream"):
            resume_stream(COUNTER, path)
    path.write_bytes(whole)
    resume_stream(COUNTER, path)


def test_arrays_that_do_not_fit_leave_the_file(tmp_path: Path) -> None:
    path = tmp_path / "state"
    saved(path)
    with np.load(path) as found:
        parts = {name: found[name] for name in found.files}
    for clock in (-1, 101):
        with path.open("wb") as file:
            np.savez(file, **{**parts, "state clock": np.array([clock])})
        with pytest.raises(NotPermitted, match="its clock is not between 0 and 100"):
            resume_stream(COUNTER, path)
        assert [one.name for one in tmp_path.iterdir()] == ["state"]


def test_a_stream_that_cannot_be_written_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError("no space left")

    counter = COUNTER.open(Budget(1.0))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space left"):
            save_stream(counter, tmp_path / "state")
    assert list(tmp_path.iterdir()) == []
    counter.update(1.0)
    save_stream(counter, tmp_path / "state")


def test_threads_that_race_for_a_state_get_it_once(tmp_path: Path) -> None:
    saved(tmp_path / "state")
    got: list[bool] = []

    def resume() -> None:
        try:
            resume_stream(COUNTER, tmp_path / "state")
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
    counter = TreeCounter(2000, Laplace(1e-3)).open(Budget(1000.0))
    threads = [threading.Thread(target=lambda: [counter.update(1.0) for _ in range(100)]) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(counter.clock[0]) == 1600
    assert round(float(counter.update(0.0))) == pytest.approx(1600, abs=1)
