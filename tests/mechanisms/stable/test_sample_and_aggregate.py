"""Sample and aggregate: the price, the exact law of small data sets and neighbors, where twins break."""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.ranks.box_depth import BoxDepth
from discreet.mechanisms.ranks.quantile import Quantile
from discreet.mechanisms.stable.sample_and_aggregate import SampleAndAggregate, first_rows
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, tripled
from tests.mechanisms.ranks.test_box_depth import chances
from tests.mechanisms.trial import MechanismTrial
from tests.noise.fit import ALARM


@dataclasses.dataclass(frozen=True)
class ForgetsDeals(SampleAndAggregate):
    """As if a row that is dealt four times changed one block only."""

    deals: int = 4

    def unit(self, answer: Records) -> int:
        return answer.rows


def records(values: list[float] | np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE, rows: int = 1) -> Records:
    return Records(np.asarray(values, dtype=np.float64).reshape(-1, 1), rows, neighbors)


def sums(blocks: Array) -> Array:
    """The sum of each block, as much as there is of it."""
    return np.nansum(blocks, axis=1)


def filled(blocks: Array) -> Array:
    """The first row of each block; zero where there is none."""
    return np.nan_to_num(first_rows(blocks))


REPLACED = NeighborPair(*(records([end, 100.0], Neighbors.REPLACE) for end in (0.0, 1024.0)))
TRIAL = MechanismTrial(
    twins=[ForgetsDeals()],
    audits=[
        Audit("a row is replaced", SampleAndAggregate(), REPLACED),
        Audit("a row is replaced, two deals", SampleAndAggregate(deals=2), REPLACED),
        Audit("three rows are replaced", SampleAndAggregate(1.5, blocks=6), tripled(REPLACED)),
        Audit("a row joins", SampleAndAggregate(of=filled), NeighborPair(records([100.0]), records([1024.0, 100.0]))),
    ],
)


@dataclasses.dataclass(frozen=True)
class Shown:
    """Releases what it is shown: to see what is dealt."""

    epsilon: float = 1.0
    calibrated = "epsilon"

    def release(self, answer: Records, bits: Bits) -> Array:
        assert answer.neighbors is Neighbors.REPLACE
        return np.broadcast_to(answer.values[:, 0], (*answer.copies, len(answer.values)))


def test_the_price_is_that_of_the_mechanism() -> None:
    assert SampleAndAggregate(0.3, Quantile(), deals=7).event == Quantile(0.3).event


def law(values: tuple[int, ...], mechanism: SampleAndAggregate, top: int) -> np.ndarray:
    """The exact law of a release: over all deals, of the law of the deep point that is shown the blocks' answers."""
    places, cells = mechanism.blocks * mechanism.size, mechanism.mechanism
    padded = np.array([*values, *max(places - len(values), 0) * [np.nan]])
    orders = np.array(list(itertools.permutations(padded)))[:, :places]
    shown = np.array([mechanism.of(one.reshape(mechanism.blocks, mechanism.size, 1)) for one in orders])
    total, rows = np.zeros(top + 1), mechanism.unit(records([0.0]))
    different, counts = np.unique(shown.reshape(len(shown), -1), axis=0, return_counts=True)
    for picks in itertools.product(range(len(different)), repeat=mechanism.deals):
        answers = different[list(picks)].reshape(-1, 1)
        weight = math.prod(int(counts[pick]) for pick in picks) / len(shown) ** mechanism.deals
        known = np.clip(answers[~np.isnan(answers[:, 0])], 0, top)
        total += weight * chances(known, top, cells.steepness(Neighbors.REPLACE), rows)
    return total


SMALL = [
    SampleAndAggregate(1.0, BoxDepth(1.0, 0.0, 3.0, 3), first_rows, 3, 1),
    SampleAndAggregate(1.0, BoxDepth(1.0, 0.0, 3.0, 3), sums, 2, 2),
    SampleAndAggregate(1.0, BoxDepth(1.0, 0.0, 3.0, 3), sums, 2, 1, 2),
]


@pytest.mark.parametrize("mechanism", SMALL, ids=["singles", "pairs", "twice"])
def test_no_pair_of_neighbors_differs_by_more_than_epsilon(mechanism: SampleAndAggregate) -> None:
    """All data sets of one to four rows on a small line, and all rows that may join or be replaced; exactly."""
    laws = {
        values: np.log(law(values, mechanism, 3))
        for number in range(1, 5)
        for values in itertools.combinations_with_replacement(range(4), number)
    }
    worst = 0.0
    for values, here in laws.items():
        for rest in (values, values[1:]):
            for new in range(4):
                other = tuple(sorted((*rest, new)))
                if other in laws:
                    worst = max(worst, float(np.abs(laws[other] - here).max()))
    assert 0.3 < worst <= 1


@pytest.mark.parametrize("mechanism", SMALL, ids=["singles", "pairs", "twice"])
def test_releases_follow_the_exact_law(mechanism: SampleAndAggregate) -> None:
    found = mechanism.release(records([0, 2, 3]).stacked(40_000), DeterministicBits(4))
    counts = np.bincount(found[:, 0].astype(int), minlength=4)
    assert stats.chisquare(counts, law((0, 2, 3), mechanism, 3) * 40_000).pvalue > ALARM


def test_a_unit_of_several_rows_changes_as_many_blocks_of_each_deal() -> None:
    assert SampleAndAggregate(deals=5).unit(records([1.0], rows=3)) == 15


def test_rows_with_a_missing_value_are_not_dealt() -> None:
    shown = SampleAndAggregate(1.0, Shown(), first_rows, 3).release(records([1.0, math.nan, 2.0]), DeterministicBits(1))
    assert sorted(shown[~np.isnan(shown)].tolist()) == [1.0, 2.0]


def test_no_warning_tells_of_a_block() -> None:
    """Warnings are errors here: of an empty block, of a division and of the function itself."""

    def warns(blocks: Array) -> Array:
        warnings.warn("an empty block", UserWarning, stacklevel=1)
        return np.nanmean(blocks, axis=1) / np.nanmin(np.nan_to_num(blocks), axis=1)

    SampleAndAggregate(1.0, BoxDepth(), warns, 3, 2).release(records([1.0, 0.0]), DeterministicBits(1))


def test_a_scalar_mechanism_releases_a_scalar() -> None:
    found = SampleAndAggregate(1.0, Quantile(), first_rows, 100).release(records(np.arange(100)), DeterministicBits(1))
    assert np.shape(found) == ()


@pytest.mark.parametrize("changed", [{"blocks": 0}, {"size": 1.5}, {"deals": 0}, {"blocks": 2**39, "size": 4}])
def test_blocks_that_cannot_be_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        dataclasses.replace(SampleAndAggregate(), **changed)


def test_a_mechanism_without_an_epsilon_is_refused() -> None:
    with pytest.raises(ParameterError, match="Laplace has no epsilon"):
        SampleAndAggregate(1.0, Laplace())


def test_the_worst_neighbors_are_neighbors() -> None:
    pair = SampleAndAggregate().worst_neighbors()
    assert isinstance(pair, NeighborPair)
    assert isinstance(pair.first, Records)
    assert isinstance(pair.second, Records)
    assert (pair.first.values != pair.second.values).sum() == 1
