"""Every trust model, found by walking, keeps the promise of an event: the noise that was asked for, whoever adds it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.errors import DiscreetError
from discreet.core.events import NoPromise
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import AllRecords
from discreet.questions.tables.workload import workload_of
from discreet.trust.trust_model import TrustModel
from tests.conformance.audits import Drawn, check
from tests.conformance.walk import concrete, for_each, public_classes, rooms, trial
from tests.trust.trial import SCHEMA

COPIES = 2**12
MANY = workload_of(SCHEMA, ("x0",), (2,), np.repeat(np.eye(2), COPIES, axis=0), "l1")
"""How many have low values, and how many high ones, so many times: one answer has many counts, each with own noise."""


def noise_of(deviation: float, neighbors: Neighbors) -> Laplace:
    """Noise of such a scale on each count."""
    return Laplace(deviation / MANY.bound.sensitivity("l1", MANY.size, neighbors))


def found() -> list[type[Any]]:
    """Whoever is asked, and says which promises it can keep."""
    every = [kind for room in rooms() for kind in public_classes(room) if hasattr(kind, "keeps") and concrete(kind)]
    return [kind for kind in every if callable(getattr(kind, "ask", None)) and hasattr(kind, "reports")]


def rows_of(neighbors: Neighbors, side: int) -> Array:
    """Three people with low values, or two; or one with a low or a high value, where one takes another's place."""
    return np.full((3 - side, 1), 0.25) if neighbors is Neighbors.ADD_REMOVE else np.array([[(0.25, 0.75)[side]]])


def made(kind: type[Any], side: int = 0, bits: Bits | None = None) -> TrustModel:
    """With one of two neighbors; which relation it is for, it says itself."""
    make = trial(kind).made
    relation = make(np.ones((3, 1)), DeterministicBits(0)).neighbors
    found: TrustModel = make(rows_of(relation, side), bits or DeterministicBits(side))
    return found


@dataclasses.dataclass(frozen=True)
class Asked:
    """A trust model that is asked with this noise, for many counts at once."""

    kind: type[Any]
    noise: Laplace = Laplace(1.0)  # noqa: RUF009
    calibrated = "noise"

    @property
    def event(self) -> Any:
        return self.noise.event


def answers(asked: Asked, side: int, runs: int, bits: Bits) -> Array:
    trust = made(asked.kind, side, bits)
    noise = noise_of(asked.noise.multiplier, trust.neighbors)
    return np.concatenate([trust.ask(MANY, noise)[:COPIES] for _ in range(-(-runs // COPIES))])[:runs]


every = for_each(found())


def test_the_walk_finds_the_trust_models() -> None:
    assert {kind.__name__ for kind in found()} >= {"Curator", "Local", "SecureSum", "FilteredTrust"}


@every
def test_no_audit_refutes_the_event_and_each_does_with_two_thirds_of_the_noise(kind: type[Any]) -> None:
    check(Drawn("a count", Asked(kind), answers, runs=16 * COPIES))


@every
def test_the_variance_is_what_it_says_in_units_of_a_curators(kind: type[Any]) -> None:
    """To five deviations of a variance of Laplace noise, which are those of sqrt(5 / COPIES)."""
    trust = trial(kind).made(np.full((3, 1), 0.25), DeterministicBits(5))
    noise = noise_of(2.0, trust.neighbors)
    counts = trust.ask(MANY, noise)[:COPIES]
    told = trust.reports * noise.stddev(MANY.bound, MANY.size, trust.neighbors, MANY.grid) ** 2
    assert counts.var() == pytest.approx(told, rel=5 * (5 / COPIES) ** 0.5)


@every
def test_several_questions_are_answered_as_one_after_the_other(kind: type[Any]) -> None:
    """Whoever answers them together gives the same from the same bits, in their order, and sums are the exact ones."""
    alone: Any = made(kind)
    together: Any = made(kind)
    noises = [noise_of(deviation, alone.neighbors) for deviation in (1.0, 3.0)]
    expected = [alone.ask(MANY, noise) for noise in noises]
    assert "ask" not in vars(kind) or "ask_each" in vars(kind) or not getattr(together, "answers_together", False)
    if getattr(together, "answers_together", False):
        for found, own in zip(together.ask_each([(MANY, noise) for noise in noises]), expected, strict=True):
            np.testing.assert_array_equal(found, own)


@every
def test_it_says_whom_it_protects_and_what_it_cannot_promise(kind: type[Any]) -> None:
    trust = made(kind)
    assert {name: trust.schema.columns[name] for name in SCHEMA.columns} == dict(SCHEMA.columns)
    assert trust.unit.is_row
    assert not trust.secret, "it draws from the bits that it was given, and these are not secret"
    assert trust.keeps(Laplace(1.0).event)
    assert not (trust.local and trust.keeps(NoPromise("none")))


@every
def test_whole_records_are_handed_to_a_mechanism_by_a_curator_alone(kind: type[Any]) -> None:
    trust, seen = made(kind), []

    class Looking:
        """It notes how many records it is given."""

        event = Laplace(1.0).event

        def release(self, answer: Records, bits: Bits) -> int:
            seen.append(len(answer.values))
            return 0

    try:
        mechanism: Any = Looking()
        trust.ask(AllRecords(("x0",)), mechanism)
    except DiscreetError:
        assert not seen
    assert trust.curated == bool(seen)


@every
def test_it_is_neither_copied_nor_pickled(kind: type[Any]) -> None:
    for duplicate in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="pickle"):
            duplicate(made(kind))


@every
def test_its_docstring_names_every_parameter(kind: type[Any]) -> None:
    parameters = inspect.cleandoc(kind.__doc__ or "").partition("Parameters\n----------")[2]
    for name in inspect.signature(kind).parameters:
        assert name in parameters, name
