"""The client in one file: the formats and the laws of the library, without the library."""

from __future__ import annotations

import ast
import json
import secrets
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.local import miss_chance, wire_client
from discreet.local.oracle import Oracle
from discreet.local.oracles.generalized_randomized_response import CodeOracle, GeneralizedRandomizedResponse
from discreet.local.oracles.hadamard_response import HadamardResponse
from discreet.local.oracles.projective_geometry import ProjectiveGeometry
from discreet.local.protocol import published, randomizer_of
from tests.conformance.walk import randomizers, trial

KINDS: list[Oracle] = [
    oracle
    for kind in randomizers()
    if kind.kind in wire_client.KINDS
    for oracle in trial(kind).randomizers
    if type(oracle) is kind
]
"""What the tests of the oracles try, of the kinds that it knows."""


def test_it_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(wire_client.__file__).read_text())
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name if isinstance(node, ast.Import) else str(node.module) for node in nodes for alias in node.names}
    assert {name.partition(".")[0] for name in names} <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("oracle", KINDS, ids=str)
def test_its_reports_are_those_of_the_library(oracle: Oracle) -> None:
    """The share that supports the own value and another, within five standard errors; each message is accepted."""
    runs, own, other = 600, 1, oracle.size - 1
    messages = [wire_client.message(published(oracle), _value(oracle, own)) for _ in range(runs)]
    reports = oracle.decoded(messages)
    theirs = oracle.reports([_value(oracle, own)] * 20_000, _bits())
    for place in (own, other):
        expected = oracle.supports(theirs, place).mean()
        assert abs(oracle.supports(reports, place).mean() - expected) < 5 * 0.5 / np.sqrt(runs)


def test_probabilities_codes_and_points_are_the_same() -> None:
    for epsilon, inside, outside in ((1.0, 1, 1), (0.3, 13, 27), (5.0, 1, 999)):
        assert wire_client.miss_chance(epsilon, inside, outside) == miss_chance.miss_chance(epsilon, inside, outside)
    space = ProjectiveGeometry(1.0, 100).space
    vectors = space.vector(np.arange(space.points)).T.tolist()
    assert [wire_client.vector(space.q, space.t, i) for i in range(space.points)] == vectors
    doubled = [[2 * digit % space.q for digit in vector] for vector in vectors]
    assert [wire_client.number(space.q, vector) for vector in doubled] == list(range(space.points))


@pytest.mark.parametrize("oracle", KINDS, ids=str)
def test_derived_numbers_are_computed_here_and_others_are_refused(oracle: Oracle) -> None:
    document = published(oracle)
    assert wire_client.believed(document).derived == oracle.derived
    for name, value in oracle.derived.items():
        for wrong in (2 * value, value - 1, -value, None):
            with pytest.raises(ValueError, match="nothing was sent"):
                wire_client.believed(document | {"derived": oracle.derived | {name: wrong}})


def test_derived_numbers_are_those_of_the_library_everywhere() -> None:
    rng = np.random.default_rng(1)
    for epsilon in [*rng.uniform(2.0**-20, 10.0, 60).tolist(), *rng.uniform(0.01, 2.0, 60).tolist(), 10.0]:
        size = int(2 ** rng.uniform(1, 20))
        matrix, space = HadamardResponse(epsilon, size), ProjectiveGeometry(epsilon, size).space
        assert wire_client.matrices(epsilon, size) == (matrix.blocks, matrix.order)
        assert wire_client.space(epsilon, size) == (space.q, space.t)


