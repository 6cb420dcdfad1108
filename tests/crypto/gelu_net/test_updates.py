"""What the server sees of updates: gradients, or uniform numbers."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from discreet.crypto.errors import Malformed
from discreet.crypto.gelu_net.server_weights import centred
from discreet.crypto.gelu_net.updates import (
    ClearUpdates,
    MaskedUpdates,
    NoisedUpdates,
    WeightUpdates,
    gradient_bytes,
    updates_read,
)
from discreet.noise.system_bits import KeyStream
from tests.crypto.gelu_net.two_sides import SMALL


def gradients(seed: int) -> list[np.ndarray]:
    return SMALL.fresh(np.random.default_rng(seed))


def test_clear_gradients_travel_in_steps_and_are_cut_where_they_do_not_fit() -> None:
    given = gradients(1)
    given[0][0, 0] = 1e9
    for kind in (ClearUpdates(), NoisedUpdates()):
        own: WeightUpdates = kind
        read = updates_read(own.kind, own.sent(given), SMALL)
        assert read[0][0, 0] == 2**31 - 1
        np.testing.assert_array_equal(read[1], np.rint(given[1] * 2**20))
    assert len(gradient_bytes(given)) == 4 * SMALL.weights


def test_masks_come_off_again_and_nothing_is_lost_by_rounding() -> None:
    """After any number of updates, what the server adds less the client's masks is the sum of steps, within a half."""
    own, total = MaskedUpdates(SMALL), [np.zeros((17, 8)), np.zeros((9, 4))]
    held = [np.zeros((17, 8), dtype=np.int64), np.zeros((9, 4), dtype=np.int64)]
    for step in range(50):
        given = [0.01 * one for one in gradients(step)]
        moves = updates_read("masked", own.sent(given), SMALL)
        for place, one in enumerate(given):
            total[place] -= SMALL.rate * one * 2**11
            held[place] = centred(held[place] + moves[place], SMALL.mask_bits(place))
    for place in range(2):
        plain = centred(held[place] - own._masks[place], SMALL.mask_bits(place))
        assert np.abs(plain - total[place]).max() <= 0.5 + 1e-6
        assert np.abs(plain - total[place]).max() > 0


def test_what_the_server_sees_is_uniform_and_says_nothing_of_the_gradient() -> None:
    """Means of 50 updates, as shares of the modulus, four standard errors; also for a gradient 1000 times as large."""
    for scale in (1.0, 1000.0):
        own, seen = MaskedUpdates(SMALL, KeyStream(bytes(32))), []  # type: ignore[arg-type]
        for _ in range(50):
            moves = updates_read("masked", own.sent([scale * one for one in gradients(3)]), SMALL)
            seen.append(np.concatenate([one.ravel() / 2.0 ** SMALL.mask_bits(i) for i, one in enumerate(moves)]))
        shares = np.array(seen)
        assert shares.mean() == pytest.approx(0.5, abs=4 * (1 / 12 / shares.size) ** 0.5)
        assert np.abs(shares.mean(axis=0) - 0.5).max() < 5 * (1 / 12 / 50) ** 0.5
        assert shares.min() >= 0
        assert shares.max() < 1
        assert len(np.unique(shares[:, 0])) == 50


def test_masks_are_written_and_read_and_neither_copied_nor_pickled() -> None:
    own = MaskedUpdates(SMALL)
    own.sent(gradients(1))
    read = MaskedUpdates.from_bytes(own.to_bytes())
    for one, other in zip((*own._masks, *own._left), (*read._masks, *read._left), strict=True):
        np.testing.assert_array_equal(one, other)
    assert repr(own) == "MaskedUpdates(172 masks, secret)"
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            way(own)
    for wrong in (b"", own.to_bytes()[:-1], own.to_bytes().replace(b"masks 1", b"masks 2")):
        with pytest.raises(Malformed):
            MaskedUpdates.from_bytes(wrong)


def test_updates_of_another_length_or_outside_the_masks_are_malformed() -> None:
    with pytest.raises(Malformed):
        updates_read("clear", bytes(4 * SMALL.weights - 4), SMALL)
    for number in (-1, 2 ** SMALL.mask_bits(0)):
        body = np.full(SMALL.weights, number, dtype="<i8").tobytes()
        with pytest.raises(Malformed, match="outside the masks"):
            updates_read("masked", body, SMALL)
