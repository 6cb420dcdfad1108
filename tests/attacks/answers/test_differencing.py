"""A bit as a difference: exact answers give it away, fresh noise if it may be averaged, a paid answer does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.attacks import Differencing
from discreet.core.errors import ParameterError
from tests.attacks.trial import AttackTrial

BITS = np.random.default_rng(0).integers(0, 2, 300)


def _noisy(scale: float) -> Any:
    noise = np.random.default_rng(3)
    return lambda queries: queries @ BITS + noise.laplace(0, scale, len(queries))


TRIALS = {
    "Differencing": AttackTrial(
        lambda: [(Differencing(BITS), lambda queries: queries @ BITS)],
        lambda: [(Differencing(BITS), _noisy(600.0)), (Differencing(BITS), lambda queries: np.zeros(len(queries)))],
    )
}


def test_refusing_small_sets_does_not_help() -> None:
    def target(queries: Any) -> Any:
        if (queries.sum(axis=1) < 250).any():
            raise PermissionError("too few records")
        return queries @ BITS

    result = Differencing(BITS).run(target)
    assert (result.success, result.questions) == (1.0, 101)


def test_fresh_noise_is_averaged_away_and_one_answer_is_not_enough() -> None:
    """The mean of 4,000 differences with Laplace noise of scale 10 has a standard deviation of .32: Phi(1.6) = .94."""
    noise = np.random.default_rng(1)

    def target(queries: Any) -> Any:
        return queries @ BITS + noise.laplace(0, 10, len(queries))

    rows = np.arange(60)
    assert not Differencing(BITS, rows=rows).run(target).beats_chance
    assert Differencing(BITS, repeats=4000, rows=rows).run(target).success > 0.8


def test_answers_that_are_kept_are_not_averaged() -> None:
    noise = np.random.default_rng(2)
    kept: dict[bytes, float] = {}

    def target(queries: Any) -> Any:
        for query in queries:
            kept.setdefault(query.tobytes(), query @ BITS + noise.laplace(0, 10))
        return [kept[query.tobytes()] for query in queries]

    assert not Differencing(BITS, repeats=50, rows=range(60)).run(target).beats_chance


def test_a_target_that_always_raises_is_a_finding() -> None:
    def target(queries: Any) -> Any:
        raise RuntimeError("no")

    result = Differencing(BITS, rows=[1, 2]).run(target)
    assert result.details["queries refused"] == result.questions == 3


def test_rows_and_repeats_that_cannot_be_are_refused() -> None:
    for rows in ([300], [-1], [], [[1]]):
        with pytest.raises(ParameterError, match="rows of `truth`"):
            Differencing(BITS, rows=rows)
    for repeats in (0, 2.5, True):
        with pytest.raises(ParameterError, match="repeats"):
            Differencing(BITS, repeats=repeats)  # type: ignore[arg-type]


def test_answers_that_do_not_come_leave_the_others_to_be_averaged() -> None:
    turns = iter(range(10**6))

    def target(queries: Any) -> Any:
        return np.where([next(turns) % 3 == 0 for _ in queries], np.nan, queries @ BITS)

    result = Differencing(BITS, repeats=6, rows=np.arange(40)).run(target)
    assert (result.success, result.details["queries refused"]) == (1.0, 82)
