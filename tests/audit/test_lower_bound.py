from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize, stats

from discreet.audit import evidence
from discreet.audit.evidence import Parts
from discreet.audit.lower_bound import LowerBound, lower_bound
from discreet.audit.ratio import Values
from discreet.audit.witness import Count, Witness
from discreet.core.errors import ParameterError
from tests.audit.mechanisms import Lab, shares

HARD = 4 * [0] + [1], 4 * [1] + [0]  # all queries but the last rise, and the last falls


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Balle and Wang 2018, Theorem 8."""
    there, back = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return float(stats.norm.cdf(there) - math.exp(epsilon) * stats.norm.cdf(back))


@pytest.mark.parametrize(("epsilon", "reached"), [(0.1, 0.8), (1.0, 0.97), (5.0, 0.95)])
def test_laplace_noise_shows_nearly_its_epsilon_and_never_more(epsilon: float, reached: float) -> None:
    lab = Lab(1)
    shown = lower_bound(lab.laplace(0, 1 / epsilon, 10**6), lab.laplace(1, 1 / epsilon, 10**6))
    assert reached * epsilon < shown.epsilon <= epsilon


@pytest.mark.parametrize(("epsilon", "runs"), [(0.1, 10**6), (1.0, 30_000), (5.0, 30_000)])
@pytest.mark.parametrize("fault", [math.sqrt(2), 2.0])
def test_laplace_noise_that_is_too_small_is_caught(epsilon: float, runs: int, fault: float) -> None:
    """A factor of sqrt(2) is what mistaking the variance for the scale brings."""
    lab = Lab(2)
    scale = 1 / (epsilon * fault)
    shown = lower_bound(lab.laplace(0, scale, runs), lab.laplace(1, scale, runs))
    assert epsilon < shown.epsilon <= epsilon * fault


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_geometric_noise_is_bounded_tightly_and_half_of_it_is_caught(epsilon: float) -> None:
    lab = Lab(3)
    right = lower_bound(lab.geometric(0, epsilon, 300_000), lab.geometric(1, epsilon, 300_000))
    wrong = lower_bound(lab.geometric(0, 2 * epsilon, 300_000), lab.geometric(1, 2 * epsilon, 300_000))
    assert right.epsilon <= epsilon < wrong.epsilon <= 2 * epsilon
    assert right.epsilon > 0.7 * epsilon


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_randomized_response_is_bounded_tightly(epsilon: float) -> None:
    lab = Lab(4)
    reports = [lab.randomized_response(answer, epsilon, 16, 300_000) for answer in (3, 9)]
    shown = lower_bound(*reports)
    assert 0.75 * epsilon < shown.epsilon <= epsilon
    assert shown.witness.event in {"2 < output <= 3", "8 < output <= 9"}


def test_noisy_max_is_right_with_twice_the_scale_and_caught_with_once() -> None:
    lab = Lab(5)
    scores = [1] + 19 * [0], [0] + 19 * [1]
    right = lower_bound(*(lab.noisy_max(answer, 2.0, 100_000) for answer in scores))
    wrong = lower_bound(*(lab.noisy_max(answer, 1.0, 100_000) for answer in scores))
    assert 0.7 < right.epsilon <= 1.0 < 1.5 < wrong.epsilon


def test_sparse_vector_is_right_when_it_tells_indices_alone() -> None:
    lab, epsilon = Lab(6), 3.0
    shown = lower_bound(*(lab.above_threshold(q, 2 / epsilon, 4 / epsilon, 100_000)[:, 0] for q in HARD))
    assert 0.6 * epsilon < shown.epsilon <= epsilon


def test_sparse_vector_without_fresh_noise_per_query_is_caught() -> None:
    """Lyu, Su and Li 2017, Algorithm 5: the threshold's noise serves all queries."""
    lab, epsilon = Lab(7), 3.0
    shown = lower_bound(*(lab.above_threshold(q, 2 / epsilon, 0.0, 30_000)[:, 0] for q in HARD))
    assert shown.epsilon > epsilon


