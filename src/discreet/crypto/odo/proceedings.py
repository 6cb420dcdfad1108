"""What everybody in a round has seen, alike, and what follows from it: public coins, and whose dealings count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np

from discreet.core.bits import Bits
from discreet.core.held import unheld
from discreet.crypto.errors import Malformed, ProtocolError, WrongShares
from discreet.crypto.fields.share_field import Shares
from discreet.crypto.messages import framed, labelled, split, unframed, unlabelled, unlisted
from discreet.crypto.odo.commitments import POINT
from discreet.crypto.odo.decoding import opened
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.odo.public_coins import PublicCoins, PublicStream
from discreet.crypto.odo.share_dealing import HeldShares, Proof, committed
from discreet.crypto.rounds.agreement import ordered
from discreet.crypto.rounds.speaker import Total

SAID = ("keys", "deal", "dealt", "seeds", "proof", "complaints", "answers", "agreed", "sum")
ANSWERED = ("announcements", "delivery", "dealings", "openings", "proofs", "accusations", "defences", "accord")
DIGEST = 32


@dataclass(frozen=True)
class Header:
    """What a dealer says to all: a commitment to its seed, the digest of each box, and any commitments to numbers."""

    commitment: bytes
    boxes: Mapping[str, bytes]
    numbers: bytes = b""

    def to_bytes(self) -> bytes:
        return framed(self.commitment, labelled(self.boxes), *([self.numbers] if self.numbers else []))

    @property
    def points(self) -> list[bytes]:
        """The commitments to numbers, and to what hides combinations of them."""
        return [self.numbers[at : at + POINT] for at in range(0, len(self.numbers), POINT)]

    @classmethod
    def from_bytes(cls, data: bytes) -> Header:
        fields = unframed(data)
        if len(fields) not in (2, 3):
            raise Malformed("header", f"it has {len(fields)} fields", "")
        return cls(fields[0], unlabelled(fields[1]), *fields[2:])


@unheld("part")
class Proceedings:
    """The public record of a round, as one of its parties or the relay keeps it.

    Whatever is said carries a digest of all that its speaker has seen. What is said on another view counts as not
    said; and as long as a third of the parties at most lie, no two honest ones ever go on with different views: each
    needs `threshold` parties with its own, and two such sets have an honest one in common, who says one thing.

    Parameters
    ----------
    terms : OdoTerms
        Public. Of the round.
    keys : bytes
        Public. The digest of all announced keys.
    headers : mapping of str to bytes
        Public. What each dealer said to all.
    """

    def __init__(self, terms: OdoTerms, keys: bytes, headers: Mapping[str, bytes]) -> None:
        self.terms = terms
        self.headers = {name: Header.from_bytes(headers[name]) for name in terms.parties if name in headers}
        self.view = sha256(framed(terms.digest, keys, labelled(self._ordered(headers)))).digest()
        self.heard: dict[str, dict[str, bytes]] = {}
        self._views: dict[str, bytes] = {}

    def said(self, content: bytes = b"") -> bytes:
        """What is said, on this view."""
        return framed(self.view, content)

    def hear(self, kind: str, bodies: Mapping[str, bytes]) -> None:
        """Note what was said at a step on this view, by enough of the parties."""
        contents = {name: content for name, body in bodies.items() if (content := self._content(body)) is not None}
        self.terms.check_enough(kind, len(contents))
        self.heard[kind] = self._ordered(contents)
        self.view = sha256(framed(self.view, kind.encode(), labelled(self.heard[kind]))).digest()
        self._views[kind] = self.view

    def _content(self, body: bytes) -> bytes | None:
        try:
            view, content = split(body, 2)
        except Malformed:
            return None
        return content if view == self.view else None

    def _ordered(self, contents: Mapping[str, bytes]) -> dict[str, bytes]:
        return {name: contents[name] for name in self.terms.parties if name in contents}

    @cached_property
    def coins(self) -> PublicCoins:
        """The coins that follow from all seeds whose opening is what was committed to."""
        seeds = {name: seed for name, seed in self._opened.items() if self._is_committed(name, seed)}
        numbers = {self.terms.index(name): seed[: self.terms.seeds].tolist() for name, seed in seeds.items()}
        return PublicCoins(self.terms, numbers, self._views["seeds"])

    def _is_committed(self, name: str, seed: Shares) -> bool:
        return committed(self.terms, seed) == self.headers[name].commitment

    @cached_property
    def _opened(self) -> dict[str, Shares]:
        """The seeds, with their nonces, as most shares have them; none of a dealer whose shares have no polynomial.

        All are decoded together. Where one dealer's shares are false that fails, and each is decoded by itself.
        """
        given = self._seed_shares()
        everything = {index: np.concatenate(list(shares.values())) for index, shares in given.items()}
        try:
            whole = self._decoded(everything)
            return dict(zip(self.headers, whole.reshape(-1, self.terms.sealed_seeds), strict=True))
        except WrongShares:
            return self._opened_apart(given)

    def _opened_apart(self, given: Mapping[int, Mapping[str, Shares]]) -> dict[str, Shares]:
        found = {}
        for name in self.headers:
            try:
                found[name] = self._decoded({index: shares[name] for index, shares in given.items()})
            except WrongShares:
                continue
        return found

    def _decoded(self, shares: Mapping[int, Shares]) -> Shares:
        modulo, length = self.terms.field, len(next(iter(shares.values()), ()))
        challenges = modulo.uniform(PublicStream(self._views["seeds"]), modulo.tests, length)
        return opened(shares, challenges, self.terms.faults, modulo)[0]

    def _seed_shares(self) -> dict[int, dict[str, Shares]]:
        """The shares of all seeds that each party gave away; nothing of who did not give all."""
        found = {}
        for name, content in self.heard["seeds"].items():
            try:
                shares = {dealer: self._seed_share(data) for dealer, data in unlabelled(content).items()}
            except ProtocolError:
                continue
            if list(shares) == list(self.headers):
                found[self.terms.index(name)] = shares
        return found

    def _seed_share(self, data: bytes) -> Shares:
        values = self.terms.field.read(data, self.terms.sealed_seeds)
        if values is None:
            raise Malformed("share of a seed", "it is none", "")
        return values

    @cached_property
    def proofs(self) -> dict[str, Proof]:
        """What dealers proved with, where it is a proof."""
        found = {}
        for name, data in self.heard["proof"].items():
            try:
                found[name] = Proof.from_bytes(self.terms, data)
            except ProtocolError:
                continue
        return found

    @cached_property
    def complaints(self) -> dict[str, list[str]]:
        """Who complains about each dealer."""
        found: dict[str, list[str]] = {name: [] for name in self.headers}
        for name, data in self.heard["complaints"].items():
            try:
                accused = unlisted(data)
            except ProtocolError:
                continue
            for dealer in accused:
                if dealer in found and dealer != name:
                    found[dealer].append(name)
        return found

    @property
    def undisputed(self) -> bool:
        """Whether nobody complains: then all who speak on this view have agreed, and need not say so again."""
        return not any(self.complaints.values())

    @cached_property
    def answers(self) -> dict[str, dict[str, HeldShares]]:
        """The shares that each dealer opened for whoever complained."""
        found = {}
        for name, data in self.heard["answers"].items():
            try:
                found[name] = {
                    holder: HeldShares.from_bytes(self.terms, self.terms.index(holder), shares)
                    for holder, shares in unlabelled(data).items()
                }
            except ProtocolError:
                continue
        return found

    @cached_property
    def missing(self) -> set[str]:
        """The dealers who left before their dealings were proved: no lie, and nothing of theirs counts."""
        accused = {name for name, complaining in self.complaints.items() if complaining}
        return (set(self.headers) - set(self.heard["proof"])) | (accused - set(self.heard["answers"]))

    @cached_property
    def refuted(self) -> dict[str, str]:
        """The dealers who lied, and how it shows: alike for all who have this view."""
        return {name: why for name in self.headers if name not in self.missing and (why := self._why_not(name))}

    @cached_property
    def good(self) -> list[str]:
        """The dealers whose numbers and coins are added up."""
        found = [name for name in self.headers if name not in self.refuted and name not in self.missing]
        self.terms.check_enough("dealings that count", len(found))
        return found

    def total(self, bits: Bits) -> Total:
        """The sum over all dealings that count, from the shares of it that were given, with who lied.

        Parameters
        ----------
        bits : Bits
            Where the challenges come from that find false shares.
        """
        modulo, size = self.terms.field, self.terms.size
        shares = {name: modulo.read(data, size) for name, data in self.heard["sum"].items()}
        given = {self.terms.index(name): one for name, one in shares.items() if one is not None}
        secret, wrong = opened(given, modulo.uniform(bits, modulo.tests, size), self.terms.faults, modulo)
        false = {name for name, one in shares.items() if one is None or self.terms.index(name) in wrong}
        vector = (secret.astype(np.int64) - self.terms.taken_off * len(self.good)).view(np.uint64)
        return Total(vector, tuple(self.good), tuple(ordered(self.terms, {*self.refuted, *false})))

    def _why_not(self, name: str) -> str:
        index = self.terms.index(name)
        if index not in self.coins.seeds:
            return "its seed is not what it committed to"
        proof = self.proofs.get(name)
        if proof is None:
            return "what it says for a proof is none"
        if not proof.of_bits:
            return "a number or a coin of its is no bit"
        if len(self.headers[name].numbers) != self.terms.commitments:
            return "it has not committed to each of its numbers once"
        if not proof.of_commitments:
            return "what it says of its commitments is not what it proved of its shares"
        complaining, answers = self.complaints[name], self.answers.get(name, {})
        if len(complaining) > self.terms.faults:
            return f"{len(complaining)} parties hold shares that its proof does not go through"
        for holder in complaining:
            if holder not in answers:
                return f"it does not open the shares of {holder!r}"
            if proof.misses([answers[holder]], self.coins):
                return f"the shares of {holder!r} that it opened are not those that it proved"
        return ""
