"""Masked sums: short numbers beside those of eight bytes, and a hundred parties beside ten."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from benchmarks.rows import Row, at_most, printed
from discreet.core.mechanism import Mechanism
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.masked_sum.client import Client
from discreet.crypto.masked_sum.mask_terms import MaskTerms
from discreet.crypto.masked_sum.masks import add_mask
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.messages import Message
from discreet.crypto.rounds.terms import UsedRounds
from discreet.mechanisms.additive.binomial import Binomial
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.system_bits import system_bits
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Schema
from discreet.trust.call import Call, prepared
from discreet.trust.federation import Federation
from discreet.trust.network.serving import Serving
from discreet.trust.party import Party
from discreet.trust.secure_sum import SecureSum

SCHEMA = Schema.numeric(0.0, 1.0, 1)
RECORDS, PROCESSES, ROUNDS = 100, 10, 5
COINS = Binomial.of_coins(420)


def rows() -> Iterator[Row]:
    """What was promised of masks."""
    ten, short = Members(10, 7), Members(10, 7, largest=5000)
    width = short.terms(100_000, COINS).width
    yield printed("counts of ten parties with up to 5,000 records each and 420 coins: bytes of a number", width)
    bytes_sent = {one: one.sent(100_000) for one in (ten, short)}
    yield at_most(
        "16-bit sums: bytes that a party sends, over those of 64 bits", bytes_sent[short] / bytes_sent[ten], 0.27
    )
    yield at_most("1e6 numbers, masks of a party, 16 bits over 64: processor time", masking(short) / masking(ten), 1.0)
    with ten.asked() as wide, short.asked() as narrow:
        walls = [(round_of(wide, 1_000_000, COINS), round_of(narrow, 1_000_000, COINS)) for _ in range(ROUNDS + 1)][1:]
    before, after = (statistics.median(column) for column in zip(*walls, strict=True))
    yield printed("1e6 counts among ten processes, numbers of 64 bits: wall seconds", before)
    yield at_most("the same of 16 bits over 64: wall", after / before, 1.0)
    many = Members(100, 90, colluding=5)
    yield printed(
        "a hundred parties, a tenth may leave: masks that each has chosen", many.terms(10, Gaussian(1.0)).degree
    )
    with ten.asked() as few, many.asked() as hundred:
        for one in (few, hundred):  # warms up
            round_of(one, 100_000, Gaussian(1.0))
        spent = [-one.spent() for one in (ten, many)]
        walls = [
            (round_of(few, 100_000, Gaussian(1.0)), round_of(hundred, 100_000, Gaussian(1.0))) for _ in range(ROUNDS)
        ]
        spent = [(was + one.spent()) / ROUNDS for was, one in zip(spent, (ten, many), strict=True)]
    before, after = (statistics.median(column) for column in zip(*walls, strict=True))
    for number, seconds in zip((10, 100), spent, strict=True):
        yield printed(f"1e5 numbers, {number} parties: processor time of each, milliseconds", 1e3 * seconds / number)
    alone = of_its_own(ten)
    yield printed("of that, what no number of parties changes: TLS not counted, milliseconds", 1e3 * alone)
    yield printed("1e5 numbers, 10 parties in ten processes: wall seconds", before)
    yield at_most("1e5 numbers, 100 parties in ten processes over 10 parties: wall", after / before, 4.0)


@dataclass(frozen=True)
class Agreed:
    """What a federation is made of, as it travels to another process."""

    cards: tuple[bytes, ...]
    threshold: int
    colluding: int
    largest: int | None

    def federation(self) -> Federation:
        server, *parties = (PartyCertificate(one) for one in self.cards)
        return Federation(
            tuple(parties), server, self.threshold, SCHEMA, colluding=self.colluding, largest=self.largest
        )


class Members:
    """A federation, and processes in which its parties listen."""

    def __init__(self, parties: int, threshold: int, colluding: int = 0, largest: int | None = None) -> None:
        names = [f"p{number:03}" for number in range(parties)]
        self.server, *self.identities = (Identity.drawn(name, system_bits()) for name in ("server", *names))
        cards = tuple(PartyCertificate.of(one).certificate for one in (self.server, *self.identities))
        self.agreed = Agreed(cards, threshold, colluding, largest)
        self.federation = self.agreed.federation()
        self.workers: list[int] = []

    def spent(self) -> float:
        """The processor time of the processes in which parties listen, so far."""
        fields = [Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split() for worker in self.workers]
        return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")

    def terms(self, size: int, noise: Mechanism[np.ndarray]) -> MaskTerms:
        """Those of a round in which so many counts are asked."""
        question = contingency_of(SCHEMA, ("x0",), (size,))
        call = Call.of(question, noise.event, self.federation)
        terms = call.terms(self.federation, "benchmark", prepared(call, question, self.federation))
        assert isinstance(terms, MaskTerms)
        return terms

    @contextlib.contextmanager
    def asked(self) -> Iterator[SecureSum]:
        """The secure sum of parties that listen in ten processes."""
        spawned = multiprocessing.get_context("spawn")
        groups = [self.identities[number::PROCESSES] for number in range(PROCESSES)]
        pipes = [spawned.Pipe() for _ in groups]
        workers = [
            spawned.Process(target=served, args=(self.agreed, [(one.name, one.secret) for one in group], end))
            for group, (_, end) in zip(groups, pipes, strict=True)
        ]
        for worker in workers:
            worker.start()
        try:
            addresses = [address for own, _ in pipes for address in own.recv()]
            self.workers = [worker.pid for worker in workers if worker.pid is not None]
            with SecureSum(self.federation, self.server, addresses, patience=120.0) as trust:
                yield trust
        finally:
            for worker in workers:
                worker.kill()
                worker.join()

    def sent(self, size: int) -> int:
        """The bytes of all that one party says in a round."""
        run = Rounds(self, size)
        run.whole()
        return run.sent


class Rounds:
    """One round in this process, up to the masked vectors or to the end."""

    def __init__(self, members: Members, size: int) -> None:
        terms, roster = members.terms(size, COINS), Roster.of([members.server, *members.identities])
        self.server = Server(members.server, terms, roster, UsedRounds())
        self.clients = [Client(one, terms, roster, UsedRounds()) for one in members.identities]
        self.vector, self.sent, self.masked = np.arange(size) % 7, 0, 0.0

    def whole(self) -> None:
        for client in self.clients:
            self._heard(client.begin(), client)
        while messages := self.server.passed_on():
            for client in self.clients:
                start = time.process_time()
                said = client.answer(messages[client.name], lambda: self.vector)
                if said.message.kind == "masked" and client is self.clients[0]:
                    self.masked = time.process_time() - start
                self._heard(said, client)
        self.server.total()

    def _heard(self, said: object, client: Client) -> None:
        self.server.receive(said)  # type: ignore[arg-type]
        if client is self.clients[0]:
            self.sent += len(said.to_bytes())  # type: ignore[attr-defined]


def masking(members: Members) -> float:
    """The processor time that a party needs to mask 1e6 numbers, at best of three."""
    found = []
    for _ in range(3):
        run = Rounds(members, 1_000_000)
        run.whole()
        found.append(run.masked)
    return min(found)


def of_its_own(members: Members) -> float:
    """The least processor time in which a party reads a call, makes its noisy vector, masks it once and signs it."""
    question, member = contingency_of(SCHEMA, ("x0",), (100_000,)), members.identities[0]
    call = Call.of(question, Gaussian(1.0).event, members.federation)
    party = Party(member, np.random.default_rng(0).uniform(0, 1, (RECORDS, 1)), members.federation)

    def once(number: int) -> float:
        asked = Message(f"r{number}", "server", "call", call.written()).signed(members.server)
        start = time.process_time()
        vector = party.seated(asked)._vector().astype(np.uint64)
        add_mask(vector, bytes(32))
        Message("r", member.name, "masked", vector.tobytes()).signed(member)
        return time.process_time() - start

    return min(once(number) for number in range(ROUNDS))


def round_of(trust: SecureSum, size: int, noise: Mechanism[np.ndarray]) -> float:
    """The wall time of one round."""
    question = contingency_of(SCHEMA, ("x0",), (size,))
    start = time.perf_counter()
    trust.ask(question, noise)
    return time.perf_counter() - start


def served(agreed: Agreed, keys: list[tuple[str, bytes]], pipe: Connection) -> None:
    """Let some parties listen in this process, and tell where."""
    asyncio.run(_serving(agreed.federation(), keys, pipe))


async def _serving(federation: Federation, keys: list[tuple[str, bytes]], pipe: Connection) -> None:
    told: list[str] = []
    work = []
    for name, key in keys:
        records = np.random.default_rng(len(name)).uniform(0, 1, (RECORDS, 1))
        member = Party(Identity(name, key), records, federation)
        work.append(asyncio.ensure_future(Serving(member, told.append).listen("127.0.0.1:0")))
    while sum(" listens at " in line for line in told) < len(keys):
        await asyncio.sleep(0.01)
    pipe.send([line.partition(" listens at ")[2] for line in told if " listens at " in line])
    await asyncio.gather(*work)


if __name__ == "__main__":
    for row in rows():
        print(row.line(90), flush=True)
