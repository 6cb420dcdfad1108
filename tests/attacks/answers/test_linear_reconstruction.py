"""Bits from sums: nearly all where errors are small, none beyond chance where there is noise for a whole epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.attacks import LinearReconstruction
from discreet.attacks.answers.linear_reconstruction import TIMES
from discreet.core.errors import ParameterError
from tests.attacks.trial import AttackTrial

METHODS = tuple(TIMES)


def _bits(count: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 2, count)


def _answers(bits: Any, error: float, seed: int = 1) -> Any:
    noise = np.random.default_rng(seed)
    return lambda queries: queries @ bits + noise.uniform(-error, error, len(queries))


def _asked(error: float) -> list[tuple[LinearReconstruction, Any]]:
    """Both methods; an error of 0.25 sqrt(n), or of the size of all records for each query."""
    bits = _bits(100)
    return [(LinearReconstruction(bits, method, queries=800), _answers(bits, error)) for method in METHODS]  # type: ignore[arg-type]


TRIALS = {"LinearReconstruction": AttackTrial(lambda: _asked(2.5), lambda: _asked(4000.0))}


def test_errors_of_a_quarter_of_the_root_give_the_bits_away() -> None:
    """Theory: least squares errs with probability Phi(-.5 / .125) at 8 n queries, so 1 of 400 is far above."""
    for method, records, least in (("least squares", 400, 0.99), ("linear programming", 100, 0.95)):
        bits = _bits(records)
        result = LinearReconstruction(bits, method).run(_answers(bits, np.sqrt(records) / 4))  # type: ignore[arg-type]
        assert result.success >= least
        assert result.questions == TIMES[method] * records
        assert result.epsilon > 2


def test_noise_for_one_epsilon_of_all_answers_leaves_chance() -> None:
    """Laplace noise of scale q: the price of q sums over one bit each is one epsilon, whatever is asked."""
    bits, noise, count = _bits(200), np.random.default_rng(2), 400

    def target(queries: Any) -> Any:
        return queries @ bits + noise.laplace(0, count, len(queries))

    for method in METHODS:
        result = LinearReconstruction(bits, method, queries=count).run(target)  # type: ignore[arg-type]
        assert not result.beats_chance


def test_a_target_without_information_is_left_at_chance() -> None:
    bits = _bits(150)
    for target in (lambda queries: np.zeros(len(queries)), lambda queries: queries.sum(axis=1) / 2):
        for method in METHODS:
            assert not LinearReconstruction(bits, method).run(target).beats_chance  # type: ignore[arg-type]


def test_refused_queries_are_counted_and_the_others_are_enough() -> None:
    bits = _bits(60)

    def target(queries: Any) -> Any:
        if (queries.sum(axis=1) < 28).any():
            raise RuntimeError("too few")
        return queries @ bits

    for method in METHODS:
        result = LinearReconstruction(bits, method, queries=400).run(target)  # type: ignore[arg-type]
        assert result.success == 1
        assert 20 < result.details["queries refused"] < 200
        nothing = LinearReconstruction(bits, method, queries=50).run(lambda queries: np.full(len(queries), np.nan))  # type: ignore[arg-type]
        assert nothing.details["queries refused"] == 50
        assert not nothing.beats_chance


def test_the_same_seed_asks_the_same_and_rows_keep_their_order() -> None:
    bits = _bits(50)
    seen: list[Any] = []

    def target(queries: Any) -> Any:
        seen.append(queries.copy())
        return queries @ bits

    runs = [LinearReconstruction(bits, queries=100, random_state=seed).run(target) for seed in (3, 3, 4)]
    assert [run.right for run in runs] == [50, 50, 50]
    assert np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], seen[2])


def test_what_cannot_be_asked_is_refused() -> None:
    for truth in ([], [0.5], [[0, 1]], ["a"], None):
        with pytest.raises(ParameterError, match="zeros and ones"):
            LinearReconstruction(truth)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="least squares"):
        LinearReconstruction([0, 1], "guess")  # type: ignore[arg-type]
    for queries in (0, -1, 1.5):
        with pytest.raises(ParameterError, match="queries"):
            LinearReconstruction([0, 1], queries=queries)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="one number for each row"):
        LinearReconstruction([0, 1]).run(lambda queries: 3.0)
