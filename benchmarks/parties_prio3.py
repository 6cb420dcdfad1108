"""Prio3: verification of batches against the draft's listings in Python's integers, senders, and a million reports.

The draft's own code needs another version of Python and is on no registry. `benchmarks.peers.prio3_reference` is
written from its listings, line by line; tests hold both to the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.prio3_reference import Field64, Field128, ReferencePrio3, Valid
from benchmarks.rows import Row, at_least, at_most, cpu_seconds, printed, report
from discreet.core.events import LaplaceLoss
from discreet.crypto.prio3.circuit import Circuit
from discreet.crypto.prio3.circuits import CountCircuit, HistogramCircuit, SumCircuit, SumVecCircuit, multiproof
from discreet.crypto.prio3.direct_histogram import DirectHistogramCircuit
from discreet.crypto.prio3.prio3 import Prio3
from discreet.crypto.prio3.shares import NONCE, Sharded, random_bytes
from discreet.noise.system_bits import system_bits
from discreet.questions.recipe import Recipe
from discreet.schema.schema import Schema
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.share_aggregator import Reports, ShareAggregator

BATCH, KEY, ALONE = 1000, bytes(range(32)), 20
STREAMED = 10**6


@dataclass(frozen=True)
class Case:
    """One variant, here and there, and the measurements of a batch."""

    name: str
    circuit: Circuit
    valid: Valid
    measured: Callable[[np.random.Generator], Any]
    goal: float | None


def number(most: int, *size: int) -> Callable[[np.random.Generator], Any]:
    return lambda draw: draw.integers(0, most + 1, (BATCH, *size))


CASES = [
    Case("Count", CountCircuit(), Valid("Count", Field64), number(1), 35),
    Case("Sum 8 bits", SumCircuit(most=255), Valid("Sum", Field64, most=255), number(255), 150),
    Case(
        "Histogram 100",
        HistogramCircuit(length=100, chunk=10),
        Valid("Histogram", Field128, 100, 1, 10),
        number(99),
        50,
    ),
    Case(
        "SumVec 100 x 8",
        SumVecCircuit(length=100, most=255, chunk=28),
        Valid("SumVec", Field128, 100, 255, 28),
        number(255, 100),
        55,
    ),
    Case(
        "SumVecWithMultiproof 100 x 8",
        multiproof(100, 255, 28),
        Valid("SumVec", Field64, 100, 255, 28),
        number(255, 100),
        120,
    ),
]


@dataclass(frozen=True)
class Sent:
    """A batch of reports."""

    vdaf: Prio3
    measurements: Any
    nonces: Any
    random: Any
    shares: Sharded


def sent(circuit: Circuit, measured: Callable[[np.random.Generator], Any]) -> Sent:
    vdaf, bits = Prio3(circuit, 2, b"benchmark"), system_bits()
    measurements = measured(np.random.default_rng(0))
    nonces, random = random_bytes(bits, BATCH, NONCE), random_bytes(bits, BATCH, vdaf.randomness)
    return Sent(vdaf, measurements, nonces, random, vdaf.shard(measurements, nonces, random))


def verified(batch: Sent) -> None:
    """Everything that both aggregators do."""
    vdaf, given = batch.vdaf, batch.shares
    seen = [vdaf.verified(k, KEY, batch.nonces, given.public, given.inputs[k]) for k in (0, 1)]
    verdict = vdaf.verdict([one.verifiers for one in seen])
    agreed = [vdaf.agreed(one, verdict) for one in seen]
    assert all(one.all() for one in agreed)
    for one, mask in zip(seen, agreed, strict=True):
        vdaf.aggregated(one, mask)


def referred(theirs: ReferencePrio3, batch: Sent, rows: range) -> None:
    """The same for some of the reports, by the reference."""
    sums = [[theirs.flp.field(0)] * batch.vdaf.circuit.size] * 2
    for row in rows:
        nonce, public = batch.nonces[row].tobytes(), batch.shares.public[row].tobytes()
        inputs = [one[row].tobytes() for one in batch.shares.inputs]
        both = [theirs.verify_init(KEY, k, nonce, public, inputs[k]) for k in (0, 1)]
        message = theirs.verifier_shares_to_message([said for _, said in both])
        outs = [theirs.verify_next(state, message) for state, _ in both]
        sums = [[a + b for a, b in zip(one, out, strict=True)] for one, out in zip(sums, outs, strict=True)]


def variant_rows(case: Case) -> Iterator[Row]:
    """One variant: verification, and one report at a sender."""
    batch = sent(case.circuit, case.measured)
    theirs = ReferencePrio3(case.valid, case.circuit.identifier, 2, b"benchmark", case.circuit.proofs)
    some = range(ALONE)
    ours, plain = cpu_seconds(partial(verified, batch), partial(referred, theirs, batch, some), rounds=5)
    ratio = plain / len(some) / (ours / BATCH)
    assert case.goal is not None
    yield at_least(f"{case.name}: verification, times as fast as the reference", ratio, case.goal)
    yield printed(f"{case.name}: verification of a report by both, microseconds", ours / BATCH * 1e6)

    def here() -> None:
        for row in some:
            rows = slice(row, row + 1)
            batch.vdaf.shard(batch.measurements[rows], batch.nonces[rows], batch.random[rows])

    def there() -> None:
        for row in some:
            theirs.shard(batch.measurements[row].tolist(), batch.nonces[row].tobytes(), batch.random[row].tobytes())

    one, other = cpu_seconds(here, there, rounds=5)
    yield at_most(f"{case.name}: one report at a sender, in units of the reference's time", one / other, 1.0)


def field_rows() -> Iterator[Row]:
    """Our histogram on 64 bits, without joint randomness, against that of the draft on 128."""
    narrow = sent(DirectHistogramCircuit(length=100), number(99))
    wide = sent(HistogramCircuit(length=100, chunk=10), number(99))
    few, many = cpu_seconds(partial(verified, narrow), partial(verified, wide), rounds=5)
    yield at_least("Histogram 100: ours on the 64-bit field, times as fast as 128 bits", many / few, 2.0)
    sizes = [
        sum(one.shape[1] for one in batch.shares.inputs) + batch.shares.public.shape[1] for batch in (narrow, wide)
    ]
    yield printed("Histogram 100: bytes of a report on 64 bits and on 128", " and ".join(map(str, sizes)))


def streamed_rows() -> Iterator[Row]:
    """A million reports of zero or one, through aggregators as they are, ten thousand at a time."""
    task = AggregationTask("bench", Recipe("count", {"column": "x0"}), LaplaceLoss(1.0), Schema.numeric(0.0, 1.0, 1))
    those, spent = [ShareAggregator(k, task, KEY) for k in (0, 1)], [0.0, 0.0]
    for start in range(0, STREAMED, 10**4):
        rows = np.full((10**4, 1), 0.5)
        reports = Reports.of(task, rows, system_bits())
        said, masks = [], []
        for k, one in enumerate(those):
            spent[k] -= time.process_time()
            said.append(one.begin(reports.nonces, reports.shares.public, reports.shares.inputs[k]))
            spent[k] += time.process_time()
        for k, one in enumerate(those):
            spent[k] -= time.process_time()
            masks.append(one.decide(said))
            spent[k] += time.process_time()
        for k, one in enumerate(those):
            spent[k] -= time.process_time()
            one.count(masks)
            spent[k] += time.process_time()
        assert those[0].batch.accepted == start + 10**4
    for name, seconds in zip(("leader", "helper"), spent, strict=True):
        yield at_most(f"Count, a million reports streamed: {name}, processor seconds", seconds, 10.0)


def rows() -> Iterator[Row]:
    """What was promised of Prio3."""
    for case in CASES:
        yield from variant_rows(case)
    yield from field_rows()
    yield from streamed_rows()


if __name__ == "__main__":
    report("parties_prio3", list(rows()))
