"""A round in one process: every message passes through the hands of the test."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from discreet.crypto.errors import ProtocolError
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Signed
from discreet.crypto.odo.odo_party import OdoParty
from discreet.crypto.odo.odo_relay import OdoRelay
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import UsedRounds
from discreet.noise.deterministic import DeterministicBits
from tests.crypto.rehearsal import NAMES, identity


@cache
def known() -> Roster:
    return Roster.of(identity(name) for name in (*NAMES, "server"))


def identity_of(name: str) -> Identity:
    return identity(name)


def terms_of(parties: int, faults: int, size: int = 3, coins: int = 4, largest: int = 3, offset: int = 0) -> OdoTerms:
    return OdoTerms("r1", NAMES[:parties], parties - faults, size, coins=coins, largest=largest, offset=offset)


def numbers_of(terms: OdoTerms, name: str) -> np.ndarray:
    rng = np.random.default_rng(terms.index(name))
    return rng.integers(0, terms.largest + 1, terms.size)


class OdoRehearsal:
    """One run with these cheats in the places of honest parties."""

    def __init__(self, terms: OdoTerms, cheats: Mapping[str, type[OdoParty]] | None = None, seed: int = 0) -> None:
        self.terms, kinds = terms, cheats or {}
        self.relay = OdoRelay(identity("server"), terms, known(), UsedRounds(), DeterministicBits(seed))
        self.members: dict[str, OdoParty] = {
            name: kinds.get(name, OdoParty)(
                identity(name), terms, known(), UsedRounds(), DeterministicBits(1000 * seed + terms.index(name))
            )
            for name in terms.parties
        }
        self.gone: dict[str, str] = {}

    def run(self) -> Total:
        """Take all steps; what is said passes as bytes."""
        for member in self.members.values():
            self.relay.receive(member.begin())
        while messages := self.relay.passed_on():
            for name, message in messages.items():
                if name in self.members and name not in self.gone:
                    self.step(name, message)
        return self.relay.total()

    def step(self, name: str, message: Signed) -> None:
        """One party hears and answers; who refuses is gone."""
        assert len(message.to_bytes()) <= self.members[name].most
        try:
            said = self.members[name].answer(message, lambda: numbers_of(self.terms, name)).to_bytes()
            assert len(said) <= self.relay.most
            self.relay.receive(Signed.from_bytes(said, name))
        except (ProtocolError, ConnectionError) as why:
            self.gone[name] = str(why)

    def noise(self, total: Total) -> np.ndarray:
        """What was added to the numbers of all who are in the sum."""
        truth = sum(numbers_of(self.terms, name) - self.terms.offset for name in total.survivors)
        return np.asarray(total.vector.view(np.int64) - truth)
