"""Every mechanism, found by walking its room, is put through the same trial."""

from __future__ import annotations

import dataclasses
import importlib
import re
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta
from discreet.accounting.calibration import calibrate
from discreet.core.answer import Answer, GraphAnswer, KeyedAnswer, MovableRows, Records
from discreet.core.budget import Budget
from discreet.core.events import read, written
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.selection.randomized_response import RandomizedResponse
from discreet.mechanisms.vectors.moved_row_sketch import MovedRowSketch
from discreet.mechanisms.vectors.sphere_report import SphereReport
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import RUNS, Audit, outputs, varied
from tests.conformance.walk import for_each, mechanisms, mirror

FOUND = mechanisms()
FOLDER = Path(__file__).parents[1] / "mechanisms"
LOCAL = {RandomizedResponse, SphereReport}  # what one person reports: no relation, unit or sum plays a part
OWN_RELATION = {MovedRowSketch}  # neither records that come and go nor others in their place
each = pytest.mark.parametrize("kind", FOUND, ids=lambda kind: kind.__name__)  # for long trials: an item each
every = for_each(FOUND)


def mirrors() -> list[Any]:
    """The test files of the room, whether or not they mirror something that releases."""
    paths = sorted(FOLDER.rglob("test_*.py"))
    return [importlib.import_module(f"tests.mechanisms.{path.parent.name}.{path.stem}") for path in paths]


def audits(kind: type[Any]) -> list[Audit]:
    """Those that the test file brings, or all variations of the worst neighbors."""
    brought = [audit for audit in getattr(mirror(kind), "AUDITS", []) if type(audit.mechanism) is kind]
    return brought or varied(kind())


def more_audits() -> list[Audit]:
    """Those of parts that do not release by themselves."""
    return [
        audit for module in mirrors() for audit in getattr(module, "AUDITS", []) if type(audit.mechanism) not in FOUND
    ]


def twins() -> list[Audit]:
    """All broken mechanisms, each on the neighbors that it is tried on."""
    found = [twin for module in mirrors() for twin in getattr(module, "BROKEN_TWINS", [])]
    return [
        twin if isinstance(twin, Audit) else Audit("twin", twin, twin.worst_neighbors(), runs=2 * RUNS)
        for twin in found
    ]


TWINS = twins()


def test_the_walk_finds_the_mechanisms() -> None:
    names = {kind.__name__ for kind in FOUND}
    assert {"Laplace", "Gaussian", "Exponential", "SparseVector", "RandomizedResponse", "TopK"} <= names
    assert len(names) >= 12


@every
def test_it_is_a_frozen_dataclass_with_defaults(kind: type[Any]) -> None:
    mechanism: Any = kind()
    assert dataclasses.fields(mechanism)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(mechanism, mechanism.calibrated, 2.0)
    assert hash(mechanism) == hash(kind())


@every
def test_its_event_is_the_same_before_and_after_data_and_survives_json(kind: type[Any]) -> None:
    mechanism = kind()
    before = mechanism.event
    mechanism.release(mechanism.worst_neighbors().first, DeterministicBits(0))
    assert mechanism.event == before == kind().event == read(written(before))


@every
def test_its_docstring_says_what_is_public_and_what_it_promises(kind: type[Any]) -> None:
    text = kind.__doc__ or ""
    assert "Guarantee\n    ---------" in text
    assert re.search(r"\d{4}", text.partition("Guarantee")[2]), "the theorem is not named"
    parameters = text.partition("Parameters\n    ----------")[2].partition("\n\n")[0]
    for field in dataclasses.fields(kind):
        assert re.search(rf"\b{field.name}\b[^:]* :[^\n]*\n\s+Public\.", parameters), field.name


@every
def test_it_has_a_broken_twin(kind: type[Any]) -> None:
    assert any(isinstance(twin.mechanism, kind) for twin in TWINS)


@every
def test_it_can_be_calibrated(kind: type[Any]) -> None:
    assert delta(calibrate(kind, Budget(0.8, 1e-5)).event, 0.8) <= 1e-5


@each
def test_no_audit_refutes_the_claim_and_each_does_with_two_thirds_of_the_noise(kind: type[Any]) -> None:
    for audit in audits(kind):
        if not audit.slow:
            check(audit)


