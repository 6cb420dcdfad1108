"""Frequencies: how they are shown, and what shuffling makes of the price."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.accounting.accountant import epsilon
from discreet.accounting.shuffling import shuffled, shuffled_response
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.local.frequencies import bayesian_update, norm_mul, norm_sub
from discreet.local.oracles.generalized_randomized_response import CodeOracle, GeneralizedRandomizedResponse
from discreet.local.oracles.hadamard_response import HadamardResponse
from discreet.local.oracles.projective_geometry import ProjectiveGeometry
from discreet.local.oracles.unary_encoding import OptimizedUnary
from discreet.noise.deterministic import DeterministicBits
from tests.local.test_oracle import found, zipf


def test_norm_sub_is_the_nearest_point_of_the_simplex() -> None:
    generator = np.random.default_rng(1)
    for size in (2, 5, 40):
        shares = generator.normal(0.1, 0.5, size)
        near = norm_sub(shares)
        assert near.sum() == pytest.approx(1.0)
        assert near.min() >= 0
        corners = np.eye(size)
        assert ((corners - near) @ (shares - near) < 1e-12).all()  # the condition of optimality


def test_every_method_gives_shares_of_a_whole_even_where_nothing_is_positive() -> None:
    for shares in (np.array([-0.5, -0.1, -0.4]), np.zeros(4), np.array([3.0, -1.0])):
        for made in (norm_sub(shares), norm_mul(shares)):
            assert made.sum() == pytest.approx(1.0)
            assert made.min() >= 0


@pytest.mark.parametrize("kind", [GeneralizedRandomizedResponse, HadamardResponse, ProjectiveGeometry])
def test_bayesian_updates_end_at_the_maximum_of_the_likelihood(kind: type[CodeOracle]) -> None:
    oracle = kind(1.0, 5)
    tally = oracle.tallied(oracle.reports([0] * 600 + [1] * 300 + [4] * 100, DeterministicBits(3)))
    law = oracle.low + (oracle.high - oracle.low) * np.stack([oracle.scattered(row) for row in np.eye(5)])

    def loss(shares: Array) -> float:
        return -float(tally @ np.log(shares @ law))

    best = minimize(
        loss, np.full(5, 0.2), bounds=[(0, 1)] * 5, constraints={"type": "eq", "fun": lambda f: f.sum() - 1}
    )
    assert loss(bayesian_update(oracle, tally)) <= best.fun + 1e-3


def test_norm_sub_beats_the_unbiased_estimate_and_scaling_on_skewed_data() -> None:
    values = zipf(200, 10_000)
    shares = np.bincount(values, minlength=200) / len(values)
    estimate = found(ProjectiveGeometry(1.0, 200), values)
    raw, *made = (
        np.square(each - shares).sum()
        for each in (estimate.shares, *(estimate.consistent(m).values for m in ("norm_mul", "norm_sub", "ibu")))
    )
    assert made[1] < made[0] / 2 < raw / 4
    assert made[2] < made[0]


def test_methods_that_do_not_apply_are_refused() -> None:
    estimate = found(OptimizedUnary(1.0, 5), np.arange(5))
    with pytest.raises(ParameterError, match="does not determine the likelihood"):
        estimate.consistent("ibu")
    with pytest.raises(ParameterError, match="norm_sub or norm_mul or ibu"):
        estimate.consistent("magic")


def test_the_price_of_shuffled_reports_is_that_of_the_theorem_for_honest_people() -> None:
    for oracle, theorem in (
        (GeneralizedRandomizedResponse(1.0, 3), shuffled),
        (GeneralizedRandomizedResponse(1.0, 2), shuffled_response),
    ):
        estimate = found(oracle, np.zeros(5000, np.int64))
        assert (estimate.receipt.epsilon, estimate.receipt.delta) == (1.0, 0.0)
        for honest in (None, 1000):
            receipt = estimate.shuffled(1e-6, honest).receipt
            assert receipt.event == theorem(1.0, honest or 5000)
            assert receipt.epsilon == epsilon(receipt.event, 1e-6) < 0.3
    for wrong in ({"delta": 0.0}, {"honest": 5001}, {"honest": 0}):
        with pytest.raises(ParameterError):
            estimate.shuffled(**wrong)


def test_it_is_a_table_with_a_chart() -> None:
    estimate = found(GeneralizedRandomizedResponse(3.0, ("<a>", "b")), np.array(["<a>", "b", "b"] * 1000))
    assert estimate["frequency"].values is estimate.shares
    assert "&lt;a&gt;" in estimate._repr_html_()
    assert estimate.to_dict()["labels"] == {"value": ["<a>", "b"]}
    assert len(estimate.plot().patches) == 2
