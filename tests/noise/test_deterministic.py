from __future__ import annotations

import copy
import hashlib
import itertools
import pickle

import numpy as np
import pytest

from discreet.core.bits import Bits
from discreet.noise.deterministic import DeterministicBits

UNHELD = {
    "DeterministicBits": "it is not secret: what it makes is marked as not private",
}
"""Why these change and are not held: see `tests/conformance/test_changing_classes.py`."""

DIGEST = "0312be1e881f1250250b5537f141d2baa3b6b1dd3576f3bec78102d699bef12f"


def test_a_seed_always_gives_this_stream() -> None:
    source: Bits = DeterministicBits(2026)
    assert hashlib.sha256(source.words(1000).astype("<u8").tobytes()).hexdigest() == DIGEST
    assert (source.integer(40), source.integer(3)) == (264548451838, 4)


def test_it_says_that_it_is_not_secret() -> None:
    assert not DeterministicBits(1).secret
    assert "NOT PRIVATE" in str(DeterministicBits.__doc__)


def test_seeds_give_unrelated_streams() -> None:
    first, second = DeterministicBits(1).words(1000).copy(), DeterministicBits(-1).words(1000)
    assert not np.any(first == second)


def test_a_copy_goes_on_from_the_same_place() -> None:
    for width, copied in itertools.product(
        (0, 8, 64, 100), (copy.copy, copy.deepcopy, lambda source: pickle.loads(pickle.dumps(source)))
    ):
        source = DeterministicBits(5)
        source.words(3)
        source.integer(width)
        twin = copied(copied(source))
        assert twin.position == source.position
        assert [source.integer(72) for _ in range(3)] == [twin.integer(72) for _ in range(3)]


def test_a_seed_is_a_whole_number() -> None:
    assert DeterministicBits(np.int64(3)).integer(64) == DeterministicBits(3).integer(64)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        DeterministicBits(1.5)  # type: ignore[arg-type]