def test_codes_and_points_are_drawn_with_exactly_their_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each choice of the numbers that are drawn is tried once: own reports, and others, come equally often."""
    for oracle in (HadamardResponse(1.2, 9), ProjectiveGeometry(1.0, 4), ProjectiveGeometry(1.0, 11)):
        numbers = list(oracle.derived.values())
        drawn: Callable[..., int] = wire_client.hadamard if oracle.kind == "hadamard" else wire_client.point
        for place, miss in product((0, oracle.size // 2, oracle.size - 1), (False, True)):
            monkeypatch.setattr(wire_client, "coin", lambda chance, miss=miss: miss)
            codes = _every(monkeypatch, partial(drawn, 1.0, *numbers, place))
            own = np.flatnonzero(oracle.supports(np.arange(oracle.codes), place) != miss).tolist()
            assert sorted(set(codes)) == own
            assert len(set(Counter(codes).values())) == 1


def test_the_test_vectors_of_the_manual_are_those_of_the_library_and_of_the_client() -> None:
    page = (Path(__file__).parents[2] / "docs" / "local.md").read_text()
    vectors = json.loads(page.partition("```json")[2].partition("```")[0])
    assert {one["parameters"]["kind"] for one in vectors} == {"grr", "hadamard", "pgr"}
    for one in vectors:
        oracle = randomizer_of(one["parameters"])
        assert isinstance(oracle, CodeOracle)
        assert published(oracle)["derived"] == one["derived"]
        assert oracle.fingerprint.hex() == wire_client.fingerprint(one["parameters"]).hex() == one["fingerprint"]
        assert oracle.miss == float.fromhex(one["chance"])
        assert np.flatnonzero(oracle.supports(np.arange(oracle.codes), one["value"])).tolist() == one["own"]
        assert oracle.encode(np.asarray(one["report"])).hex() == one["message"]
        header = one["message"][: -2 * oracle.form.itemsize]
        sent = wire_client.message(published(oracle), _value(oracle, one["value"]))
        assert sent.hex().startswith(header)
        assert len(sent) == len(one["message"]) // 2


def test_what_would_harm_is_refused() -> None:
    protocol = published(GeneralizedRandomizedResponse(1.0, 3))
    for parameters in ({"epsilon": 11.0}, {"epsilon": 0.0}, {"kind": "olh"}):
        hostile: dict[str, Any] = protocol | {"parameters": protocol["parameters"] | parameters}
        with pytest.raises(ValueError, match="nothing was sent"):
            wire_client.message(hostile, 1)


def test_a_value_outside_the_domain_is_answered_by_a_random_report() -> None:
    """Each of three values is reported in a third of 900 reports, within five standard errors."""
    for survey in (GeneralizedRandomizedResponse(1.0, 3), GeneralizedRandomizedResponse(1.0, ("0", "1", "b"))):
        odd: Any
        for odd in (3, -1, 1.0, True, None, "c", "x" * 5000, ["b"], {}):
            assert len(wire_client.message(published(survey), odd)) == 10
        found = [wire_client.message(published(survey), "what")[-1] for _ in range(900)]
        assert (np.abs(np.bincount(found, minlength=3) / 900 - 1 / 3) < 5 * np.sqrt(2 / 9 / 900)).all()


def _every(monkeypatch: pytest.MonkeyPatch, draw: Callable[[], int]) -> list[int]:
    """What is drawn for each outcome of the draws from ranges, one after the other."""
    found: list[int] = []
    left: list[tuple[int, ...]] = [()]
    while left:
        given = left.pop()
        ranges: list[int] = []

        def drawn(upper: int, given: Any = given, ranges: list[int] = ranges) -> int:
            ranges.append(upper)
            return int(given[len(ranges) - 1]) if len(ranges) <= len(given) else 0

        monkeypatch.setattr(secrets, "randbelow", drawn)
        code = draw()
        if len(given) == len(ranges):
            found.append(code)
        else:
            left.extend((*given, choice) for choice in range(ranges[len(given)]))
    return found


def _value(oracle: Oracle, place: int) -> Any:
    return place if isinstance(oracle.domain, int) else oracle.domain[place]


def _bits() -> Any:
    from discreet.noise.deterministic import DeterministicBits

    return DeterministicBits(1)
