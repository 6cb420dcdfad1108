"""Results of attacks: success beside chance, exact intervals, curves, and what epsilon would forbid."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from discreet.attacks import AttackResult, MembershipScores, ThreatModel
from discreet.core.errors import ParameterError

THREAT = ThreatModel("labels", "half of the records", "one question a record")


def _result(right: int, trials: int, chance: float) -> AttackResult:
    return AttackResult("guess", THREAT, "bits", right, trials, chance, 0.1, trials)


def test_the_interval_has_its_exact_tails() -> None:
    low, high = _result(90, 100, 0.5).interval
    assert stats.binom.sf(89, 100, low) == pytest.approx(0.025)
    assert stats.binom.cdf(90, 100, high) == pytest.approx(0.025)


def test_an_epsilon_is_the_one_whose_best_guess_reaches_the_lower_end() -> None:
    result = _result(90, 100, 0.25)
    odds = 0.25 * math.exp(result.epsilon)
    assert stats.binom.sf(89, 100, odds / (0.75 + odds)) == pytest.approx(0.05)
    assert _result(100, 100, 0.0).epsilon == math.inf
    assert _result(27, 100, 0.25).epsilon == 0 == _result(0, 100, 0.25).epsilon
    assert not _result(27, 100, 0.25).beats_chance
    assert result.beats_chance


def test_the_bound_on_guesses_is_reached_by_randomised_response_and_by_nothing_else() -> None:
    """The best guess of one of m values, each output enumerated, for random channels whose ratios reach e^epsilon."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        values, prior = (m := int(rng.integers(2, 6))), rng.dirichlet(np.ones(m))
        channel = rng.dirichlet(np.ones(4), size=values)
        epsilon = float(np.log(channel.max(axis=0) / channel.min(axis=0)).max())
        right = (prior[:, None] * channel).max(axis=0).sum()
        odds = prior.max() * math.exp(epsilon)
        assert right <= odds / (1 - prior.max() + odds) + 1e-12


def test_the_area_is_that_of_scikit_learn_with_ties_and_missing_scores() -> None:
    rng = np.random.default_rng(1)
    members, others = rng.integers(0, 6, 50), rng.integers(-2, 5, 70)
    scores = MembershipScores.of(members, others)
    labels = np.repeat([1, 0], [50, 70])
    assert scores.area == pytest.approx(roc_auc_score(labels, np.r_[members, others]))
    assert MembershipScores.of([np.nan, 1.0], [0.0, 0.0]).area == pytest.approx(0.5)


def test_rates_at_few_false_positives_are_reached_by_a_threshold() -> None:
    scores = MembershipScores.of([5.0, 4.0, 1.0, 1.0], [4.5, 3.0, 1.0, 0.0])
    assert [scores.rate_at(rate) for rate in (0.0, 0.2, 0.25, 0.5, 1.0)] == [0.25, 0.25, 0.5, 0.5, 1.0]


def test_equal_scores_are_worth_a_guess_and_no_more() -> None:
    flat = MembershipScores.of(np.zeros(300), np.zeros(300))
    assert (flat.area, flat.rate_at(0.01), flat.guessed_right) == (0.5, 0.0, 300)
    result = AttackResult.of_scores("none", THREAT, flat, seconds=0.0, questions=0)
    assert result.epsilon == 0
    assert result.chance == 0.5


def test_scores_without_information_show_no_epsilon_beyond_their_level() -> None:
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(400):
        scores = MembershipScores.of(rng.normal(size=100), rng.normal(size=100))
        alarms += AttackResult.of_scores("none", THREAT, scores, seconds=0.0, questions=0).beats_chance
    assert alarms <= 20 + 4 * math.sqrt(400 * 0.05 * 0.95)  # level .05, four standard deviations


def test_the_risk_is_shared_among_the_numbers_of_guesses_that_are_tried() -> None:
    """All of 100 guesses are right with probability low^100 at most; a third of the risk of 5 % is theirs."""
    apart = MembershipScores.of(np.ones(50), np.zeros(50))
    low = (0.05 / 3) ** (1 / 100)
    result = AttackResult.of_scores("all", THREAT, apart, seconds=0.0, questions=0)
    assert result.epsilon == pytest.approx(math.log(low / (1 - low)))


def test_a_few_records_that_stand_out_show_more_than_all_do() -> None:
    rng = np.random.default_rng(3)
    members = np.r_[np.full(40, 9.0), rng.normal(size=960)]
    others = np.r_[np.full(40, -9.0), rng.normal(size=960)]
    result = AttackResult.of_scores("few", THREAT, MembershipScores.of(members, others), seconds=0.0, questions=0)
    assert result.success < 0.56
    assert result.epsilon > 2
    assert set(result.worst) <= set(range(40))


def test_every_form_says_that_it_is_not_private() -> None:
    scores = MembershipScores.of([1.0, 2.0], [0.0, 0.5])
    result = AttackResult.of_scores("a\x1b[2J<b>", THREAT, scores, seconds=0.5, questions=4)
    data = json.loads(result.to_json())
    assert "NOT PRIVATE" in str(result)
    assert "NOT PRIVATE" in result._repr_html_()
    assert "NOT PRIVATE" in data["note"]
    assert "\x1b" not in str(result)
    assert "<b>" not in result._repr_html_()
    assert data["true positives at 1 % false"] == 1.0
    assert result.to_pandas().loc["success", "value"] == 1.0


def test_both_kinds_are_drawn() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    scores = MembershipScores.of([1.0, 2.0], [0.0, 0.5])
    assert _result(9, 10, 0.5).plot().get_title() == "guess"
    curve = AttackResult.of_scores("roc", THREAT, scores, seconds=0.5, questions=4).plot()
    assert curve.get_xscale() == "log"


def test_numbers_that_cannot_be_are_refused() -> None:
    for right, trials, chance in ((2, 1, 0.5), (0, 0, 0.5), (1, 1, 1.5), (-1, 3, 0.5)):
        with pytest.raises(ParameterError, match="Give 0 <= right"):
            _result(right, trials, chance)
    with pytest.raises(ParameterError, match="at least one of each"):
        MembershipScores.of([], [1.0])
