"""A server and a client in one process, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from discreet.crypto.gelu_net.ciphers import sealer_of
from discreet.crypto.gelu_net.gelu_client import GeluClient, Purpose
from discreet.crypto.gelu_net.gelu_net import GeluNet
from discreet.crypto.gelu_net.gelu_server import GeluServer
from discreet.crypto.gelu_net.layers import ConvolutionLayer, DenseLayer
from discreet.crypto.gelu_net.linear_cipher import Sealer
from discreet.crypto.gelu_net.paillier_cipher import PaillierSealer
from discreet.crypto.gelu_net.server_weights import ServerWeights
from discreet.crypto.gelu_net.slot_allowance import SlotAllowance
from discreet.crypto.gelu_net.updates import WeightUpdates
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Signed
from discreet.noise.system_bits import KeyStream
from tests.crypto.paillier.small_keys import small_key

DRAWN = KeyStream(bytes(32))
SERVER, ANN, BOB = (Identity.drawn(name, DRAWN) for name in ("server", "ann", "bob"))  # type: ignore[arg-type]
ROSTER = Roster.of([SERVER, ANN, BOB])
SMALL = GeluNet((DenseLayer(16, 8), DenseLayer(8, 4, "identity")))
SQUARES = GeluNet((ConvolutionLayer((1, 4, 4), 2, 3), DenseLayer(8, 5, "tanh"), DenseLayer(5, 3, "identity")), rate=0.1)
Change = Callable[[Signed], Signed]


@dataclass
class Sides:
    """Both sides, and all that was said."""

    server: GeluServer
    client: GeluClient
    said: list[Signed]
    heard: list[Signed]


def sealer(cipher: str, net: GeluNet) -> Sealer:
    return PaillierSealer(small_key()) if cipher == "paillier" else sealer_of(cipher, net)


def served(
    net: GeluNet = SMALL, *, limit: int = 1000, trainers: Iterable[str] = ("ann",), seed: int = 0, most_rows: int = 64
) -> GeluServer:
    weights = ServerWeights(net, net.fresh(np.random.default_rng(seed)))
    ciphers = ("paillier", "plain", "ring")
    allowance = SlotAllowance(limit)
    return GeluServer(
        weights, SERVER, ROSTER, allowance=allowance, trainers=trainers, ciphers=ciphers, most_rows=most_rows
    )


def sides(
    net: GeluNet = SMALL,
    cipher: str = "plain",
    updates: WeightUpdates | None = None,
    purpose: Purpose = "train",
    server: GeluServer | None = None,
    limit: int = 1000,
) -> Sides:
    own, said, heard = server or served(net, limit=limit), list[Signed](), list[Signed]()

    def line(message: Signed) -> Signed:
        said.append(message)
        heard.append(own.answer(message))
        return heard[-1]

    client = GeluClient(net, ANN, ROSTER, "server", line, sealer(cipher, net), updates, purpose)
    return Sides(own, client, said, heard)


def batch(net: GeluNet = SMALL, records: int = 20, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    inputs = draw.integers(0, 17, (records, net.layers[0].inputs)) / 16
    return inputs, draw.integers(0, net.layers[-1].outputs, records)
