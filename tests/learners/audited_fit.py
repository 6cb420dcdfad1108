"""An audit of everything that a fit releases, on the record that shows most in each release."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from discreet.core.answer import GramAnswer
from discreet.core.bound import ORDER
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.vectors.directed_products import Gram
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import Spread
from discreet.schema.schema import Schema
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.learners.audited_sum import RUNS, check_sum

SCHEMA = Schema.numeric(-1.0, 1.0, 2)
GRID = np.array(list(itertools.product(np.linspace(-1, 1, 9), repeat=2)))
"""Records of two features, from corner to corner: one of them is the canary of each release."""


def check_releases(model: Any) -> None:
    """Each bounded sum keeps its promise on its canary, and is refuted with two thirds of the noise.

    Directions are audited with their mechanism; here their bound must hold every record.
    """
    for question, mechanism in releases_of(model):
        if isinstance(question, Gram):
            check_lengths(question)
            continue
        rows = np.linalg.norm(question.grid.values(question.steps(GRID)), ord=ORDER[question.bound.norm], axis=1)
        plan = SumPlan(question, Spread(mechanism, 1.0))
        canary = GRID[np.argmax(rows)]
        runs = max(RUNS * 64 // max(question.size, 64), RUNS // 5)  # fewer of long vectors
        check_sum(plan, canary, runs)


def releases_of(model: Any) -> list[tuple[Any, Any]]:
    """What a fit asks, and with which mechanism."""
    trust, asked = Curator(Matrix(0.7 * GRID, SCHEMA), bits=DeterministicBits(0)), []
    ask = trust.ask

    def listening(question: Any, mechanism: Any) -> Any:
        asked.append((question, mechanism))
        return ask(question, mechanism)

    trust.ask = listening  # type: ignore[method-assign]
    budget = Budget(model.epsilon, model.delta)
    model.set_params(bounds=None).fit(PrivateData(trust, MemoryLedger(budget)))
    return asked


def check_lengths(question: Gram) -> None:
    """No record adds more to any direction than the answer says, and one of them adds nearly that."""
    traces = []
    for record in GRID:
        view = Curator(Matrix(record[None, :], SCHEMA), Neighbors.REPLACE, bits=DeterministicBits(0))._view
        answer = question.answer(view)
        assert isinstance(answer, GramAnswer)
        traces.append(np.linalg.eigvalsh(answer.steps)[-1] / answer.longest)
    assert 0.95 < max(traces) <= 1 + 1e-9
