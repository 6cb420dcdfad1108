"""Weights at the server: what they give, how they move, how they are kept."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from discreet.core.errors import NotPermitted, ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.gelu_net.server_weights import ServerWeights, arrays_in, centred, history_after
from tests.crypto.gelu_net.two_sides import SMALL, SQUARES

PLAIN = {"ServerWeights": "how many there are is all that it prints"}


def fresh() -> ServerWeights:
    return ServerWeights(SMALL, SMALL.fresh(np.random.default_rng(1)))


def test_they_are_rounded_and_cut_whenever_they_are_used() -> None:
    values = [np.full((17, 8), 0.3), np.full((9, 4), -99.0)]
    own = ServerWeights(SMALL, values)
    assert set(own.matrix(0, "forward").ravel()) == {round(0.3 * 2**11)}
    assert set(own.matrix(1, "backward").ravel()) == {-(4 * 2**11)}
    assert own.matrix(1, "backward").shape == (4, 8)
    assert own.bias(0, "forward").tolist() == [round(0.3 * 2**11) * 2**8] * 8
    assert own.bias(1, "backward").tolist() == [0] * 8
    own.move([np.full((17, 8), 2**20), np.zeros((9, 4))])  # a gradient of one
    np.testing.assert_allclose(own.copied_values()[0], 0.3 - SMALL.rate)
    assert own.copied_values()[1].max() == -99.0


def test_masked_moves_are_added_modulo_a_power_of_two() -> None:
    own, bits = fresh(), SMALL.mask_bits(0)
    before = own.matrix(0, "forward")
    moves = [np.full((17, 8), 2**bits - 3), np.zeros((9, 4), dtype=np.int64)]
    own.add_masked("ann", moves)
    np.testing.assert_array_equal(own.matrix(0, "forward"), before - 3)
    own.add_masked("ann", [np.full((17, 8), 2 ** (bits - 1)), moves[1]])
    found = own.matrix(0, "forward")
    assert found.min() >= -(2 ** (bits - 1))
    assert found.max() < 2 ** (bits - 1)
    assert own.masked_by == "ann"
    own.check_for("ann", masked=True)
    for client, masked in (("bob", True), ("ann", False)):
        with pytest.raises(NotPermitted, match="masks of 'ann'"):
            own.check_for(client, masked=masked)


def test_they_are_written_and_read_and_neither_copied_nor_pickled_nor_printed() -> None:
    masked = fresh()
    masked.add_masked("ann", [np.ones((17, 8), dtype=np.int64), np.zeros((9, 4), dtype=np.int64)])
    for own in (fresh(), masked):
        read = ServerWeights.from_bytes(own.to_bytes())
        assert (read.net, read.masked_by, read.history) == (own.net, own.masked_by, own.history)
        for one, other in zip(own.copied_values(), read.copied_values(), strict=True):
            np.testing.assert_array_equal(one, other)
        assert repr(own) == "ServerWeights(172 weights, secret)"
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError):
                way(own)
    data = fresh().to_bytes()
    for wrong in (
        data[:-1],
        data[:50],
        b"",
        data.replace(b"weights 1", b"weights 2"),
        data.replace(b"masked_by", b"asked__by"),
    ):
        with pytest.raises(Malformed):
            ServerWeights.from_bytes(wrong)


def test_a_change_is_kept_before_it_is_in_force() -> None:
    """What is kept is what follows, and where it cannot be kept the weights stay as they are."""
    kept: list[bytes] = []
    own = ServerWeights(SMALL, SMALL.fresh(np.random.default_rng(1)), keep=kept.append)
    moves = [np.ones((17, 8), dtype=np.int64), np.zeros((9, 4), dtype=np.int64)]
    for masked in (False, True, True):
        if masked:
            own.add_masked("ann", moves)
        else:
            own.move(moves)
        assert kept[-1] == own.to_bytes()
    assert len({*kept}) == 3
    assert own.history == history_after(history_after("", moves), moves) != history_after("", moves)

    def full(_: bytes) -> None:
        raise OSError("no space left")

    own._keep = full
    with pytest.raises(OSError, match="no space"):
        own.add_masked("ann", moves)
    assert own.to_bytes() == kept[-1]
    again = ServerWeights.from_bytes(kept[-1], kept.append)
    again.add_masked("ann", moves)
    assert kept[-1] == again.to_bytes()


def test_weights_of_other_shapes_are_refused() -> None:
    values = SQUARES.fresh(np.random.default_rng(1))
    values[0][0, 0] = np.nan
    for wrong in (SMALL.fresh(np.random.default_rng(1)), values, values[:2]):
        with pytest.raises(ParameterError):
            ServerWeights(SQUARES, wrong)
    with pytest.raises(Malformed, match="not 688"):
        arrays_in(bytes(3), SMALL, "<i4")


def test_centred_numbers_are_between_minus_a_half_and_a_half() -> None:
    values = np.arange(-40, 40)
    found = centred(values, 4)
    assert (found.min(), found.max()) == (-8, 7)
    assert ((found - values) % 16 == 0).all()
