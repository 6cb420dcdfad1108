"""Circuits: the same sums for any number of aggregators, and every false measurement refused by its proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import DiscreetError, ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.fields.limb_field import FIELD64
from discreet.crypto.prio3.circuit import Circuit, Integers, weights, zeros_and_ones
from discreet.crypto.prio3.circuits import (
    CountCircuit,
    HistogramCircuit,
    MultihotCountVecCircuit,
    SumCircuit,
    SumVecCircuit,
    multiproof,
)
from discreet.crypto.prio3.direct_histogram import DirectHistogramCircuit
from discreet.crypto.prio3.prio3 import Prio3
from discreet.crypto.prio3.shares import NONCE, Sharded, random_bytes
from discreet.noise.deterministic import DeterministicBits

KEY = bytes(range(32))
KINDS: list[tuple[Circuit, list[Any], list[int]]] = [
    (CountCircuit(), [0, 1, 1, 1, 0], [3]),
    (SumCircuit(most=10), [10, 0, 3, 7, 1], [21]),
    (SumCircuit(most=1), [1, 0, 1], [2]),
    (SumVecCircuit(length=3, most=5), [[5, 0, 1], [2, 2, 2], [0, 0, 0], [5, 5, 5]], [12, 7, 8]),
    (multiproof(3, 5), [[5, 0, 1], [2, 2, 2], [0, 0, 0], [5, 5, 5]], [12, 7, 8]),
    (HistogramCircuit(length=4), [3, 0, 3, 3, 1], [1, 1, 0, 3]),
    (HistogramCircuit(FIELD64, 3, 4), [3, 0, 3, 3, 1], [1, 1, 0, 3]),
    (
        MultihotCountVecCircuit(length=4, weight=2),
        [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]],
        [2, 0, 2, 1],
    ),
    (DirectHistogramCircuit(length=4), [3, 0, 3, 3, 1], [1, 1, 0, 3]),
]


def sent(vdaf: Prio3, measurements: Any, seed: int = 0) -> tuple[Any, Sharded]:
    bits = DeterministicBits(seed)
    nonces = random_bytes(bits, len(measurements), NONCE)
    return nonces, vdaf.shard(measurements, nonces, random_bytes(bits, len(measurements), vdaf.randomness))


def summed(vdaf: Prio3, nonces: Any, reports: Sharded) -> tuple[list[int], Any]:
    seen = [vdaf.verified(k, KEY, nonces, reports.public, reports.inputs[k]) for k in range(vdaf.shares)]
    verdict = vdaf.verdict([one.verifiers for one in seen])
    agreed = [vdaf.agreed(one, verdict) for one in seen]
    assert all((one == agreed[0]).all() for one in agreed)
    return vdaf.unsharded([vdaf.aggregated(one, agreed[0]) for one in seen]), agreed[0]


def test_sums_are_exact_for_two_to_five_aggregators() -> None:
    for circuit, measurements, expected in KINDS:
        for shares in (2, 3, 5):
            vdaf = Prio3(circuit, shares)
            found, accepted = summed(vdaf, *sent(vdaf, measurements))
            assert (found, accepted.all()) == (expected, True), circuit


def test_python_integers_make_the_same_reports_as_limbs() -> None:
    for circuit, measurements, _ in KINDS:
        vdaf = Prio3(circuit, 3, b"here")
        bits = DeterministicBits(1)
        nonces, random = random_bytes(bits, 1, NONCE), random_bytes(bits, 1, vdaf.randomness)
        alone = vdaf.shard(measurements[:1], nonces, random)
        many = vdaf.shard(measurements[:1] * 5, nonces.repeat(5, 0), random.repeat(5, 0))
        for ours, theirs in zip([alone.public, *alone.inputs], [many.public, *many.inputs], strict=True):
            assert (ours == theirs).all()


def lying(circuit: Circuit, element: int, value: int) -> Circuit:
    """The same circuit of a sender whose first report has something else in one of its elements."""

    class Lying(type(circuit)):  # type: ignore[misc]
        def encoded(self, measurements: Any) -> Integers:
            found = super().encoded(measurements)
            found[0, element] = value
            return found

    return Lying(**{name: getattr(circuit, name) for name in circuit.__dataclass_fields__})


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_every_false_measurement_is_refused_and_the_others_are_counted(kind: int) -> None:
    circuit, measurements, _ = KINDS[kind]
    honest, at = Prio3(circuit), 0 if kind != 5 else 1
    for value in (2, -1, 1000, 2**40):
        liar = Prio3(lying(circuit, at, value))
        nonces, reports = sent(liar, measurements)
        found, accepted = summed(honest, nonces, reports)
        assert accepted.tolist() == [False] + [True] * (len(measurements) - 1)
        assert found == summed(honest, *sent(honest, measurements[1:]))[0]


def test_zeros_and_ones_that_are_not_one_hot_or_too_heavy_are_refused() -> None:
    for circuit, measurements in (
        (KINDS[5][0], [3, 0]),
        (KINDS[6][0], [3, 0]),
        (KINDS[7][0], [[1, 0, 0, 1]] * 2),
        (KINDS[8][0], [3, 0]),
    ):
        nonces, reports = sent(Prio3(lying(circuit, 1, 1)), measurements)
        assert summed(Prio3(circuit), nonces, reports)[1].tolist() == [False, True]


def test_a_changed_byte_anywhere_is_refused_by_the_proof() -> None:
    for circuit, measurements, _ in KINDS:
        vdaf = Prio3(circuit)
        for which in (0, 1):
            nonces, reports = sent(vdaf, measurements)
            width = reports.inputs[which].shape[1]
            for at in {0, width // 2, width - 1}:
                changed = reports.inputs[which].copy()
                changed[0, at] ^= 1
                inputs = [changed if k == which else one for k, one in enumerate(reports.inputs)]
                accepted = summed(vdaf, nonces, Sharded(reports.public, inputs))[1]
                assert accepted.tolist() == [False] + [True] * (len(measurements) - 1), (circuit, which, at)


def test_reports_of_another_context_key_or_nonce_are_refused() -> None:
    nonces, reports = sent(Prio3(HistogramCircuit(length=4), context=b"a"), [1, 2, 3, 0])
    assert not summed(Prio3(HistogramCircuit(length=4), context=b"b"), nonces, reports)[1].any()
    assert not summed(Prio3(HistogramCircuit(length=4), context=b"a"), nonces[::-1].copy(), reports)[1].any()
    vdaf = Prio3(CountCircuit())
    nonces, reports = sent(vdaf, [1, 1])
    seen = [vdaf.verified(k, bytes([k]) * 32, nonces, reports.public, reports.inputs[k]) for k in (0, 1)]
    assert not vdaf.verdict([one.verifiers for one in seen]).accepted.any()


def test_elements_that_are_not_below_the_prime_make_a_report_unusable() -> None:
    for circuit, measurements, _ in KINDS:
        vdaf = Prio3(circuit)
        nonces, reports = sent(vdaf, measurements)
        leader = reports.inputs[0].copy()
        leader[0, : circuit.field.size] = 255
        seen = vdaf.verified(0, KEY, nonces, reports.public, leader)
        assert seen.usable.tolist() == [False] + [True] * (len(measurements) - 1)
        verifiers = seen.verifiers.copy()
        verifiers[1, : circuit.field.size] = 255
        other = vdaf.verified(1, KEY, nonces, reports.public, reports.inputs[1])
        assert not vdaf.verdict([verifiers, other.verifiers]).accepted[1]


def test_measurements_out_of_range_are_not_reported_and_not_quoted() -> None:
    wrong: list[tuple[Circuit, Any]] = [
        (CountCircuit(), [2]),
        (CountCircuit(), [0.5]),
        (SumCircuit(most=10), [11]),
        (SumCircuit(most=10), [-1]),
        (SumVecCircuit(length=2, most=3), [[1, 4]]),
        (SumVecCircuit(length=2, most=3), [[1]]),
        (HistogramCircuit(length=3), [3]),
        (HistogramCircuit(length=3), [np.nan]),
        (MultihotCountVecCircuit(length=3, weight=1), [[1, 1, 0]]),
    ]
    for circuit, measurements in wrong:
        with pytest.raises(ParameterError, match="a measurement") as told:
            sent(Prio3(circuit), measurements)
        assert str(np.ravel(measurements)[-1]) not in str(told.value).split(".")[0]


def test_bytes_of_another_shape_are_refused_whatever_they_are() -> None:
    vdaf = Prio3(HistogramCircuit(length=3))
    nonces, reports = sent(vdaf, [1, 2])
    good = (KEY, nonces, reports.public, reports.inputs[0])
    for place, wrong in ((0, b"short"), (1, nonces[:, :-1]), (2, reports.public[:1]), (3, reports.inputs[1])):
        given = [*good[:place], wrong, *good[place + 1 :]]
        with pytest.raises(DiscreetError):
            vdaf.verified(0, *given)  # type: ignore[arg-type]
    verifiers = vdaf.verified(0, *good).verifiers
    for several in ([verifiers], [verifiers, verifiers[:1]], [verifiers, verifiers[:, :-1]]):
        with pytest.raises(Malformed):
            vdaf.verdict(several)
    with pytest.raises(Malformed, match="prime"):
        vdaf.unsharded([np.full((1, 48), 255, np.uint8)] * 2)


def test_what_cannot_be_proved_soundly_cannot_be_made() -> None:
    for make in (
        lambda: Prio3(CountCircuit(), 1),
        lambda: Prio3(CountCircuit(), 6),
        lambda: HistogramCircuit(FIELD64, 2, 10),
        lambda: SumVecCircuit(FIELD64, 1, 10),
        lambda: SumCircuit(most=0),
        lambda: SumCircuit(most=2**62),
        lambda: MultihotCountVecCircuit(length=3, weight=4),
        lambda: HistogramCircuit(length=0),
        lambda: DirectHistogramCircuit(length=0),
        lambda: DirectHistogramCircuit(length=2**24),
        lambda: DirectHistogramCircuit(length=3, lanes=-1),
    ):
        with pytest.raises(ParameterError):
            make()


def test_every_number_up_to_the_most_has_an_encoding_and_no_larger_one() -> None:
    for most in range(1, 70):
        values = np.arange(most + 1)
        encoded = zeros_and_ones(values, most)
        assert (encoded @ np.array(weights(most)) == values).all()
        assert sum(weights(most)) == most


def test_chunks_keep_proofs_short() -> None:
    for elements in (1, 2, 100, 801, 8192):
        chosen = SumVecCircuit(length=elements, most=1).proof
        assert chosen <= min(SumVecCircuit(length=elements, most=1, chunk=c).proof for c in (1, 10, 28, 64, 91, 128))


def test_circuits_of_thousands_of_calls_are_summed_exactly() -> None:
    for circuit in (HistogramCircuit(length=2000, chunk=1), DirectHistogramCircuit(length=2000, lanes=1)):
        vdaf = Prio3(circuit)
        found, accepted = summed(vdaf, *sent(vdaf, [1999]))
        assert accepted.all()
        assert found == [0] * 1999 + [1]


def test_a_batch_without_reports_has_a_sum_of_zeros() -> None:
    for circuit, measurements, expected in KINDS:
        vdaf = Prio3(circuit)
        nobody = np.asarray(measurements)[:0]
        assert summed(vdaf, *sent(vdaf, nobody))[0] == [0] * len(expected)


def test_random_bytes_stay_what_they_are_when_more_is_drawn() -> None:
    bits = DeterministicBits(0)
    first = random_bytes(bits, 3, NONCE)
    kept = first.copy()
    assert not (random_bytes(bits, 3, NONCE) == kept).all()
    assert (first == kept).all()


def test_secrets_are_in_no_repr() -> None:
    vdaf = Prio3(CountCircuit())
    nonces, reports = sent(vdaf, [1, 1, 0])
    seen = vdaf.verified(0, KEY, nonces, reports.public, reports.inputs[0])
    for shown in (repr(reports), repr(seen)):
        assert "inputs" not in shown
        assert "measurements" not in shown
