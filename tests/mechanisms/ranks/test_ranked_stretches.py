"""Stretches of cells by their ranks: as counted cell by cell, with few values and with many."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from discreet.core.neighbors import Neighbors
from discreet.mechanisms.ranks import shortlist as module
from discreet.mechanisms.ranks.rank_grid import RANK, RankGrid, Target, reach
from discreet.mechanisms.ranks.ranked_stretches import RankedStretches

rng = np.random.default_rng(0)
MANY = 2**16
COLUMNS = {
    "spread": rng.normal(40, 12, MANY),
    "sorted": np.sort(rng.normal(40, 12, MANY)),
    "whole numbers": np.rint(rng.normal(40, 12, MANY)),
    "two values": np.where(np.arange(MANY) % 3 == 0, 7.0, 90.0),
    "one value": np.full(MANY, 33.3),
    "half missing": np.where(rng.random(MANY) < 0.5, np.nan, rng.uniform(0, 100, MANY)),
    "outside": rng.standard_cauchy(MANY) * 1e3,
    "infinite": np.where(rng.random(MANY) < 0.7, np.inf, -np.inf),
}


def distances(grid: RankGrid, values: np.ndarray, target: Target, cells: np.ndarray) -> np.ndarray:
    """Counted for each cell by itself: a value is a sixteenth at its cell, and the rest at its place."""
    places = np.sort(grid.places(values))
    held = (places + grid.finer // 2) // grid.finer
    below, upto = (
        15 * np.searchsorted(places, cells * grid.finer, side) + np.searchsorted(held, cells, side)
        for side in ("left", "right")
    )
    wanted = round(target.q * RANK) * len(places)
    return np.maximum(below * (RANK // 16) - wanted, wanted - upto * (RANK // 16))


@pytest.mark.parametrize("column", COLUMNS)
def test_every_stretch_has_the_distance_of_its_cells(column: str) -> None:
    for cells, share, kept in product((50, 2**20, 2**40), (0.5, 0.0, 0.9, 1.0), (MANY, 2000, 3, 0)):
        check_distances(RankGrid(0.0, 100.0, cells), COLUMNS[column][:kept], Target(share, 3.0 * RANK))


def check_distances(grid: RankGrid, values: np.ndarray, target: Target) -> None:
    found = RankedStretches.of(grid, values, target)
    assert found.number == np.count_nonzero(~np.isnan(values))
    assert found.edges[0] == -1
    assert found.edges[-1] == grid.cells
    assert (found.lengths >= 0).all()
    there = found.lengths > 0
    first, last = (found.edges[:-1] + 1)[there], found.edges[1:][there]
    own = found.distances[there]
    sure = ~found.loose[there]
    assert not found.loose[1:-1].any()
    for chosen in (first, last, (first + last) // 2):
        exact = distances(grid, values, target, chosen)
        np.testing.assert_array_equal(own[sure], exact[sure])
        assert (own <= exact).all()
    for cell in (int(first[0]), int(last[-1])):
        assert found.distance(cell) == distances(grid, values, target, np.array([cell]))[0]


@pytest.mark.parametrize("column", COLUMNS)
def test_what_is_not_distinguished_is_hardly_ever_chosen(column: str) -> None:
    """However coarse the cells are: otherwise a choice would visit all of them, one after the other."""
    for cells, share, scale in product((1, 50, 1000, 2**20), (0.5, 0.0, 0.9, 1.0), (0.1, 1.0, 30.0)):
        target = Target(share, scale * RANK)
        found = RankedStretches.of(RankGrid(0.0, 100.0, cells), COLUMNS[column], target)
        best = found.distances[~found.loose & (found.lengths > 0)].min()
        assert (found.distances[found.loose] - best >= 30 * target.scale).all(), (cells, share, scale)


def test_values_that_many_have_between_two_cells_are_found_at_the_nearest() -> None:
    """Where nothing else distinguishes its neighbors."""
    found = RankedStretches.of(RankGrid(0.0, 100.0, 100), np.repeat([20.3, 30.3], [300, 700]), Target(0.1, RANK))
    best = int(found.distances.argmin())
    assert (found.edges[best] + 1, found.edges[best + 1]) == (20, 20)
    assert np.sort(found.distances)[1] - found.distances[best] > 10 * RANK


def test_a_sample_finds_what_a_search_of_all_values_finds() -> None:
    columns = ("spread", "sorted", "whole numbers", "half missing", "outside")
    for column, cells in product(columns, (50, 2**40)):
        with pytest.MonkeyPatch.context() as patch:
            grid, values, target = RankGrid(0.0, 100.0, cells), COLUMNS[column], Target(0.3, 3.0 * RANK)
            sampled = RankedStretches.of(grid, values, target)
            patch.setattr(module, "MANY", 2**62)
            same(sampled, RankedStretches.of(grid, values, target))


def test_a_sample_that_misleads_costs_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    grid, values, target = RankGrid(0.0, 100.0, 2**40), COLUMNS["spread"], Target(0.5, 3.0 * RANK)
    searched = RankedStretches.of(grid, values, target)
    for margin in (-1000.0, -1.0, 0.0):
        monkeypatch.setattr(module, "MARGIN", margin)
        same(searched, RankedStretches.of(grid, values, target))


def same(first: RankedStretches, second: RankedStretches) -> None:
    np.testing.assert_array_equal(first.edges, second.edges)
    np.testing.assert_array_equal(first.distances, second.distances)


def test_cells_beyond_those_are_hardly_ever_chosen() -> None:
    """Their weights all together, in units of the best cell's."""
    grid, target = RankGrid(0.0, 100.0, 2**40), Target(0.5, 3.0 * RANK)
    found = RankedStretches.of(grid, COLUMNS["spread"], target)
    nearest = int(found.distances[found.lengths > 0].min())
    for stretch in (0, -1):
        exponent = (int(found.distances[stretch]) - nearest) / target.scale
        assert math.log(found.lengths[stretch]) - exponent < -25


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_one_row_drives_the_distances_of_two_cells_no_farther_apart_than_its_reach(share: float) -> None:
    """Over all neighbors of all data sets with up to three values, some of which lie between cells."""
    grid, target, row = RankGrid(0.0, 3.0, 3), Target(share, RANK), (0.0, 0.3, 0.5, 1.0, 1.6, 3.0, math.nan)

    def all_distances(values: tuple[float, ...]) -> np.ndarray:
        found = RankedStretches.of(grid, np.array(values), target)
        return np.array([found.distance(cell) for cell in range(4)])

    known = {values: all_distances(values) for n in range(4) for values in combinations_with_replacement(row, n)}
    for neighbors, (values, before) in product(Neighbors, known.items()):
        fewer = [values[:i] + values[i + 1 :] for i in range(len(values))]
        starts = [values] if neighbors is Neighbors.ADD_REMOVE else fewer
        for after in {tuple(sorted((*rest, new), key=row.index)) for rest in starts for new in row} & known.keys():
            change = known[after] - before
            assert change.max() - change.min() <= reach(share, neighbors)
