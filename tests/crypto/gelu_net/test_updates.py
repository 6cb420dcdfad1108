"""What the server sees of updates: gradients, or uniform numbers."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed, OutOfOrder
from discreet.crypto.gelu_net.gelu_client import Line
from discreet.crypto.gelu_net.server_weights import centred
from discreet.crypto.gelu_net.updates import (
    ClearUpdates,
    MaskedUpdates,
    NoisedUpdates,
    WeightUpdates,
    gradient_bytes,
    updates_read,
)
from discreet.crypto.messages import Signed
from discreet.noise.system_bits import KeyStream
from tests.crypto.gelu_net.two_sides import SMALL, Sides, batch, sides


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
        plain = centred(held[place] - own._now.masks[place], SMALL.mask_bits(place))
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
    for step in range(2):
        own.sent(gradients(step))
    read = MaskedUpdates.from_bytes(own.to_bytes())
    for one, other in ((own._now, read._now), (own._before, read._before)):
        assert one.history == other.history
        assert len(one.history) == 64
        for written, found in zip((*one.masks, *one.left), (*other.masks, *other.left), strict=True):
            np.testing.assert_array_equal(written, found)
    assert repr(own) == "MaskedUpdates(172 masks, secret)"
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            way(own)
    for wrong in (b"", own.to_bytes()[:-1], own.to_bytes().replace(b"masks 1", b"masks 2")):
        with pytest.raises(Malformed):
            MaskedUpdates.from_bytes(wrong)


def unmasked(own: Sides, masks: MaskedUpdates) -> list[np.ndarray]:
    """The weights that only both sides together have."""
    held = zip(own.server.weights.copied_values(), masks._now.masks, strict=True)
    return [centred(values - mask, SMALL.mask_bits(place)) for place, (values, mask) in enumerate(held)]


def test_masks_go_on_whether_or_not_the_last_update_has_arrived() -> None:
    """A line breaks at the second update; a process that reads what was kept goes on as if it had not."""
    inputs, classes = batch()
    for arrives in (False, True):
        kept: list[bytes] = []
        own = sides(SMALL, "plain", MaskedUpdates(SMALL, keep=kept.append))
        own.client.step(inputs, classes)
        line = own.client._line

        def broken(said: Signed, line: Line = line, arrives: bool = arrives) -> Signed:
            if said.message.kind == "update":
                if arrives:
                    line(said)
                raise ConnectionError("it hung up")
            return line(said)

        own.client._line = broken
        with pytest.raises(ConnectionError):
            own.client.step(inputs, classes)
        own.client._line = line
        with pytest.raises(OutOfOrder, match="the masks may be ahead"):
            own.client.outputs(inputs)
        read, twin = MaskedUpdates.from_bytes(kept[-1]), MaskedUpdates(SMALL)
        again, whole = sides(SMALL, "plain", read, server=own.server), sides(SMALL, "plain", twin)
        for _ in range(1 + arrives):
            whole.client.step(inputs, classes)
        for _ in range(2):
            for one, other in zip(unmasked(again, read), unmasked(whole, twin), strict=True):
                np.testing.assert_array_equal(one, other)
            assert again.client.step(inputs, classes) == whole.client.step(inputs, classes)


def test_what_is_not_kept_is_not_sent_and_the_masks_are_as_before() -> None:
    inputs, classes = batch()

    def full(_: bytes) -> None:
        raise OSError("no space left")

    own = sides(SMALL, "plain", masks := MaskedUpdates(SMALL))
    own.client.step(inputs, classes)
    before, said = masks.to_bytes(), len(own.said)
    masks._keep = full
    with pytest.raises(OSError, match="no space"):
        own.client.update([np.zeros((17, 8)), np.zeros((9, 4))])
    assert (masks.to_bytes(), len(own.said)) == (before, said)


def test_masks_of_other_updates_are_refused_before_anything_is_sealed() -> None:
    """Newer ones, older ones, and none: without this, answers would be uniform numbers that look like answers."""
    inputs, classes = batch()
    kept: list[bytes] = []
    own = sides(SMALL, "plain", MaskedUpdates(SMALL, keep=kept.append))
    for _ in range(3):
        own.client.step(inputs, classes)
    wanted = own.client.outputs(inputs)
    for wrong in (MaskedUpdates(SMALL), MaskedUpdates.from_bytes(kept[0])):
        for purpose in ("train", "predict"):
            with pytest.raises(ParameterError, match="other updates than those of these masks"):
                sides(SMALL, "plain", wrong, purpose, own.server)
    other = sides(SMALL)
    with pytest.raises(ParameterError, match="other updates"):
        sides(SMALL, "plain", MaskedUpdates.from_bytes(kept[-1]), server=other.server)
    found = sides(SMALL, "plain", MaskedUpdates.from_bytes(kept[-1]), "predict", own.server).client.outputs(inputs)
    np.testing.assert_array_equal(found, wanted)


def test_updates_of_another_length_or_outside_the_masks_are_malformed() -> None:
    with pytest.raises(Malformed):
        updates_read("clear", bytes(4 * SMALL.weights - 4), SMALL)
    for number in (-1, 2 ** SMALL.mask_bits(0)):
        body = np.full(SMALL.weights, number, dtype="<i8").tobytes()
        with pytest.raises(Malformed, match="outside the masks"):
            updates_read("masked", body, SMALL)
