"""Fully linear proofs: what shows, to those who hold only shares, that a measurement is in range.

Boneh, Boyle, Corrigan-Gibbs, Gilboa and Ishai 2019, section 4.2; draft-irtf-cfrg-vdaf-20, section 7.3. Reports are the
last axis of every vector, and the first of every mask.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.crypto.fields.prime_field import Vector
from discreet.crypto.prio3.circuit import Circuit

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Queried:
    """Shares of what is checked, and for which reports the point of the test may be used."""

    verifier: Vector
    usable: Mask


def proved(circuit: Circuit, measurement: Vector, seeds: Vector, joint: Vector) -> Vector:
    """The proof: the seeds of the wires, and the gadget polynomial at all but the last of its points.

    The wire polynomials have the seed at one root of unity and the wires of each call at the next ones; the gadget
    polynomial is the gadget of all of them, so half of its points are theirs and the others lie between. A gadget with
    several outputs has a polynomial for each, whose values at one point stand together.
    """
    field = circuit.field
    spare = field.zeros(circuit.points - 1 - circuit.calls, *seeds.shape[1:])
    here = np.concatenate([seeds[:, None], circuit.inputs(measurement, joint), spare], axis=1)
    both = [circuit.gadget(wires.swapaxes(1, 2)).swapaxes(1, 2) for wires in (here, field.between(here))]
    values = np.stack(both, axis=2).reshape(field.limbs, 2 * circuit.points * circuit.lanes, seeds.shape[-1])
    return np.concatenate([seeds, values[:, : circuit.told * circuit.lanes]], axis=1)


def queried(circuit: Circuit, measurement: Vector, proof: Vector, query: Vector, joint: Vector, shares: int) -> Queried:
    """A share of the verifier, from shares of the measurement and the proof.

    Parameters
    ----------
    circuit : Circuit
        Public. What is proved.
    measurement, proof : Vector
        The shares of one aggregator.
    query, joint : Vector
        The randomness of aggregators, and that which the sender could not choose either.
    shares : int
        Public. The number of aggregators.
    """
    field, n, calls = circuit.field, circuit.points, circuit.calls
    seeds, point = proof[:, : circuit.arity], query[:, -1:]
    values = proof[:, circuit.arity :].reshape(field.limbs, circuit.told, circuit.lanes, -1)
    both, powers = field.lagrange(np.concatenate([point, field.product(point, field.roots(2 * n, -1, 0))], axis=-1), n)
    (basis, _), (power, _) = np.split(both, 2, axis=-1), np.split(powers, 2, axis=-1)
    between = values[:, 1::2]
    if circuit.told < 2 * n:
        omitted = field.dot(field.roots(2 * n, n + 1, 3 * n)[..., None], values)
        between = np.concatenate([between, omitted], axis=1)
    sums = field.dot(both[:, :, None], np.concatenate([values[:, 0::2], between], axis=-1))[:, 0]
    half = field.constant(pow(2, -1, field.prime))
    part = field.product(half, power)
    parts = np.concatenate([half + part, half - part], axis=-1)
    gadget = np.add.reduce(np.split(field.product(parts, sums), 2, axis=-1))
    called = values[:, 2 : 2 * calls + 1 : 2].reshape(field.limbs, calls * circuit.lanes, -1)
    outputs = circuit.outputs(measurement, called, shares)
    if circuit.checks > 1:
        outputs = field.dot(query[:, :-1], outputs)
    wires = circuit.wires(basis, measurement, seeds, joint, shares)
    return Queried(np.concatenate([outputs, wires, gadget], axis=1), ~field.is_zero(power - field.constant(1)))


def decided(circuit: Circuit, verifier: Vector) -> Mask:
    """For each report, whether the verifier, added up over all shares, accepts it."""
    output, wires, gadget = verifier[:, :1], verifier[:, 1 : circuit.arity + 1], verifier[:, circuit.arity + 1 :]
    return circuit.field.is_zero(np.concatenate([output, circuit.gadget(wires) - gadget], axis=1))
