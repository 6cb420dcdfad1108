"""Secure sums among ten processes on TLS: how long, how much work for each, how many bytes; and two that vanish."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.rows import Row, at_least, at_most
from discreet.core.budget import Budget
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.crypto.masked_sum.client import Client
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.messages import Signed
from discreet.crypto.rounds.terms import UsedRounds
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.system_bits import system_bits
from discreet.query.federation_file import written_federation
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Schema
from discreet.service.key_file import write_identity
from discreet.service.local_parties import LocalParties, local_parties
from discreet.trust.federation import Federation
from discreet.trust.network.link import called
from discreet.trust.round import Hear, PartyChannel

SIZE, PARTIES, THRESHOLD = 1_000_000, 10, 7
SCHEMA = Schema.numeric(0.0, 1.0, 1)
ROUNDS = 5


def rows(paillier_seconds: float | None) -> Iterator[Row]:
    """One row per figure; the cost of a Paillier sum, per number, comes from `peers/paillier.py`."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with ten_parties(folder) as parties:
            wall = secure_wall(parties)
            yield at_most("secure sum, 1e6 numbers, 10 processes, TLS: wall seconds", wall, 4.0)
            yield survivors(parties, folder)
        yield from one_client()
        plain = plain_wall(folder)
    yield Row("secure sum over plain aggregation on the same lines (wall)", round(wall / plain, 2), "printed", True)
    if paillier_seconds is not None:
        yield at_least("Paillier sum (computed) over secure sum, one party's time", paillier_seconds * SIZE / wall, 100)


@contextlib.contextmanager
def ten_parties(folder: Path) -> Iterator[LocalParties]:
    files = {}
    for number in range(PARTIES):
        files[f"p{number}"] = folder / f"p{number}.csv"
        values = np.random.default_rng(number).uniform(0, 1, 1000)
        np.savetxt(files[f"p{number}"], values, header="x0", comments="")
    with local_parties(files, SCHEMA, Budget(1e6, 1e-6), threshold=THRESHOLD, patience=60) as parties:
        yield parties


def secure_wall(parties: LocalParties) -> float:
    """The median time of a round, noise and all, after one that warms up."""
    question = contingency_of(SCHEMA, ("x0",), (SIZE,))
    parties.trust.ask(question, Gaussian(1.0))
    spent = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        parties.trust.ask(question, Gaussian(1.0))
        spent.append(time.perf_counter() - start)
    return statistics.median(spent)


class Killing:
    """Passes messages on to a party, and kills its process when its masked vector is due."""

    def __init__(self, remote: PartyChannel, parties: LocalParties) -> None:
        self._remote, self._parties = remote, parties
        self.name, self.secret = remote.name, remote.secret

    @property
    def units(self) -> int:
        return self._remote.units

    async def exchange(self, message: Signed, hear: Hear, most: int) -> None:
        if message.message.kind == "delivery":
            self._parties[self.name].kill()
        await self._remote.exchange(message, hear, most)


def survivors(parties: LocalParties, folder: Path) -> Row:
    """Two of ten are killed before their vectors have left: the sum is that of the other eight, to the last mark."""
    trust, cells = parties.trust, 100
    present, doomed = trust._present, {"p2", "p7"}

    def with_killers() -> dict[str, PartyChannel]:
        return {name: Killing(one, parties) if name in doomed else one for name, one in present().items()}

    trust._present = with_killers  # type: ignore[method-assign]
    noisy = trust.ask(contingency_of(SCHEMA, ("x0",), (cells,)), Laplace(2.0**-9))
    left = [np.loadtxt(folder / f"{name}.csv", skiprows=1) for name in parties if name not in doomed]
    exact = np.histogram(np.concatenate(left), cells, (0, 1))[0]
    wrong = int((np.rint(noisy) != exact).sum())
    return Row("2 of 10 killed mid-round: wrong cells in the sum of the survivors", wrong, "<= 0", wrong == 0)


def one_client() -> Iterator[Row]:
    """What one party does and sends, for a vector that is there."""
    names = [f"p{number}" for number in range(PARTIES)]
    server_identity, *identities = (Identity.drawn(name, system_bits()) for name in ("server", *names))
    cards = tuple(PartyCertificate.of(one) for one in identities)
    federation = Federation(cards, PartyCertificate.of(server_identity), THRESHOLD, SCHEMA)
    terms = federation.terms("benchmark", SIZE, b"")
    server = Server(server_identity, terms, federation.roster, UsedRounds())
    clients = [Client(one, terms, federation.roster, UsedRounds()) for one in identities]
    sent, vector = 0, np.arange(SIZE)

    def heard(messages: list[Signed]) -> int:
        for one in messages:
            server.receive(one)
        return len(messages[0].to_bytes())

    sent += heard([one.advertise() for one in clients])
    announcements = server.announce()
    sent += heard([one.share_keys(announcements) for one in clients])
    boxes, masked, spent = server.deliver(), [], []
    for one in clients:
        start = time.process_time()
        masked.append(one.mask(boxes[one.name], vector))
        spent.append(time.process_time() - start)
    sent += heard(masked)
    listed = server.survivors()
    sent += heard([one.agree(listed) for one in clients])
    agreements = server.confirm()
    sent += heard([one.reveal(agreements) for one in clients])
    np.testing.assert_array_equal(server.total().vector.view(np.int64), PARTIES * vector)
    yield at_most("masking 1e6 numbers among 10: processor seconds of a client", statistics.median(spent), 0.1)
    yield at_most("bytes that a client sends beyond 8 per number", sent - 8 * SIZE, 50_000)


def plain_wall(folder: Path) -> float:
    """The same vectors over the same kind of lines, unprotected: sent and added."""
    server, *identities = (Identity.drawn(f"q{number}", system_bits()) for number in range(PARTIES + 1))
    federation = Federation(
        tuple(PartyCertificate.of(one) for one in identities), PartyCertificate.of(server), THRESHOLD, SCHEMA
    )
    (folder / "plain.toml").write_text(written_federation(federation))
    with contextlib.ExitStack() as stack:
        addresses = []
        for one in identities:
            write_identity(folder / f"{one.name}.key", one)
            words = [
                "benchmarks.peers.plain_party",
                str(folder / "plain.toml"),
                str(folder / f"{one.name}.key"),
                str(SIZE),
            ]
            process = subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.PIPE, text=True)
            stack.enter_context(process)
            stack.callback(process.kill)
            assert process.stdout is not None
            addresses.append(process.stdout.readline().split()[-1])
        return asyncio.run(_plain(addresses, server, federation))


async def _plain(addresses: list[str], identity: Identity, federation: Federation) -> float:
    links = [await called(address, identity, federation) for address in addresses]
    spent = []
    for _ in range(ROUNDS):
        start, total = time.perf_counter(), np.zeros(SIZE, dtype=np.int64)
        for link in links:
            await link.send(b"")
        for data in await asyncio.gather(*(link.receive(8 * SIZE) for link in links)):
            total += np.frombuffer(data, dtype=np.int64)
        spent.append(time.perf_counter() - start)
    for link in links:
        await link.down()
    return statistics.median(spent)


if __name__ == "__main__":
    for row in rows(None):
        print(row)
