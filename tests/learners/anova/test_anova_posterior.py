"""Posterior means of coefficients: those of noise are small, those of effects are found, long steps are taken back."""

from __future__ import annotations

import numpy as np

from discreet.learners.anova.anova_posterior import AnovaPosterior, independent_products, shrunk_products

GROUPS = np.repeat(np.arange(3), (1, 20, 20))
COUNT, SIZE = 10_000.0, 41


def made(steeper: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True coefficients, of which those of the last group are 0, and true and assumed products."""
    rng = np.random.default_rng(0)
    truth = np.where(GROUPS == 2, 0.0, rng.normal(size=SIZE))[:, None]
    factors = rng.normal(size=(200, SIZE))
    products = factors.T @ factors * COUNT / 200 / SIZE
    return truth, steeper * products, products


def rounds(posterior: AnovaPosterior, truth: np.ndarray, products: np.ndarray, stddev: float, times: int) -> None:
    rng = np.random.default_rng(1)
    for turn in range(1, times + 1):
        noisy = products @ (truth - posterior.mean) + stddev * rng.normal(size=truth.shape)
        posterior.add(noisy, turn, 1.0, stddev, 1e-6)
        posterior.fit(1.0)


def test_effects_are_found_and_groups_without_one_are_not_taken_for_one() -> None:
    truth, products, assumed = made()
    posterior = AnovaPosterior(assumed, GROUPS, 1)
    rounds(posterior, truth, products, 30.0, 4)
    away = posterior.mean - truth
    assert np.abs(away[:21]).mean() < 0.25
    assert np.abs(posterior.mean[21:]).mean() < 0.1
    inside = np.abs(away[:, 0]) < 3 * np.sqrt(np.diag(posterior.covariance))
    assert inside.mean() > 0.9


def test_steps_that_are_too_long_are_taken_back() -> None:
    """The true products are four times those that are assumed: without the correction, all steps overshoot."""
    truth, products, assumed = made(steeper=4.0)
    posterior = AnovaPosterior(assumed, GROUPS, 1)
    rounds(posterior, truth, products, 1.0, 8)
    assert np.linalg.norm(posterior.mean - truth) < 0.3 * np.linalg.norm(truth)


def test_where_gradients_are_noise_alone_all_coefficients_but_the_constant_are_next_to_nothing() -> None:
    """A prior that starts at its greatest variance would leave three times as much."""
    _, products, assumed = made()
    moved = np.zeros((SIZE, 5))
    for seed in range(5):
        rng, posterior = np.random.default_rng(seed), AnovaPosterior(assumed, GROUPS, 1)
        posterior.add(300 * rng.normal(size=(SIZE, 1)), 1, 1.0, 300.0, 1e-6)
        posterior.fit(1.0)
        moved[1:, seed] = posterior.mean[1:, 0]
    assert float((moved * (products @ moved)).sum()) / 5 / np.trace(products) < 0.015


def test_the_prior_allows_no_more_variance_than_scores_can_have() -> None:
    _, products, assumed = made()
    rng, posterior = np.random.default_rng(3), AnovaPosterior(assumed, GROUPS, 1)
    posterior.add(products @ (30 * rng.normal(size=(SIZE, 1))), 1, 1.0, 1e3, 1e-6)
    posterior.fit(1.0)
    assert np.abs(posterior.mean).max() < 12  # of effects of up to 70, which noise of this size would leave as they are


def test_noisy_products_are_brought_closer_to_those_of_independent_columns() -> None:
    rng, squares = np.random.default_rng(2), np.full(30, 1 / 30)
    truth = independent_products(squares, COUNT)
    for stddev, most in ((1.0, 0.01), (300.0, 0.3)):
        noise = np.triu(rng.normal(0, stddev, (30, 30)))
        noisy = truth + noise + np.triu(noise, 1).T
        found = shrunk_products(noisy, squares, COUNT, stddev, 1.0)
        assert np.linalg.norm(found - truth) < np.linalg.norm(noisy - truth) * (1.0 if stddev > 1 else 5.0)
        assert np.abs(np.linalg.eigvalsh(found).min() / (0.9 * COUNT / 30) - 1) < 1.0 + most
