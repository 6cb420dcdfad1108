"""Membership in a group with published means: the power that theory has, and chance where the means are others'."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.attacks import MeansDistance, MeansLikelihoodRatio, MembershipData
from discreet.core.errors import ParameterError
from tests.attacks.trial import AttackTrial

COLUMNS, GROUP = 500, 200
SHARES = np.random.default_rng(0).uniform(0.1, 0.9, COLUMNS)
ROWS = (np.random.default_rng(1).random((6 * GROUP, COLUMNS)) < SHARES).astype(float)
MEMBERS, OTHERS, REFERENCE = ROWS[:GROUP], ROWS[GROUP : 2 * GROUP], ROWS[2 * GROUP :]
DATA = MembershipData.of_rows(MEMBERS, OTHERS)
ATTACKS: tuple[Any, ...] = (MeansDistance(DATA, REFERENCE), MeansLikelihoodRatio(DATA, REFERENCE))


TRIALS = {
    type(attack).__name__: AttackTrial(
        lambda attack=attack: [(attack, MEMBERS.mean(axis=0))],  # type: ignore[misc]
        lambda attack=attack: [(attack, SHARES), (attack, REFERENCE[:GROUP].mean(axis=0))],  # type: ignore[misc]
    )
    for attack in ATTACKS
}


def test_the_likelihood_ratio_is_as_powerful_as_theory_says_and_homers_less() -> None:
    """Scores of members are higher by sqrt(columns / members) deviations, less what is not known of the population.

    The difference m - p has variance v (1 / n + 1 / r) for n members and r references, of which a member's own part is
    correlated with 1 / n of it alone: the deviations are sqrt(columns / n / (1 + n / r)).
    """
    distance, ratio = (attack.run(MEMBERS.mean(axis=0)).scores.area for attack in ATTACKS)
    apart = np.sqrt(COLUMNS / GROUP / (1 + GROUP / len(REFERENCE)))
    assert ratio == pytest.approx(stats.norm.cdf(apart / np.sqrt(2)), abs=0.04)
    assert 0.75 < distance <= ratio + 0.01


def test_scores_are_the_formulas_of_the_papers() -> None:
    means, there = MEMBERS.mean(axis=0), REFERENCE.mean(axis=0)
    homer, ratio = (attack.run(means).scores.members[7] for attack in ATTACKS)
    y = MEMBERS[7]
    nearer = np.abs(y - there) - np.abs(y - means)
    assert homer == pytest.approx(stats.ttest_1samp(nearer, 0).statistic)
    own = stats.bernoulli.logpmf(y, means) - stats.bernoulli.logpmf(y, there)
    assert ratio == pytest.approx(own.sum())


def test_columns_of_other_numbers_are_taken_as_normal() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(50, 10, (1000, 300)) * rng.uniform(0.1, 10, 300)
    rows[:, 0] = rng.integers(0, 2, 1000)
    data = MembershipData.of_rows(rows[:100], rows[100:200])
    means, there = rows[:100].mean(axis=0), rows[200:].mean(axis=0)
    scores = MeansLikelihoodRatio(data, rows[200:]).run(means).scores
    assert scores is not None
    deviations = rows[200:].std(axis=0, ddof=1)[1:]
    first = stats.bernoulli.logpmf(rows[3, 0], means[0]) - stats.bernoulli.logpmf(rows[3, 0], there[0])
    rest = [stats.norm.logpdf(rows[3, 1:], mean[1:], deviations) for mean in (means, there)]
    assert scores.members[3] == pytest.approx(first + (rest[0] - rest[1]).sum())
    assert scores.area > 0.8


def test_means_without_information_raise_no_alarm_beyond_their_level() -> None:
    rng = np.random.default_rng(3)
    for attack in ATTACKS:
        assert not attack.run(SHARES).beats_chance
        assert sum(attack.run(rng.random(COLUMNS)).beats_chance for _ in range(40)) <= 6  # level .05: two expected


def test_noise_takes_the_information_away() -> None:
    rng = np.random.default_rng(4)
    noisy = MEMBERS.mean(axis=0) + rng.laplace(0, COLUMNS / GROUP, COLUMNS)  # epsilon 1 for all means together
    for attack in ATTACKS:
        assert attack.run(noisy).epsilon < 1


def test_means_that_do_not_fit_are_refused() -> None:
    for attack in ATTACKS:
        for means in (np.zeros(3), np.full(COLUMNS, np.nan), ["a"] * COLUMNS, np.full(COLUMNS, 1e300)):
            with pytest.raises(ParameterError):
                attack.run(means)
    for reference in (np.zeros((1, COLUMNS)), np.zeros((5, 2)), [["a"]]):
        with pytest.raises(ParameterError):
            MeansDistance(DATA, reference)
    assert MeansLikelihoodRatio(DATA, np.zeros((2, COLUMNS))).run(np.zeros(COLUMNS)).epsilon == 0
