"""How a round ended, and what must hold however it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.core.errors import DiscreetError
from discreet.crypto.errors import TooFewSurvivors
from discreet.crypto.messages import split, unlabelled, unlisted
from discreet.crypto.rounds.speaker import Total
from discreet.trust.secure_sum import SecureSum
from tests.trust.network.proxy import Frame, Proxy
from tests.trust.network.stage import HEADS, NAMES, NOISE, counted, federation, heads_of, in_time

THRESHOLD = federation().threshold


@dataclass
class Books:
    """Every round that was begun, what every party put under its masks, and what the server took out."""

    rounds: list[str] = field(default_factory=list)
    noisy: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)
    totals: dict[str, Total] = field(default_factory=dict)


@dataclass
class Outcome:
    """How one round ended: with a sum or an error, after these messages."""

    round: str
    seen: list[Frame]
    released: np.ndarray | None = None
    error: DiscreetError | None = None

    @classmethod
    def of(cls, trust: SecureSum, books: Books, proxies: Sequence[Proxy] = ()) -> Outcome:
        """Ask, and see what happens."""
        before = [len(one.seen) for one in proxies]
        released, error = None, None
        try:
            released = in_time(lambda: trust.ask(HEADS, NOISE))
        except DiscreetError as why:
            error = why
        fresh = [frame for one, start in zip(proxies, before, strict=True) for frame in one.seen[start:]]
        round = books.rounds[-1]
        return cls(round, [frame for frame in fresh if frame.round == round], released, error)

    def bodies(self, kind: str) -> dict[str, bytes]:
        """What each party, or the server on each line, said at a step."""
        return {one.line: one.signed.message.body for one in self.seen if one.kind == kind}


def check_safe(outcome: Outcome, books: Books) -> set[str]:
    """The sum is exact, or there is an error that explains itself; nobody is opened alone. Gives whose sum it is."""
    check_nobody_is_opened_alone(outcome)
    if outcome.error is not None:
        check_explained(outcome.error, outcome.round)
        assert outcome.round not in books.totals
        return set()
    total = books.totals[outcome.round]
    whose = set(total.survivors)
    assert len(whose) >= THRESHOLD
    vectors = [books.noisy[outcome.round, name] for name in whose]
    assert np.array_equal(total.vector, np.sum(vectors, axis=0, dtype=np.uint64))
    assert outcome.released is not None
    assert counted(outcome.released) == heads_of(*whose)
    return whose


def check_explained(error: DiscreetError, round: str) -> None:
    """The error names the round, and of those who left at least so many that too few remain, with a reason each."""
    assert isinstance(error, TooFewSurvivors)
    assert round in str(error)
    assert "Nothing was opened" in str(error)
    parts = str(error).split("; ")[1:]
    named = {name: why for name, _, why in (part.partition(": ") for part in parts) if name in NAMES}
    assert len(NAMES) - len(named) < THRESHOLD
    assert all(len(why) > 10 for why in named.values())


def check_nobody_is_opened_alone(outcome: Outcome) -> None:
    """Of no party are there shares of both secrets; and seeds only of survivors whom enough have agreed on."""
    seeds, keys = Counter[str](), Counter[str]()
    for sender, body in outcome.bodies("reveal").items():
        own_seeds, own_keys = (set(unlabelled(part)) for part in split(body, 2))
        assert sender in own_seeds
        seeds.update(own_seeds)
        keys.update(own_keys)
    assert not set(seeds) & set(keys)
    lists = {frozenset(unlisted(body)) for body in outcome.bodies("survivors").values()}
    assert len(lists) <= 1
    survivors = next(iter(lists), frozenset())
    assert set(seeds) in (set(), survivors)
    assert not seeds or len(survivors) >= THRESHOLD
    for name in outcome.bodies("masked"):
        assert name in survivors or seeds[name] == 0
