"""Histograms without joint randomness: how often false ones pass, counted over a small field, and their bytes."""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256
from itertools import pairwise, product

import numpy as np

from discreet.crypto.fields.prime_field import PrimeField, Vector
from discreet.crypto.prio3.direct_histogram import DirectHistogramCircuit, best_lanes
from discreet.crypto.prio3.prio3 import Prio3
from discreet.crypto.prio3.proof import decided, proved, queried

SMALL = PrimeField(17, 1, 16, 3)
CIRCUIT = DirectHistogramCircuit(SMALL, length=2, lanes=1)  # two calls, four points
Q, P = SMALL.prime, CIRCUIT.points


def accepted(measurement: Vector, proof: Vector) -> Fraction:
    """How often both aggregators accept it, over all points that may be used and all coefficients."""
    points = [point for point in range(Q) if pow(point, P, Q) != 1]
    queries = SMALL.elements([0])[:, :0].reshape(1, 0, 1), np.array(list(product(range(Q), repeat=3)), dtype=object).T
    count = 0
    for point in points:
        query = np.concatenate([queries[1], np.full((1, Q**3), point, dtype=object)])[None]
        none = SMALL.zeros(0, Q**3)
        many = [np.repeat(one, Q**3, axis=-1) for one in (measurement, proof)]
        halves = [[half, one - half] for one, half in ((one, one * 5 % Q) for one in many)]
        tests = [queried(CIRCUIT, halves[0][k] % Q, halves[1][k] % Q, query, none, 2) for k in (0, 1)]
        assert all(test.usable.all() for test in tests)
        count += int(decided(CIRCUIT, SMALL.reduced(tests[0].verifier + tests[1].verifier)).sum())
    return Fraction(count, len(points) * Q**3)


def best_lie(measurement: Vector, proof: Vector) -> Vector:
    """The proof with outputs of zero for both calls: right at as many other points as its degree allows."""
    calls, between = ([pow(SMALL.root(2 * P), k, Q) for k in range(start, 2 * P, 2)] for start in (0, 1))
    missing = [-value * (value - 1) % Q for value in SMALL.integers(measurement)]
    known = {**dict(zip(calls[1:], missing, strict=False)), **dict.fromkeys([*between, 3, 5], 0)}
    assert len(known) == 2 * P
    lie = proof.copy()
    for k in range(2 * P):
        x = pow(SMALL.root(2 * P), k, Q)
        lie[0, 1 + k, 0] = (int(lie[0, 1 + k, 0]) + sum(_lagrange(known, one, x) for one in known)) % Q
    return lie


def _lagrange(known: dict[int, int], one: int, x: int) -> int:
    weight = known[one]
    for other in known:
        if other != one:
            weight = weight * (x - other) * pow(one - other, -1, Q) % Q
    return weight


def test_a_false_measurement_passes_as_rarely_as_the_proof_says() -> None:
    bound = Fraction(1, Q) + Fraction(2 * P - 1, Q - P)
    honest, seeds, none = SMALL.elements([0, 1]), SMALL.elements([7]), SMALL.zeros(0, 1)
    assert accepted(honest, proved(CIRCUIT, honest, seeds, none)) == 1
    for false in ([2, Q - 1], [5, 13]):
        measurement = SMALL.elements(false)
        plain = proved(CIRCUIT, measurement, seeds, none)
        assert accepted(measurement, plain) == Fraction(1, Q)
        assert accepted(measurement, best_lie(measurement, plain)) == Fraction(6, Q - P) < bound
    for false in ([1, 1], [0, 0]):
        measurement = SMALL.elements(false)
        assert accepted(measurement, proved(CIRCUIT, measurement, seeds, none)) == Fraction(1, Q)


def test_the_number_of_lanes_fills_the_points() -> None:
    for length in (1, 2, 3, 4, 16, 17, 100, 225, 226, 5000):
        circuit = DirectHistogramCircuit(length=length)
        assert circuit.lanes == best_lanes(length)
        assert (circuit.calls - 1) * circuit.lanes < length <= circuit.calls * circuit.lanes
        assert circuit.points <= 4 or (circuit.points // 2) ** 2 < length
    sizes = [DirectHistogramCircuit(length=length).proof for length in (2, 10, 100, 1000)]
    assert all(one < other for one, other in pairwise(sizes))


def test_the_bytes_are_those_of_the_page_on_messages() -> None:
    vdaf, key = Prio3(DirectHistogramCircuit(length=5), 2, b"here"), bytes(range(32))
    nonces, random = (np.arange(size, dtype=np.uint8)[None] for size in (16, vdaf.randomness))
    sent = vdaf.shard([3], nonces, random)
    said = [vdaf.verified(k, key, nonces, sent.public, sent.inputs[k]).verifiers for k in (0, 1)]
    assert vdaf.verdict(said).accepted.all()
    assert not sent.public.size
    data = b"".join(one.tobytes() for one in (*sent.inputs, *said))
    assert sha256(data).hexdigest() == "d39bcac6ea84ec40118d40b5a702e68deffe32033131f869730005c1ef6e074d"