def test_no_audit_refutes_a_part_and_each_does_with_two_thirds_of_the_noise() -> None:
    for audit in more_audits():
        check(audit)


def check(audit: Audit) -> None:
    """Of the claim, with as few runs as refute it with two thirds of the noise, but a quarter of all at least."""
    for shorter in audit.shorter(16, 4, 2):
        weaker = shorter.verdict(less=1.5)
        if not weaker.holds:
            break
    assert not weaker.holds, f"{audit}\n{weaker}"
    found = max(shorter, *audit.shorter(4)[:1], key=lambda one: one.runs).verdict()
    assert found.holds, f"{audit}\n{found}"


@each
@pytest.mark.slow
def test_no_audit_of_many_more_runs_refutes_the_claim_and_each_does_with_less_noise(kind: type[Any]) -> None:
    for audit in audits(kind):
        check(audit)
        found = dataclasses.replace(audit, runs=4 * audit.runs).verdict()
        assert found.holds, f"{audit}\n{found}"


@every
def test_its_audits_are_for_both_relations_several_rows_floored_grids_and_other_parameters(kind: type[Any]) -> None:
    """Those of a family, which share their noise, together. Units of three rows show in the bound of an answer;
    histograms are floored by the tests of queries."""
    tried = getattr(mirror(kind), "AUDITS", None) or varied(kind())
    assert len({audit.mechanism for audit in tried}) > 1
    answers: list[Any] = [audit.pair_for(audit.mechanism).first for audit in tried]
    if kind in LOCAL | OWN_RELATION:
        return
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
@pytest.mark.parametrize("value", [0.2, 1.0, 5.0])
def test_the_audit_does_not_refute_the_claim_at_other_prices(kind: type[Any], value: float) -> None:
    mechanism = dataclasses.replace(kind(), **{kind.calibrated: value})
    found = Audit("worst neighbors", mechanism, mechanism.worst_neighbors(), runs=1_000_000).verdict()
    assert found.holds, str(found)


@pytest.mark.partial_audit("of twins, with a part of the runs first")
@for_each(TWINS)
def test_the_audit_catches_the_broken_twin(twin: Audit) -> None:
    assert not all(shorter.verdict().holds for shorter in twin.shorter(16, 4))


@every
def test_neighbors_reach_the_same_outputs_in_shape_and_kind(kind: type[Any]) -> None:
    mechanism = kind()
    pair = mechanism.worst_neighbors()
    first, second = (mechanism.release(answer, DeterministicBits(3)) for answer in (pair.first, pair.second))
    assert type(first) is type(second)
    if isinstance(first, np.ndarray | np.generic):
        assert (first.shape, first.dtype) == (second.shape, second.dtype)


@every
def test_outputs_are_on_the_grid_and_none_betrays_its_neighbor(kind: type[Any]) -> None:
    """Worst neighbors are in whole numbers, so releases are. An output of probability 1/60 on one side, at epsilon 1 or
    mu 1, is expected twenty-five times on the other: its absence there would tell the two apart."""
    mechanism = kind()
    pair = mechanism.worst_neighbors()
    seen = []
    for seed, answer in enumerate((pair.first, pair.second)):
        released = outputs(mechanism, answer, RUNS // 4, seed).astype(np.float64)
        rows = np.nan_to_num(released.reshape(len(released), -1), nan=-(2.0**40))
        assert (rows == np.rint(rows)).all()
        values, counts = np.unique(rows, axis=0, return_counts=True)
        seen.append((set(map(tuple, values)), set(map(tuple, values[counts > len(rows) / 60]))))
    (first, often), (second, often_too) = seen
    assert often <= second
    assert often_too <= first


@every
def test_extreme_answers_have_releases_of_the_usual_shape(kind: type[Any]) -> None:
    mechanism = kind()
    answer = mechanism.worst_neighbors().first
    usual = mechanism.release(answer, DeterministicBits(4))
    for value in (0, 1, -1, 2**62, -(2**62)):
        strange = mechanism.release(extreme(answer, value), DeterministicBits(4))
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
    return dataclasses.replace(answer, steps=np.full_like(answer.steps, value))


@every
def test_everything_is_typed(kind: type[Any]) -> None:
    assert "return" in typing.get_type_hints(kind.release)
