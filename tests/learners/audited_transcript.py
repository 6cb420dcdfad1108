"""An audit of all that one fit releases, on the record that shows most in all of it together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet.audit.trial import Verdict, judged
from discreet.core.answer import Answer
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Schema
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.learners.audited_sum import check, reached

RUNS = 10_000
NoiseContext = tuple[BoundedSum, Any]


def transcript(model: Any, records: Array, schema: Schema) -> list[NoiseContext]:
    """Every sum that a fit asks, with its noise. Each question follows from releases before it, and so is public."""
    trust, heard = Curator(Matrix(records, schema), bits=DeterministicBits(1)), []
    ask = trust.ask

    def listening(question: Any, mechanism: Any) -> Any:
        heard.append((question, mechanism))
        return ask(question, mechanism)

    trust.ask = listening  # type: ignore[method-assign]
    model.fit(PrivateData(trust, MemoryLedger(Budget(model.epsilon, model.delta))))
    return heard


def check_fit(model: Any, records: Array, schema: Schema, canaries: Iterable[Array]) -> None:
    """Noise for what the worst record adds to each sum hides it in all of them; two thirds of that do not."""
    heard, canaries = transcript(model, records, schema), list(canaries)
    check(lambda share, runs: audited_fit(model, heard, schema, canaries, share, runs), RUNS)


def audited_fit(
    model: Any, heard: list[NoiseContext], schema: Schema, canaries: Iterable[Array], share: float, runs: int
) -> Verdict:
    """The verdict on a fit with Gaussian noise, of which only this share is added, and so much for a smaller bound as
    the record leaves of it.

    By the likelihood ratio of all releases: the products of each with what the record adds, in units of its variance.
    """
    names = list(schema.columns)

    def added(record: Array, question: BoundedSum) -> Array:
        return question.steps(record[None, [names.index(name) for name in question.columns]])[0]

    def shown(record: Array) -> float:
        """How far it moves all releases, squared, in units of their variances."""
        moved = [np.square(question.grid.values(added(record, question))).sum() for question, _ in heard]
        return float(sum(square / _variance(*asked) for square, asked in zip(moved, heard, strict=True)))

    worst, seen = max(canaries, key=shown), np.zeros((2, runs))
    for place, (question, noise) in enumerate(heard):
        row = added(worst, question)
        part = reached(question, noise, row)
        assert part <= 1 + 1e-9, question.recipe
        if part == 0:  # nothing of it is in this sum
            continue
        bound = dataclasses.replace(question.bound, radius=question.bound.radius * part * share)
        variance = _variance(dataclasses.replace(question, bound=bound), noise)
        row = row[row != 0]  # noise on other numbers, such as those of a tree, says nothing of the record
        for which, steps in enumerate((np.zeros_like(row), row)):
            many = np.broadcast_to(steps.astype(np.int64), (runs, len(row)))
            released = noise.release(
                Answer(many, question.grid, bound, Neighbors.ADD_REMOVE), DeterministicBits(2 * place + which)
            )
            seen[which] += released @ question.grid.values(row) / variance
    return judged(model.event_, *seen)


def _variance(question: BoundedSum, noise: Any) -> float:
    return float(noise.stddev(question.bound, question.size, Neighbors.ADD_REMOVE) ** 2)
