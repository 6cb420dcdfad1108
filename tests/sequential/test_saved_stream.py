"""States of counters: used once, by a counter with the same terms."""

from __future__ import annotations

import copy
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
