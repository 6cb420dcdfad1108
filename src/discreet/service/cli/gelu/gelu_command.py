"""`discreet gelu`: create, plan, serve, train, predict."""

from __future__ import annotations

import asyncio
import math
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.checks import check_one_of
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.errors import UNOPENED
from discreet.crypto.gelu_net.activation import Numbers
from discreet.crypto.gelu_net.disclosures import disclosures
from discreet.crypto.gelu_net.gelu_client import GeluClient, Purpose
from discreet.crypto.gelu_net.gelu_net import GeluNet
from discreet.crypto.gelu_net.gelu_plan import GeluPlan, plan_prediction, plan_training
from discreet.crypto.gelu_net.gelu_server import GeluServer
from discreet.crypto.gelu_net.layers import ConvolutionLayer, DenseLayer, Layer
from discreet.crypto.gelu_net.paillier_cipher import PaillierSealer
from discreet.crypto.gelu_net.server_weights import ServerWeights
from discreet.crypto.gelu_net.slot_allowance import SlotAllowance
from discreet.crypto.gelu_net.updates import SEEN, ClearUpdates, MaskedUpdates, NoisedUpdates, WeightUpdates
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import Randomness
from discreet.display.plain import plain
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.schema.schema import Schema
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.parties.party_command import tell, until_stopped
from discreet.service.cli.saying import WayOut, say
from discreet.service.kept_file import KeptFile
from discreet.service.key_file import read_card, read_identity, read_kept_secret, read_secret_key, write_secret_key
from discreet.trust.gelu_net.gelu_line import GeluLine
from discreet.trust.gelu_net.gelu_members import GeluMembers
from discreet.trust.gelu_net.gelu_service import GeluService
from discreet.trust.gelu_net.noisy_training import NoisyTraining
from discreet.trust.private_data import PrivateData

ASKED = "gelu"


def create(arguments: Namespace) -> int:
    """Write a network, and weights to begin with."""
    net = GeluNet(_layers(arguments), rate=arguments.rate)
    weights = ServerWeights(net, net.fresh(np.random.default_rng(arguments.seed)))
    with OutFile(arguments.net, [arguments.weights]) as out:
        write_secret_key(arguments.weights, weights)
        out.write(net.to_json() + "\n")
    text = f"Wrote {arguments.net}: give it to clients. Wrote {arguments.weights}: for the server alone."
    say(arguments, plain(text), net=arguments.net, weights=arguments.weights, digest=net.digest)
    return 0


def _layers(arguments: Namespace) -> tuple[Layer, ...]:
    """Convolutions of images, if there are any, and dense layers."""
    asked, sizes, shape = "gelu create", list(arguments.layers), tuple(arguments.image or ())
    convolutions: list[Layer] = []
    for filters, side, stride in arguments.convolution:
        if not shape:
            raise ParameterError(asked, "there are convolutions and no images", "Give --image.")
        layer = ConvolutionLayer(shape, filters, side, stride, arguments.activation)
        convolutions.append(layer)
        shape = (filters, *layer.grid)
    if shape:
        sizes.insert(0, math.prod(shape))
    if len(sizes) < 2:
        raise ParameterError(asked, f"there are {len(sizes)} sizes", "Give inputs, hidden sizes and outputs.")
    kinds = [arguments.activation] * (len(sizes) - 2) + ["identity"]
    return (*convolutions, *map(DenseLayer, sizes[:-1], sizes[1:], kinds))


def plan(arguments: Namespace) -> int:
    """Say what a run would cost, and what each side would learn."""
    net, training = _net(arguments.net), arguments.epochs is not None
    check_one_of("gelu plan", "update", arguments.update, tuple(SEEN))
    if training:
        found = plan_training(net, arguments.records, arguments.batch, arguments.epochs, arguments.update)
    else:
        found = plan_prediction(net, arguments.records)
    told = disclosures(net, arguments.update if training else None)
    say(arguments, "\n".join([str(found), *told]), **vars(found), disclosures=told)
    return 0


def serve(arguments: Namespace) -> int:
    """Answer clients until stopped."""
    weights = read_kept_secret(arguments.weights, ServerWeights)
    identity = read_identity(arguments.identity)
    members = GeluMembers(PartyCertificate.of(identity), tuple(read_card(path) for path in arguments.client))
    for name in arguments.trainer:
        members.roster.check_lists(name)
    counts = KeptFile.there(arguments.counts, b"{}")
    used = counts.data.decode(errors="replace")
    allowance = SlotAllowance(arguments.slots, used, lambda line: counts.replace(line.encode()))
    server = GeluServer(weights, identity, members.roster, allowance=allowance, trainers=arguments.trainer)
    for line in disclosures(weights.net, "masked" if arguments.trainer else None, arguments.slots):
        say(arguments, line, disclosure=line)
    service = GeluService(server, members, partial(tell, arguments))
    asyncio.run(until_stopped(service.listen(arguments.listen)))
    return 0


def train(arguments: Namespace) -> int:
    """Train the server's network."""
    net, table = _net(arguments.net), _table(arguments.records)
    inputs, classes = table[:, :-1] / arguments.divide, np.rint(table[:, -1]).astype(np.int64)
    updates = _updates(arguments, net)
    noisy = _noise(arguments) if updates.kind == "noisy" else None
    with _opened(arguments, net, updates, "train") as client:
        planned = plan_training(net, *_sizes(arguments, inputs), updates.kind, randomness=_randomness(arguments))
        _say_before(arguments, planned, disclosures(net, updates.kind))
        if noisy is not None:
            with SqliteLedger.open(arguments.ledger) as ledger:
                noisy.run(client, _private(inputs, classes, net, ledger))
            losses: list[float] = []
            spent = f"What it cost is in {plain(arguments.ledger)}. "
        else:
            generator = np.random.default_rng(arguments.seed)
            losses = client.fit(inputs, classes, arguments.epochs, arguments.batch, generator)
            spent = ""
        sent, received = client.traffic.sent, client.traffic.received
    text = f"trained; {sent / 1e6:.3g} MB were sent and {received / 1e6:.3g} MB received"
    out = WayOut(
        f"{spent}The network was trained, and its weights are with the server.", "Nothing has to be done again."
    )
    say(arguments, text, out, losses=losses, sent=sent, received=received)
    return 0


