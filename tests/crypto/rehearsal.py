"""A masked sum in one process: every message passes through the hands of the test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np

from discreet.crypto.identity import Identity, Roster
from discreet.crypto.masked_sum.client import Client
from discreet.crypto.masked_sum.masks import SAID
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.messages import Message, Signed, split, unlabelled
from discreet.crypto.rounds.speaker import Total, Words
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.noise.deterministic import DeterministicBits

NAMES = tuple(f"p{number}" for number in range(12))
END = len(SAID)  # steps of a client that never vanishes


@cache
def identity(name: str) -> Identity:
    return Identity.drawn(name, DeterministicBits(1000 + sum(name.encode())))


def roster(terms: Terms) -> Roster:
    return Roster.of(identity(name) for name in (*terms.parties, terms.server))


def terms_of(parties: int, threshold: int, size: int = 3, round: str = "r1") -> Terms:
    return Terms(round, NAMES[:parties], threshold, size)


def client_of(terms: Terms, name: str, seed: int = 0) -> Client:
    return Client(identity(name), terms, roster(terms), UsedRounds(), DeterministicBits(100 * seed + terms.index(name)))


def server_of(terms: Terms) -> Server:
    return Server(identity(terms.server), terms, roster(terms), UsedRounds())


def from_server(terms: Terms, kind: str, body: bytes) -> Signed:
    """What a server that lies might say."""
    return Message(terms.round, terms.server, kind, body).signed(identity(terms.server))


def vector_of(terms: Terms, name: str) -> Words:
    """A vector near the modulus, so that sums wrap around."""
    return np.arange(terms.size, dtype=np.uint64) * np.uint64(3**37) + np.uint64(2**64 - terms.index(name))


def sum_of(terms: Terms, names: Iterable[str]) -> Words:
    return sum((vector_of(terms, name) for name in names), np.zeros(terms.size, np.uint64))


class Rehearsal:
    """One run: `steps` tells how many steps each client takes before it vanishes, all where it is not named.

    Clients whose vectors are `late` are counted out, though the server gets hold of their vectors.
    """

    def __init__(
        self, terms: Terms, steps: Mapping[str, int] | None = None, late: Iterable[str] = (), seed: int = 0
    ) -> None:
        self.terms, self.steps, self.late = terms, steps or {}, set(late)
        self.server = server_of(terms)
        self.clients = {name: client_of(terms, name, seed) for name in terms.parties}
        self.said: list[Message] = []
        self.total: Total | None = None

    def left(self, step: str) -> list[Client]:
        """The clients that still take this step."""
        taken = SAID.index(step) + 1
        late = self.late if taken > SAID.index("masked") else set()
        return [one for name, one in self.clients.items() if self.steps.get(name, END) >= taken and name not in late]

    def run(self) -> Total:
        """Take all steps; what clients say passes over the wire as bytes."""
        for client in self.left("keys"):
            self.carry(client.advertise())
        announcements = self.server.announce()
        for client in self.left("shares"):
            self.carry(client.share_keys(announcements))
        boxes = self.server.deliver()
        for client in self.left("masked"):
            self.carry(client.mask(boxes[client.name], vector_of(self.terms, client.name)))
        for name in self.late:
            late = self.clients[name].mask(boxes[name], vector_of(self.terms, name))
            self.said.append(late.message)
        survivors = self.server.survivors()
        for client in self.left("agreement"):
            self.carry(client.agree(survivors))
        agreements = self.server.confirm()
        for client in self.left("reveal"):
            self.carry(client.reveal(agreements))
        self.total = self.server.total()
        return self.total

    def carry(self, signed: Signed) -> None:
        self.said.append(signed.message)
        data = signed.to_bytes()
        assert len(data) <= self.terms.most
        self.server.receive(Signed.from_bytes(data, signed.sender))

    def bodies(self, kind: str) -> dict[str, bytes]:
        """What each client said at a step."""
        return {message.sender: message.body for message in self.said if message.kind == kind}


class View:
    """All that a server, and those who collude with it, can open after a run.

    Whoever holds as many shares of a secret as the threshold has the secret; the masks that follow from known secrets
    are taken off. What is left are unknown own masks, and unknown masks between two vectors.
    """

    def __init__(self, run: Rehearsal, colluders: Iterable[str] = ()) -> None:
        self.run, self.colluders = run, set(colluders)
        self.vectors = set(run.bodies("masked"))
        self.seeds, self.keys = self._known(0), self._known(1)

    def _known(self, which: int) -> set[str]:
        holders: dict[str, set[str]] = {name: set() for name in self.run.terms.parties}
        for sender, body in self.run.bodies("reveal").items():
            for owner in unlabelled(split(body, 2)[which]):
                holders[owner].add(sender)
        for sender in self.colluders:
            for owner in self.run.clients[sender]._held:
                holders[owner].add(sender)
        enough = self.run.terms.deal.threshold + 1
        return {owner for owner, held in holders.items() if len(held) >= enough} | self.colluders

    def opened(self) -> list[set[str]]:
        """The smallest sets of vectors whose sums are free of unknown masks.

        A combination is free of the unknown mask of a pair only if both vectors count alike, so it counts alike
        whatever is connected by such masks; and it leaves out all with an unknown own mask.
        """
        groups: list[set[str]] = []
        for name in self.vectors - self.colluders:
            joined = [group for group in groups if any(self._hidden(name, other) for other in group)]
            groups = [group for group in groups if group not in joined] + [{name}.union(*joined)]
        return [group for group in groups if group <= self.seeds]

    def _hidden(self, one: str, other: str) -> bool:
        known = self.run.server._graph
        joined = one in known.chosen and other in known.chosen and known.joined(one, other)
        return joined and one not in self.keys and other not in self.keys
