"""Residuals: they make up every marginal, and do not overlap."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.questions.tables.residuals import MarginalResiduals, cell_shares, closure, residual, subsets

rng = np.random.default_rng(2)
TABLE = rng.normal(size=(2, 3, 4))
WHOLE = frozenset({0, 1, 2})
FOUND = MarginalResiduals.of_table(TABLE, dict.fromkeys(subsets(WHOLE), 1.0))


@pytest.mark.parametrize("axes", [(), (1,), (2, 0), (0, 1, 2), (2, 1, 0)])
def test_a_marginal_is_the_sum_of_its_residuals(axes: tuple[int, ...]) -> None:
    gone = tuple(sorted(WHOLE - set(axes)))
    ordered = sorted(axes)
    expected = TABLE.sum(axis=gone).transpose([ordered.index(axis) for axis in axes])
    np.testing.assert_allclose(FOUND.marginal(axes), expected)


def test_noise_is_uncorrelated_between_residuals() -> None:
    """Each residual is a projection of the cells, scaled: the products of two different ones vanish."""
    cells = np.eye(24).reshape(24, 2, 3, 4)
    maps = [residual(cells, WHOLE, axes).reshape(24, -1).T for axes in subsets(WHOLE)]
    for i, first in enumerate(maps):
        for second in maps[:i]:
            np.testing.assert_allclose(first @ second.T, 0.0, atol=1e-12)


def test_shares_of_the_whole_table_are_those_of_its_cells() -> None:
    """Noise of variance one in each cell has variance n in a sum of n: a residual's, before projection."""
    shares = cell_shares(WHOLE, (2, 3, 4))
    sizes = {axes: 24 / np.prod([(2, 3, 4)[axis] for axis in axes]) for axes in shares}
    assert sum(share * sizes[axes] for axes, share in shares.items()) == pytest.approx(1.0)


def test_an_axis_of_one_cell_has_no_residual() -> None:
    assert closure([frozenset({0, 1})], (1, 3)) == [frozenset(), frozenset({1})]
    flat = MarginalResiduals.of_table(np.array([[1.0, 2.0, 3.0]]), {frozenset(): 1.0, frozenset({1}): 1.0})
    np.testing.assert_allclose(flat.marginal((0, 1)), [[1.0, 2.0, 3.0]])
