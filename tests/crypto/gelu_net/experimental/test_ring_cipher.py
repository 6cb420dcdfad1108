"""The ring engine gives what the integer twin gives, and refuses what it has no room for."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from discreet.core.errors import NotPermitted, ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.gelu_net.experimental.ring import DEGREE, PRIMES, coefficients, expanded, signed, transformed
from discreet.crypto.gelu_net.experimental.ring_cipher import SEED, RingProducts, RingSealer, step_of
from discreet.crypto.gelu_net.gelu_net import GeluNet, Precision
from discreet.crypto.gelu_net.layers import DenseLayer
from discreet.crypto.gelu_net.updates import ClearUpdates
from tests.crypto.gelu_net.two_sides import SMALL, SQUARES, batch, sides

PACKING = SMALL.packing(0, "forward")


def test_training_on_the_ring_is_its_integer_twin() -> None:
    for net in (SMALL, SQUARES):
        inputs, classes = batch(net, 50)
        ring, twin = (sides(net, cipher, ClearUpdates()) for cipher in ("ring", "plain"))
        for _ in range(2):
            assert ring.client.step(inputs, classes) == twin.client.step(inputs, classes)


def check_largest(inputs: int) -> None:
    net = GeluNet((DenseLayer(inputs, 2, "identity"),))
    packing, sealer, draw = net.packing(0, "forward"), RingSealer.drawn(net), np.random.default_rng(3)
    most, weight = net.precision.most("inputs"), net.precision.most("weights")
    steps = draw.choice([-most, most], (DEGREE, inputs))
    steps[0], steps[1] = most, -most
    matrix = np.column_stack([np.full(inputs, weight), draw.choice([-weight, weight], inputs)])
    bias = np.array([weight, -weight]) * 2**8
    products = RingProducts(net)
    answer = products.answer(products.read(sealer.sealed(steps, packing), steps.shape, packing), matrix, bias, packing)
    np.testing.assert_array_equal(sealer.opened(answer, packing, (DEGREE, 2)), steps @ matrix + bias)


def test_the_largest_numbers_and_weights_come_back() -> None:
    """In a full batch."""
    check_largest(50)


@pytest.mark.slow
def test_the_largest_numbers_and_weights_of_mnist_come_back() -> None:
    """784 inputs are about as many as there is room for at this precision."""
    check_largest(784)


def test_errors_have_the_law_that_is_said() -> None:
    """Variance 21 / 2 = 10.5, of 65,536 errors within four standard errors; read off with the secret."""
    secret = np.random.default_rng(1).integers(-1, 2, DEGREE)
    sealer = RingSealer(secret)
    data = sealer.sealed(np.zeros((DEGREE, 16), dtype=np.int64), PACKING)
    held = np.frombuffer(data[SEED:], "<u4").astype(np.uint64).reshape(2, 16, DEGREE)
    uniform, found = expanded(data[:SEED], 16), []
    for place, prime in enumerate(PRIMES):
        own = transformed((secret % prime).astype(np.uint64)[None], prime)
        masks = coefficients(uniform[place] * own % np.uint64(prime), prime)
        found.append((held[place] + np.uint64(prime) - masks) % np.uint64(prime))
    errors = signed(np.stack(found))
    assert np.abs(errors).max() <= 21
    assert errors.mean() == pytest.approx(0, abs=4 * (10.5 / errors.size) ** 0.5)
    assert errors.var() == pytest.approx(10.5, rel=4 * (2 / errors.size) ** 0.5)


def test_two_ciphertexts_of_the_same_numbers_have_nothing_in_common() -> None:
    sealer = RingSealer.drawn(SMALL)
    one, two = (sealer.sealed(np.ones((3, 16), dtype=np.int64), PACKING) for _ in range(2))
    assert one[:SEED] != two[:SEED]
    first, second = (np.frombuffer(data[SEED:], "<u4") for data in (one, two))
    assert (first == second).mean() < 1e-3


def solved(matrix: np.ndarray, right: np.ndarray, prime: int) -> np.ndarray:
    """A linear system modulo a prime, by elimination."""
    both = np.column_stack([matrix, right]).astype(object) % prime
    for place in range(len(both)):
        pivot = place + int(np.flatnonzero(both[place:, place])[0])
        both[[place, pivot]] = both[[pivot, place]]
        both[place] = both[place] * pow(int(both[place, place]), -1, prime) % prime
        for row in range(len(both)):
            if row != place:
                both[row] = (both[row] - both[row, place] * both[place]) % prime
    found = both[:, len(matrix) :]
    return np.where(found > prime // 2, found - prime, found)


def test_one_answer_shows_all_weights_and_so_nobody_is_answered_questions_on_the_ring() -> None:
    """Half of it is the weights times polynomials that the client has drawn: 16 coefficients of these are enough."""
    sealer, products, prime = RingSealer.drawn(SMALL), RingProducts(SMALL), PRIMES[0]
    matrix = np.random.default_rng(2).integers(-(2**13), 2**13, (16, 8))
    data = sealer.sealed(np.ones((1, 16), dtype=np.int64), PACKING)
    answer = products.answer(products.read(data, (1, 16), PACKING), matrix, np.zeros(8, dtype=np.int64), PACKING)
    half, known = np.frombuffer(answer, "<u4").reshape(2, 2, 8, DEGREE)[0, 0], expanded(data[:SEED], 16)[0]
    np.testing.assert_array_equal(solved(known[:, :16].T, half[:, :16].T, prime), matrix)
    with pytest.raises(NotPermitted, match="shows all weights of its layer"):
        sides(SMALL, "ring", purpose="predict")


def test_what_has_no_room_or_no_form_is_refused() -> None:
    for net in (
        GeluNet((DenseLayer(2000, 2, "identity"),)),
        GeluNet((DenseLayer(784, 2, "identity"),), precision=Precision(weights=13)),
    ):
        with pytest.raises(ParameterError, match="too large or too fine"):
            RingSealer.drawn(net)
        with pytest.raises(ParameterError):
            RingProducts(net)
    sealer, products = RingSealer.drawn(SMALL), RingProducts(SMALL)
    data = sealer.sealed(np.ones((3, 16), dtype=np.int64), PACKING)
    for wrong in (data[:-1], data + b"\0", b"", data[:-4] + b"\xff\xff\xff\xff"):
        with pytest.raises(Malformed):
            products.read(wrong, (3, 16), PACKING)
    with pytest.raises(Malformed, match="records"):
        products.read(data, (DEGREE + 1, 16), PACKING)
    with pytest.raises(ParameterError, match="at most 4096"):
        sealer.sealed(np.ones((DEGREE + 1, 16), dtype=np.int64), PACKING)


def test_the_secret_is_in_no_repr_or_pickle() -> None:
    sealer = RingSealer.drawn(SMALL)
    assert repr(sealer) == "RingSealer(secret)"
    with pytest.raises(TypeError):
        pickle.dumps(sealer)
    assert step_of(PACKING) == PRIMES[0] * PRIMES[1] >> PACKING.width
