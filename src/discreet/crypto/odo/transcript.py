"""All that was said in public in a round of verified shares, for whoever was not there and checks it later.

What it proves, to anybody who has the right keys of all members and believes that no more than `faults` of them lied:
that the total is the sum of the numbers of those whose dealings count, in range, with their coins; and who lied, and
how that shows. It shows nothing that the relay did not see: boxes are in it as digests alone. To check it takes about a
signature for each party and step, and the arithmetic of the relay; a file has some kilobytes of each party, and of each
a field element for each number.

What it does not prove: that numbers in range are true; nor, if more of them lied, anything but what each has signed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.core.errors import DiscreetError
from discreet.crypto.errors import Disagreement, Malformed, ProtocolError
from discreet.crypto.identity import Roster
from discreet.crypto.messages import Signed, framed, labelled, split, unlabelled
from discreet.crypto.odo.commitments import NumberOpening, committed_to, is_combination
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.odo.proceedings import SAID, Proceedings
from discreet.crypto.rounds.agreement import AnnouncedKeys, PublicKeys
from discreet.crypto.rounds.speaker import Total, Words
from discreet.noise.system_bits import system_bits

FORM = b"discreet transcript 1"
NUMBERS = ("threshold", "size", "coins", "largest", "offset", "committed")
REFUSED = "Nothing in it is proved."


@dataclass(frozen=True)
class Transcript:
    """The signed messages of a round, step by step, with the total that came of them.

    Parameters
    ----------
    terms : OdoTerms
        Public. Of the round.
    said : mapping of str to mapping of str to bytes
        Public. For each step, what each party said, signed; of dealings, the headers.
    vector : array of uint64
        Public. The total.
    call : bytes
        Public. What was asked, as the server called it; empty where nothing is known of it.
    """

    terms: OdoTerms
    said: Mapping[str, Mapping[str, bytes]] = field(repr=False)
    vector: Words = field(repr=False)
    call: bytes = field(default=b"", repr=False)

    def to_bytes(self) -> bytes:
        """The file."""
        terms = self.terms
        texts = [terms.round, terms.server, *terms.parties]
        numbers = [getattr(terms, name) for name in NUMBERS]
        about = framed(json.dumps([texts, numbers]).encode(), terms.about, terms.protocol)
        return framed(
            FORM,
            about,
            labelled({kind: labelled(each) for kind, each in self.said.items()}),
            self.vector.astype("<u8").tobytes(),
            self.call,
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Transcript:
        """The transcript in a file; nothing of it is checked yet but its shape."""
        try:
            form, about, said, vector, call = split(data, 5)
            if form != FORM:
                raise ValueError("it has another form")
            described, what, protocol = split(about, 3)
            (round, server, *parties), numbers = json.loads(described)
            own = dict(zip(NUMBERS, numbers, strict=True))
            terms = OdoTerms(round, tuple(parties), server=server, about=what, protocol=protocol, **own)
            kinds = {kind: unlabelled(each) for kind, each in unlabelled(said).items()}
            words = np.frombuffer(vector, "<u8").astype(np.uint64)
        except (DiscreetError, ValueError, TypeError, AttributeError, RecursionError) as why:
            raise Malformed("transcript", f"the file is none ({why})", "Ask for it again.", REFUSED) from why
        return cls(terms, kinds, words, call)

    def verified(self, roster: Roster) -> Total:
        """The total, if everything that was signed leads to it: computed anew from the messages.

        Raises
        ------
        ProtocolError
            What is wrong with it, and where: a step, and whose message.
        """
        record = self._record(roster)
        total = record.total(system_bits())
        if not np.array_equal(total.vector, self.vector):
            raise Disagreement("transcript: total", "it is not what the shares of the sum give", "", REFUSED)
        return total

    def unbound(self, roster: Roster) -> tuple[str, ...]:
        """Whose commitments are not to the numbers that it dealt, of those whose dealings count: it lied in them.

        For each, two random combinations of its commitments are those to what it proved of its shares. Weights are of
        61 bits, and drawn after it had committed: a false commitment is missed with a probability below 2**-119.
        """
        record = self._record(roster)
        return tuple(name for name in record.good if not self._is_bound(record, name))

    def _is_bound(self, record: Proceedings, name: str) -> bool:
        points, size = record.headers[name].points, self.terms.size
        pairs = enumerate(zip(record.coins.links.tolist(), record.proofs[name].links, strict=True))
        return all(
            is_combination([*points[:size], points[size + at]], [*weights, 1], link.number, link.blind)
            for at, (weights, link) in pairs
        )

    def opened(self, roster: Roster, name: str, data: bytes) -> list[int]:
        """The numbers that a party put in, noise included, as it shows them: what it committed to, and nothing else.

        They must be in range: then they are what it dealt, unless its commitments were missed by `unbound`.
        """
        record, terms = self._record(roster), self.terms
        points = record.headers[name].points if name in record.good else []
        opening = NumberOpening.from_bytes(data, len(points))
        shown = [committed_to(*pair) for pair in zip(opening.numbers, opening.blinds, strict=True)]
        numbers = opening.numbers[: terms.size]
        if not points or shown != points or not all(number <= terms.largest for number in numbers):
            obstacle = "it is not what they committed to in this round"
            raise Disagreement(f"transcript: opening of {name[:40]!r}", obstacle, "", REFUSED)
        if not self._is_bound(record, name):
            obstacle = "their commitments are not to the numbers that they dealt"
            raise Disagreement(f"transcript: opening of {name[:40]!r}", obstacle, "", REFUSED)
        return [number - terms.offset for number in numbers]

    def reasons(self, roster: Roster) -> Mapping[str, str]:
        """Who lied in its dealing, and how that shows."""
        return self._record(roster).refuted

    def _record(self, roster: Roster) -> Proceedings:
        kinds = ["header" if kind == "deal" else kind for kind in SAID]
        if list(self.said) not in (kinds, [kind for kind in kinds if kind != "agreed"]):
            raise Malformed("transcript", f"its steps are {', '.join(self.said)[:200]}", "", REFUSED)
        bodies = {kind: self._bodies(kind, roster) for kind in self.said}
        record = Proceedings(self.terms, self._announced.transcript, bodies["header"])
        for kind in [one for one in self.said if one not in ("keys", "header")]:
            try:
                record.hear(kind, bodies[kind])
            except ProtocolError as why:
                obstacle = f"{why.obstacle}, of those who had seen what is in it before"
                raise Disagreement(f"transcript: {kind}", obstacle, "", REFUSED) from why
        return record

    def _bodies(self, kind: str, roster: Roster) -> dict[str, bytes]:
        found = {}
        for name, data in self.said[kind].items():
            place = f"transcript: {kind} of {name[:40]!r}"
            try:
                self.terms.index(name)
                message = Signed.from_bytes(data, name).verified(roster)
            except ProtocolError as why:
                raise type(why)(place, why.obstacle, why.remedy, REFUSED) from why
            if (message.round, message.kind) != (self.terms.round, kind):
                raise Malformed(place, "it belongs elsewhere", "", REFUSED)
            found[name] = message.body
        return found

    @cached_property
    def _announced(self) -> AnnouncedKeys:
        messages = [Signed.from_bytes(data, name).message for name, data in self.said["keys"].items()]
        return AnnouncedKeys(self.terms, {one.sender: PublicKeys.of(one, self.terms) for one in messages})
