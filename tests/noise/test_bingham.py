"""Directions of the Bingham law: its law in two and three dimensions, and how many proposals it takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import ParameterError
from discreet.noise.bingham import bingham, envelope
from discreet.noise.deterministic import DeterministicBits
from tests.noise.fit import ALARM


def turned(form: np.ndarray) -> np.ndarray:
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=form.shape))[0]
    return np.asarray(turn @ form @ turn.T)


@pytest.mark.parametrize("concentration", [0.0, 1.0, 3.0, 40.0])
def test_twice_the_angle_in_the_plane_has_the_law_of_von_mises(concentration: float) -> None:
    """exp(k cos^2 a) is exp(k cos(2 a) / 2), up to a constant."""
    draws = bingham(DeterministicBits(1), 20_000, np.diag([concentration, 0.0]))
    np.testing.assert_allclose(np.square(draws).sum(axis=1), 1.0)
    doubled = 2 * np.arctan2(draws[:, 1], draws[:, 0])
    law = stats.vonmises(concentration / 2) if concentration else stats.uniform(-np.pi, 2 * np.pi)
    assert stats.kstest((doubled + np.pi) % (2 * np.pi) - np.pi, law.cdf).pvalue > ALARM


@pytest.mark.parametrize("gaps", [(0.0, 0.0, 0.0), (0.0, 2.0, 5.0), (0.0, 0.0, 30.0), (0.0, 200.0, 300.0)])
def test_squared_coordinates_have_the_means_of_the_law(gaps: tuple[float, ...]) -> None:
    """By importance sampling of a million uniform directions, or of Gaussian ones where it is concentrated."""
    rng, form = np.random.default_rng(2), -np.diag(gaps)
    wide = np.where(np.array(gaps) > 100, 2 / np.sqrt(np.maximum(gaps, 1.0)), 1.0)
    points = rng.normal(size=(1_000_000, 3)) * wide
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    weights = np.exp(-np.square(points) @ np.array(gaps)) * np.square(points / wide).sum(axis=1) ** 1.5
    exact = weights @ np.square(points) / weights.sum()
    draws = bingham(DeterministicBits(3), 20_000, form)
    np.testing.assert_allclose(np.square(draws).mean(axis=0), exact, atol=5 * 0.3 / np.sqrt(20_000))


def test_a_turned_form_turns_its_directions() -> None:
    form = turned(np.diag([5.0, 1.0, 0.0, 0.0]))
    draws = bingham(DeterministicBits(1), 50_000, form)
    second = draws.T @ draws / len(draws)
    np.testing.assert_allclose(second @ form, form @ second, atol=0.05)
    plain = bingham(DeterministicBits(2), 50_000, np.diag([5.0, 1.0, 0.0, 0.0]))
    np.testing.assert_allclose(
        np.linalg.eigvalsh(second), np.sort(np.square(plain).mean(axis=0)), atol=5 * 0.35 / np.sqrt(50_000)
    )


def test_few_proposals_are_rejected() -> None:
    """One in nine is kept for 60 columns and any concentration, so 256 proposals are enough in a round."""
    rng = np.random.default_rng(0)
    for columns in (2, 20, 60):
        for size in (1.0, 1e3, 1e8):
            gaps = np.sort(rng.uniform(0, size, columns))[::-1]
            gaps[-1] = 0.0
            b = envelope(gaps)
            assert (1 / (b + 2 * gaps)).sum() == pytest.approx(1.0)
            y = rng.normal(size=(5_000, columns)) / np.sqrt(1 + 2 * gaps / b)
            s = np.square(y / np.linalg.norm(y, axis=1, keepdims=True)) @ gaps
            chances = np.exp(0.5 * (columns - b) - s + 0.5 * columns * np.log((b + 2 * s) / columns))
            assert chances.max() <= 1 + 1e-12
            assert chances.mean() > 0.09


def test_one_dimension_has_two_directions_and_what_is_no_form_is_refused() -> None:
    assert set(bingham(DeterministicBits(1), 50, np.array([[7.0]])).ravel()) == {-1.0, 1.0}
    assert bingham(DeterministicBits(1), 0, np.eye(2)).shape == (0, 2)
    for wrong in (np.ones(3), np.ones((2, 3)), np.empty((0, 0)), np.array([[np.nan]])):
        with pytest.raises(ParameterError, match="square matrix"):
            bingham(DeterministicBits(1), 1, wrong)
