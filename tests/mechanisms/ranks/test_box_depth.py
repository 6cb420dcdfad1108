"""Deep points: the price, the law, the reach of one row in every data set of a small grid, where twins break."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaincc

from discreet.audit.trial import trial
from discreet.core.answer import NeighborPair, Records
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.ranks.box_depth import BoxDepth, Boxes
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, tripled
from tests.mechanisms.trial import MechanismTrial
from tests.noise.fit import ALARM


@dataclasses.dataclass(frozen=True)
class TooSteep(BoxDepth):
    """As if a row had two thirds of the reach that it has."""

    def steepness(self, neighbors: Neighbors) -> float:
        return 1.5 * super().steepness(neighbors)


@dataclasses.dataclass(frozen=True)
class AsIfRowsOnlyJoined(BoxDepth):
    """The reach of a row that joins, where one is replaced: it raises the depth here and lowers it there."""

    def steepness(self, neighbors: Neighbors) -> float:
        return super().steepness(Neighbors.ADD_REMOVE)

    def worst_neighbors(self) -> NeighborPair:
        return NeighborPair(*(records([[end], [100.0]], Neighbors.REPLACE) for end in (0.0, 1024.0)))


ROWS = [[3.0, 1.0], [3.0, 4.0], [5.0, 2.0], [0.0, math.nan], [1.0, 2.0], [4.0, 0.0]]


def records(
    values: list[list[float]] | np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE, rows: int = 1
) -> Records:
    return Records(np.asarray(values, dtype=np.float64), rows, neighbors)


def depths(values: np.ndarray, cells: int) -> np.ndarray:
    """The depth of every point of the grid, by counting."""
    points = np.array(list(itertools.product(range(cells + 1), repeat=values.shape[1])))
    below, above = ((test(values[None], points[:, None])).sum(axis=1) for test in (np.less_equal, np.greater_equal))
    return np.minimum(below, above).min(axis=1)


JOINED = NeighborPair(records([[0.0], [922.0]]), records([[0.0], [922.0], [1024.0]]))
REPLACED = NeighborPair(*(records([[end], [100.0]], Neighbors.REPLACE) for end in (0.0, 1024.0)))
TRIAL = MechanismTrial(
    twins=[TooSteep(), AsIfRowsOnlyJoined()],
    audits=[
        Audit("a row joins", BoxDepth(), JOINED),
        Audit("three rows join", BoxDepth(1.5), tripled(JOINED)),
        Audit("a row is replaced", BoxDepth(), REPLACED),
        Audit("three rows are replaced", BoxDepth(1.5), tripled(REPLACED)),
    ],
)


def chances(values: np.ndarray, cells: int, steepness: float, rows: int = 1) -> np.ndarray:
    """The law, point by point."""
    weights = np.exp(steepness * (depths(values, cells) // rows))
    return weights / weights.sum()


def test_the_price_is_that_of_the_exponential_mechanism_whatever_the_columns() -> None:
    assert BoxDepth(0.7).event == Exponential(0.7).event


def test_points_are_chosen_by_the_exponential_of_their_depth() -> None:
    for rows, neighbors in itertools.product((1, 2), Neighbors):
        mechanism = BoxDepth(1.3, 0.0, 5.0, 5)
        found = mechanism.release(records(ROWS, neighbors, rows).stacked(100_000), DeterministicBits(1)).astype(int)
        whole = np.array([row for row in ROWS if not math.isnan(row[1])])
        expected = chances(whole, 5, 1.3 / neighbors.reach, rows)
        counts = np.bincount(6 * found[:, 0] + found[:, 1], minlength=36)
        assert stats.chisquare(counts, expected * 100_000).pvalue > ALARM


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_boxes_and_even_draws_from_them_make_up_the_law(columns: int) -> None:
    """Every point's probability, from the boxes that hold it, against counted depths."""
    values = np.random.default_rng(columns).integers(0, 5, (9, columns))
    boxes = Boxes.of(values, 4, 1)
    box_chances = np.exp(boxes.scores(0.4, 4))
    box_chances /= box_chances.sum()
    points = np.array(list(itertools.product(range(5), repeat=columns)))
    inside = ((points[:, None] >= boxes.low) & (points[:, None] <= boxes.high)).all(axis=2)
    found = (inside * box_chances / (boxes.high - boxes.low + 1).prod(axis=1)).sum(axis=1)
    np.testing.assert_allclose(found, chances(values, 4, 0.4), rtol=1e-12)


