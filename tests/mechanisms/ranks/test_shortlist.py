"""The places near a few ranks: those of all records sorted, whatever a sample says, and the same ones later on."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from discreet.mechanisms.ranks import shortlist as module
from discreet.mechanisms.ranks.rank_grid import RankGrid
from discreet.mechanisms.ranks.shortlist import BINS, Ranking, Ranks, Scatter, Shortlist, Sieve, sampled
from discreet.noise.deterministic import DeterministicBits

rng = np.random.default_rng(0)
NUMBER = 30_000
COLUMNS = {
    "spread": rng.normal(size=NUMBER),
    "sorted": np.sort(rng.normal(size=NUMBER)),
    "tied": rng.integers(-2, 3, NUMBER).astype(float),
    "crowded": rng.normal(size=NUMBER) * 1e-9,
    "equal": np.zeros(NUMBER),
    "beyond": rng.normal(size=NUMBER) * 100,
    "infinite": np.where(rng.random(NUMBER) < 0.5, math.inf, -math.inf),
    "few": rng.normal(size=10),
}
FINE, COARSE = Scatter(RankGrid(-4.0, 4.0, 2**40), 0), Scatter(RankGrid(-4.0, 4.0, 16), 0)
MANY = 2**17
RANKED = {
    "spread": rng.normal(size=MANY),
    "sorted": np.sort(rng.normal(size=MANY)),
    "tied": rng.integers(0, 3, MANY).astype(float),
    "half missing": np.where(rng.random(MANY) < 0.5, np.nan, rng.normal(size=MANY)),
    "all but one missing": np.append(np.full(MANY, np.nan), 1.0),
    "infinite": np.where(rng.random(MANY) < 0.5, np.inf, -np.inf),
    "few": rng.normal(size=10),
}


def listed(number: int) -> list[Ranks]:
    return [Ranks(round(share * number), min(round(share * number) + 50, number)) for share in (0.0, 0.2, 0.7, 0.99)]


@pytest.mark.parametrize("column", COLUMNS)
def test_listed_ranks_are_those_of_all_records_sorted(column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a good sample, and with two that mislead."""
    values, bits = COLUMNS[column], DeterministicBits(1)
    for scatter in (FINE, COARSE):
        exact = np.sort(scatter.grid.nearest(values))
        for sample in (None, np.sort(values) * 0.9, np.full(100, 0.3)):
            monkeypatch.setattr(module, "sampled", lambda *_, is_=sample: sampled(*_) if is_ is None else is_)
            sieve = Sieve.of(scatter.grid, values, listed(len(values)))
            some = sieve.shortlist(values, scatter, bits)
            for ranks in listed(len(values)):
                found = some.between(ranks)
                assert found is not None or sample is not None
                assert found is None or found.tolist() == exact[ranks.start : ranks.stop].tolist()
            everything = sieve.completed(some, values, scatter, bits)
            np.testing.assert_array_equal(everything.places, exact)


def test_few_records_are_listed() -> None:
    for values in (COLUMNS["spread"], COLUMNS["crowded"]):
        sieve = Sieve.of(FINE.grid, values, listed(NUMBER))
        assert len(sieve.shortlist(values, FINE, DeterministicBits(1)).places) < NUMBER / 5


def test_a_record_keeps_its_place_when_the_others_get_theirs() -> None:
    """Its place in its cell is random, and part of what is released depends on it."""
    scatter, values, bits = Scatter(COARSE.grid, 50), COLUMNS["tied"], DeterministicBits(1)
    sieve = Sieve.of(scatter.grid, values, [Ranks(0, 10)])
    some = sieve.shortlist(values, scatter, bits)
    everything = sieve.completed(some, values, scatter, bits)
    assert 0 < len(some.places) < NUMBER
    np.testing.assert_array_equal(everything.places[: len(some.places)], some.places)


def test_places_are_spread_over_their_cell() -> None:
    scatter = Scatter(COARSE.grid, 50)
    places = scatter.places(np.full(10_000, 3), DeterministicBits(1))
    assert set((places >> 50).tolist()) == {3}
    assert np.bincount((places >> 47) & 7, minlength=8).min() > 10_000 / 8 - 5 * math.sqrt(10_000 / 8)


def test_ranks_of_two_stretches_are_not_listed() -> None:
    some = Shortlist(np.array([5, 6, 20, 21]), np.array([0, 2, 4]), np.array([3, 10]))
    assert some.between(Ranks(2, 4)) is None
    assert some.between(Ranks(4, 6)) is None
    assert some.between(Ranks(10, 13)) is None
    assert [part.tolist() for part in map(some.between, (Ranks(3, 5), Ranks(11, 12))) if part is not None] == [
        [5, 6],
        [21],
    ]


def test_a_cell_is_in_one_bin_and_bins_are_in_order() -> None:
    sieve = Sieve(FINE.grid, 100.0, 15_000.0, np.zeros(BINS, np.bool_))
    bins = sieve.bins(np.arange(0.0, 20_000.0))
    assert (np.diff(bins) >= 0).all()
    assert (bins[0], bins[-1]) == (0, BINS - 1)


@pytest.mark.parametrize("column", RANKED)
def test_the_ranks_are_those_of_all_values_sorted(column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = RANKED[column]
    exact, ranking = np.sort(values[~np.isnan(values)]), Ranking.of(values)
    for margin, share in itertools.product((2.0, 0.0, -1000.0), (0.0, 0.2, 0.999, 1.0)):
        monkeypatch.setattr(module, "MARGIN", margin)
        start = round(share * len(exact)) * 9 // 10
        stop = min(start + 50, len(exact))
        run = ranking.run(start, stop)
        np.testing.assert_array_equal(np.sort(run.values)[start - run.before : stop - run.before], exact[start:stop])


@pytest.mark.parametrize("column", ["spread", "half missing"])
def test_a_run_is_short_and_has_all_values_between_its_ends(column: str) -> None:
    values, ranking = RANKED[column], Ranking.of(RANKED[column])
    middle = ranking.number // 2
    run = ranking.run(middle, middle + 10)
    assert len(run.values) < ranking.number / 10
    assert run.before == (values < run.low).sum()
    np.testing.assert_array_equal(np.sort(run.values), np.sort(values[(values >= run.low) & (values <= run.high)]))
