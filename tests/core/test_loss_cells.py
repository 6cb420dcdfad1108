"""Cells of loss: their tables dominate, and their masses are right."""

from __future__ import annotations

import math

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest

from discreet.core.events import DiscreteLoss, LossTable
from discreet.core.grid import Array
from discreet.core.loss_cells import LossCells, masses


def hockey_stick(p: Array, q: Array, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def tabulated_delta(step: float, table: LossTable, epsilon: float) -> float:
    losses = step * (table.first + np.arange(len(table.probabilities)))
    return table.infinity + float(np.array(table.probabilities) @ np.maximum(-np.expm1(epsilon - losses), 0.0))


@pytest.mark.parametrize("step", [0.01, 0.3, 2.0])
def test_a_table_dominates_the_atoms_in_its_cells_and_is_close(step: float) -> None:
    generator = np.random.default_rng(3)
    q = generator.dirichlet(np.ones(200))
    p = q * np.exp(generator.normal(size=200))
    p /= p.sum()
    losses = np.log(p / q)
    first = math.floor(losses.min() / step)
    places = np.floor(losses / step).astype(int) - first
    totals = [np.bincount(places, law).astype(np.float64) for law in (p, q)]
    cells = LossCells(step, first, totals[0], totals[1])
    DiscreteLoss(step, cells.table, cells.table)
    for epsilon in np.linspace(-2, 2, 41):
        exact, found = hockey_stick(p, q, epsilon), tabulated_delta(step, cells.table, epsilon)
        assert exact * (1 - 1e-12) <= found <= exact + step / 2 + 1e-8


def test_both_laws_keep_their_totals() -> None:
    step, p, q = 0.5, np.array([0.2, 0.5, 0.3]), np.array([0.25, 0.4, 0.15])
    table = LossCells(step, -1, p, q).table
    losses = step * (table.first + np.arange(4))
    assert sum(table.probabilities) == pytest.approx(1.0, abs=1e-9)
    assert np.array(table.probabilities) @ np.exp(-losses) == pytest.approx(q.sum(), abs=1e-8)


def test_what_lies_beyond_is_infinite_loss() -> None:
    table = LossCells(1.0, 0, np.array([0.9]), np.array([0.5]), beyond=0.1).table
    assert table.infinity == 0.1
    assert sum(table.probabilities) == pytest.approx(0.9)


def test_laws_with_nothing_in_common_lose_everything() -> None:
    assert LossCells(1.0, 0, np.zeros(3), np.ones(3), beyond=1.0).table == LossTable(0, (0.0,), 1.0)


def test_masses_agree_with_multi_precision() -> None:
    edges = np.array([0.0, 0.0, 0.3, 1.1, 1.1, 4.0])
    found = masses(lambda x: 3 * np.log(np.maximum(x, 1e-300)) - x**2, edges, between=np.linspace(0, 5, 21))
    for low, high, mass in zip(edges, edges[1:], found, strict=False):
        exact = mpmath.quad(lambda x: x**3 * mpmath.exp(-(x**2)), [low, high])
        assert mass == pytest.approx(float(exact), rel=1e-13, abs=1e-300)


def test_there_is_nothing_between_equal_edges() -> None:
    assert masses(np.zeros_like, np.full(3, 2.0), np.arange(4.0)).tolist() == [0.0, 0.0]
