"""A clinic trains a network of digits whose weights are at a service, which never sees an image.

The service is a process of its own (`discreet gelu serve`) on a line of mutual TLS. The clinic encrypts images, applies
activations itself, and moves the weights under masks, so that the service sees uniform numbers. What each side learns
in spite of that is printed, and so is what it will cost before anything is sent.

Run: python examples/encrypted_digits.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from discreet.core.errors import NotPermitted
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.gelu_net.ciphers import sealer_of
from discreet.crypto.gelu_net.disclosures import disclosures
from discreet.crypto.gelu_net.gelu_client import GeluClient
from discreet.crypto.gelu_net.gelu_net import GeluNet
from discreet.crypto.gelu_net.gelu_plan import plan_training
from discreet.crypto.gelu_net.updates import MaskedUpdates
from discreet.crypto.identity import Identity
from discreet.service.cli.command import main as discreet
from discreet.service.key_file import read_identity
from discreet.trust.gelu_net.gelu_line import GeluLine
from discreet.trust.gelu_net.gelu_members import GeluMembers

RECORDS, BATCH, EPOCHS, ASKED, SLOTS = 176, 44, 2, 20, 30


def main() -> dict[str, Any]:
    """Train, ask, and ask too much."""
    images, classes = load_digits(return_X_y=True)
    images = images / 16
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as address:
        clinic, members = read_identity(Path(folder) / "clinic.key"), cards(Path(folder))
        net = GeluNet.from_json((Path(folder) / "net.json").read_text())
        masks = MaskedUpdates(net)
        print(plan_training(net, RECORDS, BATCH, EPOCHS))
        print(*disclosures(net, "masked"), sep="\n")
        losses, seconds, megabytes = trained(net, masks, clinic, members, address, images[:RECORDS], classes[:RECORDS])
        print(f"trained in {seconds:.1f} s with {megabytes:.1f} MB; losses {np.round(losses, 2).tolist()}")
        with GeluLine(address, clinic, members) as line:
            sealer = sealer_of("paillier", net)
            client = GeluClient(net, clinic, members.roster, "service", line, sealer, masks)
            found = client.predict(images[RECORDS : RECORDS + ASKED])
            right = float((found == classes[RECORDS : RECORDS + ASKED]).mean())
            print(f"{right:.0%} of {ASKED} unseen digits are right, after {EPOCHS} rounds")
            try:
                client.predict(images[:ASKED])
                refused = ""
            except NotPermitted as refusal:
                refused = str(refusal)
                print(refused)
    return {"losses": losses, "megabytes": megabytes, "right": right, "refused": refused}


def trained(
    net: GeluNet,
    masks: MaskedUpdates,
    clinic: Identity,
    members: GeluMembers,
    address: str,
    images: np.ndarray,
    classes: np.ndarray,
) -> tuple[list[float], float, float]:
    """The losses, and what training took: a key in a subgroup is faster, under a further assumption."""
    with GeluLine(address, clinic, members) as line:
        sealer = sealer_of("paillier", net, randomness="subgroup")
        client = GeluClient(net, clinic, members.roster, "service", line, sealer, masks, "train")
        start = time.perf_counter()
        losses = client.fit(images, classes, EPOCHS, BATCH, np.random.default_rng(0))
        return losses, time.perf_counter() - start, (client.traffic.sent + client.traffic.received) / 1e6


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of the service, which stops at the end."""
    for name in ("service", "clinic"):
        discreet(["identity", name, "--out", f"{folder}/{name}.key", "--card", f"{folder}/{name}.card"])
    files = [f"{folder}/net.json", "--weights", f"{folder}/w.secret"]
    discreet(["gelu", "create", *files, "--layers", "64", "32", "10", "--rate", "0.5", "--seed", "0"])
    command = [sys.executable, "-m", "discreet", "gelu", "serve", files[2], "--identity", f"{folder}/service.key"]
    command += ["--client", f"{folder}/clinic.card", "--trainer", "clinic", "--slots", str(SLOTS)]
    command += ["--counts", f"{folder}/counts", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(line.split()[-1] for line in process.stdout if "listens at" in line)
        finally:
            process.terminate()
            process.stdout.read()


def cards(folder: Path) -> GeluMembers:
    """Who takes part."""
    service, clinic = (PartyCertificate((folder / f"{name}.card").read_bytes()) for name in ("service", "clinic"))
    return GeluMembers(service, (clinic,))


if __name__ == "__main__":
    main()
