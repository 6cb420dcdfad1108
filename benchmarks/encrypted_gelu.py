"""Networks on encrypted numbers: against phe, against plain training, and against a network under CKKS.

DISCREET_MNIST= gives the path of MNIST's archive (x_train, y_train, x_test, y_test). DISCREET_GELU_EPOCHS= has fewer
than 20 epochs really encrypted. Both sides of a session are in this process, on one core: seconds are those of both.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.encrypted_paillier import INPUTS, OUTPUTS, PHE_INPUTS, Phe, ratio
from benchmarks.rows import Row, at_least, at_most, missing, printed
from benchmarks.square_network import SLOTS, square_times
from discreet.crypto.gelu_net.ciphers import sealer_of
from discreet.crypto.gelu_net.gelu_client import GeluClient, Purpose
from discreet.crypto.gelu_net.gelu_net import GeluNet, Precision
from discreet.crypto.gelu_net.gelu_plan import plan_training
from discreet.crypto.gelu_net.gelu_server import GeluServer
from discreet.crypto.gelu_net.layers import DenseLayer
from discreet.crypto.gelu_net.linear_cipher import Sealer
from discreet.crypto.gelu_net.server_weights import ServerWeights
from discreet.crypto.gelu_net.slot_allowance import SlotAllowance
from discreet.crypto.gelu_net.updates import ClearUpdates, MaskedUpdates, WeightUpdates
from discreet.crypto.identity import Identity, Roster
from discreet.noise.system_bits import system_bits

BATCH, EPOCHS, SEEDS = 56, 20, 10
SERVER, CLIENT = (Identity.drawn(name, system_bits()) for name in ("server", "client"))
ROSTER = Roster.of([SERVER, CLIENT])
DIGITS = GeluNet((DenseLayer(64, 32), DenseLayer(32, 10, "identity")), precision=Precision(inputs=4))
MNIST = GeluNet((DenseLayer(INPUTS, OUTPUTS), DenseLayer(OUTPUTS, 10, "identity")))
RING_RATE, RING_EPOCHS = 0.5, 10


def client_of(
    net: GeluNet, sealer: Sealer, updates: WeightUpdates, seed: int = 0, purpose: Purpose = "train"
) -> GeluClient:
    """A client and its server, with weights of this seed."""
    weights = ServerWeights(net, net.fresh(np.random.default_rng(seed)))
    return _joined(weights, sealer, updates, purpose)


def _joined(weights: ServerWeights, sealer: Sealer, updates: WeightUpdates, purpose: Purpose) -> GeluClient:
    server = GeluServer(
        weights,
        SERVER,
        ROSTER,
        allowance=SlotAllowance(2**30),
        trainers=(CLIENT.name,),
        ciphers=("paillier", "plain", "ring"),
    )
    return GeluClient(weights.net, CLIENT, ROSTER, SERVER.name, server.answer, sealer, updates, purpose)


class PlainNet:
    """The same network in floats, from the same weights."""

    def __init__(self, net: GeluNet, seed: int) -> None:
        self.net, self.weights = net, net.fresh(np.random.default_rng(seed))

    def forward(self, inputs: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        taken, given, values = [], [], inputs
        for layer, own in zip(self.net.layers, self.weights, strict=True):
            taken.append(values)
            given.append(values @ own[:-1] + own[-1])
            values = layer.applied.of(given[-1])
        return taken, given

    def step(self, inputs: np.ndarray, classes: np.ndarray) -> None:
        taken, given = self.forward(inputs)
        chances = np.exp(given[-1] - given[-1].max(axis=1, keepdims=True))
        deltas = chances / chances.sum(axis=1, keepdims=True) - np.eye(chances.shape[1])[classes]
        for place in range(len(self.weights) - 1, -1, -1):
            gradient = np.vstack([taken[place].T @ deltas, deltas.sum(axis=0)]) / len(inputs)
            if place:
                slope = self.net.layers[place - 1].applied.slope(given[place - 1])
                deltas = deltas @ self.weights[place][:-1].T * slope
            self.weights[place] = self.weights[place] - self.net.rate * gradient

    def fit(self, inputs: np.ndarray, classes: np.ndarray, epochs: int, batch: int, generator: Any) -> None:
        """The batches of `GeluClient.fit`, in its order."""
        order = generator.permutation(len(inputs))
        batches = [order[at : at + batch] for at in range(0, len(order) - batch + 1, batch)]
        for _ in range(epochs):
            for one in generator.permutation(len(batches)):
                self.step(inputs[batches[one]], classes[batches[one]])

    def right(self, inputs: np.ndarray, classes: np.ndarray) -> float:
        return _percent(self.forward(inputs)[1][-1].argmax(axis=1), classes)


def _percent(found: np.ndarray, classes: np.ndarray) -> float:
    return float((found == classes).mean() * 100)


def rows() -> list[Row]:
    sealer = sealer_of("paillier", MNIST)
    found = [*_layer(sealer), *_steps(sealer), *_subgroup_step(), *_squares(sealer), *_seeds(), *_encrypted_digits()]
    return [*found, *_mnist(sealer)]


def _layer(sealer: Sealer) -> list[Row]:
    claim = f"layer {INPUTS}-{OUTPUTS} at batch {BATCH} in a session: times phe for each sample"
    try:
        phe = Phe()
        phe.seconds(2048, "add")
    except (OSError, ValueError):
        return [missing(f"{claim}, which is not there: set DISCREET_PHE")]
    net = GeluNet((DenseLayer(INPUTS, OUTPUTS, "identity"),))
    client = client_of(net, sealer, ClearUpdates())
    images = np.random.default_rng(0).integers(0, 256, (BATCH, INPUTS)) / 256

    def own() -> float:
        client._sent.clear()  # so that the batch is sealed anew
        return _spent(lambda: client.forward(images)) / BATCH

    def peer() -> float:
        one = phe.seconds(2048, "layer") / PHE_INPUTS
        return INPUTS * phe.seconds(2048, "encrypt") + INPUTS * OUTPUTS * one + OUTPUTS * phe.seconds(2048, "decrypt")

    try:
        return [at_least(claim, ratio(peer, own, 3), 1000)]
    finally:
        phe.close()


def _spent(job: Callable[[], Any]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def _steps(sealer: Sealer) -> list[Row]:
    """Forward and whole steps in turns, on fresh batches; then masked ones at their own batch, and plain ones."""
    draw = np.random.default_rng(1)
    clear, masked = client_of(MNIST, sealer, ClearUpdates()), client_of(MNIST, sealer, MaskedUpdates(MNIST))
    few = min(MNIST.packing(place, "forward", masked=True).slots(2048) for place in (0, 1))
    plain, forward, whole, under = PlainNet(MNIST, 0), [], [], []
    for _ in range(4):
        images, classes = draw.integers(0, 256, (2 * BATCH, INPUTS)) / 256, draw.integers(0, 10, 2 * BATCH)
        forward.append(_spent(lambda images=images: clear.forward(images[BATCH:])))  # type: ignore[misc]
        whole.append(_spent(lambda images=images, classes=classes: clear.step(images[:BATCH], classes[:BATCH])))  # type: ignore[misc]
        under.append(_spent(lambda images=images, classes=classes: masked.step(images[:few], classes[:few])))  # type: ignore[misc]
    images, classes = images[:BATCH], classes[:BATCH]
    bare = statistics.median(_spent(lambda: plain.step(images, classes)) for _ in range(50))
    step, pairs = statistics.median(whole[1:]), list(zip(whole, forward, under, strict=True))[1:]
    each = statistics.median(three / few / (one / BATCH) for one, _, three in pairs)
    return [
        at_most(f"a step of 784-128-10 at batch {BATCH}, clear: times its forward pass", _median(pairs, 0, 1), 1.4),
        at_most("the same: seconds of one core, both sides", step, 4),
        printed("the same in floats: milliseconds", 1000 * bare),
        at_most(f"a masked step, {few} slots: times a clear one for each sample", each, 4),
        printed("the same: seconds of one core, both sides", statistics.median(under[1:])),
    ]


def _median(pairs: list[tuple[float, float, float]], one: int, other: int) -> float:
    return statistics.median(each[one] / each[other] for each in pairs)


def _subgroup_step() -> list[Row]:
    """What a further assumption gives."""
    client = client_of(MNIST, sealer_of("paillier", MNIST, randomness="subgroup"), ClearUpdates())
    draw, times = np.random.default_rng(2), []
    for _ in range(3):
        images, classes = draw.integers(0, 256, (BATCH, INPUTS)) / 256, draw.integers(0, 10, BATCH)
        times.append(_spent(lambda images=images, classes=classes: client.step(images, classes)))  # type: ignore[misc]
    return [printed("a clear step under a key in a subgroup (a further assumption): seconds", min(times))]


def _squares(sealer: Sealer) -> list[Row]:
    """The comparison behind the paper's 14 to 35 times, on this machine; no claim is made of it."""
    found = square_times(INPUTS, OUTPUTS, 10)
    client, draw = client_of(MNIST, sealer, ClearUpdates()), np.random.default_rng(3)
    images = draw.integers(0, 256, (2, BATCH, INPUTS)) / 256
    client.forward(images[0])
    own = _spent(lambda: client.forward(images[1])) / BATCH
    ring = client_of(MNIST, sealer_of("ring", MNIST), ClearUpdates())
    many = draw.integers(0, 256, (2, SLOTS, INPUTS)) / 256
    ring.forward(many[0])
    fast = _spent(lambda: ring.forward(many[1])) / SLOTS
    name = "784-128-10 with squares, all under CKKS"
    return [
        printed(f"{name}: seconds of a batch of 1 to {SLOTS}", found.total),
        printed(f"{name}: largest error of an output", f"{found.error:.1e}"),
        printed(
            f"{name}, batch {BATCH}: times encrypted linear parts under Paillier, a sample", found.total / BATCH / own
        ),
        printed(f"{name}, batch {SLOTS}: times the same under Paillier at batch {BATCH}", found.total / SLOTS / own),
        printed(f"{name}, batch {SLOTS}: times the ring engine at that batch", found.total / SLOTS / fast),
    ]


