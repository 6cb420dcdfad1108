"""What blocks vote for: least squares, blocks that do not tell, and that every block speaks for itself."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.schema.schema import Number, Schema
from discreet.statistics.fits.block_slopes import (
    FARTHEST,
    Band,
    BlockDistances,
    BlockSlopes,
    OneSlope,
    Residuals,
    ScaledColumns,
    slopes_of,
    squeezed,
    stretched,
)

SCHEMA = Schema({"a": Number(0, 10), "b": Number(-3, 1), "y": Number(100, 300)})
FRAME = ScaledColumns.of(SCHEMA, ("a", "b"), "y")


def blocks(number: int, size: int = 6, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.uniform([0, -3, 100], [10, 1, 300], (number, size, 3))


def test_slopes_are_those_of_least_squares() -> None:
    rows = FRAME.scaled(blocks(50))
    for found, block in zip(slopes_of(rows), rows, strict=True):
        design = np.column_stack([np.ones(len(block)), block[:, :-1]])
        np.testing.assert_allclose(found, np.linalg.lstsq(design, block[:, -1], rcond=None)[0][1:], rtol=1e-6)


def test_own_units_give_back_the_plane_that_records_lie_in() -> None:
    rows = blocks(20)
    rows[..., 2] = 150 + 7 * rows[..., 0] - 11 * rows[..., 1]
    slopes = slopes_of(FRAME.scaled(rows))
    np.testing.assert_allclose(FRAME.own_slopes(slopes), np.tile([7.0, -11.0], (20, 1)), rtol=1e-6)
    level = Residuals(FRAME, tuple(slopes[0].tolist()))(rows[:1, :1])
    assert FRAME.own_intercept(slopes[0], float(level[0, 0])) == pytest.approx(150, rel=1e-6)


def test_empty_places_are_left_out() -> None:
    rows = FRAME.scaled(blocks(10))
    holed = np.concatenate([rows, np.full((10, 2, 3), np.nan)], axis=1)
    np.testing.assert_allclose(slopes_of(holed), slopes_of(rows), rtol=1e-9)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_blocks_with_too_few_records_vote_for_both_ends_in_turn(size: int) -> None:
    rows = np.concatenate([FRAME.scaled(blocks(4, size)), np.full((4, 3, 3), np.nan)], axis=1)
    assert slopes_of(rows).tolist() == [[FARTHEST] * 2, [-FARTHEST] * 2] * 2


def test_a_column_that_is_constant_in_a_block_leaves_the_others_alone() -> None:
    rows = FRAME.scaled(blocks(4))
    rows[..., 1] = 0.25
    found = slopes_of(rows)
    assert found[:, 1].tolist() == [FARTHEST, -FARTHEST] * 2
    np.testing.assert_allclose(found[:, 0], slopes_of(rows[..., [0, 2]])[:, 0], rtol=1e-6)


def test_columns_that_repeat_one_another_are_not_told_apart() -> None:
    rows = FRAME.scaled(blocks(4))
    rows[..., 1] = 0.5 * rows[..., 0] + 0.1
    assert (np.abs(slopes_of(rows)) == FARTHEST).all()


@pytest.mark.parametrize("narrow", [1e-2, 1e-4, 1e-6])
def test_a_column_that_hardly_varies_still_tells_its_slope(narrow: float) -> None:
    rows = FRAME.scaled(blocks(30))
    rows[..., 0] *= narrow
    rows[..., 2] = 3 * rows[..., 0] + 0.2 * rows[..., 1]
    np.testing.assert_allclose(slopes_of(rows), np.tile([3.0, 0.2], (30, 1)), rtol=1e-2)


@pytest.mark.parametrize("extreme", [0.0, 1e-300, 1e300, -1e300, 1.7e308, 5e-324])
def test_no_value_makes_a_block_fail(extreme: float) -> None:
    rows = blocks(3)
    rows[1] = extreme
    rows[2, 0] = extreme
    with np.errstate(all="ignore"):
        found = slopes_of(rows)
    assert found.shape == (3, 2)


OF = [
    BlockSlopes(FRAME),
    BlockSlopes(FRAME, Band((0.1, 0.2), 0.0, 0.5)),
    BlockDistances(FRAME, None, (0.1, 0.2)),
    BlockDistances(FRAME, None, (0.1, 0.2), 2),
    OneSlope(FRAME, None, 1),
]


@pytest.mark.parametrize("of", OF, ids=lambda of: type(of).__name__)
def test_another_record_changes_the_vote_of_its_own_block_alone(of: BlockSlopes) -> None:
    rows, changed = blocks(9), blocks(9)
    changed[4, 2] = [9.0, -1.0, 250.0]
    before, after = of(rows), of(changed)
    assert of == OF[3] or (before[4] != after[4]).all()
    np.testing.assert_array_equal(np.delete(before, 4, axis=0), np.delete(after, 4, axis=0))


def test_the_nearest_of_several_blocks_counts() -> None:
    rows, center = blocks(6, 8), (0.1, 0.2)
    single = BlockDistances(FRAME, None, center)(rows.reshape(12, 4, 3))
    found = BlockDistances(FRAME, None, center, 2)(rows)
    np.testing.assert_array_equal(found, single.reshape(6, 2, 2).min(axis=1))
    np.testing.assert_allclose(2.0**single, np.abs(slopes_of(FRAME.scaled(rows.reshape(12, 4, 3))) - center))


def test_records_outside_a_band_have_no_part() -> None:
    rows = FRAME.scaled(blocks(5))
    band = Band((0.3, -0.2), 0.1, 0.4)
    kept = ~np.isnan(band.only(rows)).any(axis=2)
    np.testing.assert_array_equal(kept, np.abs(rows[..., 2] - rows[..., :2] @ [0.3, -0.2] - 0.1) <= 0.4)


def test_squeezing_keeps_the_order_and_can_be_undone() -> None:
    slopes = np.array([-FARTHEST, -3.0, -1e-9, 0.0, 0.5, 1e3, FARTHEST])
    assert (np.diff(squeezed(slopes)) > 0).all()
    np.testing.assert_allclose(stretched(squeezed(slopes)), slopes, rtol=1e-9)
