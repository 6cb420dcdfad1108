"""Every frequency oracle, found by walking the room: its errors are those that it says, and so is its law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.aggregator import Aggregator
from discreet.local.oracle import Oracle
from discreet.local.oracles.generalized_randomized_response import CodeOracle, GeneralizedRandomizedResponse
from discreet.local.oracles.hadamard_response import HadamardResponse
from discreet.local.oracles.projective_geometry import ProjectiveGeometry
from discreet.local.oracles.unary_encoding import OptimizedUnary
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.walk import for_each, randomizers

ORACLES = [kind for kind in randomizers() if issubclass(kind, Oracle)]
SIZE, PEOPLE = 300, 20_000


def zipf(size: int, people: int) -> Steps:
    """Values of which the first are frequent."""
    weights = 1 / np.arange(1.0, size + 1) ** 1.1
    return np.random.default_rng(1).choice(size, people, p=weights / weights.sum())


def found(oracle: Oracle, values: Steps, seed: int = 1) -> Any:
    """The estimate from one report of each."""
    reports = Aggregator(oracle, simulated=True)
    reports.add(oracle.reports(values, DeterministicBits(seed)))
    return reports.estimate()


@for_each(ORACLES)
def test_errors_are_those_of_the_theory_and_of_the_standard_errors(kind: type[Oracle]) -> None:
    """The mean of 900 squares, of deviation sqrt(2 / 900) times itself, and more where errors go together."""
    values = zipf(SIZE, PEOPLE)
    shares = np.bincount(values, minlength=SIZE) / PEOPLE
    for epsilon in (0.5, 1.0, 3.0):
        oracle = kind(epsilon, SIZE)
        estimates = [found(oracle, values, seed) for seed in range(3)]
        squares = np.array([np.square(each.shares - shares) for each in estimates])
        assert squares.mean() / oracle.variances(shares, PEOPLE).mean() == pytest.approx(1.0, abs=0.25)
        assert (squares / [each.errors**2 for each in estimates]).mean() == pytest.approx(1.0, abs=0.25)
        assert np.mean([each.shares.mean() for each in estimates]) == pytest.approx(1 / SIZE, abs=0.01)


@for_each(
    [
        GeneralizedRandomizedResponse(1.0, 5),
        HadamardResponse(3.0, 12),
        HadamardResponse(0.5, 6),
        ProjectiveGeometry(1.0, 11),
    ]
)
def test_each_code_has_the_probability_that_the_promise_is_computed_from(oracle: CodeOracle) -> None:
    """Counts of codes within five standard deviations of their expectations."""
    runs = 100_000
    for place in (0, oracle.size - 1):
        tally = oracle.tallied(oracle.reports([place] * runs, DeterministicBits(place)))
        own: Array = oracle.scattered(np.eye(oracle.size)[place])
        assert own.sum() == pytest.approx(oracle.inside)
        chances = oracle.low + (oracle.high - oracle.low) * own
        assert chances.sum() == pytest.approx(1.0)
        assert (np.abs(tally - runs * chances) < 5 * np.sqrt(runs * chances)).all()
        supported = oracle.supports(np.arange(oracle.codes, dtype=oracle.form), place)
        assert np.allclose(supported, own)
        assert np.allclose(oracle.gathered(np.arange(float(oracle.codes)))[place], np.flatnonzero(supported).sum())


@for_each(ORACLES)
def test_reports_of_the_wrong_type_or_shape_are_refused_and_none_is_counted(kind: type[Oracle]) -> None:
    oracle = kind(1.0, 20)
    tally = Aggregator(oracle)
    right = oracle.reports([0, 1], DeterministicBits(1))
    for wrong in (right[:, None], np.array([0.5, 0.5]), np.array(["a", "b"])):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            tally.add(wrong)
    assert tally.n == np.abs(tally.tally).sum() == 0


def test_the_most_frequent_value_is_found_by_its_label() -> None:
    labels = tuple("abcdefgh")
    oracle = OptimizedUnary(2.0, labels)
    estimate = found(oracle, np.array(list("a" * 3000 + "h" * 1000)))
    assert labels[int(estimate.shares.argmax())] == "a"
    assert abs(estimate.shares[-1] - 0.25) < 5 * estimate.errors[-1]
    assert str(estimate).splitlines()[1].split() == ["value", "frequency"]
    assert "NOT SECRET" in str(estimate.receipt)


def test_intervals_for_the_population_are_wider() -> None:
    oracle = GeneralizedRandomizedResponse(3.0, 4)
    votes = Aggregator(oracle)
    votes.add(oracle.reports([0] * 500 + [1] * 500, DeterministicBits(2)))
    people, population = votes.estimate(), votes.estimate(population=True)
    assert population.errors[:2] ** 2 - people.errors[:2] ** 2 == pytest.approx(0.25 / 1000, rel=0.1)
    assert (votes.estimate(confidence=0.5).interval.high < people.interval.high).all()


def test_values_outside_the_domain_are_refused() -> None:
    for survey, value in (
        (GeneralizedRandomizedResponse(1.0, ("no", "yes")), "maybe"),
        (GeneralizedRandomizedResponse(1.0, 4), 4),
    ):
        for wrong in (value, -1, 0.5, None):
            with pytest.raises(ParameterError, match="is not one of"):
                survey.reports([wrong], DeterministicBits(1))
    with pytest.raises(ParameterError, match="twice"):
        GeneralizedRandomizedResponse(1.0, ("a", "a"))
    for size in (1, 2**24 + 1, 2.5):
        with pytest.raises(ParameterError, match=r"number of values is|domain is"):
            GeneralizedRandomizedResponse(1.0, size)  # type: ignore[arg-type]
