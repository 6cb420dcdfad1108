"""Counts in verified shares beside masked sums: time among ten processes, work of a party, coins, and liars."""

from __future__ import annotations

import contextlib
import itertools
import math
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import binom
from tests.crypto.odo.cheats import CHEATS
from tests.crypto.odo.test_odo import scheduled

from benchmarks.rows import Row, at_most, printed
from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.mechanism import Mechanism
from discreet.crypto.errors import ProtocolError
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.odo.odo_party import OdoParty
from discreet.crypto.odo.odo_relay import OdoRelay
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.odo.transcript import Transcript
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import UsedRounds
from discreet.mechanisms.additive.binomial import Binomial
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.system_bits import system_bits
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Schema
from discreet.service.local_parties import LocalParties, local_parties

PARTIES, FAULTS, COUNTS, COINS = 10, 3, 1000, 60
SCHEMA = Schema.numeric(0.0, 1.0, 1)
ROUNDS = 3
SCHEDULES = 1000
NAMES = tuple(f"p{number}" for number in range(PARTIES))


def rows() -> Iterator[Row]:
    """What was promised of Our Data, Ourselves."""
    shared = wall("odo", COUNTS, Binomial.of_coins(COINS * (PARTIES - FAULTS)))
    masked = wall("masks", COUNTS * (COINS + 1), Gaussian(10.0))
    yield printed(f"{COUNTS} counts, {COINS} coins of each of {PARTIES} processes: wall seconds", shared)
    yield at_most(f"the same over a masked sum of {COUNTS * (COINS + 1)} numbers", shared / masked, 3.0)
    yield at_most("the same: processor seconds of a party", statistics.median(Rehearsal().spent()), 0.060)
    wrong = sum(fewest(epsilon, delta) != tossed(epsilon, delta) for epsilon, delta in PAIRS)
    yield at_most(f"pairs of epsilon and delta, of {len(PAIRS)}, whose number of coins is not the least", wrong, 0)
    yield printed("coins at epsilon 1 and delta 1e-6", tossed(1.0, 1e-6))
    yield at_most("largest difference of the variance from its law under any cheat", max(differences()), 0.05)
    yield at_most(f"of {SCHEDULES} random schedules of faults, those with a wrong end or name", wrong_ends(), 0)
    vectors = wall("odo-vector", COUNTS, Gaussian(10.0))
    yield printed(f"{COUNTS} numbers with Gaussian noise in verified shares: wall seconds", vectors)
    yield printed("the same over a masked sum of as many numbers", vectors / wall("masks", COUNTS, Gaussian(10.0)))
    yield from transcript_rows()


PAIRS = [*itertools.product((0.1, 0.5, 1.0, 2.0), (1e-5, 1e-6, 1e-9))]


def fewest(epsilon: float, delta: float) -> int:
    """The least even number of coins whose exact delta holds, by enumeration of all numbers of heads."""

    def exact(coins: int) -> float:
        heads = np.arange(coins + 2)
        there, here = binom.pmf(heads - 1, coins, 0.5), binom.pmf(heads, coins, 0.5)
        return float(np.maximum(there - math.exp(epsilon) * here, 0).sum())

    low, high = 0, 2**16  # in pairs of coins
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if exact(2 * middle) <= delta else (middle, high)
    return 2 * high


def tossed(epsilon: float, delta: float) -> int:
    return calibrate(Binomial, Budget(epsilon, delta)).coins


def wall(scheme: str, cells: int, noise: Mechanism[np.ndarray]) -> float:
    """The median time of a round among ten processes, after one that warms up."""
    question = contingency_of(SCHEMA, ("x0",), (cells,))
    with tempfile.TemporaryDirectory() as place, ten_parties(Path(place), scheme) as parties:
        parties.trust.ask(question, noise)
        spent = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            parties.trust.ask(question, noise)
            spent.append(time.perf_counter() - start)
    return statistics.median(spent)


@contextlib.contextmanager
def ten_parties(folder: Path, scheme: str) -> Iterator[LocalParties]:
    files = {}
    for number, name in enumerate(NAMES):
        files[name] = folder / f"{name}.csv"
        values = np.random.default_rng(number).uniform(0, 1, 1000)
        np.savetxt(files[name], values, header="x0", comments="")
    options = {"threshold": PARTIES - FAULTS, "scheme": scheme, "largest": 1, "patience": 120.0}
    with local_parties(files, SCHEMA, Budget(1e6, 0.5), **options) as parties:  # type: ignore[arg-type]
        yield parties


def wrong_ends() -> int:
    """How many rounds with random cheats in random places are not right, or name somebody who did not lie."""
    found = 0
    for seed in range(SCHEDULES):
        try:
            scheduled(seed)
        except AssertionError:
            found += 1
    return found


def transcript_rows() -> Iterator[Row]:
    run = Rehearsal()
    run.total()
    data, keys = run.relay.transcript(), run.roster
    start = time.process_time()
    Transcript.from_bytes(data).verified(keys)
    yield printed(f"transcript of {COUNTS} counts, {PARTIES} parties: kilobytes", len(data) / 1000)
    yield printed("the same: processor seconds to check it", time.process_time() - start)


class Rehearsal:
    """A round in this process, with one party that may cheat."""

    def __init__(self, cheat: type[OdoParty] = OdoParty, counts: int = COUNTS, coins: int = COINS) -> None:
        people = {name: Identity.drawn(name, system_bits()) for name in (*NAMES, "server")}
        self.terms = OdoTerms("r", NAMES, PARTIES - FAULTS, counts, coins=coins)
        self.roster = roster = Roster.of(people.values())
        self.relay = OdoRelay(people["server"], self.terms, roster, UsedRounds())
        kinds = dict.fromkeys(NAMES, OdoParty) | {"p4": cheat}
        self.parties = {name: kinds[name](people[name], self.terms, roster, UsedRounds()) for name in NAMES}
        self.took = dict.fromkeys(NAMES, 0.0)

    def total(self) -> Total:
        for name, party in self.parties.items():
            start = time.process_time()
            begun = party.begin()
            self.took[name] += time.process_time() - start
            self.relay.receive(begun)
        while messages := self.relay.passed_on():
            for name, message in messages.items():
                start = time.process_time()
                with contextlib.suppress(ProtocolError):  # a cheat that is found out leaves
                    said = self.parties[name].answer(message, self.counts)
                    self.took[name] += time.process_time() - start
                    self.relay.receive(said)
        return self.relay.total()

    def counts(self) -> np.ndarray:
        return np.zeros(self.terms.size, np.int64)

    def spent(self) -> list[float]:
        self.total()
        return [*self.took.values()]


def differences() -> Iterator[float]:
    """Of the variance of the noise, for each cheat: 20,000 numbers show theirs to 1 %, one time in three."""
    for cheat in CHEATS:
        total = Rehearsal(cheat, 20_000, 6).total()
        yield abs(float(total.vector.view(np.int64).var()) / (6 * len(total.survivors) / 4) - 1)


if __name__ == "__main__":
    for row in rows():
        print(row.line(90), flush=True)