def _digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    inputs, classes = load_digits(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(inputs))
    inputs, classes = inputs[order] / 16, classes[order]
    return inputs[:1437], classes[:1437], inputs[1437:], classes[1437:]


def _seeds() -> list[Row]:
    """By the integer twin, which an encrypted run is to the last bit."""
    inputs, classes, unseen, wanted = _digits()
    gaps: dict[str, list[float]] = {"clear": [], "masked": []}
    plainly = []
    for seed in range(SEEDS):
        plain = PlainNet(DIGITS, seed)
        plain.fit(inputs, classes, EPOCHS, BATCH, np.random.default_rng(seed))
        plainly.append(plain.right(unseen, wanted))
        for kind, updates in (("clear", ClearUpdates()), ("masked", MaskedUpdates(DIGITS))):
            client = client_of(DIGITS, sealer_of("plain", DIGITS), updates, seed)
            client.fit(inputs, classes, EPOCHS, BATCH, np.random.default_rng(seed))
            gaps[kind].append(_percent(client.predict(unseen), wanted) - plainly[-1])
    return [
        printed(f"digits, {SEEDS} seeds: percent right in floats", statistics.mean(plainly)),
        *(
            at_most(f"digits, {SEEDS} seeds, {kind}: points from floats on average", abs(statistics.mean(own)), 0.1)
            for kind, own in gaps.items()
        ),
    ]


