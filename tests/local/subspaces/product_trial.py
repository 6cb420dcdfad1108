"""What every report of products is put through."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.local.aggregator import Aggregator
from discreet.local.subspaces.product_moments import squared_sine
from discreet.local.subspaces.product_report import ProductReport
from discreet.noise.deterministic import DeterministicBits


def elongated(n: int, p: int, k: int, seed: int = 0) -> Array:
    """Rows of length one, whose k first coordinates hold nine tenths of the variance."""
    rows = np.random.default_rng(seed).normal(size=(n, p)) * np.where(np.arange(p) < k, 3.0, 1 / math.sqrt(p))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def check_law(randomizer: ProductReport) -> None:
    """Mean and variance of the reports of one vector, and of one that is too long."""
    direction = np.arange(1.0, randomizer.size + 1)
    direction /= np.linalg.norm(direction)
    for seed, length in enumerate((0.6, 5.0)):
        reports = randomizer.reports(
            np.tile(direction * length * randomizer.radius, (20_000, 1)), DeterministicBits(seed)
        )
        collector = Aggregator(randomizer, simulated=True)
        collector.add(reports)
        found = collector.estimate()
        exact = np.outer(direction, direction) * (min(length, 1.0) * randomizer.radius) ** 2
        assert np.abs(found.matrix - exact).max() < 5 * found.stddev
        assert (reports * randomizer.unit).std(axis=0).max() == pytest.approx(randomizer.stddev, rel=0.05)
        assert found.stddev == randomizer.stddev / math.sqrt(20_000)


def check_subspace(kind: type[ProductReport]) -> None:
    """Dense and sparse components of 6,000 people; the error of the dense one is what the noise makes it."""
    randomizer = kind(4.0, 12)
    collector = Aggregator(randomizer, simulated=True)
    collector.add(randomizer.reports(elongated(6000, 12, 2), DeterministicBits(1)))
    moments = collector.estimate()
    assert squared_sine(moments.components(2), np.eye(12)[:2]) < 0.15
    assert squared_sine(moments.sparse_components(2), np.eye(12)[:2]) < 0.05
    assert (np.diff(moments.variances(moments.components(3))) <= 0).all()
    with pytest.raises(ParameterError, match="from 1 to 12"):
        moments.components(13)


def check_refusals(randomizer: ProductReport) -> None:
    impossible = np.full((1, *randomizer.form.shape), 2**31 - 1, np.int32)  # farther out than any report reaches
    for wrong in (np.zeros((1, *randomizer.form.shape)), np.zeros((1, randomizer.size), np.int32), impossible):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            randomizer.accepted(wrong)
    with pytest.raises(ParameterError, match="Give rows of"):
        randomizer.reports(np.zeros((3, randomizer.size + 1)), DeterministicBits(0))
