"""Prio3: reports in shares, verified by aggregators who learn of each only whether it is in range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.fields.prime_field import Bytes, Vector
from discreet.crypto.prio3.circuit import Circuit, Integers
from discreet.crypto.prio3.circuits import CountCircuit
from discreet.crypto.prio3.expansion import SEED, Expansion
from discreet.crypto.prio3.proof import Mask, decided, proved, queried
from discreet.crypto.prio3.shares import NONCE, Decision, Sharded, Verification, check_rows

MOST_SHARES = 5
CELLS = 2**14  # calls times reports at a time: so many that numpy is busy, and few enough for the cache
TOGETHER = 2**16  # elements that are added up at a time
PLAIN = 4  # reports below which Python's integers are faster for a sender
KEPT = 2**23  # bytes


@cache
def _keep_freed_memory() -> None:
    """Free one block of a few MB, once in a process: glibc then keeps up to twice as much for the arrays that follow.

    Without it the memory of each step goes back to the system and is fetched again for the next one, page by page,
    which takes a third of the time of verifying sums.
    """
    np.empty(KEPT, np.uint8)


@dataclass(frozen=True)
class Prio3:
    """One of Prio3's variants (draft-irtf-cfrg-vdaf-20, section 7), on many reports at once.

    Every method takes and gives arrays of bytes with a row for each report, in the draft's own formats. Nothing here is
    constant in time: what an aggregator computes on shares takes as long for one measurement as for another but for the
    rejection of elements, and a sender's own computation is timed by whoever runs its device.

    Parameters
    ----------
    circuit : Circuit
        Public. What is measured.
    shares : int
        Public. The number of aggregators, from 2 to 5.
    context : bytes
        Public. The draft's ctx, of the application; shares of another context are refused by their proof.

    Examples
    --------
    >>> from discreet.crypto.prio3.circuits import CountCircuit
    >>> from discreet.crypto.prio3.shares import random_bytes
    >>> from discreet.noise.system_bits import system_bits
    >>> vdaf, bits = Prio3(CountCircuit()), system_bits()
    >>> nonces, key = random_bytes(bits, 3, NONCE), bytes(32)
    >>> sent = vdaf.shard([1, 0, 1], nonces, random_bytes(bits, 3, vdaf.randomness))
    >>> seen = [vdaf.verified(k, key, nonces, sent.public, sent.inputs[k]) for k in (0, 1)]
    >>> verdict = vdaf.verdict([one.verifiers for one in seen])
    >>> vdaf.unsharded([vdaf.aggregated(one, vdaf.agreed(one, verdict)) for one in seen])
    [2]
    """

    circuit: Circuit
    shares: int = 2
    context: bytes = b""

    def __post_init__(self) -> None:
        if not 2 <= self.shares <= MOST_SHARES:
            raise ParameterError("prio3", f"there are {self.shares} aggregators", f"Have 2 to {MOST_SHARES}.")
        if len(self.context) > 2**15:
            raise ParameterError("prio3", f"the context has {len(self.context)} bytes", "Give a short one.")

    @property
    def randomness(self) -> int:
        """How many random bytes one report takes."""
        return SEED * self.shares * (2 if self.circuit.joint else 1)

    @property
    def public(self) -> int:
        """How many bytes a public share has."""
        return SEED * self.shares if self.circuit.joint else 0

    @property
    def verifier(self) -> int:
        """How many bytes a verifier share has."""
        return self._checked + (SEED if self.circuit.joint else 0)

    @property
    def result(self) -> int:
        """How many bytes an aggregate share has."""
        return self.circuit.size * self.circuit.field.size

    def input(self, aggregator: int) -> int:
        """How many bytes an aggregator's input share has."""
        return (SEED if aggregator else self._measured + self._proved) + (SEED if self.circuit.joint else 0)

    def shard(self, measurements: Sequence[Any] | Integers, nonces: Bytes, randomness: Bytes) -> Sharded:
        """Reports of measurements, each with a nonce and random bytes of its own; a few in Python's integers."""
        many = len(measurements)
        check_rows("nonces", nonces, NONCE, many)
        check_rows("random bytes", randomness, self.randomness, many)
        if many == 1 and isinstance(self.circuit, CountCircuit):
            return self._alone(self.circuit, measurements, randomness)
        maker = self._plain if 0 < many < PLAIN else self
        made = [maker._sharded(measurements[rows], nonces[rows], randomness[rows]) for rows in self._blocks(many)]
        inputs = zip(*(one.inputs for one in made), strict=True)
        return Sharded(np.concatenate([one.public for one in made]), [np.concatenate(one) for one in inputs])

    def _sharded(self, measurements: Sequence[Any] | Integers, nonces: Bytes, randomness: Bytes) -> Sharded:
        circuit, made, helpers = self.circuit, self._made, self.shares - 1
        seeds = [randomness[:, at : at + SEED] for at in range(0, randomness.shape[1], SEED)]
        step = 2 if circuit.joint else 1
        own, blinds = seeds[: step * helpers : step], [seeds[step * helpers], *seeds[1 : step * helpers : step]]
        encoded, parts = self._as_elements(measurements), [made.measurement(k + 1, one) for k, one in enumerate(own)]
        first = self._less(encoded, parts)
        public = joint = np.empty((len(nonces), 0), np.uint8)
        if circuit.joint:
            known = enumerate(zip(blinds, [first, *parts], strict=True))
            public = np.hstack([made.joint_part(k, blind, nonces, part) for k, (blind, part) in known])
            joint = made.joint(made.joint_seed(public))
        random = zip(self._each(made.wires(seeds[-1])), self._each(joint), strict=True)
        proofs = np.concatenate([proved(circuit, encoded, *each) for each in random], axis=1)
        hidden = self._less(proofs, [made.proofs(k + 1, one) for k, one in enumerate(own)])
        inputs = [np.hstack([first, hidden]), *own]
        if circuit.joint:
            inputs = [np.hstack(both) for both in zip(inputs, blinds, strict=True)]
        return Sharded(public, inputs)

    def _alone(self, circuit: CountCircuit, measurements: Sequence[Any] | Integers, randomness: Bytes) -> Sharded:
        """The report of one zero or one, in a few of Python's integers: no array is worth its making."""
        made, prime, size = self._made, circuit.field.prime, circuit.field.size
        seeds = [randomness[:, at : at + SEED] for at in range(0, randomness.shape[1], SEED)]

        def read(raw: Bytes) -> list[int]:
            data = raw.tobytes()
            return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]

        value = int(circuit.encoded(measurements)[0, 0])
        whole = [value, *circuit.proof_alone(value, *read(made.wires(seeds[-1])))]
        for k, seed in enumerate(seeds[:-1]):
            part = read(made.measurement(k + 1, seed)) + read(made.proofs(k + 1, seed))
            whole = [one - other for one, other in zip(whole, part, strict=True)]
        leader = np.frombuffer(b"".join((one % prime).to_bytes(size, "little") for one in whole), np.uint8)
        return Sharded(np.empty((1, 0), np.uint8), [leader[None], *seeds[:-1]])

    def verified(self, aggregator: int, key: bytes, nonces: Bytes, public: Bytes, inputs: Bytes) -> Verification:
        """What an aggregator says of reports, from its own shares (the draft's verify_init).

        Parameters
        ----------
        aggregator : int
            Public. Its number: 0 for the leader.
        key : bytes
            The verification key, 32 bytes, that all aggregators and no senders know.
        nonces, public, inputs : Bytes
            Of each report. Elements that are not below the prime make a report unusable.
        """
        made, many = self._made, len(nonces)
        _keep_freed_memory()
        self._check_received(aggregator, key, nonces, public, inputs)
        if aggregator:
            measurements = made.measurement(aggregator, inputs[:, :SEED])
            proofs = made.proofs(aggregator, inputs[:, :SEED])
            usable = np.ones(many, dtype=bool)
        else:
            measurements, proofs = inputs[:, : self._measured], inputs[:, self._measured :][:, : self._proved]
            large = self.circuit.field.too_large(inputs[:, : self._measured + self._proved])
            usable = np.logical_not(np.logical_or.reduce(large, axis=1))
        part = seeds = np.empty((many, 0), np.uint8)
        if self.circuit.joint:
            part = made.joint_part(aggregator, inputs[:, -SEED:], nonces, measurements)
            told = public.copy()
            told[:, SEED * aggregator : SEED * (aggregator + 1)] = part
            seeds = made.joint_seed(told)
        query, joint = made.queries(key, nonces), made.joint(seeds)
        checked = np.empty((many, self._checked), np.uint8)
        for rows in self._blocks(many):
            given = [measurements[rows], proofs[rows], query[rows], joint[rows]]
            checked[rows] = self._queried(given, usable[rows])
        return Verification(measurements, seeds, usable, np.hstack([checked, part]))

    def _queried(self, given: Sequence[Bytes], usable: Mask) -> Bytes:
        """The verifier shares of some reports; those whose point of the test is a root of unity become unusable."""
        circuit, (measurements, *others) = self.circuit, given
        shares = circuit.field.decoded(measurements)
        parts = zip(*(self._each(one) for one in others), strict=True)
        tests = [queried(circuit, shares, proof, query, joint, self.shares) for proof, query, joint in parts]
        for test in tests:
            usable &= test.usable
        return circuit.field.encoded(np.concatenate([test.verifier for test in tests], axis=1))

    def verdict(self, verifiers: Sequence[Bytes]) -> Decision:
        """What the verifier shares of all aggregators, in their order, say (verifier_shares_to_message)."""
        field, width = self.circuit.field, self._checked
        if len(verifiers) != self.shares:
            raise Malformed("verifier shares", f"{len(verifiers)} aggregators sent some", "All have to.")
        for one in verifiers:
            check_rows("verifier shares", one, self.verifier, len(verifiers[0]))
        accepted = ~np.logical_or.reduce([field.too_large(one[:, :width]).any(axis=1) for one in verifiers])
        total = field.reduced(np.add.reduce([field.decoded(one[:, :width]) for one in verifiers]))
        for one in np.split(total, self.circuit.proofs, axis=1):
            accepted &= decided(self.circuit, one)
        if not self.circuit.joint:
            return Decision(np.empty((len(accepted), 0), np.uint8), accepted)
        return Decision(self._made.joint_seed(np.hstack([one[:, width:] for one in verifiers])), accepted)

    def agreed(self, verification: Verification, verdict: Decision) -> Mask:
        """Which reports an aggregator accepts: proved, and with the joint randomness that it used (verify_next)."""
        check_rows("verifier messages", verdict.messages, verification.seeds.shape[1], len(verification.usable))
        same = (verification.seeds == verdict.messages).all(axis=1)
        return np.asarray(verification.usable & verdict.accepted & same)

    def aggregated(self, verification: Verification, accepted: Mask) -> Bytes:
        """An aggregator's share of the sum over accepted reports, in one row."""
        field, shares = self.circuit.field, verification.measurements[accepted]
        total = field.zeros(self.circuit.measured, 1)
        rows = min(TOGETHER // self.circuit.measured + 1, 2**12)  # limbs stay below 2**40
        for start in range(0, len(shares), rows):
            part = np.add.reduce(field.decoded(shares[start : start + rows]), -1, keepdims=True)
            total = field.reduced(total + part)
        return field.encoded(self.circuit.results(total))

    def merged(self, shares: Sequence[Bytes]) -> Bytes:
        """The sum of aggregate shares: of several batches, or of all aggregators."""
        field = self.circuit.field
        for one in shares:
            check_rows("aggregate shares", one, self.result, 1)
            if field.too_large(one).any():
                raise Malformed("aggregate shares", "an element is not below the prime", "Send field elements.")
        return field.encoded(sum((field.decoded(one) for one in shares), field.zeros(self.circuit.size, 1)))

    def unsharded(self, shares: Sequence[Bytes]) -> list[int]:
        """The sums, from the aggregate shares of all aggregators."""
        field = self.circuit.field
        return field.integers(field.decoded(self.merged(shares)))

    @cached_property
    def _made(self) -> Expansion:
        return Expansion(self.circuit, self.context)

    @cached_property
    def _plain(self) -> Prio3:
        """The same with Python's integers."""
        return replace(self, circuit=replace(self.circuit, field=self.circuit.field.plain))

    @property
    def _measured(self) -> int:
        return self.circuit.measured * self.circuit.field.size

    @property
    def _proved(self) -> int:
        return self.circuit.proof * self.circuit.proofs * self.circuit.field.size

    @property
    def _checked(self) -> int:
        return self.circuit.verifier * self.circuit.proofs * self.circuit.field.size

    def _as_elements(self, measurements: Sequence[Any] | Integers) -> Vector:
        """Encoded measurements: zeros and ones, which are their own first limb."""
        encoded = self.circuit.encoded(measurements).T
        vector = self.circuit.field.zeros(*encoded.shape)
        vector[0] = encoded
        return vector

    def _less(self, whole: Vector, parts: Sequence[Bytes]) -> Bytes:
        """What is left of a vector when the shares of the helpers are taken away."""
        field = self.circuit.field
        return field.encoded(whole - sum(field.decoded(part) for part in parts))

    def _each(self, raw: Bytes) -> list[Vector]:
        """The elements that belong to each proof."""
        return [self.circuit.field.decoded(part) for part in np.split(raw, self.circuit.proofs, axis=1)]

    def _blocks(self, many: int) -> Iterator[slice]:
        """Some reports at a time; once for none at all."""
        rows = max(8, CELLS // self.circuit.calls)
        return (slice(start, start + rows) for start in range(0, max(many, 1), rows))

    def _check_received(self, aggregator: int, key: bytes, nonces: Bytes, public: Bytes, inputs: Bytes) -> None:
        if not 0 <= aggregator < self.shares or len(key) != SEED:
            raise ParameterError("prio3", "there is no such aggregator, or the key is not of 32 bytes", "Check both.")
        check_rows("nonces", nonces, NONCE, len(nonces))
        check_rows("public shares", public, self.public, len(nonces))
        check_rows("input shares", inputs, self.input(aggregator), len(nonces))