def _encrypted_digits() -> list[Row]:
    """One seed, really encrypted."""
    epochs = int(os.environ.get("DISCREET_GELU_EPOCHS", EPOCHS))
    inputs, classes, unseen, wanted = _digits()
    servers = [ServerWeights(DIGITS, DIGITS.fresh(np.random.default_rng(0))) for _ in range(2)]
    real, twin = (
        _joined(own, sealer_of(cipher, DIGITS), ClearUpdates(), "train")
        for own, cipher in zip(servers, ("paillier", "plain"), strict=True)
    )
    seconds = _spent(lambda: real.fit(inputs, classes, epochs, BATCH, np.random.default_rng(0)))
    traffic = (real.traffic.sent + real.traffic.received) / 1e6
    twin.fit(inputs, classes, epochs, BATCH, np.random.default_rng(0))
    equal = all((a == b).all() for a, b in zip(*(own.copied_values() for own in servers), strict=True))
    planned = plan_training(DIGITS, len(inputs), BATCH, epochs, "clear")
    name = f"digits 64-32-10, {epochs} epochs really encrypted"
    return [
        Row(f"{name}: weights are those of the integer twin, to the last bit", str(equal), "True", equal),
        printed(f"{name}: seconds of one core, both sides", seconds),
        printed(f"{name}: megabytes, both ways", traffic),
        printed(f"{name}: megabytes by the plan", planned.bytes / 1e6),
        printed(f"{name}: percent right", _percent(twin.predict(unseen), wanted)),
    ]


