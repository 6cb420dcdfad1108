"""What Prio3 expands from seeds: shares, joint randomness, points of tests; each with a tag of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.prio3.circuit import Circuit
from discreet.crypto.prio3.xof import shake, turboshake

VERSION = 18  # of the draft's formats, as its draft 20 has it
SEED = 32  # bytes
SPARE = 8  # elements that are drawn beyond those needed, where some were not below the prime
MEASUREMENT, PROOF, JOINT, PROVE, QUERY, JOINT_SEED, JOINT_PART = range(1, 8)
Part = bytes | Bytes


@dataclass(frozen=True)
class Expansion:
    """Seeds and what becomes of them (draft-irtf-cfrg-vdaf-20, section 7.2.6): rows of bytes, one for each report.

    Parameters
    ----------
    circuit : Circuit
        Public. What is measured.
    context : bytes
        Public. Of the application.
    """

    circuit: Circuit
    context: bytes

    def measurement(self, aggregator: int, seeds: Bytes) -> Bytes:
        """A helper's shares of measurements."""
        return self._elements(MEASUREMENT, seeds, self.circuit.measured, bytes([aggregator]))

    def proofs(self, aggregator: int, seeds: Bytes) -> Bytes:
        """A helper's shares of proofs."""
        length = self.circuit.proof * self.circuit.proofs
        return self._elements(PROOF, seeds, length, self._count + bytes([aggregator]))

    def wires(self, seeds: Bytes) -> Bytes:
        """The seeds of the wires of proofs."""
        return self._elements(PROVE, seeds, self.circuit.arity * self.circuit.proofs, self._count)

    def queries(self, key: bytes, nonces: Bytes) -> Bytes:
        """The randomness of aggregators."""
        return self._elements(QUERY, key, self.circuit.queried * self.circuit.proofs, self._count, nonces)

    def joint(self, seeds: Bytes) -> Bytes:
        """The joint randomness; none where the circuit needs none."""
        if not self.circuit.joint:
            return np.empty((len(seeds), 0), np.uint8)
        return self._elements(JOINT, seeds, self.circuit.joint * self.circuit.proofs, self._count)

    def joint_part(self, aggregator: int, blinds: Bytes, nonces: Bytes, measurements: Bytes) -> Bytes:
        """What an aggregator's share adds to the joint randomness."""
        return self._bytes(JOINT_PART, blinds, SEED, bytes([aggregator]), nonces, measurements)

    def joint_seed(self, parts: Bytes) -> Bytes:
        """The seed of the joint randomness, from the parts of all aggregators."""
        return self._bytes(JOINT_SEED, bytes(SEED), SEED, parts)

    @property
    def _count(self) -> bytes:
        return bytes([self.circuit.proofs])

    def _elements(self, usage: int, seed: Part, length: int, *binder: Part) -> Bytes:
        """The bytes of elements; what is not below the prime is left out, and what follows moves up."""
        field, size = self.circuit.field, self.circuit.field.size
        raw = self._bytes(usage, seed, length * size, *binder)
        for row in np.flatnonzero(field.too_large(raw).any(axis=1)):
            given = [one if isinstance(one, bytes) else one[row : row + 1] for one in (seed, *binder)]
            longer = self._bytes(usage, given[0], (length + SPARE) * size, *given[1:])
            raw = raw if raw.flags.writeable else raw.copy()
            raw[row] = longer.reshape(-1, size)[~field.too_large(longer)[0]][:length].reshape(-1)
        return raw

    def _bytes(self, usage: int, seed: Part, size: int, *binder: Part) -> Bytes:
        tag = bytes([VERSION, 0]) + self.circuit.identifier.to_bytes(4, "big") + usage.to_bytes(2, "big") + self.context
        head = len(tag).to_bytes(2, "little") + tag + bytes([SEED])
        if all(isinstance(one, bytes) or len(one) == 1 for one in (seed, *binder)):
            alone = [one if isinstance(one, bytes) else one.tobytes() for one in (head, seed, *binder)]
            return np.frombuffer(shake(b"".join(alone), size), np.uint8)[None]
        parts = [np.frombuffer(one, np.uint8)[None] if isinstance(one, bytes) else one for one in (head, seed, *binder)]
        many = max(map(len, parts)) if all(map(len, parts)) else 0
        return turboshake(np.hstack([np.broadcast_to(one, (many, one.shape[1])) for one in parts]), size)
