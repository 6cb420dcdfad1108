"""Tables without negative counts: never farther from the exact table than the release was."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.questions.tables.residuals import AxisSet, MarginalResiduals, Shape, closure, residual
from discreet.statistics.tables.nonnegative import MOST_CELLS, nonnegative_table, whole_table

rng = np.random.default_rng(5)


def distance(first: MarginalResiduals, second: MarginalResiduals) -> float:
    """As the noise is measured."""
    squares = {axes: np.square(part - second.parts[axes]).sum() for axes, part in first.parts.items()}
    return sum(float(square) / first.variances[axes] for axes, square in squares.items())


def noisy(table: np.ndarray, variances: dict[AxisSet, float]) -> MarginalResiduals:
    exact = MarginalResiduals.of_table(table, variances)
    parts = {}
    for axes, part in exact.parts.items():
        noise = rng.normal(size=part.shape) * np.sqrt(variances[axes])
        parts[axes] = part + residual(noise, axes, axes)
    return MarginalResiduals(exact.shape, parts, variances)


@pytest.mark.parametrize(("shape", "stddev"), [((2,) * 6, 30.0), ((3, 4, 5), 10.0), ((3, 4, 5), 300.0), ((6, 1), 5.0)])
def test_it_is_nearer_to_the_exact_table_by_as_much_as_it_moved(shape: Shape, stddev: float) -> None:
    """The exact table is among those that are projected on, so the three make an obtuse angle at the projection."""
    table = rng.multinomial(500, rng.dirichlet(np.full(np.prod(shape), 0.1))).reshape(shape).astype(np.float64)
    pairs = [frozenset(pair) for pair in combinations(range(len(shape)), 2)]
    variances = {axes: stddev**2 * rng.uniform(0.5, 2) for axes in closure(pairs, shape)}
    released = noisy(table, variances)
    exact = MarginalResiduals.of_table(table, variances)
    found = nonnegative_table(released)
    projected = MarginalResiduals.of_table(found, variances)
    assert found.min() >= 0
    before, after, moved = distance(released, exact), distance(projected, exact), distance(released, projected)
    assert after + moved <= before * (1 + 1e-3)


def test_a_table_that_is_right_already_stays() -> None:
    table = rng.uniform(1, 9, (3, 4))
    axes = closure([frozenset({0, 1})], (3, 4))
    found = nonnegative_table(MarginalResiduals.of_table(table, dict.fromkeys(axes, 1.0)))
    np.testing.assert_allclose(found, table, atol=1e-3)


def test_whole_numbers_add_up_to_nearly_the_same() -> None:
    table = rng.uniform(0, 3, (4, 5, 6))
    whole = whole_table(table)
    np.testing.assert_array_equal(whole, np.rint(whole))
    assert whole.min() >= 0
    assert np.abs(np.cumsum(whole) - np.cumsum(table)).max() <= 0.5 + 1e-9
    assert np.abs(whole.sum(axis=(1, 2)) - table.sum(axis=(1, 2))).max() <= 1 + 1e-9


def test_a_table_that_is_too_large_is_refused() -> None:
    parts: dict[AxisSet, np.ndarray] = {frozenset(): np.array(1.0)}
    with pytest.raises(ParameterError, match="fewer columns"):
        nonnegative_table(MarginalResiduals((MOST_CELLS, 2), parts, {frozenset(): 1.0}))