def _mnist(sealer: Sealer) -> list[Row]:
    path = Path(os.environ.get("DISCREET_MNIST", "mnist.npz"))
    if not path.exists():
        return [missing(f"MNIST: no images at {path}")]
    with np.load(path) as archive:
        images, classes, unseen, wanted = (archive[f"{x}_{part}"] for part in ("train", "test") for x in "xy")
    images, unseen = (one.reshape(len(one), -1) / 256 for one in (images, unseen))
    classes, wanted = classes.astype(np.int64), wanted.astype(np.int64)
    fast = GeluNet(MNIST.layers, rate=RING_RATE)
    weights, batch = ServerWeights(fast, fast.fresh(np.random.default_rng(0))), SLOTS
    ring, plain = _joined(weights, sealer_of("ring", fast), ClearUpdates(), "train"), PlainNet(fast, 0)
    seconds = _spent(lambda: ring.fit(images, classes, RING_EPOCHS, batch, np.random.default_rng(0)))
    plainly = _spent(lambda: plain.fit(images, classes, RING_EPOCHS, batch, np.random.default_rng(0)))
    asked = _joined(weights, sealer_of("plain", fast), ClearUpdates(), "predict")
    right, other = _percent(asked.predict(unseen), wanted), plain.right(unseen, wanted)
    name = f"MNIST 784-128-10, ring engine, batch {batch}, {RING_EPOCHS} epochs"
    return [
        *_inference(weights, sealer, asked, unseen, wanted),
        at_most(f"{name}: points from floats", abs(right - other), 0.5),
        printed(f"{name}: percent right", right),
        printed(f"{name}: seconds of one core, both sides", seconds),
        printed("the same in floats: seconds", plainly),
    ]


def _inference(
    weights: ServerWeights, sealer: Sealer, twin: GeluClient, unseen: np.ndarray, wanted: np.ndarray
) -> list[Row]:
    """560 images, ten full batches, under Paillier and in a session for predictions."""
    order = np.random.default_rng(0).permutation(len(unseen))[: 10 * BATCH]
    client = _joined(weights, sealer, ClearUpdates(), "predict")
    parts: list[np.ndarray] = []
    seconds = _spent(
        lambda: parts.extend(client.outputs(unseen[order[at : at + BATCH]]) for at in range(0, len(order), BATCH))
    )
    found = np.concatenate(parts)
    equal = bool((found == twin.outputs(unseen[order])).all())
    name = f"MNIST, {len(order)} images under Paillier"
    return [
        Row(f"{name}: outputs are those of the integer twin, to the last bit", str(equal), "True", equal),
        printed(f"{name}: percent right", _percent(found.argmax(axis=1), wanted[order])),
        printed(f"{name}, answers made fresh by uniform powers: seconds an image", seconds / len(order)),
        printed(f"{name}: kilobytes an image", (client.traffic.sent + client.traffic.received) / 1e3 / len(order)),
    ]
