"""Secure sums: several parties who show their own sums to nobody, and together learn only the noisy total."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event, GaussianLoss, LaplaceLoss
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import Neighbors
from discreet.core.question import BoundedSum, Question
from discreet.crypto.client import Client
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Signed
from discreet.crypto.server import Server
from discreet.crypto.terms import Terms, UsedRounds
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.gaussian_share import GaussianShare
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.laplace_share import LaplaceShare
from discreet.noise.bits import system_bits
from discreet.trust.permit import KEPT
from discreet.trust.sources.source import Source

Release = TypeVar("Release")
Share = GaussianShare | LaplaceShare


def shared(noise: Gaussian | Laplace, honest: int) -> Share:
    """What each party adds so that so many honest ones keep the promise of this noise."""
    return GaussianShare(noise, honest) if isinstance(noise, Gaussian) else LaplaceShare(noise, honest)


class Party:
    """One who holds records and takes part in rounds; whatever it says is signed and masked.

    A party that cannot take a step raises `ConnectionError`, and the round goes on without it.

    Parameters
    ----------
    identity : Identity
        Its name and signing key.
    source : Source
        Its own records.
    bits : Bits, optional
        Where its noise and its masks come from; the operating system's where not given.
    """

    def __init__(self, identity: Identity, source: Source, *, bits: Bits | None = None) -> None:
        self.identity, self.source = identity, source
        self._bits = system_bits() if bits is None else bits
        self._rounds = UsedRounds()

    @property
    def secret(self) -> bool:
        """Whether its bits are secret."""
        return self._bits.secret

    def joined(self, terms: Terms, roster: Roster) -> Client:
        """Take part in a round."""
        return Client(self.identity, terms, roster, self._rounds, self._bits)

    def noisy_sum(self, question: BoundedSum, share: Share, neighbors: Neighbors) -> np.ndarray:
        """Its own exact sum with its share of the noise, modulo 2**64: what the masks are put on."""
        bound = question.bound.times(self.source.unit.rows)
        return share.masked(Answer(self.source.sum(question), question.grid, bound, neighbors), self._bits)


class SecureSum:
    """Asks parties who trust neither each other nor the one who adds up.

    Every party adds its share of the noise before it masks its sum (`crypto.masked_sum`), so the total that is opened
    is private already: among any `threshold` survivors, those that do not collude hold enough noise by themselves.

    Here the parties are objects of one process, which shows and tests the protocol; it protects nobody from whoever
    runs that process.

    Parameters
    ----------
    parties : mapping of str to Party
        At least three. All have the same schema and unit; no unit has records with two parties.
    threshold : int
        Public. How many parties must be left at every step; more than half. The others may drop out.
    colluding : int
        Public. How many parties may work together with the server without breaking the promise; at most
        2 threshold - parties - 1.
    neighbors : Neighbors
        Public. The relation under which promises are made.
    """

    def __init__(
        self,
        parties: Mapping[str, Party],
        *,
        threshold: int,
        colluding: int = 0,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        self._parties, self.threshold, self.colluding = dict(parties), threshold, colluding
        self.neighbors = neighbors
        first = next(iter(self._parties.values())).source
        self.schema, self.unit = first.schema, first.unit
        if any((one.source.schema, one.source.unit) != (self.schema, self.unit) for one in self._parties.values()):
            raise ParameterError("secure sum", "the parties' schemas or units differ", "Agree on one of each.")
        terms = self._terms(1)
        if not 0 <= colluding <= terms.colluders:
            raise ParameterError(
                "secure sum",
                f"{colluding} of {len(self._parties)} parties may collude, with a threshold of {threshold}",
                f"At most {terms.colluders} may; raise the threshold.",
                colluding=colluding,
            )
        self._server = Identity.drawn("server", system_bits())
        self._roster = Roster.of([self._server, *(party.identity for party in self._parties.values())])
        self._rounds = UsedRounds()

    @property
    def secret(self) -> bool:
        """Whether everybody's noise is secret."""
        return all(party.secret for party in self._parties.values())

    @property
    def units(self) -> int:
        """The number of units, over all parties."""
        return sum(party.source.units() for party in self._parties.values())

    @property
    def honest(self) -> int:
        """How many honest parties are surely in the sum."""
        return self.threshold - self.colluding

    @property
    def reports(self) -> float:
        """By how much the variance of the noise exceeds that of a curator, if nobody drops out."""
        return len(self._parties) / self.honest

    def keeps(self, event: Event) -> bool:
        """The promises of noise that can be shared among parties."""
        return isinstance(event, GaussianLoss | LaplaceLoss)

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The noisy sum over all parties that stay."""
        if not isinstance(question, BoundedSum) or not isinstance(mechanism, Gaussian | Laplace):
            raise NotPermitted(
                "secure sum",
                f"{type(mechanism).__name__} cannot be shared among parties",
                "Ask a bounded sum with Laplace or Gaussian noise.",
                KEPT,
            )
        columns = self.schema.features if question.columns is None else question.columns
        size = question.of(np.empty((0, len(columns)))).shape[1]
        share = shared(mechanism, self.honest)
        total = self._round(self._terms(size), lambda party: party.noisy_sum(question, share, self.neighbors))
        bound = question.bound.times(self.unit.rows)
        nothing = Answer(np.zeros(size, dtype=np.int64), question.grid, bound, self.neighbors)
        return share.prepared(nothing).grid.values(total)

    def _terms(self, size: int) -> Terms:
        return Terms(secrets.token_hex(16), tuple(self._parties), self.threshold, size)

    def _round(self, terms: Terms, vector: Callable[[Party], np.ndarray]) -> np.ndarray:
        server = Server(self._server, terms, self._roster, self._rounds)
        clients = {name: party.joined(terms, self._roster) for name, party in self._parties.items()}
        left = dict(clients)

        def heard(step: Callable[[Client], Signed]) -> None:
            for name, client in list(left.items()):
                try:
                    server.receive(step(client))
                except ConnectionError:
                    del left[name]

        heard(lambda client: client.advertise())
        announcements = server.announce()
        heard(lambda client: client.share_keys(announcements))
        boxes = server.deliver()
        heard(lambda client: client.mask(boxes[client.name], vector(self._parties[client.name])))
        survivors = server.survivors()
        heard(lambda client: client.agree(survivors))
        agreements = server.confirm()
        heard(lambda client: client.reveal(agreements))
        return server.total().vector.view(np.int64)

    def __repr__(self) -> str:
        return f"SecureSum({len(self._parties)} parties, threshold {self.threshold}, {self.neighbors})"
