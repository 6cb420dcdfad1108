"""Every step and every run of training, found by walking, is put through the trial that its own test file brings.

What each of its releases loses is computed, and two thirds of its noise, and broken twins, are refuted; a run pays for
its whole plan before anybody is asked; its docstring says what it promises.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from typing import Any

import pytest
import torch

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded
from tests.conformance.audits import check
from tests.conformance.walk import for_each, training_runs, training_steps, trial
from tests.deep.trial import ENOUGH

FOUND = training_steps() + training_runs()


def test_the_walk_finds_steps_and_runs() -> None:
    assert {kind.__name__ for kind in training_steps()} >= {"SampledGradient"}
    assert {kind.__name__ for kind in training_runs()} >= {
        "Trainer",
        "AttributeTraining",
        "RecordTraining",
        "NoisyTraining",
    }


@for_each(FOUND)
def test_no_trial_refutes_a_release_and_each_does_with_two_thirds_of_the_noise(kind: type[Any]) -> None:
    for audit in [audit for part in trial(kind).parts for audit in trial(kind).audits(part, kind)]:
        check(audit)


@for_each(FOUND)
def test_broken_twins_are_refuted(kind: type[Any]) -> None:
    own = [(part, twin) for part, twin in trial(kind).twins if issubclass(twin, kind)]
    assert own, "bring a subclass with a mistake that somebody could make"
    for part, twin in own:
        assert not any(audit.verdict().holds for audit in trial(kind).audits(part, twin)), twin.__name__


@for_each(FOUND)
def test_its_docstring_says_what_it_promises_and_of_each_parameter_what_it_is(kind: type[Any]) -> None:
    text = inspect.cleandoc(kind.__doc__ or "")
    assert re.search(r"Guarantee\n---------\n.*\d{4}", text, flags=re.DOTALL), "name the theorem, under Guarantee"
    said = "\n".join(inspect.cleandoc(base.__doc__ or "") for base in kind.__mro__)
    for name in inspect.signature(kind).parameters:
        assert re.search(rf"^[^:\n]*\b{name}\b[^\n]*\n    \S", said, flags=re.MULTILINE), f"{name} is not explained"


@for_each(training_runs())
def test_a_run_pays_for_its_whole_plan_and_for_nothing_else(kind: type[Any]) -> None:
    run, holder = trial(kind).run(kind, ENOUGH)
    run.run()
    assert [(entry.event, entry.committed) for entry in holder.ledger.entries()] == [(run.plan.event, True)]


@for_each(training_runs())
def test_a_run_that_does_not_fit_moves_no_weight(kind: type[Any]) -> None:
    run, _ = trial(kind).run(kind, ENOUGH)
    run, holder = trial(kind).run(kind, Budget(0.9 * epsilon(run.plan.event, ENOUGH.delta), ENOUGH.delta))
    before = [one.detach().clone() for one in run.model.parameters()]
    with pytest.raises(BudgetExceeded):
        run.run()
    assert holder.ledger.balance().certified == 0
    assert all(map(torch.equal, before, run.model.parameters()))


@for_each(training_runs())
def test_a_run_is_neither_copied_nor_pickled(kind: type[Any]) -> None:
    run, _ = trial(kind).run(kind, ENOUGH)
    for duplicate in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="pickle"):
            duplicate(run)
