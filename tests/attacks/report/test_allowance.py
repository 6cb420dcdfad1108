"""What a promise allows: computed again, as the best guess of the worst mechanism."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.attacks import AttackResult, MembershipScores, ThreatModel
from discreet.attacks.report.allowance import Allowance
from discreet.core.events import PureLoss
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt

THREAT = ThreatModel("labels", "records")


def best_guess(prior: Array, epsilon: float, delta: float) -> float:
    """The greatest rate of right guesses over all channels from values to guesses that keep the promise.

    A guess is post-processing, and (epsilon, delta) is asked of every set of guesses.
    """
    values = len(prior)
    sets = [[bool(mask >> guess & 1) for guess in range(values)] for mask in range(1, 2**values - 1)]
    rows = []
    for chosen in sets:
        for one in range(values):
            for other in set(range(values)) - {one}:
                row = np.zeros((values, values))  # P(guess | value)
                row[one, chosen], row[other, chosen] = 1.0, -math.exp(epsilon)
                rows.append(row.ravel())
    whole = np.kron(np.eye(values), np.ones(values))
    found = linprog(
        -np.diag(prior).ravel(), np.array(rows), np.full(len(rows), delta), whole, np.ones(values), bounds=(0, 1)
    )
    return float(-found.fun)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.0), (1.0, 0.05), (2.5, 0.01)])
def test_no_channel_that_keeps_the_promise_beats_the_bound_and_two_even_values_reach_it(
    epsilon: float, delta: float
) -> None:
    promise = Allowance(epsilon, delta)
    for prior in ([0.5, 0.5], [0.8, 0.2], [1 / 3] * 3, [0.25] * 4):
        assert best_guess(np.array(prior), epsilon, delta) <= promise.success(max(prior)) + 1e-9
    pure = Allowance(epsilon)
    assert best_guess(np.array([0.5, 0.5]), epsilon, 0.0) == pytest.approx(pure.success(0.5))
    assert best_guess(np.array([0.25] * 4), epsilon, 0.0) == pytest.approx(pure.success(0.25))


def test_rates_are_those_of_the_worst_mechanism_in_both_directions() -> None:
    for epsilon, delta, wrong in ((1.0, 0.0, 0.01), (1.0, 0.1, 0.3), (3.0, 0.01, 0.5), (0.2, 0.0, 0.9)):
        limits = [[-math.exp(epsilon), 1.0], [1.0, -math.exp(epsilon)]]
        also = [[math.exp(epsilon), -1.0], [-1.0, math.exp(epsilon)]]
        rest = math.exp(epsilon) - 1 + delta
        found = linprog([0, -1], limits + also, [delta, delta, rest, rest], [[1, 0]], [wrong], bounds=(0, 1))
        assert Allowance(epsilon, delta).true_positives(wrong) == pytest.approx(-found.fun)
    assert Allowance(math.inf).true_positives(0.01) == 1.0


def test_another_value_is_two_steps_away_where_records_are_added_or_removed() -> None:
    assert Allowance(1.0, 0.0, Neighbors.REPLACE).between_values.epsilon == 1.0
    twice = Allowance(1.0, 1e-3).between_values
    assert twice.epsilon == 2.0
    assert twice.delta == pytest.approx(1e-3 * (1 + math.e))


def test_known_noise_promises_nothing() -> None:
    receipt = Receipt("x", PureLoss(0.1), 0.1, 0.0, Neighbors.ADD_REMOVE, RECORD, False, "", "")
    assert Allowance.of(receipt).success(0.5) == 1.0


def test_an_attack_exceeds_a_promise_only_beyond_its_interval() -> None:
    scores = MembershipScores.of(np.ones(200), np.zeros(200))
    sure = AttackResult.of_scores("all", THREAT, scores, seconds=0.0, questions=0)
    assert sure.epsilon > 4
    assert Allowance(1.0).exceeded_by(sure)
    assert Allowance(sure.epsilon - 0.01).exceeded_by(sure)
    assert not Allowance(sure.epsilon + 0.01).exceeded_by(sure)
    assert not Allowance(1.0).exceeded_by(AttackResult("bits", THREAT, "bits", 100, 100, 0.5, 0.0, 0))
    assert not Allowance(1.0, 0.5).exceeded_by(AttackResult.of_scores("few", THREAT, _even(), seconds=0.0, questions=0))


def _even() -> MembershipScores:
    rng = np.random.default_rng(0)
    return MembershipScores.of(rng.normal(size=100), rng.normal(size=100))