def test_sparse_vector_that_releases_the_value_it_compared_is_caught() -> None:
    """Lyu, Su and Li 2017, Algorithm 3."""
    lab, epsilon = Lab(8), 3.0
    shown = lower_bound(*(lab.above_threshold(q, 2 / epsilon, 2 / epsilon, 100_000) for q in HARD))
    assert shown.epsilon > epsilon


def test_noise_used_twice_is_caught() -> None:
    lab = Lab(9)
    noise = lab.generator.laplace(0, 10, (2, 20_000))
    shown = lower_bound(np.column_stack([noise[0], noise[0]]), np.column_stack([noise[1] + 1, noise[1]]))
    assert shown.epsilon > 6


@pytest.mark.parametrize("multiplier", [0.5, 1.0, 2.0])
def test_mu_of_gaussian_noise_is_found_within_five_percent(multiplier: float) -> None:
    lab = Lab(10)
    shown = lower_bound(lab.gaussian(0, multiplier, 10**6), lab.gaussian(1, multiplier, 10**6))
    assert 0.95 / multiplier < shown.mu <= 1 / multiplier


def test_mu_of_a_gaussian_vector_is_found_whichever_way_it_moves() -> None:
    lab = Lab(11)
    still = lab.gaussian(np.zeros(10), 1.0, 50_000)
    for move in (shares(10), np.eye(10)[7], shares(10) * np.tile([1, -1], 5)):
        assert 0.9 < lower_bound(lab.gaussian(move, 1.0, 50_000), still).mu <= 1.0


def test_what_coordinates_show_together_is_found() -> None:
    """Each coordinate alone has the same law on both data sets; the sign of the product tells them apart."""
    generator = np.random.default_rng(12)

    def outputs(bit: int) -> Values:
        left, right = generator.normal(size=(2, 60_000))
        told = (generator.random(60_000) < 0.75) == bool(bit)
        return np.column_stack([left, np.abs(right) * np.sign(left) * np.where(told, 1, -1)])

    assert 0.9 < lower_bound(outputs(0), outputs(1)).epsilon <= math.log(3)


def test_epsilon_at_a_delta_stays_under_the_gaussian_curve() -> None:
    lab = Lab(13)
    first, second = lab.gaussian(0, 1.0, 10**6), lab.gaussian(1, 1.0, 10**6)
    for delta in (0.01, 0.1):
        epsilon = optimize.brentq(lambda e, delta=delta: gaussian_delta(e, mu=1.0) - delta, 0, 20)
        shown = lower_bound(first, second, delta=delta)
        assert 0.9 * epsilon < shown.epsilon <= epsilon
        assert shown.epsilon_at(0.5) <= shown.epsilon <= shown.epsilon_at(0.0)


@pytest.mark.parametrize(
    ("outputs", "epsilon", "mu"),
    [
        (lambda lab, x: lab.randomized_response(x, math.log(3), 2, 400), math.log(3), math.inf),
        (lambda lab, x: lab.geometric(x, 0.5, 400), 0.5, math.inf),
        (lambda lab, x: lab.laplace(x, 1.0, 400), 1.0, math.inf),
        (lambda lab, x: lab.gaussian(x, 1.0, 400), math.inf, 1.0),
    ],
    ids=["randomized response", "geometric", "laplace", "gaussian"],
)
def test_true_claims_are_refuted_no_more_often_than_the_confidence_says(
    outputs: Callable[[Lab, int], Values], epsilon: float, mu: float
) -> None:
    lab, repeats, risk = Lab(14), 300, 0.1
    shown = [lower_bound(outputs(lab, 0), outputs(lab, 1), confidence=1 - risk) for _ in range(repeats)]
    alarms = sum(bound.epsilon > epsilon or bound.mu > mu for bound in shown)
    assert alarms <= risk * repeats


