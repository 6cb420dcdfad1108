from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from discreet.audit.one_run import chance_of, one_run, one_run_epsilon
from discreet.core.errors import ParameterError
from discreet.core.events import GaussianLoss


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


def most_probable(coins: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """The greatest probability of so many right guesses over all private mechanisms: a linear program.

    A mechanism gives guesses, as any other output may be turned into some; each pair of neighbors has slacks, one for
    each output, that add up to at most delta.
    """
    inputs = list(itertools.product((0, 1), repeat=coins))
    outputs = [t for t in itertools.product((0, 1, None), repeat=coins) if coins - t.count(None) == guesses]
    pairs = [(s, t) for s in inputs for t in inputs if sum(a != b for a, b in zip(s, t, strict=True)) == 1]
    law = {key: place for place, key in enumerate(itertools.product(inputs, outputs))}
    slack = {key: len(law) + place for place, key in enumerate(itertools.product(pairs, outputs))}
    size = len(law) + len(slack)
    gain, above, limits, whole = np.zeros(size), [], [], np.zeros((len(inputs), size))
    for (s, t), place in law.items():
        whole[inputs.index(s), place] = 1
        gain[place] = -(sum(a == b for a, b in zip(s, t, strict=True)) >= right) / len(inputs)
    for pair in pairs:
        together = np.zeros(size)
        for t in outputs:
            row = np.zeros(size)
            row[law[pair[0], t]], row[law[pair[1], t]], row[slack[pair, t]] = 1, -math.exp(epsilon), -1
            together[slack[pair, t]] = 1
            above.append(row)
            limits.append(0.0)
        above.append(together)
        limits.append(delta)
    found = optimize.linprog(gain, A_ub=np.array(above), b_ub=limits, A_eq=whole, b_eq=np.ones(len(inputs)))
    assert found.success
    return -float(found.fun)


def test_no_private_mechanism_at_all_beats_the_bound() -> None:
    for coins, guesses in ((1, 1), (2, 2), (3, 3), (3, 2)):
        for right, epsilon, delta in itertools.product(range(1, guesses + 1), (0.1, 1.5), (0.0, 0.02, 0.1)):
            best = most_probable(coins, guesses, right, epsilon, delta)
            bound = chance_of(right, guesses, coins, epsilon, delta)
            assert best <= bound + 1e-7
            if delta == 0 or coins == 1:
                assert bound <= best + delta + 1e-7


def test_deltas_of_many_candidates_weigh_less_where_many_guesses_may_be_lucky() -> None:
    assert chance_of(900, 1000, 1000, 1.0, 1e-4) < 0.1 / 100
    assert one_run_epsilon(900, 1000, delta=1e-4, confidence=0.99) > 1.5
    assert one_run_epsilon(900, 1000, delta=0.1, confidence=0.99) == 0


def test_a_run_of_gaussian_noise_is_judged() -> None:
    """Scores of 2,000 coins with noise of deviation 1/2: a true claim stands, one of an eighth of its mu does not."""
    generator = np.random.default_rng(0)
    coins = generator.random(2000) < 0.5
    scores = coins + 0.5 * generator.normal(size=2000)
    true, false = (one_run(GaussianLoss(multiplier), scores, coins) for multiplier in (0.5, 4.0))
    assert true.holds
    assert true.claimed / 8 < true.epsilon
    assert not false.holds
    assert "REFUTED" in str(false)
    assert "REFUTED" in false._repr_html_()
    assert one_run(GaussianLoss(2.0), generator.normal(size=2000), coins).epsilon < 0.5


def test_scores_without_coins_are_refused() -> None:
    with pytest.raises(ParameterError, match="every candidate"):
        one_run(GaussianLoss(1.0), [0.1, 0.2], [True])


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ParameterError, match="3 of 2"):
        one_run_epsilon(3, 2)
    with pytest.raises(ParameterError, match="confidence"):
        one_run_epsilon(1, 2, confidence=1.0)
    assert one_run_epsilon(0, 0) == 0.0
