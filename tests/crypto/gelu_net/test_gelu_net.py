"""What both sides agree on: sizes of slots, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.gelu_net.gelu_net import WAYS, GeluNet, Precision
from discreet.crypto.gelu_net.layers import ConvolutionLayer, DenseLayer
from tests.crypto.gelu_net.two_sides import SMALL, SQUARES

MNIST = GeluNet((DenseLayer(784, 128), DenseLayer(128, 10, "identity")))


def test_slots_of_mnist_are_as_wide_as_it_takes() -> None:
    """784 inputs of at most 2**8 steps, weights of at most 2**13: products below 784 * 2**21 and a bias of 2**21."""
    assert MNIST.packing(0, "forward").width == (785 * 2**21).bit_length() + 1 == 32
    assert MNIST.packing(1, "forward").width == (128 * 2**25 + 2**21 + 2**12).bit_length() + 1 == 34
    assert MNIST.packing(1, "backward").width == (10 * 2**26).bit_length() + 1 == 31
    assert [MNIST.mask_bits(place) for place in (0, 1)] == [32, 34]
    assert MNIST.packing(0, "forward").slots(2048) >= 56


@settings(max_examples=60, deadline=None, database=None)
@given(
    st.integers(1, 12),
    st.integers(1, 6),
    st.integers(0, 12),
    st.integers(0, 10),
    st.sampled_from([0.01, 0.5, 1.0, 3.7, 8.0]),
    st.sampled_from([0.3, 1.0, 2.5]),
)
def test_no_packing_has_a_slot_that_overflows(
    inputs: int, outputs: int, weights: int, bits: int, largest: float, largest_input: float
) -> None:
    """The largest numbers with the largest weights of every sign, and the largest biases, stay within every slot."""
    precision = Precision(weights, bits, bits, bits, largest, largest_input, 2.0, 3.0)
    layers = (DenseLayer(inputs, outputs), DenseLayer(outputs, 2, "identity"))
    net = GeluNet(layers, precision=precision)
    for place, layer in enumerate(net.layers):
        for way in WAYS:
            for masked in (False, True):
                if masked and way == "backward" and not place:
                    continue
                packing = net.packing(place, way, masked=masked)
                most = precision.most(net.kind(place, way))
                weight = 2 ** (net.mask_bits(place) - 1) if masked else precision.most("weights")
                scale = 2 ** getattr(precision, net.kind(place, way)) if way == "forward" else 0
                terms = layer.fan_in if way == "forward" else layer.fan_out
                assert terms * most * weight + weight * scale <= packing.room.high
                assert packing.interval.high == most


def test_what_weights_give_keeps_its_sign_modulo_masks() -> None:
    for net in (SMALL, SQUARES, MNIST):
        for place in range(len(net.layers)):
            for way in WAYS if place else WAYS[:1]:
                assert net.packing(place, way).room.high <= 2 ** (net.mask_bits(place) - 1)


def test_slots_that_may_tell_all_have_as_many_bits_as_the_weights() -> None:
    assert MNIST.telling_slots(0) == -(-785 * 15 // 32) == 368  # 15 bits for -8192 ... 8192
    conv = ConvolutionLayer((1, 8, 8), 4, 3)
    net = GeluNet((conv, DenseLayer(conv.outputs, 3, "identity")))
    assert net.telling_slots(0) == 1  # 36 uses of 10 weights in each


def test_it_is_written_and_read_and_has_a_digest_of_its_own() -> None:
    for net in (SMALL, SQUARES, MNIST):
        assert GeluNet.from_json(net.to_json()) == net
    assert len({net.digest for net in (SMALL, SQUARES, MNIST, GeluNet(SMALL.layers, rate=0.3))}) == 4
    for wrong in ("", "[]", "{}", '{"version": 1}', "[" * 5000, SMALL.to_json().replace("dense", "sparse")):
        with pytest.raises(Malformed):
            GeluNet.from_json(wrong)
    with pytest.raises(Malformed):
        GeluNet.from_json(SMALL.to_json() + " " * 20000)


def test_numbers_are_rounded_and_moved_into_their_range() -> None:
    found = Precision(activations=2, largest_activation=4.0).steps(np.array([0.124, 0.126, 9.0, -9.0]), "activations")
    assert found.tolist() == [0, 1, 16, -16]


def test_networks_that_cannot_be_are_refused() -> None:
    dense = DenseLayer(4, 3)
    for wrong in (
        lambda: GeluNet(()),
        lambda: GeluNet((dense,)),
        lambda: GeluNet((dense, DenseLayer(4, 2, "identity"))),
        lambda: GeluNet((DenseLayer(4, 3, "identity"),), loss="hinge"),  # type: ignore[arg-type]
        lambda: GeluNet((DenseLayer(4, 3, "identity"),), rate=0.0),
        lambda: GeluNet((DenseLayer(4, 3, "identity"),), precision=Precision(weights=24, inputs=24)),
        lambda: Precision(weights=30),
        lambda: Precision(largest_input=0.0),
    ):
        with pytest.raises(ParameterError):
            wrong()
