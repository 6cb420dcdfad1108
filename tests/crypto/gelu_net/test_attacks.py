"""What a client learns of weights, and a server of records, in spite of encryption."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from discreet.core.errors import NotPermitted
from discreet.crypto.gelu_net.gelu_message import GeluBody
from discreet.crypto.gelu_net.gelu_net import GeluNet, Precision
from discreet.crypto.gelu_net.layers import DenseLayer
from discreet.crypto.gelu_net.updates import ClearUpdates, MaskedUpdates, WeightUpdates
from tests.crypto.gelu_net.two_sides import SMALL, Sides, served, sides

DIGITS = GeluNet((DenseLayer(64, 32, "relu"), DenseLayer(32, 10, "identity")), precision=Precision(inputs=4))


def digits(count: int) -> tuple[np.ndarray, np.ndarray]:
    inputs, classes = load_digits(return_X_y=True)
    return inputs[:count] / 16, classes[:count]


def asked(own: Sides) -> np.ndarray:
    """The first layer's weights, by one question for each input and one for the biases."""
    inputs = own.client.net.layers[0].inputs
    given = own.client.forward(np.vstack([np.eye(inputs), np.zeros((1, inputs))])).given[0]
    return np.vstack([given[:-1] - given[-1], given[-1:]])


def test_sixty_five_questions_give_all_weights_of_a_layer_exactly() -> None:
    own = sides(DIGITS, "plain", purpose="predict", server=served(DIGITS, most_rows=65))
    stolen, steps = asked(own), own.server.weights._steps(0)
    assert stolen.size == 2080
    np.testing.assert_array_equal(stolen * 2**11, steps)


def test_the_same_questions_are_not_permitted_beyond_the_slots() -> None:
    own = sides(SMALL, "paillier", purpose="predict", limit=16)
    with pytest.raises(NotPermitted, match="17 slots are asked, and 'ann' has 16 left"):
        asked(own)
    assert asked(sides(SMALL, "paillier", purpose="predict", limit=17)).shape == (17, 8)


def test_a_client_that_trains_honestly_knows_the_weights() -> None:
    """Ten ordinary steps: it refers all answers to the first weights by its own updates, and solves for them."""
    inputs, classes = digits(640)
    own = sides(DIGITS, "plain", ClearUpdates())
    first = own.server.weights.copied_values()[0]
    moved, given = np.zeros((65, 32)), []
    rows = np.column_stack([inputs[:560], np.ones(560)])
    for step in range(10):
        at = slice(56 * step, 56 * step + 56)
        given.append(own.client.forward(inputs[at]).given[0] + DIGITS.rate * rows[at] @ moved)
        own.client.step(inputs[at], classes[at])
        body = GeluBody.from_bytes(own.said[-1].message.body, number=int).payload
        moved += np.frombuffer(body, "<i4", 65 * 32).reshape(65, 32) / 2**20
    solved = np.linalg.lstsq(rows, np.vstack(given), rcond=1e-6)[0]
    unseen = np.column_stack([inputs[560:], np.ones(80)])
    off = np.median(np.abs(unseen @ (solved - first)))
    assert off < 2**-11  # less than a step of the weights: 2.5e-4 here
    assert np.abs(unseen @ first).mean() > 1000 * off


def update_of_one_image(updates: WeightUpdates) -> tuple[np.ndarray, np.ndarray]:
    """What the server sees when a batch has one record, and that record."""
    inputs, classes = digits(1)
    own = sides(DIGITS, "plain", updates)
    own.client.step(inputs, classes)
    body = GeluBody.from_bytes(own.said[-1].message.body, number=int).payload
    kind = "<i8" if updates.kind == "masked" else "<i4"
    return np.frombuffer(body, kind, 65 * 32).reshape(65, 32).astype(float), inputs[0]


def test_the_gradient_of_one_record_in_the_clear_is_the_record() -> None:
    seen, image = update_of_one_image(ClearUpdates())
    unit = np.abs(seen[-1]).argmax()
    assert np.abs(seen[:-1, unit] / seen[-1, unit] - image).max() < 1e-3


def test_under_masks_it_is_not() -> None:
    """Random numbers of 64 places have a correlation of 1/8 with any image, and 32 of them hardly ever .6."""
    seen, image = update_of_one_image(MaskedUpdates(DIGITS))
    found = [abs(np.corrcoef(unit, image)[0, 1]) for unit in seen[:-1].T]
    assert max(found) < 0.6
    clear, _ = update_of_one_image(ClearUpdates())
    assert abs(np.corrcoef(clear[:-1, np.abs(clear[-1]).argmax()], image)[0, 1]) > 0.999


def test_the_first_masked_weights_are_the_servers_own_and_later_ones_say_nothing_of_the_step() -> None:
    """The server knows what it began with. After one update its numbers less these are uniform."""
    own, (inputs, classes) = sides(DIGITS, "plain", MaskedUpdates(DIGITS)), digits(56)
    before = own.server.weights._steps(0)
    own.client.step(inputs, classes)
    shares = ((own.server.weights._steps(0) - before) % 2 ** DIGITS.mask_bits(0)) / 2 ** DIGITS.mask_bits(0)
    assert shares.mean() == pytest.approx(0.5, abs=4 * (1 / 12 / shares.size) ** 0.5)
    assert shares.var() == pytest.approx(1 / 12, abs=4 * (1 / 180 / shares.size) ** 0.5)
