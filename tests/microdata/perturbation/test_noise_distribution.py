"""Distributions before noise: the probabilities that noise moves values, the estimate, and odd values."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.mechanisms.microdata.unit_noise import NoiseLaw
from discreet.microdata.perturbation.noise_distribution import noise_chances, reconstruct_distribution
from discreet.schema.schema import Number

COLUMN = Number(0.0, 10.0)
READ_ELSEWHERE = {
    "reconstruct_distribution": "it reads values that were given away, with noise, and asks no data",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""


def drawn(rng: np.random.Generator, law: NoiseLaw, size: int) -> np.ndarray:
    return rng.normal(size=size) if law == "gaussian" else rng.uniform(-np.sqrt(3), np.sqrt(3), size)


@pytest.mark.parametrize("law", ["gaussian", "uniform"])
def test_chances_are_those_of_simulated_noise(law: NoiseLaw) -> None:
    rng, edges, cells = np.random.default_rng(1), np.array([0.0, 1.0, 3.0]), np.linspace(-9.0, 12.0, 22)
    chances = noise_chances(cells, edges, 1.5, law)
    for place in range(2):
        values = rng.uniform(edges[place], edges[place + 1], 200_000) + 1.5 * drawn(rng, law, 200_000)
        assert np.allclose(np.histogram(values, cells)[0] / 2e5, chances[:, place], atol=5 * 0.5 / np.sqrt(2e5))
    assert np.allclose(chances.sum(axis=0), 1, atol=1e-3)


@pytest.mark.parametrize("law", ["gaussian", "uniform"])
def test_two_peaks_that_noise_hides_are_found(law: NoiseLaw) -> None:
    rng = np.random.default_rng(2)
    exact = np.where(rng.uniform(size=50_000) < 0.3, rng.uniform(1, 2, 50_000), rng.uniform(7, 8, 50_000))
    noisy = exact + 3.0 * drawn(rng, law, exact.size)
    found = reconstruct_distribution(noisy, COLUMN, 3.0, law=law, bins=10)
    assert found.probabilities[:5].sum() == pytest.approx(0.3, abs=0.03)
    assert found.probabilities[6:9].sum() > 0.5
    assert found.mean == pytest.approx(exact.mean(), abs=0.1)
    assert found.variance == pytest.approx(exact.var(), rel=0.1)
    assert np.var(noisy) > 1.8 * exact.var()


def test_means_are_right_on_average() -> None:
    rng, off = np.random.default_rng(3), []
    for _ in range(60):
        exact = rng.uniform(2, 5, 1000)
        off.append(reconstruct_distribution(exact + rng.normal(0, 1, 1000), COLUMN, 1.0, bins=20).mean - exact.mean())
    assert abs(np.mean(off)) < 5 * np.std(off) / np.sqrt(60) + 0.005


def test_steps_have_cells_around_them_and_little_noise_leaves_little_to_do() -> None:
    exact = np.repeat([0.0, 3.0, 10.0], [100, 500, 400])
    found = reconstruct_distribution(exact, Number(0, 10, step=1), 0.01, bins=11)
    assert found.edges[0] == -0.5
    assert np.allclose(found.probabilities[[0, 3, 10]], [0.1, 0.5, 0.4], atol=1e-3)


def test_odd_values_and_parameters_are_answered_or_refused() -> None:
    for values in ([], [np.nan], [np.inf], np.zeros((0, 3)), ["a"], [10**400]):
        with pytest.raises(ParameterError, match="no values"):
            reconstruct_distribution(np.array(values, dtype=object), COLUMN, 1.0)
    for wrong in ({"stddev": 0.0}, {"stddev": np.nan}, {"bins": 0}, {"bins": 10**6}, {"max_iter": 0}, {"law": "a"}):
        with pytest.raises(ParameterError):
            reconstruct_distribution(**{"values": np.ones(3), "column": COLUMN, "stddev": 1.0, **wrong})  # type: ignore[arg-type]
    for values in ([1e6, np.nan, -1e6], [5.0], [0.0, 10.0]):
        for stddev in (1e-3, 1e6):
            found = reconstruct_distribution(np.array(values), COLUMN, stddev, bins=7, max_iter=20)
            assert np.isclose(found.probabilities.sum(), 1)
            assert found.probabilities.min() >= 0
