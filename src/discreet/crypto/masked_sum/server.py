"""The one who passes messages on and adds masked vectors (`masked_sum.py` states the protocol)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.core.held import Held, exclusive
from discreet.crypto.derivation import KEY
from discreet.crypto.errors import UNOPENED, Disagreement, Malformed, OutOfOrder
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.masked_sum.mask_graph import MaskGraph
from discreet.crypto.masked_sum.mask_terms import MaskTerms, Ring
from discreet.crypto.masked_sum.masks import SAID, put_on_half, statement, subtract_mask
from discreet.crypto.masked_sum.signed_share import Opening, Revealed, SignedShare
from discreet.crypto.messages import Message, ReplayGuard, Signed, framed, labelled, listed, split, unlabelled
from discreet.crypto.rounds.agreement import AnnouncedKeys, PublicKeys, check_roster, ordered
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import Terms, UsedRounds


@dataclass(frozen=True)
class _Dealt:
    """What a party sent for its peers: a commitment to its seed, and a sealed box for each."""

    commitment: bytes
    boxes: dict[str, bytes] = field(repr=False)


class Server(Held):
    """Hears the parties step by step; `announce`, `deliver`, `survivors`, `confirm` and `total` each end a step.

    A message that is refused leaves the server as it was: its sender may try again until the step is over. A step
    that too few have taken cannot be ended; more may still come.

    Parameters
    ----------
    identity : Identity
        Who it is: the server of the terms.
    terms : Terms
        Public. What all agreed on.
    roster : Roster
        Public. The keys of all parties and of the server.
    rounds : UsedRounds
        The rounds that this server has run.

    Examples
    --------
    >>> from discreet.crypto.masked_sum.client import Client
    >>> from discreet.noise.system_bits import system_bits
    >>> names = ("ann", "bob", "cas", "server")
    >>> people = {name: Identity.drawn(name, system_bits()) for name in names}
    >>> terms, roster = Terms("r1", names[:3], threshold=2, size=2), Roster.of(people.values())
    >>> server = Server(people["server"], terms, roster, UsedRounds())
    >>> clients = [Client(people[name], terms, roster, UsedRounds()) for name in names[:3]]
    >>> for client in clients:
    ...     server.receive(client.advertise())
    >>> announcements = server.announce()
    >>> for client in clients:
    ...     server.receive(client.share_keys(announcements))
    >>> boxes, left = server.deliver(), clients[:2]  # the third vanishes
    >>> for client in left:
    ...     server.receive(client.mask(boxes[client.name], np.array([5, -1])))
    >>> survivors = server.survivors()
    >>> for client in left:
    ...     server.receive(client.agree(survivors))
    >>> agreements = server.confirm()
    >>> for client in left:
    ...     server.receive(client.reveal(agreements))
    >>> server.total().vector.view(np.int64)
    array([10, -2])
    """

    def __init__(self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds) -> None:
        if identity.name != terms.server:
            raise Disagreement("server", f"{identity.name!r} is not the server of these terms", "", UNOPENED)
        check_roster(identity, terms, roster)
        rounds.claim(terms.round)
        self.terms, self.step = MaskTerms.of(terms), SAID[0]
        self._identity, self._roster, self._seen = identity, roster, ReplayGuard(terms.round, *SAID)
        self._announced_keys = AnnouncedKeys(self.terms, {})
        self._dealt: dict[str, _Dealt] = {}
        self._graph = MaskGraph(self.terms, {})
        self._survivors: list[str] = []
        self._masked = np.zeros(self.terms.size, self.terms.word)
        self._passed_on: dict[str, Signed] = {}
        self._revealed: dict[str, Revealed] = {}

    @exclusive
    def receive(self, signed: Signed) -> None:
        """Hear one party, or refuse what it says."""
        self.terms.index(signed.sender)
        message = signed.verified(self._roster)
        with self._seen.admitting(message):
            self._check_step(message.kind)
            match message.kind:
                case "keys":
                    keys = PublicKeys.of(message, self.terms)
                    self._announced_keys = AnnouncedKeys(
                        self.terms, {**self._announced_keys.keys, message.sender: keys}
                    )
                    self._passed_on[message.sender] = signed
                case "shares":
                    self._dealt[message.sender] = self._read_dealt(message)
                case "masked":
                    self._masked += self._read_masked(message)
                    self._survivors = ordered(self.terms, [*self._survivors, message.sender])
                case "agreement":
                    self._check_agrees(message)
                    self._passed_on[message.sender] = signed
                case "reveal":
                    self._revealed[message.sender] = self._read_revealed(message)

    @property
    def most(self) -> int:
        """The longest message of a party in this round, in bytes."""
        return self.terms.most

    def passed_on(self) -> Mapping[str, Signed]:
        """End the step that is under way; nothing is sent after the last."""
        if self.step == "shares":
            return self.deliver()
        if self.step not in (steps := {"keys": self.announce, "masked": self.survivors, "agreement": self.confirm}):
            return {}
        return dict.fromkeys(self.terms.parties, steps[self.step]())

    @exclusive
    def announce(self) -> Signed:
        """End the step of keys: send all keys to those who sent some."""
        self._end("keys", len(self._passed_on))
        return self._said("announcements", self._all_passed_on())

    @exclusive
    def deliver(self) -> dict[str, Signed]:
        """End the step of shares: give everyone who shared keys what the others sealed for it."""
        self._end("shares", len(self._dealt))
        self._graph = MaskGraph(self.terms, {name: self._chosen(one) for name, one in self._dealt.items()})
        shown = self._graph.to_bytes()
        return {receiver: self._said("delivery", self._boxes(receiver, shown)) for receiver in self._dealt}

    @exclusive
    def survivors(self) -> Signed:
        """End the step of masked vectors: send the list of survivors to each. Vectors that come later are refused."""
        self._check_step("masked")
        self._graph.check_left("masked", self._survivors, self._dealt)
        self._end("masked", len(self._survivors))
        return self._said("survivors", listed(self._survivors))

    @exclusive
    def confirm(self) -> Signed:
        """End the step of agreement: show the survivors that enough of them signed the same list."""
        self._end("agreement", len(self._passed_on))
        if self.terms.degree:  # more would be verified by each, and prove no more
            enough = ordered(self.terms, self._passed_on)[: self.terms.threshold]
            self._passed_on = {name: self._passed_on[name] for name in enough}
        return self._said("agreements", self._all_passed_on())

    @exclusive
    def total(self) -> Total:
        """End the round: the sum over the survivors, exact in the range of the terms, and else modulo its length.

        Raises
        ------
        TooFewSurvivors
            Fewer than the threshold have revealed their shares.
        WrongShares
            Too few shares are as they were dealt, or somebody dealt false ones; it names who lied, and there is no sum.
        """
        self._check_step("reveal")
        self.terms.check_enough("reveal", len(self._revealed))
        commitments = {name: self._dealt[name].commitment for name in self._survivors}
        opening = Opening(self._announced_keys, self._roster, commitments, self._revealed)
        vector = self._masked.copy()
        for name in self._survivors:
            subtract_mask(vector, self._announced_keys.self_key(name, opening.seed(name)))
        for name in self._dropped:
            secret = opening.key(name)
            for peer in self._survivors:
                if self._graph.joined(name, peer):
                    put_on_half(vector, self._announced_keys, name, secret, peer)
        self.step = "nothing"
        return Total(self.terms.opened(vector), tuple(self._survivors), tuple(ordered(self.terms, opening.liars)))

    @property
    def _dropped(self) -> list[str]:
        """Those whose masks are in the sum and whose vectors are not."""
        return [name for name in ordered(self.terms, self._dealt) if name not in self._survivors]

    def _said(self, kind: str, body: bytes) -> Signed:
        return Message(self.terms.round, self.terms.server, kind, body).signed(self._identity)

    def _all_passed_on(self) -> bytes:
        everything = labelled({name: signed.to_bytes() for name, signed in self._passed_on.items()})
        self._passed_on = {}
        return everything

    def _check_step(self, step: str) -> None:
        if step != self.step:
            obstacle = f"the server is at the step of {self.step}"
            raise OutOfOrder(
                f"step of {step}", obstacle, "Take the steps in order and in time.", UNOPENED, due=self.step
            )

    def _end(self, step: str, count: int) -> None:
        self._check_step(step)
        self.terms.check_enough(step, count)
        self.step = SAID[SAID.index(step) + 1]

    def _read_dealt(self, message: Message) -> _Dealt:
        commitment, boxes = split(message.body, 2)
        dealt = _Dealt(commitment, unlabelled(boxes))
        others = set(self._announced_keys.keys) - {message.sender}
        due = self.terms.degree or len(others)
        if len(commitment) != KEY or len(dealt.boxes) != due or not set(dealt.boxes) <= others:
            obstacle = f"they are not for {due} others, one for each other party" if self.terms.degree else ""
            obstacle = obstacle or "they are not one for each other party"
            raise Malformed(f"shares of {message.sender!r}", obstacle, "", UNOPENED)
        return dealt

    def _chosen(self, dealt: _Dealt) -> frozenset[str]:
        """Those for whom it has boxes, where not all mask with all; else those who shared keys, too."""
        return frozenset(dealt.boxes) if self.terms.degree else frozenset(dealt.boxes) & set(self._dealt)

    def _boxes(self, receiver: str, shown: bytes) -> bytes:
        boxes = labelled({name: one.boxes[receiver] for name, one in self._dealt.items() if receiver in one.boxes})
        return framed(shown, boxes) if self.terms.degree else boxes

    def _read_masked(self, message: Message) -> Ring:
        if len(message.body) != self.terms.width * self.terms.size:
            obstacle = f"it is not {self.terms.size} numbers of {self.terms.width} bytes"
            raise Malformed(f"masked vector of {message.sender!r}", obstacle, "Send it whole.", UNOPENED)
        return self.terms.received(message.body)

    def _check_agrees(self, message: Message) -> None:
        if message.body != statement(self._announced_keys, self._graph, self._survivors):
            obstacle = "it was shown other keys, sharers or survivors"
            raise Disagreement(f"agreement of {message.sender!r}", obstacle, "Begin a new round.", UNOPENED)

    def _read_revealed(self, message: Message) -> Revealed:
        seeds, keys = (
            {
                name: SignedShare.from_bytes(self._announced_keys, message.sender, data)
                for name, data in unlabelled(part).items()
            }
            for part in split(message.body, 2)
        )
        held = {name for name in self._dealt if self._graph.holds(message.sender, name)}
        if set(seeds) != held & set(self._survivors) or set(keys) != held & set(self._dropped):
            obstacle = "they are not a seed's of every survivor and a key's of everyone else"
            raise Malformed(f"shares revealed by {message.sender!r}", obstacle, "", UNOPENED)
        return Revealed(seeds, keys)
