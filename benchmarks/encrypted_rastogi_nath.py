"""Time series of a hundred people under encryption (Rastogi and Nath 2010): what each sends and computes, and the law.

Every user is also a holder of the key, checks what all have sealed, and gives its part of the decryption. One user's
steps are measured, with real messages of all the others, under a key of 2048 bits.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.rows import Row, at_least, at_most, printed
from discreet.core.answer import Answer
from discreet.core.neighbors import Neighbors
from discreet.crypto.encrypted_sum.encrypted_sum import EncryptedTerms, KeyHolder
from discreet.crypto.encrypted_sum.sealing_party import SealingParty
from discreet.crypto.encrypted_sum.sum_relay import SumRelay
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Signed
from discreet.crypto.paillier.threshold_key import dealt
from discreet.crypto.rounds.terms import UsedRounds
from discreet.mechanisms.additive.laplace import LaplaceShare
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.system_bits import system_bits
from discreet.questions.series.fourier import FourierBasis, fourier_of_people
from discreet.schema.schema import Schema

USERS, THRESHOLD, PERIODS, WAVES, SIZE = 100, 60, 64, 10, 19
DRAWS = 10**5


def rows() -> list[Row]:
    assert FourierBasis(PERIODS, WAVES).size == SIZE
    return [*_round(), *_law()]


def spent(job: Callable[[], Any]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def _round() -> list[Row]:
    bits = system_bits()
    server, *drawn = (Identity.drawn("relay" if not place else f"u{place}", bits) for place in range(USERS + 1))
    names = tuple(one.name for one in drawn)
    shares = dealt(names, THRESHOLD, "the benchmark")
    roster = Roster.of([server, *drawn])
    terms = EncryptedTerms("r1", names, THRESHOLD, SIZE, server.name, key=shares[names[0]].key)
    relay = SumRelay(server, terms, roster, UsedRounds())
    people = {
        one.name: SealingParty(KeyHolder(one.name, one.secret, shares[one.name]), terms, roster, UsedRounds())
        for one in drawn
    }
    vectors = {name: np.random.default_rng(place).integers(-(2**40), 2**40, SIZE) for place, name in enumerate(names)}
    for one in people.values():
        relay.receive(one.begin())
    roll = relay.passed_on()
    said: dict[str, Signed] = {}

    def seal(name: str) -> None:
        said[name] = people[name].answer(roll[name], lambda: vectors[name])

    seconds = [spent(lambda name=name: seal(name)) for name in names]  # type: ignore[misc]
    for sealed in said.values():
        relay.receive(sealed)
    sums = relay.passed_on()
    opening = []
    for name in names[:THRESHOLD]:
        start = time.process_time()
        given = people[name].answer(sums[name], lambda: vectors[names[0]])
        opening.append(time.process_time() - start)
        relay.receive(given)
    right = bool((relay.total().vector.view(np.int64) == sum(vectors.values())).all())
    return [
        at_most(f"ciphertexts of a user for {SIZE} coefficients, {USERS} users", terms.ciphertexts, 1),
        at_least(f"the total of {USERS} users, opened by {THRESHOLD}, is right (1: yes)", float(right), 1),
        printed("bytes that a user sends: numbers, proof and signature", len(said[names[0]].to_bytes())),
        printed("a user's encryption and proof, s", float(np.median(seconds))),
        printed(f"a user's check of {USERS} proofs, sum, and part of the decryption, s", float(np.median(opening))),
    ]


def _law() -> list[Row]:
    """The noise of a hundred users' shares together, against the law that a curator draws from."""
    schema = Schema.numeric(0.0, 1.0, PERIODS)
    question = fourier_of_people(schema, schema.features, WAVES, 0.0, None)
    empty = Answer(np.zeros(SIZE, np.int64), question.grid, question.bound, Neighbors.ADD_REMOVE)
    share, bits = LaplaceShare(1.0, USERS), DeterministicBits(7)
    scale = share.own_scale(share.prepared(empty))
    runs = math.ceil(DRAWS / SIZE)
    each = [share.masked(dataclasses.replace(empty).stacked(runs), bits) for _ in range(USERS)]
    noise = np.sum(each, axis=0).ravel()
    apart = float(stats.kstest(noise.astype(float), stats.laplace(scale=scale).cdf).statistic)
    least = math.sqrt(math.log(2 / 1e-6) / 2 / noise.size)  # Dvoretzky, Kiefer, Wolfowitz and Massart
    return [at_most(f"the law of the total less the curator's, largest of {noise.size} draws", apart, round(least, 5))]
