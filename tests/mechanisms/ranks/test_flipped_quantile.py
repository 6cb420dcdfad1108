"""One quantile by permute-and-flip: the price, the law, when it is better, where twins break."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from discreet.audit.trial import trial
from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.ranks import ranked_stretches as module
from discreet.mechanisms.ranks.flipped_quantile import FlippedQuantile
from discreet.mechanisms.ranks.quantile import Quantile
from discreet.mechanisms.ranks.rank_grid import Target
from discreet.noise.deterministic import DeterministicBits
from tests.mechanisms.ranks.test_quantile import audits
from tests.mechanisms.ranks.test_rank_grid import known_reach
from tests.mechanisms.trial import MechanismTrial
from tests.noise.fit import ALARM
from tests.noise.test_stretch_race import chances


@dataclasses.dataclass(frozen=True)
class ShortReach(FlippedQuantile):
    """As if one row drove two scores apart by two thirds of what it does."""

    def target(self, rows: int, neighbors: Neighbors) -> Target:
        return Target.priced(self.q, 1.5 * self.epsilon, rows, neighbors)


@dataclasses.dataclass(frozen=True)
class AlwaysTheBest(FlippedQuantile):
    """The exact quantile, on the grid."""

    def release(self, answer: Records, bits: Bits) -> Array:
        values = np.sort(answer.values[:, 0])
        return np.full(answer.copies, values[(len(values) - 1) // 2])


VALUES = [3.0, 3.0, 3.0, 5.0, 9.0, 9.0, math.nan, 14.0]


def records(values: list[float] | np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE, rows: int = 1) -> Records:
    return Records(np.asarray(values, dtype=np.float64).reshape(-1, 1), rows, neighbors)


AUDITS = audits(FlippedQuantile)
TRIAL = MechanismTrial(twins=[ShortReach(), AlwaysTheBest()], audits=AUDITS)


def distances(values: np.ndarray, share: float, cells: int) -> np.ndarray:
    """The ranks between that which is looked for and those of every cell."""
    at = np.arange(cells + 1)[:, None]
    below, upto = (values < at).sum(axis=1), (values <= at).sum(axis=1)
    return np.maximum(below - share * len(values), share * len(values) - upto)


def test_the_price_is_pure_and_not_that_of_a_bounded_range() -> None:
    assert FlippedQuantile(0.7).event == PureLoss(0.7)


def test_cells_are_taken_as_by_permuting_and_flipping() -> None:
    for neighbors, share in itertools.product(Neighbors, (0.5, 0.3, 0.0, 1.0)):
        mechanism = FlippedQuantile(0.8, share, 0.0, 15.0, 15)
        found = mechanism.release(records(VALUES, neighbors).stacked(100_000), DeterministicBits(1))
        far = distances(np.array(VALUES[:6] + VALUES[7:]), share, 15)
        expected = chances(far, known_reach(share, neighbors) / mechanism.epsilon) * 100_000
        assert stats.chisquare(np.bincount(found.astype(int), minlength=16), expected).pvalue > ALARM


def test_looking_near_the_target_only_follows_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so near a limit that most draws are beyond it; ties reach across it."""
    values = np.repeat(np.arange(1.0, 15.0), 5)
    mechanism = FlippedQuantile(0.1, 0.6, 0.0, 15.0, 15)
    monkeypatch.setattr(module, "SOON", -math.log(16))
    found = mechanism.release(records(values).stacked(250), DeterministicBits(2))
    expected = chances(distances(values, 0.6, 15), known_reach(0.6, Neighbors.ADD_REMOVE) / mechanism.epsilon) * 250
    assert stats.chisquare(np.bincount(found.astype(int), minlength=16), expected).pvalue > ALARM


@pytest.mark.partial_audit("not on the worst neighbors, which AUDITS has")
def test_the_audit_does_not_refute_other_shares_under_either_relation() -> None:
    for neighbors, share in itertools.product(Neighbors, (0.5, 0.1, 0.0, 1.0)):
        top = [1024.0] * 3
        first = [*top, 1024.0] if neighbors is Neighbors.REPLACE else top
        pair = NeighborPair(records(first, neighbors), records([*top, 100.0], neighbors))
        verdict = trial(FlippedQuantile(1.0, share), DeterministicBits(5), neighbors=pair, runs=60_000)
        assert verdict.holds, str(verdict)


def test_on_few_cells_it_is_closer_than_the_exponential_mechanism() -> None:
    """By a third, in mean square: ten values to a cell, of which e times less likely ones are five away."""
    ages = records(np.random.default_rng(0).normal(40, 12, 300))
    flipped, drawn = (
        kind(0.2, 0.5, 0.0, 100.0, 100).release(ages.stacked(20_000), DeterministicBits(3)) - np.median(ages.values)
        for kind in (FlippedQuantile, Quantile)
    )
    assert np.square(flipped).mean() < 0.75 * np.square(drawn).mean()


def test_a_single_release_is_a_number_and_copies_are_rows_of_them() -> None:
    assert np.shape(FlippedQuantile().release(records([1.0]), DeterministicBits(1))) == ()
    assert FlippedQuantile().release(records([1.0]).stacked(3).stacked(2), DeterministicBits(1)).shape == (2, 3)


@pytest.mark.parametrize("fields", [{"q": -0.1}, {"lower": 2000.0}, {"cells": 0}, {"epsilon": math.nan}])
def test_a_mistake_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        FlippedQuantile(**fields)  # type: ignore[arg-type]
