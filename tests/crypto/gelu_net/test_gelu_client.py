"""The client: encrypted runs are their integer twin to the last bit, and close to plain training."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.gelu_net.gelu_message import GeluBody
from discreet.crypto.gelu_net.gelu_net import GeluNet, Precision
from discreet.crypto.gelu_net.layers import DenseLayer
from discreet.crypto.gelu_net.updates import ClearUpdates, MaskedUpdates, NoisedUpdates, WeightUpdates
from discreet.crypto.messages import Message, Signed
from tests.crypto.gelu_net.two_sides import ANN, SERVER, SMALL, SQUARES, Sides, batch, served, sides

PLAIN = {"GeluClient": "names are shown as repr shows texts, without what would upset a terminal"}
KINDS: dict[str, Callable[[GeluNet], WeightUpdates]] = {"clear": lambda _: ClearUpdates(), "masked": MaskedUpdates}


def test_an_encrypted_run_is_its_integer_twin_to_the_last_bit() -> None:
    """Dense layers and a convolution; the batch is longer than a ciphertext, and the second epoch sends it no more."""
    for net in (SMALL, SQUARES):
        inputs, classes = batch(net, 20)
        for kind, updates in KINDS.items():
            real, twin = (sides(net, cipher, updates(net)) for cipher in ("paillier", "plain"))
            for _ in range(2):
                assert real.client.step(inputs, classes) == twin.client.step(inputs, classes), kind
            if kind == "clear":
                for one, other in zip(*(each.server.weights.copied_values() for each in (real, twin)), strict=True):
                    np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(real.client.outputs(inputs), twin.client.outputs(inputs))


def plain_step(net: GeluNet, weights: list[np.ndarray], inputs: np.ndarray, classes: np.ndarray) -> list[np.ndarray]:
    """Descent in floats, by the textbook."""
    taken, given, values = [], [], inputs
    for layer, own in zip(net.layers, weights, strict=True):
        taken.append(values)
        given.append(values @ layer.spread(own[:-1]) + layer.spread_bias(own[-1]))
        values = layer.applied.of(given[-1])
    chances = np.exp(given[-1]) / np.exp(given[-1]).sum(axis=1, keepdims=True)
    deltas, moved = chances - np.eye(chances.shape[1])[classes], list(weights)
    for place in range(len(net.layers) - 1, -1, -1):
        found = net.layers[place].gradient(taken[place], deltas)
        moved[place] = weights[place] - net.rate / len(inputs) * np.vstack([found.kernel, found.bias[None]])
        if place:
            back = deltas @ net.layers[place].spread(weights[place][:-1]).T
            deltas = back * net.layers[place - 1].applied.slope(given[place - 1])
    return moved


def test_training_is_that_of_floats_within_the_precision() -> None:
    """Ten steps; errors of rounding are about 2**-9 a number, and steps have a fifth of them."""
    for net in (SMALL, SQUARES):
        inputs, classes = batch(net, 20)
        clear, masked = sides(net, "plain", ClearUpdates()), sides(net, "plain", MaskedUpdates(net))
        weights = clear.server.weights.copied_values()
        for _ in range(10):
            clear.client.step(inputs, classes)
            masked.client.step(inputs, classes)
            weights = plain_step(net, weights, inputs, classes)
        for one, other in zip(clear.server.weights.copied_values(), weights, strict=True):
            np.testing.assert_allclose(one, other, atol=0.01)
        wanted = sides(net, "plain", server=clear.server, purpose="predict").client.outputs(inputs)
        np.testing.assert_allclose(masked.client.outputs(inputs), wanted, atol=0.05)


def test_training_makes_the_loss_small() -> None:
    inputs, _ = batch(SMALL, 64)
    classes = (inputs[:, :4].argmax(axis=1)).astype(np.int64)
    for updates in (ClearUpdates(), MaskedUpdates(SMALL)):
        own = sides(SMALL, "plain", updates)
        losses = own.client.fit(inputs, classes, epochs=25, batch=16, generator=np.random.default_rng(0))
        assert losses[-1] < 0.5 * losses[0]
        assert (own.client.predict(inputs) == classes).mean() > 0.8


def test_squared_errors_are_trained_too() -> None:
    net = GeluNet((DenseLayer(4, 6, "tanh"), DenseLayer(6, 1, "identity")), loss="squares", rate=0.1)
    inputs = np.random.default_rng(0).uniform(-1, 1, (32, 4))
    targets = inputs[:, 0] - 0.5 * inputs[:, 1]
    own = sides(net, "plain")
    losses = [own.client.step(inputs, targets) for _ in range(100)]
    assert losses[-1] < 0.05 * losses[0]


def test_fixed_batches_are_sent_once() -> None:
    own, (inputs, classes) = sides(SMALL, "paillier"), batch(SMALL, 40)
    own.client.fit(inputs, classes, epochs=3, batch=20, generator=np.random.default_rng(1))
    products = [GeluBody.from_bytes(one.message.body, **FACTS) for one in own.said if one.message.kind == "product"]
    first = [one for one in products if (one.facts["place"], one.facts["direction"]) == (0, "forward")]
    assert [bool(one.payload) for one in first] == [True, True, False, False, False, False]
    assert {one.facts["batch"] for one in first} == {0, 1}
    assert all(one.payload for one in products if one not in first)


FACTS = {"number": int, "place": int, "direction": str, "rows": int, "batch": int, "sent": int}


def test_traffic_is_counted_to_the_byte() -> None:
    own, (inputs, classes) = sides(SMALL, "paillier"), batch(SMALL, 20)
    own.client.step(inputs, classes)
    assert own.client.traffic.sent == sum(len(one.to_bytes()) for one in own.said)
    assert own.client.traffic.received == sum(len(one.to_bytes()) for one in own.heard)
    assert own.client.traffic.messages == len(own.said) == 5


def test_what_cannot_be_sent_is_refused_before_anything_is() -> None:
    own, (inputs, classes) = sides(SMALL), batch(SMALL, 20)
    said = len(own.said)
    for wrong in (
        inputs * 2,
        np.full((2, 16), np.nan),
        inputs[:, :3],
        inputs[0],
        np.zeros((0, 16)),
        np.zeros((65, 16)),
    ):
        with pytest.raises(ParameterError, match="Nothing was sent"):
            own.client.forward(wrong)
    assert len(own.said) == said
    for bad in (classes + 4, classes - 1, classes.astype(float), classes[:3]):
        with pytest.raises(ParameterError, match="no classes"):
            own.client.step(inputs, bad)
    with pytest.raises(ParameterError, match="less than a batch"):
        own.client.fit(inputs, classes, 1, 21, np.random.default_rng(0))


def test_noisy_sessions_send_no_step_that_nobody_paid_for() -> None:
    own, (inputs, classes) = sides(SMALL, "plain", NoisedUpdates()), batch(SMALL, 20)
    with pytest.raises(NotPermitted, match="nobody has paid for"):
        own.client.step(inputs, classes)
    assert [one.message.kind for one in own.said] == ["open"]


def test_gradients_of_records_add_up_to_that_of_the_batch() -> None:
    for net in (SMALL, SQUARES):
        own, (inputs, classes) = sides(net), batch(net, 12)
        each = own.client.record_gradients(inputs, classes)
        own.client.step(inputs, classes)
        body = GeluBody.from_bytes(own.said[-1].message.body, number=int).payload
        sent = np.frombuffer(body, "<i4") / 2**20
        np.testing.assert_allclose(each.sum(axis=0) / 12, sent, atol=1e-6)


def lying(change: Callable[[Message], Message | None], own: Sides) -> Callable[[Signed], Signed]:
    """A line on which the server says something else, and signs it."""

    def line(said: Signed) -> Signed:
        message = own.server.answer(said).message
        return (change(message) or message).signed(SERVER)

    return line


def test_a_server_that_answers_something_else_is_noticed() -> None:
    inputs, _ = batch(SMALL, 3)
    own, old = sides(SMALL, "paillier", purpose="predict"), sides(SMALL, "paillier", purpose="predict")
    old.client.outputs(inputs)

    def other_net(message: Message) -> Message | None:
        return Message(
            message.round, "server", message.kind, message.body.replace(b"tanh", b"relu").replace(b"gelu", b"relu")
        )

    changes = (
        other_net,
        lambda message: Message(message.round, "server", "answer", message.body),
        lambda message: Message("another", "server", message.kind, message.body),
        lambda message: Message(message.round, "server", message.kind, old.heard[0].message.body),
        lambda message: Message(message.round, "server", message.kind, message.body[:-1]),
    )
    for change in changes:
        with pytest.raises(Malformed):
            type(own.client)(SMALL, ANN, own.server.roster, "server", lying(change, own), own.client._sealer)
    for change in (
        lambda message: Message(message.round, "server", message.kind, GeluBody({"number": 7, "kept": 0}).to_bytes()),
        lambda message: Message(message.round, "server", message.kind, message.body[:-1]),
        lambda message: old.heard[1].message,
    ):
        fresh = sides(SMALL, "paillier", purpose="predict")
        fresh.client._line = lying(change, fresh)
        with pytest.raises(Malformed):
            fresh.client.outputs(inputs)


def test_an_update_is_done_when_the_server_says_so_of_this_one() -> None:
    own = sides(SMALL)
    own.client._line = lying(
        lambda message: Message(message.round, "server", "updated", GeluBody({"number": 7, "kept": 0}).to_bytes()), own
    )
    with pytest.raises(Malformed, match="answers something else"):
        own.client.update([np.zeros((17, 8)), np.zeros((9, 4))])


def test_an_answer_that_is_signed_by_another_is_refused() -> None:
    own = sides(SMALL, purpose="predict")
    own.client._line = lambda said: Message(said.message.round, "ann", "answer", b"").signed(ANN)
    with pytest.raises(DiscreetError, match="not theirs"):
        own.client.outputs(batch(SMALL, 2)[0])


def test_a_client_is_neither_copied_nor_pickled_and_prints_nothing_secret() -> None:
    own = sides(SMALL, "paillier")
    assert repr(own.client) == "GeluClient('ann', train, paillier)"
    assert repr(own.server) == "GeluServer('server', ServerWeights(172 weights, secret))"
    for one in (own.client, own.server):
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError):
                way(one)


def test_a_larger_batch_than_the_server_takes_is_asked_in_parts() -> None:
    inputs, _ = batch(SMALL, 150)
    own = sides(SMALL, purpose="predict")
    assert own.client.outputs(inputs).shape == (150, 4)
    whole = sides(SMALL, purpose="predict", server=served(SMALL, most_rows=200)).client.outputs(inputs)
    np.testing.assert_array_equal(own.client.outputs(inputs), whole)
    assert own.client.outputs(inputs[:0]).shape == (0, 4)


def test_coarse_numbers_are_those_of_the_precision() -> None:
    """Weights of one bit after the point: the first layer gives exactly what they and the inputs say."""
    net = GeluNet((DenseLayer(3, 2, "identity"),), precision=Precision(weights=1, inputs=1))
    own = sides(net, purpose="predict")
    weights = np.rint(own.server.weights.copied_values()[0] * 2) / 2
    inputs = np.array([[1.0, -0.5, 0.24]])
    np.testing.assert_array_equal(own.client.outputs(inputs), np.array([[1.0, -0.5, 0.0]]) @ weights[:3] + weights[3])
