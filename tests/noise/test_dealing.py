"""Deals: every record has one place at most, and all deals of a kind are equally likely."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from discreet.noise.dealing import dealt, dealt_to_places
from discreet.noise.deterministic import DeterministicBits
from tests.noise.fit import ALARM


def test_every_record_is_dealt_to_one_block() -> None:
    for n, blocks in ((0, 3), (1, 1), (50, 7)):
        found = dealt(DeterministicBits(1), n, blocks)
        assert len(found) == blocks
        assert sorted(np.concatenate(found).tolist()) == list(range(n))
        assert all((np.diff(block) > 0).all() for block in found)


def test_records_are_dealt_to_blocks_independently() -> None:
    bits, counts = DeterministicBits(2), np.zeros((3, 3))
    for _ in range(3000):
        deal = dealt(bits, 2, 3)
        first, second = (next(place for place, block in enumerate(deal) if one in block) for one in (0, 1))
        counts[first, second] += 1
    assert stats.chisquare(counts.ravel()).pvalue > ALARM


def test_as_many_records_as_possible_get_a_place_of_their_own() -> None:
    for n, blocks, size in ((12, 4, 3), (9, 4, 3), (20, 4, 3), (0, 2, 2)):
        deals = dealt_to_places(DeterministicBits(1), n, blocks, size, copies=3)
        assert deals.shape == (3, blocks, size)
        for deal in deals.reshape(3, -1):
            there = deal[deal < n]
            assert len(there) == len(set(there.tolist())) == min(n, blocks * size)


def test_all_deals_to_places_are_equally_likely() -> None:
    """Three places: every way to fill them with records, or with records and what is left."""
    for n in (2, 3, 5):
        deals = dealt_to_places(DeterministicBits(2), n, 3, 1, copies=30_000).reshape(-1, 3)
        _, counts = np.unique(deals, axis=0, return_counts=True)
        assert len(counts) == math.perm(max(n, 3), 3) // math.factorial(max(3 - n, 0))
        assert stats.chisquare(counts).pvalue > ALARM
