"""Every mechanism, found by walking all rooms, is put through the same trial."""

from __future__ import annotations

import dataclasses
import importlib
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta
from discreet.accounting.calibration import calibrate
from discreet.core.answer import Answer, GraphAnswer, KeyedAnswer, MovableRows, Records, SampledAnswer
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors
from discreet.deep.noise.histogram_then_gradient import TwoSums
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import RUNS, Audit, Drawn, check, releasing
from tests.conformance.walk import for_each, mechanisms, mirror, trial
from tests.mechanisms.trial import MechanismTrial

FOUND = mechanisms()
each = pytest.mark.parametrize("kind", FOUND, ids=lambda kind: kind.__name__)  # for long trials: an item each
every = for_each(FOUND)
CALIBRATED = ("multiplier", "epsilon")


def made(kind: type[Any]) -> Any:
    """The mechanism with its defaults, or as its test file sets it."""
    return trial(kind).made(kind)


def parts() -> list[MechanismTrial]:
    """Trials of files in which nothing releases by itself."""
    home = Path(__file__).parents[1]
    paths = [path.relative_to(home).with_suffix("") for path in sorted((home / "mechanisms").rglob("test_*.py"))]
    files = {".".join(("tests", *path.parts)) for path in paths} - {mirror(kind).__name__ for kind in FOUND}
    modules = map(importlib.import_module, sorted(files))
    return [module.TRIAL for module in modules if hasattr(module, "TRIAL")]


def test_the_walk_finds_the_mechanisms() -> None:
    names = {kind.__name__ for kind in FOUND}
    assert {"Laplace", "Gaussian", "Exponential", "SparseVector", "RandomizedResponse", "TopK"} <= names
    assert len(names) >= 12


@pytest.mark.partial_audit("of twins, with a part of the runs first")
@every
def test_it_has_a_broken_twin_that_its_audit_catches(kind: type[Any]) -> None:
    own = [twin for twin in trial(kind).broken if isinstance(twin.mechanism, kind)]
    assert len(own) == len(trial(kind).twins) or len({one for one in FOUND if trial(one) is trial(kind)}) > 1
    assert own, "bring twins=[...], subclasses with a mistake that somebody could make"
    for twin in own:
        assert not all(shorter.verdict().holds for shorter in twin.shorter(16, 4)), twin


@every
def test_it_can_be_calibrated(kind: type[Any]) -> None:
    if kind.calibrated in CALIBRATED:  # else a part of it can
        assert delta(calibrate(kind, Budget(0.8, 1e-5)).event, 0.8) <= 1e-5


@each
def test_no_audit_refutes_the_claim_and_each_does_with_two_thirds_of_the_noise(kind: type[Any]) -> None:
    for audit in trial(kind).audits_of(kind):
        if not audit.slow:
            check(audit)


def test_no_audit_refutes_a_part_and_each_does_with_two_thirds_of_the_noise() -> None:
    for one in parts():
        for audit in one.audits:
            check(audit)


@every
def test_what_its_audits_allow_is_in_its_price(kind: type[Any]) -> None:
    """An audit may allow less than the event, for neighbors that a part can tell apart; never more."""
    for audit in trial(kind).audits_of(kind):
        claim: Any = getattr(audit, "claim", None)
        event = audit.mechanism.event
        for epsilon in (0.0, 0.3, 1.0, 3.0) if claim is not None else ():
            assert delta(claim, epsilon) <= delta(event, epsilon) + 1e-6, f"{audit}: the event is too cheap"


@each
@pytest.mark.slow
def test_no_audit_of_many_more_runs_refutes_the_claim_and_each_does_with_less_noise(kind: type[Any]) -> None:
    for audit in trial(kind).audits_of(kind):
        check(audit)
        if isinstance(audit, Audit | Drawn):
            found = dataclasses.replace(audit, runs=4 * audit.runs).verdict()
            assert found.holds, f"{audit}\n{found}"


