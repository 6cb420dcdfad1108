"""Independent columns come back from a rotation, not from noise, and Gaussian ones do not."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks import IndependentComponents
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.microdata import rotate
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData
from tests.attacks.trial import AttackTrial


def _rows(rng: np.random.Generator) -> Array:
    sides = [rng.uniform(-1, 1, 3000) if place % 2 else rng.exponential(1, 3000) for place in range(5)]
    return np.column_stack(sides)


def _rotation(rng: np.random.Generator, size: int) -> Array:
    return np.asarray(np.linalg.qr(rng.normal(size=(size, size)))[0])


def _turned(seed: int) -> list[tuple[IndependentComponents, Array]]:
    """The rows, or those of others, after one rotation."""
    rows, behind = (_rows(np.random.default_rng(one)) for one in (5, seed))
    return [(IndependentComponents(rows), behind @ _rotation(np.random.default_rng(7), 5))]


TRIALS = {"IndependentComponents": AttackTrial(lambda: _turned(5), lambda: _turned(6))}


def test_all_columns_come_back_from_a_rotation_in_any_order_of_rows() -> None:
    rng = np.random.default_rng(0)
    rows = _rows(rng)
    rotated, order = rows @ _rotation(rng, 5), rng.permutation(len(rows))
    result = IndependentComponents(rows).run(rotated)
    assert (result.right, result.trials, result.chance) == (5, 5, 0.0)
    assert result.details["least correlation"] >= 0.99
    other = IndependentComponents(rows[order]).run(rotated[order])
    assert other.details["least correlation"] == pytest.approx(result.details["least correlation"], abs=1e-3)


def test_columns_come_back_from_a_table_that_the_library_rotated() -> None:
    """Rows are given away in a random order, and a column that is unchanged tells which is which."""
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.uniform(-1, 1, (2000, 3)), np.arange(2000) / 2000])
    data = PrivateData.of(rows, Schema.numeric(-1.0, 1.0, 4), Budget(1.0))
    table = rotate(data, ["x0", "x1", "x2"], unchanged=["x3"], waiver="made up")
    own = np.rint(2000 * table["x3"]).astype(int)
    result = IndependentComponents(rows[own, :3], alike=0.98).run(table)
    assert result.right == 3


def test_nothing_comes_back_from_noise_or_from_gaussian_columns() -> None:
    rng = np.random.default_rng(2)
    rows, bells = _rows(rng), rng.normal(size=(3000, 5))
    noise = IndependentComponents(rows).run(rng.uniform(size=(3000, 5)))
    assert noise.right == 0
    assert noise.details["least correlation"] < 0.1
    assert IndependentComponents(bells).run(bells @ _rotation(rng, 5)).right == 0
    assert IndependentComponents(rows).run(np.zeros((3000, 2))).right == 0


def test_fewer_sums_than_columns_hide_most_of_them() -> None:
    rng = np.random.default_rng(3)
    rows = _rows(rng)
    result = IndependentComponents(rows).run(rows @ rng.normal(size=(5, 2)))
    assert result.right == 0
    assert result.trials == 5


def test_missing_values_take_no_part_and_what_does_not_fit_is_refused() -> None:
    rng = np.random.default_rng(4)
    rows = _rows(rng)
    rotated = rows @ _rotation(rng, 5)
    rotated[::7, 0], rotated[1::7, 1] = np.nan, np.inf
    assert IndependentComponents(rows).run(rotated).right == 5
    for target in (rotated[:9], "<b>table", np.array([["<b>"]]), np.full((3000, 2), np.nan), np.zeros(3000)):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            IndependentComponents(rows).run(target)
    with pytest.raises(ParameterError, match="alike"):
        IndependentComponents(rows, alike=1.5)
