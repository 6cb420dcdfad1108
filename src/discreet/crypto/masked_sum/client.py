"""One party of a masked sum (`masked_sum.py` states the protocol)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, BadSignature, Disagreement, OutOfOrder, UnknownParty
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.masked_sum.mask_graph import MaskGraph, drawn, written
from discreet.crypto.masked_sum.mask_terms import MaskTerms, Ring
from discreet.crypto.masked_sum.masks import ANSWERED, add_mask, put_on_half, statement
from discreet.crypto.masked_sum.signed_share import SignedShare
from discreet.crypto.messages import Message, ReplayGuard, Signed, framed, labelled, split, unlabelled, unlisted
from discreet.crypto.rounds.agreement import AnnouncedKeys, PublicKeys, SecretKeys, check_roster, drawn_bytes, ordered
from discreet.crypto.rounds.speaker import Vector
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.crypto.sharing.shamir import ShamirShare, packed, share
from discreet.noise.system_bits import system_bits


@dataclass(frozen=True)
class _Held:
    """What a client keeps of a peer: a share of the seed of its own mask, one of the key of its pair masks, and whom it
    has chosen to mask with, where not all mask with all.
    """

    seed: SignedShare = field(repr=False)
    key: SignedShare = field(repr=False)
    chosen: bytes = b""

    def to_bytes(self) -> bytes:
        """What is sealed for a holder."""
        return framed(self.seed.to_bytes(), self.key.to_bytes(), *([self.chosen] if self.chosen else []))


def _anybody(names: Sequence[str]) -> None:
    """Refuse nobody."""


class Client(Held):
    """One party of a masked sum. Each method is a step, which is taken once.

    A message that is refused leaves the client as it was.

    Parameters
    ----------
    identity : Identity
        Who it is.
    terms : Terms
        Public. What all agreed on.
    roster : Roster
        Public. The keys of all parties and of the server.
    rounds : UsedRounds
        The rounds that this party has taken part in.
    bits : Bits, optional
        Where its secrets come from. A mask hides nothing unless they are secret.
    """

    def __init__(
        self, identity: Identity, terms: Terms, roster: Roster, rounds: UsedRounds, bits: Bits | None = None
    ) -> None:
        terms.index(identity.name)
        check_roster(identity, terms, roster)
        rounds.claim(terms.round)
        self.name, self.terms = identity.name, MaskTerms.of(terms)
        self._identity, self._roster, self._bits = identity, roster, bits or system_bits()
        self._seen = ReplayGuard(terms.round, *ANSWERED)
        self._keys, self._seed = SecretKeys.drawn(self._bits), drawn_bytes(self._bits)
        self._announced_keys = AnnouncedKeys(self.terms, {})
        self._held: dict[str, _Held] = {}
        self._chosen: frozenset[str] = frozenset()
        self._graph = MaskGraph(self.terms, {})
        self._survivors: list[str] = []
        self.admit: Callable[[Sequence[str]], object] = _anybody
        """Given the names of those in the sum, before the vector is asked for and before they are signed: to refuse."""

    @property
    def most(self) -> int:
        """The longest message of the server in this round, in bytes."""
        return self.terms.passed_on

    def begin(self) -> Signed:
        """The first step."""
        return self.advertise()

    def answer(self, heard: Signed, vector: Callable[[], Vector]) -> Signed:
        """The step that a message of the server asks for."""
        steps: dict[str, Callable[[Signed], Signed]] = {
            "announcements": self.share_keys,
            "delivery": lambda delivery: self.mask(delivery, vector),
            "survivors": self.agree,
            "agreements": self.reveal,
        }
        step = steps.get(heard.message.kind)
        if step is None:
            raise OutOfOrder(f"{heard.message.kind!r}", "there is no such step", "", UNOPENED)
        return step(heard)

    @exclusive
    def advertise(self) -> Signed:
        """Say which keys are used in this round."""
        return self._keys.public.announced(self._identity, self.terms)

    @exclusive
    def share_keys(self, announcements: Signed) -> Signed:
        """Share the seed of the own mask and the key of the pair masks among those who are chosen: as a rule all."""
        message = self._heard(announcements)
        with self._seen.admitting(message):
            announced = self._announced(message.body)
            self._chosen = drawn(self.terms, self._bits, self.name, announced.keys)
            dealt = self._dealt(announced)
            own = dealt.pop(self.name)
            boxes = {name: self._sealed(announced, name, one) for name, one in dealt.items()}
            self._announced_keys, self._held = announced, {self.name: own}
            return self._said("shares", framed(announced.commitment(self.name, self._seed), labelled(boxes)))

    @exclusive
    def mask(self, delivery: Signed, vector: Vector | Callable[[], Vector]) -> Signed:
        """Put all masks on the vector, once those who shared keys with this client are known.

        A function is called for the vector when the delivery has proved right, once.
        """
        message = self._heard(delivery)
        with self._seen.admitting(message):
            graph, boxes = self._delivered(message.body)
            held = self._unsealed(graph, boxes)
            self.admit(ordered(self.terms, graph.chosen))
            masked = self._checked(vector() if callable(vector) else vector)
            add_mask(masked, self._announced_keys.self_key(self.name, self._seed))
            for peer in ordered(self.terms, graph.chosen):
                if graph.joined(self.name, peer):
                    put_on_half(masked, self._announced_keys, self.name, self._keys.masking, peer)
            self._held, self._graph = self._held | held, graph
            return self._said("masked", self.terms.packed(masked))

    @exclusive
    def agree(self, survivors: Signed) -> Signed:
        """Sign the list of those whose vectors are added. A client signs one list only."""
        message = self._heard(survivors)
        with self._seen.admitting(message):
            names = set(unlisted(message.body))
            if self.name not in names or not names <= set(self._graph.chosen):
                obstacle = "they lack this client, or name someone who shared no keys with it"
                raise Disagreement("survivors", obstacle, "Begin a new round.", UNOPENED)
            self.terms.check_enough("masked", len(names))
            self._graph.check_left("masked", names, names)
            self.admit(ordered(self.terms, names))
            self._survivors = ordered(self.terms, names)
            return self._said("agreement", self._statement)

    @exclusive
    def reveal(self, agreements: Signed) -> Signed:
        """Give shares away, once enough survivors have signed the same list: of each peer one of two kinds."""
        message = self._heard(agreements)
        with self._seen.admitting(message):
            self._check_agreed(message.body)
            seeds = {name: self._held[name].seed.to_bytes() for name in self._survivors if name in self._held}
            keys = {name: one.key.to_bytes() for name, one in self._held.items() if name not in seeds}
            return self._said("reveal", framed(labelled(seeds), labelled(keys)))

    @property
    def _statement(self) -> bytes:
        return statement(self._announced_keys, self._graph, self._survivors)

    def _said(self, kind: str, body: bytes) -> Signed:
        return Message(self.terms.round, self.name, kind, body).signed(self._identity)

    def _heard(self, signed: Signed) -> Message:
        if signed.sender != self.terms.server:
            raise UnknownParty(f"round {self.terms.round!r}", f"{signed.sender!r} is not the server", "", UNOPENED)
        return signed.verified(self._roster)

    def _listed(self, body: bytes, kind: str) -> list[Message]:
        """Messages that the server passes on: signed, of this round and kind, one from each party."""
        seen, messages = ReplayGuard(self.terms.round, kind), []
        for name, data in unlabelled(body).items():
            self.terms.index(name)
            message = Signed.from_bytes(data, name).verified(self._roster)
            seen.admit(message)
            messages.append(message)
        self.terms.check_enough(kind, len(messages))
        return messages

    def _announced(self, body: bytes) -> AnnouncedKeys:
        messages = self._listed(body, "keys")
        announced = AnnouncedKeys(self.terms, {one.sender: PublicKeys.of(one, self.terms) for one in messages})
        if announced.keys.get(self.name) != self._keys.public:
            raise Disagreement("keys", f"those of {self.name!r} are missing or not its own", "", UNOPENED)
        return announced

    def _dealt(self, announced: AnnouncedKeys) -> dict[str, _Held]:
        """What everybody who was chosen, and this client itself, is to hold of its two secrets, signed."""
        chosen = written(self.terms, self._chosen) if self.terms.degree else b""
        seeds, keys = (share(self._bits, packed(one), self.terms.deal) for one in (self._seed, self._keys.mask))
        return {
            name: _Held(*self._signed(seeds[place := self.terms.index(name) - 1], keys[place], announced), chosen)
            for name in (*ordered(self.terms, self._chosen), self.name)
        }

    def _signed(self, seed: ShamirShare, key: ShamirShare, announced: AnnouncedKeys) -> tuple[SignedShare, SignedShare]:
        """What one holder gets: with a signature on each, or with one on both where not all mask with all."""
        if self.terms.degree:
            return SignedShare.dealt_both(seed, key, announced, self._identity, self._bits)
        return (
            SignedShare.dealt(seed, "seed", announced, self._identity),
            SignedShare.dealt(key, "key", announced, self._identity),
        )

    def _sealed(self, announced: AnnouncedKeys, receiver: str, one: _Held) -> bytes:
        return announced.sealed(self._bits, self.name, self._keys.sealing, receiver, one.to_bytes())

    def _delivered(self, body: bytes) -> tuple[MaskGraph, dict[str, bytes]]:
        """Who masks with whom, as the server says, and what was sealed for this client."""
        if not self.terms.degree:
            boxes = unlabelled(body)
            if self.name in boxes:
                raise Disagreement("delivery", "it has shares of someone who announced no keys", "", UNOPENED)
            return MaskGraph.complete(self.terms, [self.name, *boxes]), boxes
        shown, sealed = split(body, 2)
        graph, boxes = MaskGraph.from_bytes(self.terms, shown), unlabelled(sealed)
        if graph.chosen.get(self.name) != self._chosen:
            raise Disagreement("delivery", f"it lacks {self.name!r}, or says that it chose others", "", UNOPENED)
        if set(boxes) != {name for name in graph.chosen if self.name in graph.chosen[name]}:
            raise Disagreement("delivery", "it has not one box of each who chose this client", "", UNOPENED)
        return graph, boxes

    def _unsealed(self, graph: MaskGraph, boxes: dict[str, bytes]) -> dict[str, _Held]:
        if not set(graph.chosen) <= set(self._announced_keys.keys):
            raise Disagreement("delivery", "it has shares of someone who announced no keys", "", UNOPENED)
        self.terms.check_enough("shares", len(graph.chosen))
        graph.check_left("shares", graph.chosen, [self.name])
        held = {name: self._opened(name, box) for name, box in boxes.items()}
        for name, one in held.items():
            if self.terms.degree and one.chosen != graph.written[name]:
                raise Disagreement("delivery", f"it says that {name!r} chose others than it did", "", UNOPENED)
        return held

    def _opened(self, sender: str, box: bytes) -> _Held:
        announced = self._announced_keys
        content = announced.unsealed(sender, self._keys.sealing, self.name, box)
        seed, key, *chosen = split(content, 3 if self.terms.degree else 2)
        shares = [SignedShare.from_bytes(announced, self.name, data) for data in (seed, key)]
        held = _Held(shares[0], shares[1], chosen[0] if chosen else b"")
        if not (
            held.seed.is_true("seed", announced, sender, self._roster)
            and held.key.is_true("key", announced, sender, self._roster)
        ):
            obstacle = f"{sender!r} has not signed them, and could deny them later"
            raise BadSignature(f"shares of {sender!r}", obstacle, "Leave them out.", UNOPENED, name=sender)
        return held

    def _check_agreed(self, body: bytes) -> None:
        own = self._statement
        for one in self._listed(body, "agreement"):
            if one.sender not in self._survivors or one.body != own:
                obstacle = f"{one.sender!r} signed another list, or is not on it"
                raise Disagreement("agreements", obstacle, "Begin a new round.", UNOPENED, name=one.sender)

    def _checked(self, vector: Vector) -> Ring:
        if vector.dtype not in (np.uint64, np.int64) or vector.shape != (self.terms.size,):
            raise ParameterError(
                f"vector of {self.name!r}",
                f"it is of {vector.dtype} and shape {vector.shape}",
                f"Give {self.terms.size} integers of 64 bits.",
            )
        return vector.astype(self.terms.word)