def predict(arguments: Namespace) -> int:
    """Write the class of each record."""
    net, inputs = _net(arguments.net), _table(arguments.records) / arguments.divide
    updates: WeightUpdates = read_kept_secret(arguments.masks, MaskedUpdates) if arguments.masks else ClearUpdates()
    with OutFile(arguments.out, [arguments.records]) as out, _opened(arguments, net, updates, "predict") as client:
        if client.left < len(inputs):
            obstacle = f"there are {len(inputs)} records, and {client.left} slots are left"
            raise NotPermitted("gelu predict", obstacle, "Ask for fewer.")
        planned = plan_prediction(net, len(inputs), updates.kind)
        _say_before(arguments, planned, disclosures(net, None, client.left))
        classes = client.predict(inputs)
        used = f"{len(inputs)} slots were used. "
        out.write("class\n" + "".join(f"{one}\n" for one in classes), used + "Nothing was written.")
        left = client.left - len(inputs)
    there = WayOut(f"{used}The classes are in {plain(arguments.out)}.", "Take them there.")
    say(arguments, f"Wrote {plain(arguments.out)}. {left} slots are left.", there, out=arguments.out, left=left)
    return 0


@contextmanager
def _opened(arguments: Namespace, net: GeluNet, updates: WeightUpdates, purpose: Purpose) -> Iterator[GeluClient]:
    """A session, with a key that nothing else is encrypted under."""
    identity, server = read_identity(arguments.identity), read_card(arguments.server)
    members = GeluMembers(server, (PartyCertificate.of(identity),))
    sealer = PaillierSealer(_key(arguments, purpose))
    try:
        with GeluLine(arguments.connect, identity, members) as line:
            yield GeluClient(net, identity, members.roster, server.name, line, sealer, updates, purpose)
    except ConnectionError as why:
        raise ParameterError("gelu", str(why), "Check the address, and whether the server is there.", UNOPENED) from why


def _key(arguments: Namespace, purpose: Purpose) -> PrivateKey:
    """A fresh key; for predictions the one of a file, where it is named, as a key takes some seconds to draw."""
    if purpose == "train":
        return PrivateKey.drawn(randomness=_randomness(arguments))
    if arguments.key is None:
        return PrivateKey.drawn()
    if not Path(arguments.key).exists():
        write_secret_key(arguments.key, PrivateKey.drawn())
    return read_secret_key(arguments.key, PrivateKey)


def _randomness(arguments: Namespace) -> Randomness:
    return "subgroup" if arguments.subgroup else "short"


def _updates(arguments: Namespace, net: GeluNet) -> WeightUpdates:
    check_one_of("gelu train", "update", arguments.update, tuple(SEEN))
    if arguments.update != "masked":
        return ClearUpdates() if arguments.update == "clear" else NoisedUpdates()
    if arguments.masks is None:
        remedy = "Give --masks FILE, or --update clear."
        raise ParameterError("gelu train", "there is no place for the masks, which predictions need", remedy)
    if not Path(arguments.masks).exists():
        write_secret_key(arguments.masks, MaskedUpdates(net))
    return read_kept_secret(arguments.masks, MaskedUpdates)


def _noise(arguments: Namespace) -> NoisyTraining:
    """Steps over all records, at the price that is given."""
    if arguments.ledger is None or arguments.epsilon is None or arguments.delta is None:
        raise ParameterError("gelu train", "nobody pays for noisy updates", "Give --ledger, --epsilon and --delta.")
    noise = calibrate(Gaussian, Budget(arguments.epsilon, arguments.delta), times=arguments.epochs)
    return NoisyTraining(arguments.epochs, noise.multiplier, arguments.clip)


def _private(inputs: Numbers, classes: NDArray[np.int64], net: GeluNet, ledger: SqliteLedger) -> PrivateData:
    most, outputs = net.precision.largest_input, net.layers[-1].outputs
    count = inputs.shape[1]
    schema = Schema.numeric([-most] * count + [0.0], [most] * count + [outputs - 1.0], count + 1)
    return PrivateData.of(np.column_stack([inputs, classes]), schema, ledger, neighbors=Neighbors.REPLACE)


def _sizes(arguments: Namespace, inputs: Numbers) -> tuple[int, int, int]:
    """Records, batch and epochs: of noisy updates, each step has all records."""
    batch = len(inputs) if arguments.update == "noisy" else arguments.batch
    return len(inputs), batch, arguments.epochs


def _say_before(arguments: Namespace, planned: GeluPlan, told: tuple[str, ...]) -> None:
    """The plan, and what each side will learn."""
    for line in (str(planned), *told):
        say(arguments, line, told=line)


def _net(path: str) -> GeluNet:
    try:
        return GeluNet.from_json(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as why:
        raise ParameterError(f"read {plain(path)}", "it cannot be read", "Check the path.") from why


def _table(path: str) -> Numbers:
    """All numbers of a CSV file below its header; an error does not quote them."""
    try:
        found = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    except (OSError, ValueError):
        found = np.empty((0, 0))
    if not found.size:
        remedy = "Give a header and rows of numbers, with commas between."
        raise ParameterError(f"read {plain(path)}", "it cannot be read, or has no rows", remedy) from None
    return found
