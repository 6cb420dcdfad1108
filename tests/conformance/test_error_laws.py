"""What a mechanism says of its errors, `stddev` and `half_width`, is what its releases show.

Mechanisms that say so are found by walking all rooms, and tried with both relations, several bounds, sizes and noise.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.core.answer import Answer, SampledAnswer
from discreet.core.bound import Bound
from discreet.core.errors import DiscreetError, NotPermitted
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import with_less_noise
from tests.conformance.walk import for_each, mechanisms, trial

FOUND = [kind for kind in mechanisms() if hasattr(kind, "stddev")]
DRAWS = 32_000
PEOPLE = 40  # whose reports are added up, where only the sum of many is normal
FINE = 2.0**16  # a radius, in steps of the grid
CASES = [
    (Bound("l1", FINE), 1, Neighbors.ADD_REMOVE),
    (Bound("l2", FINE, nonnegative=True), 1, Neighbors.REPLACE),
    (Bound("l2", 3 * FINE), 3, Neighbors.REPLACE),
    (Bound("linf", FINE), 8, Neighbors.ADD_REMOVE),
    (Bound("l1", 2 * FINE, nonnegative=True), 3, Neighbors.ADD_REMOVE),
    (Bound("linf", FINE), 2, Neighbors.REPLACE),
]


def tried(kind: type[Any]) -> Iterator[tuple[Any, Answer, Array]]:
    """The mechanism, an answer and many errors of it, wherever the mechanism takes such an answer."""
    for i, (bound, size, neighbors) in enumerate(CASES):
        mechanism = with_less_noise(trial(kind).made(kind), (1.0, 0.6)[i % 2])
        answer = Answer(np.zeros(size, dtype=np.int64), Grid(0), bound, neighbors)
        if (errors := drawn(mechanism, answer)) is not None:
            yield mechanism, answer, errors


def drawn(mechanism: Any, answer: Answer) -> Array | None:
    """Releases of zeros; None where the mechanism refuses such an answer."""
    stacked = answer.stacked(DRAWS // answer.size)
    asked = SampledAnswer(stacked, mechanism.sample) if hasattr(mechanism, "sample") else stacked
    try:
        return np.asarray(mechanism.release(asked, DeterministicBits(answer.size)))
    except DiscreetError:
        return None


def deviation(mechanism: Any, answer: Answer) -> float:
    grid = {"grid": answer.grid} if "grid" in inspect.signature(mechanism.stddev).parameters else {}
    return float(mechanism.stddev(answer.bound, answer.size, answer.neighbors, **grid))


def test_the_walk_finds_what_adds_noise() -> None:
    assert {"Laplace", "Gaussian", "DiscreteLaplace", "SphereReport"} <= {kind.__name__ for kind in FOUND}


@for_each(kind for kind in FOUND if not hasattr(kind, "moves"))  # coins are for whole numbers of few steps alone
def test_the_standard_deviation_is_that_of_the_draws(kind: type[Any]) -> None:
    """32 000 Laplace draws show their deviation to 0.6 %, and coordinates on a sphere to less: five of these."""
    cases = 0
    for mechanism, answer, errors in tried(kind):
        shown, told = errors.std(), deviation(mechanism, answer)
        assert abs(shown / told - 1) < 0.04, (mechanism, answer.bound, answer.size, shown / told)
        cases += 1
    assert cases >= 2


@for_each(kind for kind in FOUND if not hasattr(kind, "cap"))
def test_the_standard_deviation_is_that_of_the_draws_on_a_coarse_grid_too(kind: type[Any]) -> None:
    """Of noise of three steps; a report of one person is on a fine grid."""
    answer = Answer(np.zeros(1, dtype=np.int64), Grid(0), Bound("l1", 1.0), Neighbors.ADD_REMOVE)
    mechanism = with_less_noise(trial(kind).made(kind), 1 / 3)
    errors = drawn(mechanism, answer)
    assert errors is not None
    assert abs(errors.std() / deviation(mechanism, answer) - 1) < 0.04


LAWS = [kind for kind in FOUND if hasattr(kind, "law")]


@for_each(LAWS)
def test_the_half_width_holds_errors_as_often_as_it_says(kind: type[Any]) -> None:
    """Of a coordinate, of a difference and of any weighted sum; to five standard errors of the count."""
    for mechanism, answer, errors in tried(kind):
        stddev = deviation(mechanism, answer)
        if hasattr(kind, "cap"):
            errors = errors[: len(errors) // PEOPLE * PEOPLE].reshape(-1, PEOPLE, answer.size).sum(axis=1)
            stddev *= PEOPLE**0.5
        for weights in (np.eye(1, answer.size)[0], np.linspace(-1.0, 0.7, answer.size), np.ones(answer.size)):
            for confidence in (0.5, 0.9, 0.99):
                try:
                    width = mechanism.law.half_width(stddev, weights, confidence)
                except NotPermitted:
                    continue
                held = float((np.abs(errors @ weights) <= width).mean())
                chance = 5 * (confidence * (1 - confidence) / len(errors)) ** 0.5
                assert abs(held - confidence) < chance + 0.004, (mechanism, answer.size, weights, confidence, held)


def test_most_laws_are_known() -> None:
    known = [kind.__name__ for kind in LAWS if type(kind.law).__name__ != "UnknownError"]
    assert {"Laplace", "Gaussian", "DiscreteLaplace", "DiscreteGaussian", "SphereReport"} <= set(known)
