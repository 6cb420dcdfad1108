"""Slopes by depth: what is paid for, the sizes of blocks, and how wide intervals are, against simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors
from discreet.releases.joint_plan import JointPlan
from discreet.schema.schema import Schema
from discreet.statistics.fits.block_slopes import ScaledColumns, slopes_of
from discreet.statistics.fits.dealing import Blocks, smallest_block
from discreet.statistics.fits.slopes_by_depth import SlopesByDepth
from discreet.statistics.fits.vote_width import VoteWidth
from discreet.trust.private_data import PrivateData

SCHEMA = Schema.numeric(-1.0, 1.0, 3)


def blocks(neighbors: Neighbors) -> Blocks:
    data = PrivateData.of(np.zeros((100, 3)), SCHEMA, Budget(1.0), neighbors=neighbors)
    return Blocks(data, ScaledColumns.of(SCHEMA, ("x0", "x1"), "x2"), None)


def width(columns: int, size: int, **more: float) -> VoteWidth:
    given = {"blocks": 1000, "deals": 16, "steepness": 0.3, "spread_steepness": 0.1, "confidence": 0.95, **more}
    return VoteWidth(columns, size=size, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_the_parts_cost_one_together(neighbors: Neighbors) -> None:
    for max_iter, confidence in product((1, 2), (None, 0.95)):
        way = SlopesByDepth(blocks(neighbors), 4, max_iter, confidence, False)
        assert pure_epsilon(JointPlan(way.parts).event) == pytest.approx(1.0, rel=1e-9)


def test_a_public_number_of_records_is_not_paid_for() -> None:
    assert blocks(Neighbors.REPLACE).parts == ()
    assert len(blocks(Neighbors.ADD_REMOVE).parts) == 1


def test_blocks_are_as_small_as_can_be() -> None:
    assert [smallest_block(columns) for columns in (1, 2, 5)] == [2, 4, 7]


def signs_alike(columns: int, size: int, pairs: int) -> float:
    """The correlation of the signs of slopes of two blocks with one record in common, times their size."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(2, pairs, size, columns + 1))
    rows[1, :, 0] = rows[0, :, 0]
    first, second = (np.sign(slopes_of(half)) for half in rows)
    return size * float((first * second).mean())


SIZES = [(1, 2), (2, 4), (5, 7), *(pytest.param(*sizes, marks=pytest.mark.slow) for sizes in ((1, 4), (3, 5)))]


@pytest.mark.parametrize(("columns", "size"), SIZES)
def test_the_overlap_is_that_of_normal_data(columns: int, size: int) -> None:
    """To a twentieth, or four standard errors of the simulation."""
    pairs = 40_000
    error = 4 * size / np.sqrt(pairs * columns)
    assert width(columns, size).overlap == pytest.approx(signs_alike(columns, size, pairs), abs=error, rel=0.05)


def test_the_overlap_of_pairs_is_that_of_kendall_and_of_large_blocks_that_of_the_median() -> None:
    assert width(1, 2).overlap == pytest.approx(2 / 9, rel=0.03)
    assert width(1, 10_000).overlap == pytest.approx(2 / np.pi, rel=1e-3)


@pytest.mark.parametrize("columns", [1, 3, 6])
def test_noise_reaches_as_far_as_it_does_in_simulation(columns: int) -> None:
    """A gamma variable times an even one, 400 000 times: its 95 % point is known to a hundredth."""
    rng = np.random.default_rng(1)
    ranks = np.abs(rng.gamma(columns + 1, size=400_000) * rng.uniform(-1, 1, 400_000))
    expected = np.quantile(ranks, 0.95) / (0.3 * 1000)
    assert width(columns, columns + 2).noise == pytest.approx(expected, rel=0.02)


def test_without_noise_and_for_one_deal_the_width_is_that_of_a_median() -> None:
    """Of 1000 independent slopes with Student's law; for many deals it is narrower."""
    one = width(3, 6, steepness=1e6, spread_steepness=1e6, deals=1)
    distance = stats.t(3).ppf(1 - 0.5 ** (1 / one.together) / 2)
    expected = stats.t(3).ppf(0.5 + 1.96 * 0.5 / np.sqrt(1000))
    assert one.reach(np.full(3, distance)) == pytest.approx(np.full(3, expected), rel=1e-3)
    assert width(3, 6, steepness=1e6, deals=1000).share < one.share * 0.6


@pytest.mark.parametrize("together", [1, 3])
def test_the_relative_error_of_distances_is_that_of_their_ranks(together: int) -> None:
    """Of the nearest of so many by Student's law, moved by one deviation of rank."""
    one = width(2, 4, blocks=5000)
    ranks = np.sqrt(3 * 4 / 3) / 0.1 * together / 5000
    nearest = [stats.t(2).ppf(0.5 + (1 - (0.5 - side) ** (1 / together)) / 2) for side in (-ranks / 2, ranks / 2)]
    middle = stats.t(2).ppf(1 - 0.5 ** (1 / together) / 2)
    assert one.off(together) == pytest.approx((nearest[1] - nearest[0]) / middle, rel=0.02)


def test_too_few_blocks_have_no_interval() -> None:
    assert np.isinf(width(3, 5, blocks=100).reach(np.ones(3))).all()
    assert np.isfinite(width(3, 5).reach(np.ones(3))).all()
    assert np.isinf(width(3, 5).reach(np.full(3, 1e-40))).all()


def test_a_column_that_few_blocks_tell_has_no_interval() -> None:
    assert np.isinf(width(2, 4).reach(np.array([0.1, 2.0**20]))).tolist() == [False, True]
