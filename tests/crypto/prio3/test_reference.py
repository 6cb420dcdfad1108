"""Reports at random, against the draft's listings in Python's integers: the same bytes, and the same verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.peers.prio3_reference import Field64, Field128, ReferencePrio3, Valid

from discreet.crypto.fields.limb_field import FIELD64
from discreet.crypto.prio3.circuit import Circuit
from discreet.crypto.prio3.circuits import (
    CountCircuit,
    HistogramCircuit,
    MultihotCountVecCircuit,
    SumCircuit,
    SumVecCircuit,
)
from discreet.crypto.prio3.prio3 import Prio3
from discreet.crypto.prio3.shares import NONCE, random_bytes
from discreet.noise.deterministic import DeterministicBits

KEY = bytes(range(32))
KINDS: list[tuple[Circuit, Valid, list[Any]]] = [
    (CountCircuit(), Valid("Count", Field64), [1, 0, 1, 1, 0]),
    (SumCircuit(most=1000), Valid("Sum", Field64, most=1000), [1000, 0, 513, 512, 7]),
    (SumVecCircuit(length=5, most=6, chunk=4), Valid("SumVec", Field128, 5, 6, 4), [[6, 0, 1, 2, 3]] * 5),
    (SumVecCircuit(FIELD64, 3, 5, 4, 6), Valid("SumVec", Field64, 5, 6, 4), [[6, 0, 1, 2, 3]] * 5),
    (HistogramCircuit(length=11, chunk=3), Valid("Histogram", Field128, 11, 1, 3), [10, 0, 5, 1, 2]),
    (HistogramCircuit(FIELD64, 3, 11, 3), Valid("Histogram", Field64, 11, 1, 3), [10, 0, 5, 1, 2]),
    (
        MultihotCountVecCircuit(length=4, weight=3, chunk=2),
        Valid("Multihot", Field128, 4, 3, 2),
        [[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]],
    ),
]


def test_every_byte_is_that_of_the_reference() -> None:
    for shares in (2, 3):
        for circuit, valid, measurements in KINDS:
            ours = Prio3(circuit, shares, b"some application")
            theirs = ReferencePrio3(valid, circuit.identifier, shares, b"some application", circuit.proofs)
            bits, many = DeterministicBits(shares), len(measurements)
            nonces, random = random_bytes(bits, many, NONCE), random_bytes(bits, many, ours.randomness)
            sent = ours.shard(measurements, nonces, random)
            seen = [ours.verified(k, KEY, nonces, sent.public, sent.inputs[k]) for k in range(shares)]
            verdict = ours.verdict([one.verifiers for one in seen])
            for row in range(many):
                nonce, rand = nonces[row].tobytes(), random[row].tobytes()
                public, inputs = theirs.shard(measurements[row], nonce, rand)
                assert public == sent.public[row].tobytes()
                assert inputs == [one[row].tobytes() for one in sent.inputs]
                states, said = zip(
                    *(theirs.verify_init(KEY, k, nonce, public, inputs[k]) for k in range(shares)), strict=True
                )
                assert list(said) == [one.verifiers[row].tobytes() for one in seen]
                message = theirs.verifier_shares_to_message(list(said))
                assert message == verdict.messages[row].tobytes()
                for k, state in enumerate(states):
                    out = theirs.verify_next(state, message)
                    alone = np.arange(many) == row
                    assert valid.field.encode_vec(out) == ours.aggregated(seen[k], alone).tobytes()