def test_choosing_events_on_the_outputs_that_count_them_would_raise_false_alarms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The claim above can fail: on a mechanism that ignores its data, outputs used twice show a loss every time."""
    generator = np.random.default_rng(15)
    pairs = [generator.integers(0, 64, (2, 400)) for _ in range(100)]
    assert sum(lower_bound(*pair, confidence=0.9).epsilon > 0 for pair in pairs) <= 10
    monkeypatch.setattr(evidence.Parts, "of", classmethod(lambda cls, outputs: Parts(outputs, outputs, outputs)))
    assert sum(lower_bound(*pair, confidence=0.9).epsilon > 0 for pair in pairs) > 50


def test_every_bound_is_paid_for_out_of_one_risk() -> None:
    lab = Lab(16)
    shown = lower_bound(lab.gaussian(0, 1.0, 5000), lab.gaussian(1, 1.0, 5000), delta=0.01, confidence=0.99)
    assert sum(2 * witness.risk for witness in shown.witnesses) == pytest.approx(0.01)
    assert all(witness.often.trials == witness.seldom.trials == 2500 for witness in shown.witnesses)


def test_a_witness_holds_its_two_bounds_against_both_definitions() -> None:
    seen = Witness("output > 0", "first", Count(620, 1000), Count(130, 1000), risk=0.01)
    assert seen.epsilon(0.0) == pytest.approx(math.log(seen.least / seen.most))
    assert seen.epsilon(0.2) == pytest.approx(math.log((seen.least - 0.2) / seen.most))
    assert seen.epsilon(0.9) == 0.0
    weak = Witness("output > 0", "first", Count(0, 1000), Count(130, 1000), risk=0.01)
    assert weak.epsilon(0.0) == weak.mu == 0.0


def test_bools_single_columns_and_lists_are_numbers_too() -> None:
    generator = np.random.default_rng(17)
    first, second = generator.random((2, 4000)) < [[0.8], [0.2]]
    plain = lower_bound(first, second)
    assert plain.epsilon > 1
    assert lower_bound(first[:, None], second.tolist()).epsilon == plain.epsilon


def test_outputs_that_are_not_finite_count_as_what_they_are() -> None:
    generator = np.random.default_rng(18)
    first, second = generator.normal(size=(2, 20_000, 2))
    first[generator.random(20_000) < 0.2, 1] = np.nan
    second[generator.random(20_000) < 0.2, 0] = np.inf
    second[0, 0], second[1, 0] = 1e308, -1e308
    assert lower_bound(first, second).epsilon > 3
    assert lower_bound(first[:, 1], second[:, 1]).epsilon > 3
    assert lower_bound(first[:, 0], second[:, 0]).epsilon > 3


def test_equal_outputs_show_nothing() -> None:
    assert lower_bound(np.zeros(100), np.zeros(100)).epsilon == 0.0
    assert lower_bound(np.zeros((100, 3)), np.zeros((100, 3))).mu == 0.0


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (["a"] * 50, ["b"] * 50, {}, "any fixed function"),
        (1.0, 2.0, {}, "shape"),
        (np.zeros((50, 0)), np.zeros((50, 0)), {}, "shape"),
        (np.zeros((50, 2)), np.zeros((50, 3)), {}, "one shape"),
        (np.zeros(50), np.zeros(39), {}, "at least 40"),
        (np.zeros(50), np.zeros(50), {"delta": 1.0}, "deltas in"),
        (np.zeros(50), np.zeros(50), {"confidence": 1.0}, "confidence in"),
    ],
)
def test_outputs_that_cannot_be_audited_are_refused(
    first: Values, second: Values, options: dict[str, float], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        lower_bound(first, second, **options)


def test_a_bound_tells_its_event_and_its_counts() -> None:
    seen = Witness("x <= 3", "second", Count(90, 100), Count(2, 200), 1e-4)
    shown = LowerBound(0.0, 0.999, (seen,))
    assert str(shown).startswith(f"epsilon >= {math.log(seen.least / seen.most):.4g} at delta 0 and mu >= ")
    assert "x <= 3. Seen in 90 of 100 outputs on the second data set and in 2 of 200 on the first." in str(shown)
    assert "x &lt;= 3</th><td>second</td><td>90 of 100</td>" in shown._repr_html_()
