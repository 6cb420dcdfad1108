"""Swaps: what moves, how far, and which counts stay exactly as they are."""

from __future__ import annotations

import numpy as np

from discreet.core.answer import Records
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.microdata.swapped_values import (
    SwappedPlaces,
    SwappedRanks,
    codes_of,
    place_pairs,
    swapped_ranks,
)
from discreet.noise.deterministic import DeterministicBits


def released(mechanism: SwappedRanks | SwappedPlaces, values: Array, seed: int = 1) -> Array:
    return mechanism.release(Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(seed)).values


def test_no_value_moves_farther_than_the_window_and_any_distance_occurs() -> None:
    values = np.random.default_rng(1).permutation(2000).astype(np.float64)
    found = swapped_ranks(values, DeterministicBits(1), 0.05)
    moved = np.abs(found - values)
    assert sorted(found) == sorted(values)
    assert moved.max() <= 100
    assert set(moved.tolist()) >= set(range(1, 61))
    assert (moved == 0).mean() < 0.02
    assert (
        max(np.abs(swapped_ranks(values, DeterministicBits(1), share) - values).max() for share in (0.0, 0.0005)) == 1
    )
    assert np.abs(swapped_ranks(values, DeterministicBits(1), 0.001) - values).max() == 2


def test_small_and_tied_columns_are_swapped_too() -> None:
    for n in (0, 1, 2, 3):
        assert sorted(swapped_ranks(np.arange(float(n)), DeterministicBits(1), 0.1)) == list(range(n))
    pairs = [swapped_ranks(np.array([0.0, 1.0]), DeterministicBits(seed), 0.1).tolist() for seed in range(20)]
    assert [1.0, 0.0] in pairs
    assert swapped_ranks(np.full(9, 3.0), DeterministicBits(1), 1.0).tolist() == [3.0] * 9


def test_missing_values_stay_with_their_records_when_ranks_are_swapped() -> None:
    values = np.column_stack([np.where(np.arange(100) % 3, np.arange(100.0), np.nan), np.arange(100.0)])
    found = released(SwappedRanks(1, 0.5), values)
    found = found[np.argsort(found[:, 1])]
    assert (np.isnan(found[:, 0]) == np.isnan(values[:, 0])).all()
    assert (found[:, 1] == values[:, 1]).all()
    assert np.nanmax(np.abs(found[:, 0] - values[:, 0])) > 10


def people(n: int = 3000) -> Array:
    """Places, a key, another column, and who it is; some places and keys are missing."""
    rng = np.random.default_rng(2)
    rows = np.column_stack([rng.integers(0, 6, n), rng.integers(0, 40, n), rng.normal(size=n), np.arange(n)])
    rows[::50, 0], rows[::70, 1] = np.nan, np.nan
    return rows


def test_counts_of_place_and_keys_and_of_all_but_the_place_are_exact() -> None:
    values = people()
    found = released(SwappedPlaces((1,), (1,), 10, 0.2), values)
    for columns in ([0, 1], [1, 2, 3]):
        before, after = ([tuple(row) for row in np.nan_to_num(own[:, columns], nan=-1)] for own in (values, found))
        assert sorted(before) == sorted(after)
    again = found[np.argsort(found[:, 3])]
    moved = codes_of(np.append(values[:, :1], again[:, :1], axis=0)).reshape(2, -1)
    assert 0.2 < (moved[0] != moved[1]).mean() < 0.6


def test_every_rare_record_is_moved_if_somebody_elsewhere_has_its_keys() -> None:
    values = people()
    again = released(SwappedPlaces((1,), (1,), 10, 0.0), values)
    again = again[np.argsort(again[:, 3])]
    cells, keys, places = codes_of(values[:, :2]), codes_of(values[:, 1:2]), codes_of(values[:, :1])
    rare = np.bincount(cells)[cells] < 10
    stayed = codes_of(np.append(values[:, :1], again[:, :1], axis=0)).reshape(2, -1)
    stayed = stayed[0] == stayed[1]
    assert rare.sum() > 200
    for record in np.flatnonzero(rare & stayed):
        others = (keys == keys[record]) & (places != places[record])
        assert not (others & stayed).any()
    assert (rare & stayed).sum() < 0.05 * rare.sum()


