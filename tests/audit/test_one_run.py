from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from discreet.audit.one_run import one_run_epsilon
from discreet.core.errors import ParameterError


@pytest.mark.parametrize(("right", "guesses"), [(90, 100), (1, 1), (60, 100), (4321, 5000), (1000, 1000)])
@pytest.mark.parametrize("confidence", [0.95, 1 - 1e-6])
def test_the_bound_solves_the_binomial_tail(right: int, guesses: int, confidence: float) -> None:
    def excess(epsilon: float) -> float:
        return float(stats.binom.sf(right - 1, guesses, 1 / (1 + math.exp(-epsilon)))) - (1 - confidence)

    expected = 0.0 if excess(0.0) > 0 else optimize.brentq(excess, 0.0, 40.0, xtol=1e-13)
    assert one_run_epsilon(right, guesses, confidence=confidence) == pytest.approx(expected, rel=1e-7)


def test_the_bound_keeps_its_confidence_against_randomized_response() -> None:
    epsilon, guesses = 0.7, 40
    chance = 1 / (1 + math.exp(-epsilon))
    masses = stats.binom.pmf(np.arange(guesses + 1), guesses, chance)
    alarms = [one_run_epsilon(v, guesses, confidence=0.9) > epsilon for v in range(guesses + 1)]
    assert 0.02 < masses[alarms].sum() <= 0.1


def test_no_guesser_beats_the_binomial_on_a_mechanism_that_mixes_all_coins() -> None:
    """Exponential mechanism over all outcomes of three coins: every guesser's right count, by enumeration."""
    epsilon = 1.3
    coins = list(itertools.product((0, 1), repeat=3))
    closeness = np.array([[sum(a == b for a, b in zip(s, t, strict=True)) for t in coins] for s in coins])
    law = np.exp(epsilon / 2 * np.minimum(closeness, 2))
    law = law / law.sum(axis=1, keepdims=True)
    neighbors = [(i, j) for i in range(8) for j in range(8) if closeness[i, j] == 2]
    assert max(np.log(law[i] / law[j]).max() for i, j in neighbors) <= epsilon + 1e-12
    for right in (1, 2, 3):
        best = sum(max(law[closeness[:, guess] >= right, t].sum() for guess in range(8)) for t in range(8)) / 8
        assert best <= stats.binom.sf(right - 1, 3, 1 / (1 + math.exp(-epsilon))) + 1e-12


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ParameterError, match="3 of 2"):
        one_run_epsilon(3, 2)
    with pytest.raises(ParameterError, match="confidence"):
        one_run_epsilon(1, 2, confidence=1.0)
    assert one_run_epsilon(0, 0) == 0.0
