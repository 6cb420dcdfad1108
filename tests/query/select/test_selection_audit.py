"""An audit of all that a selection releases: no records against one that adds most, judged by the one price of all."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from discreet.audit.trial import Verdict, judged
from discreet.core.answer import Answer
from discreet.core.bound import ORDER
from discreet.core.budget import Budget
from discreet.core.events import Event, GaussianLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.query.select.selection import Selection
from discreet.trust.private_data import PrivateData
from tests.learners.audited_sum import seen
from tests.query.select.test_selection import DESCRIBED, RICH, VISITS, aggregate

ASKED = (aggregate("count"), aggregate("mean", "stay"), aggregate("variance", "stay"), aggregate("mean", "age"))
BUDGETS = [Budget(1.0), Budget(1.0, 1e-5)]
WORST = {"stay": (0.0, 60.0), "age": (0.0, 100.0), "ward": (0.0, 1.0)}
RUNS = 20_000


def selection(budget: Budget) -> Selection:
    listed = {name: DESCRIBED[name] for name in WORST}
    return Selection(PrivateData.of(VISITS[list(WORST)], listed, RICH), ASKED, budget, ("ward",))


def row_of(question: Any) -> Array:
    """The steps of the record at the ends of its columns that adds most."""
    ends = np.array(np.meshgrid(*(WORST[name] for name in question.columns))).reshape(len(question.columns), -1).T
    rows = question.steps(ends)
    return np.asarray(rows[np.argmax(np.linalg.norm(rows, ORDER[question.bound.norm], axis=1))])


def audited(found: Selection, event: Event, part: float = 1.0, runs: int = RUNS) -> Verdict:
    """The verdict on all sums together, each with this part of its noise, weighted by how much each tells."""
    sides = [np.zeros(runs), np.zeros(runs)]
    for place, (stage, noise) in enumerate(zip(found.stages, found.plan.mechanisms, strict=True)):
        question, row = stage.question, row_of(stage.question)
        values = question.grid.values(row)
        whole = Answer(row.astype(np.int64), question.grid, question.bound, Neighbors.ADD_REMOVE)
        used = float(np.linalg.norm(values, ORDER[noise.norm]) / whole.sensitivity(noise.norm))
        assert used <= 1 + 1e-9
        bound = dataclasses.replace(question.bound, radius=question.bound.radius * part * used)
        gaussian = isinstance(noise.event, GaussianLoss)
        scale = noise.multiplier * whole.sensitivity(noise.norm) * used
        for side, steps in enumerate((np.zeros_like(row), row)):
            answer = Answer(np.tile(steps.astype(np.int64), (runs, 1)), question.grid, bound, Neighbors.ADD_REMOVE)
            noisy = noise.release(answer, DeterministicBits(2 * place + side))
            sides[side] += seen(noisy, values, noise.norm, gaussian) / (scale**2 if gaussian else scale)
    return judged(event, *sides)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_price_of_all_covers_what_all_of_them_tell(budget: Budget) -> None:
    found = selection(budget)
    verdict = audited(found, found.plan.event)
    assert verdict.holds, str(verdict)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_two_thirds_of_the_noise_are_refuted(budget: Budget) -> None:
    found = selection(budget)
    verdict = audited(found, found.plan.event, 2 / 3, 8 * RUNS)
    assert not verdict.holds, str(verdict)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_sum_that_is_not_paid_for_is_refuted(budget: Budget) -> None:
    """What reads all sums but charges for all but one of them."""
    found = selection(budget)
    for left_out in range(len(found.stages)):
        mechanisms = [one for place, one in enumerate(found.plan.mechanisms) if place != left_out]
        paid = dataclasses.replace(found.plan, parts=tuple(mechanisms), epsilon=1.0).event
        verdict = audited(found, paid, runs=8 * RUNS)
        assert not verdict.holds, str(verdict)


@pytest.mark.parametrize("by", [("ward",), ("town",)])
def test_what_is_audited_is_what_is_asked(by: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """All that the curator is asked is a stage of the plan, with the mechanism that pays for it, once."""
    data, asked = PrivateData.of(VISITS, DESCRIBED, RICH), []
    trust: Any = data._trust
    ask, ask_each = trust.ask, trust.ask_each

    def listening(question: Any, mechanism: Any) -> Any:
        asked.append((question, mechanism))
        return ask(question, mechanism)

    def listening_to_each(every: Any) -> Any:
        asked.extend(every)
        return ask_each(every)

    monkeypatch.setattr(trust, "ask", listening)
    monkeypatch.setattr(trust, "ask_each", listening_to_each)
    found = Selection(data, ASKED, Budget(1.0, 1e-5), by)
    found.released("all")
    assert [mechanism for _, mechanism in asked] == list(found.plan.mechanisms)
    questions: list[Any] = [question for question, _ in asked]
    sums: list[Any] = [getattr(question, "question", question) for question in questions]
    if found.unlisted is None:
        assert [one.recipe for one in sums] == [stage.question.recipe for stage in found.stages]
    else:
        assert len(sums) == 1 + len(found._listed.stages)