@every
def test_its_audits_are_for_both_relations_several_rows_floored_grids_and_other_parameters(kind: type[Any]) -> None:
    """Those of a family, which share their noise, together. Units of three rows show in the bound of an answer;
    histograms are floored by the tests of queries."""
    tried = trial(kind).audits or trial(kind).audits_of(kind)
    assert any(audit.mechanism != tried[0].mechanism for audit in tried)
    if trial(kind).alone:
        return
    answers: list[Any] = [audit.pair_for(audit.mechanism).first for audit in tried]
    assert {answer.neighbors for answer in answers} == set(Neighbors)
    if isinstance(answers[0], GraphAnswer):  # a unit is one edge, or all edges of a node
        return
    if not isinstance(answers[0], Answer):
        assert {answer.rows for answer in answers} == {1, 3}
    elif not any(hasattr(kind, name) for name in ("queries", "hypothesis")):
        assert len({answer.bound.radius for answer in answers}) > 1
        assert any(answer.slack for answer in answers)


@each
@pytest.mark.slow
@pytest.mark.partial_audit("far from the usual price a million runs may not tell; its own audits see two thirds there")
@pytest.mark.parametrize("value", [0.2, 1.0, 5.0])
def test_the_audit_does_not_refute_the_claim_at_other_prices(kind: type[Any], value: float) -> None:
    if kind.calibrated not in CALIBRATED:
        return
    mechanism = dataclasses.replace(made(kind), **{kind.calibrated: value})
    found = Audit("worst neighbors", mechanism, mechanism.worst_neighbors(), runs=1_000_000).verdict()
    assert found.holds, str(found)


@every
def test_neighbors_reach_the_same_outputs_in_shape_and_kind(kind: type[Any]) -> None:
    mechanism = made(kind)
    pair = mechanism.worst_neighbors()
    first, second = (releasing(mechanism)(answer, DeterministicBits(3)) for answer in (pair.first, pair.second))
    assert type(first) is type(second)
    if isinstance(first, np.ndarray | np.generic):
        assert (first.shape, first.dtype) == (second.shape, second.dtype)


@every
def test_outputs_are_on_the_grid_and_none_betrays_its_neighbor(kind: type[Any]) -> None:
    """Worst neighbors are in whole numbers, so releases are. An output of probability 1/60 on one side, at epsilon 1 or
    mu 1, is expected twenty-five times on the other: its absence there would tell the two apart."""
    mechanism = made(kind)
    pair = mechanism.worst_neighbors()
    seen = []
    for seed, answer in enumerate((pair.first, pair.second)):
        released = trial(kind).outputs(mechanism, answer, RUNS // 4, seed).astype(np.float64)
        rows = np.nan_to_num(released.reshape(len(released), -1), nan=-(2.0**40))
        assert (rows == np.rint(rows)).all()
        values, counts = np.unique(rows, axis=0, return_counts=True)
        seen.append((set(map(tuple, values)), set(map(tuple, values[counts > len(rows) / 60]))))
    (first, often), (second, often_too) = seen
    assert often <= second
    assert often_too <= first


@every
def test_extreme_answers_have_releases_of_the_usual_shape(kind: type[Any]) -> None:
    mechanism = made(kind)
    answer = mechanism.worst_neighbors().first
    usual = releasing(mechanism)(answer, DeterministicBits(4))
    for value in (0, 1, -1, 2**62, -(2**62)):
        strange = releasing(mechanism)(extreme(answer, value), DeterministicBits(4))
        assert type(strange) is type(usual)
        assert np.shape(strange) == np.shape(usual)


def extreme(answer: Any, value: int) -> Any:
    """An answer in which every number is this one."""
    if isinstance(answer, KeyedAnswer):
        return dataclasses.replace(answer, counts=np.full_like(answer.counts, abs(value)))
    if isinstance(answer, GraphAnswer):
        return dataclasses.replace(answer, edges=answer.edges[:0] if value < 1 else answer.edges[:1])
    if isinstance(answer, Records | MovableRows):
        return dataclasses.replace(answer, values=np.full((3, answer.values.shape[1]), float(value)))
    if isinstance(answer, TwoSums):
        return dataclasses.replace(answer, first=extreme(answer.first, value), second=extreme(answer.second, value))
    if isinstance(answer, SampledAnswer):
        return dataclasses.replace(answer, answer=extreme(answer.answer, value))
    return dataclasses.replace(answer, steps=np.full_like(answer.steps, value))


@every
def test_its_event_is_the_same_after_data(kind: type[Any]) -> None:
    mechanism = made(kind)
    before = mechanism.event
    releasing(mechanism)(mechanism.worst_neighbors().first, DeterministicBits(0))
    assert mechanism.event == before


@every
def test_everything_is_typed(kind: type[Any]) -> None:
    assert "return" in typing.get_type_hints(kind.release)