def data_sets(most: int) -> list[tuple[tuple[int, ...], ...]]:
    cells = list(itertools.product(range(3), repeat=2))
    return [rows for number in range(1, most + 1) for rows in itertools.combinations_with_replacement(cells, number)]


def test_a_row_that_joins_changes_every_depth_by_none_or_one() -> None:
    for rows in data_sets(3):
        here = depths(np.array(rows), 2)
        for joined in itertools.product(range(3), repeat=2):
            change = depths(np.array([*rows, joined]), 2) - here
            assert change.min() >= 0
            assert change.max() <= 1


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_no_pair_of_neighbors_on_a_small_grid_differs_by_more_than_epsilon(neighbors: Neighbors) -> None:
    """Every point of every pair: the logarithms of ratios lie within epsilon, and in an interval of that width."""
    mechanism, worst = BoxDepth(1.0, 0.0, 2.0, 2), 0.0
    law = {rows: np.log(chances(np.array(rows), 2, mechanism.steepness(neighbors))) for rows in data_sets(4)}
    for rows in data_sets(3):
        base = rows if neighbors is Neighbors.ADD_REMOVE else rows[1:]
        for joined in itertools.product(range(3), repeat=2):
            ratios = law[tuple(sorted((*base, joined)))] - law[rows]
            assert np.abs(ratios).max() <= 1
            assert np.ptp(ratios) <= 1
            worst = max(worst, float(np.ptp(ratios)))
    assert worst > 0.999


def test_a_person_of_three_rows_is_hidden_too() -> None:
    first, second = [[0.0], [900.0]] * 3, [[0.0], [900.0]] * 3 + [[1024.0]] * 3
    pair, careless = (NeighborPair(records(first, rows=rows), records(second, rows=rows)) for rows in (3, 1))
    assert trial(BoxDepth(), DeterministicBits(6), neighbors=pair, runs=60_000).holds
    assert not trial(BoxDepth(), DeterministicBits(6), neighbors=careless, runs=60_000).holds


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_ranks_are_off_as_the_note_says(columns: int) -> None:
    """On evenly spread values, 5000 draws: the deviation and two tails, each within five standard errors."""
    rng = np.random.default_rng(0)
    values = np.stack([rng.permutation(1000) for _ in range(columns)], axis=1)
    mechanism = BoxDepth(0.4, 0.0, 1000.0, 2**40)
    found = mechanism.release(records(values, Neighbors.REPLACE).stacked(5000), DeterministicBits(2)) - 500
    scaled = 0.2 * found[:, 0]
    assert scaled.var() == pytest.approx((columns + 1) * (columns + 2) / 3, rel=0.15)
    for x in (1.0, 5.0):
        tail = gammaincc(columns + 1, x) - x / columns * gammaincc(columns, x)
        assert abs((np.abs(scaled) > x).mean() - tail) < 5 * math.sqrt(tail * (1 - tail) / 5000)


def test_five_columns_at_once_are_closer_than_one_after_the_other() -> None:
    values = np.stack([np.random.default_rng(j).permutation(2000) for j in range(5)], axis=1)
    together = BoxDepth(1.0, 0.0, 2000.0, 2**40).release(records(values).stacked(4000), DeterministicBits(1))
    single = BoxDepth(0.2, 0.0, 2000.0, 2**40).release(records(values[:, :1]).stacked(4000), DeterministicBits(1))
    assert single.var() / together[:, 0].var() == pytest.approx(2 * 5**2 / (6 * 7 / 3), rel=0.2)


def test_without_rows_the_point_is_anywhere() -> None:
    found = BoxDepth(1.0, 0.0, 3.0, 3).release(records(np.empty((0, 2))).stacked(40_000), DeterministicBits(1))
    counts = np.bincount((4 * found[:, 0] + found[:, 1]).astype(int), minlength=16)
    assert stats.chisquare(counts).pvalue > ALARM


def test_an_epsilon_of_nothing_buys_nothing() -> None:
    """What rounding may cost is taken off first; where nothing is left, the draw is even."""
    mechanism = BoxDepth(2.0**-35, 0.0, 3.0, 3)
    assert mechanism.steepness(Neighbors.ADD_REMOVE) == 0
    found = mechanism.release(records([[1.0]] * 5).stacked(20_000), DeterministicBits(1))
    assert stats.chisquare(np.bincount(found[:, 0].astype(int), minlength=4)).pvalue > ALARM


def test_too_many_columns_are_refused() -> None:
    with pytest.raises(ParameterError, match="number of columns is 65"):
        BoxDepth().release(records(np.zeros((3, 65))), DeterministicBits(1))
