"""A share found in a part of the records: the law, with few records and with many."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from discreet.core.bits import Bits
from discreet.mechanisms.ranks import quantile_search as module
from discreet.mechanisms.ranks import shortlist
from discreet.mechanisms.ranks.quantile_search import RankedPlaces, SearchRange, SortedPlaces
from discreet.mechanisms.ranks.rank_grid import RANK, RankGrid, Target
from discreet.mechanisms.ranks.shortlist import Ranks, Scatter
from discreet.noise.deterministic import DeterministicBits
from tests.noise.fit import ALARM

PLACES = np.array([3, 40, 41, 5, 22, 60, 90, 17, 18, 55])
PART = (4, 70, 1, 9)  # places 4 to 70; of the sorted records, those from number 1 to before number 9
TARGET = Target(0.3, 4.0 * RANK)


def chances() -> np.ndarray:
    """Place by place."""
    low, high, first, last = PART
    below = np.clip((PLACES[None, :] < np.arange(low, high + 1)[:, None]).sum(axis=1), first, last) - first
    weights = np.exp(-np.abs(below - 0.3 * (last - first)) / 4.0)
    return weights / weights.sum()


def part(copies: int) -> SearchRange:
    return SearchRange(*(np.full(copies, end) for end in PART))


def ranked(listed: tuple[int, int], bits: Bits) -> RankedPlaces:
    """The records, each in the only place of its cell."""
    return RankedPlaces.of(PLACES.astype(float), Scatter(RankGrid(0.0, 100.0, 100), 0), [Ranks(*listed)], bits)


def check(places: np.ndarray, below: np.ndarray) -> None:
    np.testing.assert_array_equal(below, (PLACES[None, :] < places[:, None]).sum(axis=1))
    counts = np.bincount(places - PART[0], minlength=PART[1] - PART[0] + 1)
    assert stats.chisquare(counts, chances() * len(places)).pvalue > ALARM


def test_all_copies_together_follow_the_law() -> None:
    chosen = SortedPlaces.of(np.tile(PLACES, (50_000, 1))).chosen(part(50_000), TARGET, DeterministicBits(1))
    check(chosen.places, chosen.below)


@pytest.mark.parametrize("soon", [module.SOON, -math.log(67)])
def test_looking_near_the_share_only_follows_the_same_law(soon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time with so near a limit that most draws are beyond it; with the ranks listed, and without."""
    monkeypatch.setattr(module, "SOON", soon)
    monkeypatch.setattr(shortlist, "MARGIN", 0.0)
    bits = DeterministicBits(2)
    chosen = [ranked(listed, bits).chosen(part(1), TARGET, bits) for listed in ((1, 9), (3, 5)) for _ in range(1500)]
    check(np.array([one.places[0] for one in chosen]), np.array([one.below[0] for one in chosen]))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_part_without_records_has_places_that_are_all_alike(share: float) -> None:
    empty, bits = SearchRange(*(np.array([end]) for end in (10, 13, 3, 3))), DeterministicBits(3)
    found = {int(ranked((3, 3), bits).chosen(empty, Target(share, RANK), bits).places[0]) for _ in range(200)}
    assert found == {10, 11, 12, 13}