def test_partners_are_in_any_other_place() -> None:
    values = np.column_stack([np.arange(4000.0) % 5, np.zeros(4000), np.arange(4000.0)])
    found = released(SwappedPlaces((1,), (1,), 0, 0.5), values)
    found = found[np.argsort(found[:, 2])]
    flows = np.zeros((5, 5))
    np.add.at(flows, (values[:, 0].astype(int), found[:, 0].astype(int)), 1)
    assert (flows > 0).sum() >= 15


def test_nobody_moves_where_there_is_one_place_or_nobody_is_there() -> None:
    for n in (0, 1, 30):
        values = np.column_stack([np.zeros(n), np.arange(float(n)) % 2, np.arange(float(n))])
        found = released(SwappedPlaces((1,), (), 100, 1.0), values)
        assert (found[np.argsort(found[:, 2])] == values).all()


def test_where_one_place_has_too_many_all_others_are_matched_with_it() -> None:
    for places in ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0]):
        own = np.array(places)
        pairs = own[place_pairs(own, np.zeros(len(own), np.int64), np.ones(len(own), np.bool_))]
        assert (pairs[:, 0] != pairs[:, 1]).sum() == (own > 0).sum()


def test_codes_are_equal_for_equal_rows_alone() -> None:
    rows = np.random.default_rng(1).integers(0, 9, (3000, 3)).astype(np.float64)
    rows[rows == 8] = np.nan
    wanted = [tuple(row) for row in np.nan_to_num(rows, nan=-1).tolist()]
    found = codes_of(rows)
    assert len(set(zip(found.tolist(), wanted, strict=True))) == len(set(wanted)) == found.max() + 1


def households(n: int = 900) -> Array:
    """Places, a key, who it is, and a household, which has up to four members, all in one place."""
    rng = np.random.default_rng(4)
    homes = np.sort(rng.integers(0, n // 2, n))
    places = rng.integers(0, 5, n // 2)[homes]
    return np.column_stack([places, rng.integers(0, 2, n), np.arange(n), homes]).astype(np.float64)


def in_order(values: Array) -> Array:
    return values[np.argsort(values[:, 2])]


def test_households_move_together_to_one_that_is_alike() -> None:
    values = households()
    found = in_order(released(SwappedPlaces((1,), (1,), 0, 0.5, household=3), values))
    assert (found[:, 1:] == values[:, 1:]).all()
    moved = found[:, 0] != values[:, 0]
    assert moved.mean() > 0.2
    assert len(np.unique(found[:, [3, 0]], axis=0)) == len(np.unique(values[:, 3]))
    for before, after in zip(*(shapes(own) for own in (values, found)), strict=True):
        assert before == after


def shapes(values: Array) -> list[tuple[object, ...]]:
    """The place of each household and the keys of its members, in an order of their own."""
    homes = (values[values[:, 3] == home] for home in np.unique(values[:, 3]))
    return sorted((own[0, 0], *sorted(own[:, 1])) for own in homes)


def test_a_household_with_one_rare_member_moves() -> None:
    values = np.array([[0.0, 0, 0, 7], [0, 1, 1, 7], [1, 0, 2, 8], [1, 1, 3, 8], [0, 0, 4, 9], [1, 0, 5, 5]])
    found = in_order(released(SwappedPlaces((1,), (1,), 2, 0.0, household=3), values[[0, 1, 3, 2, 4, 5]]))
    assert found[:4, 0].tolist() == [1, 1, 0, 0]
    assert found[4:, 0].tolist() == [0, 1]


def test_records_without_a_household_move_alone_and_its_column_may_be_left_out() -> None:
    values = households()
    values[:, 3] = np.nan
    alone = released(SwappedPlaces((1,), (1,), 3, 0.3), values)
    found = released(SwappedPlaces((1,), (1,), 3, 0.3, household=3, given=3), values)
    assert np.array_equal(found, alone[:, :3])


def test_no_household_one_and_one_in_two_places_will_do() -> None:
    one, none = np.array([[0.0, 0, 0, 3]]), np.zeros((0, 4))
    for values in (none, one, households(12) * [1, 1, 1, 0]):
        found = released(SwappedPlaces((), (), 5, 1.0, household=3), values)
        assert sorted(found[:, 0]) == sorted(values[:, 0])
