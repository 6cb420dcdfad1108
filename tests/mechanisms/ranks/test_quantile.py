"""One quantile by the exponential mechanism: the price, the law, tied and missing values, where twins break."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator

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
from discreet.mechanisms.ranks.quantile import FlippedQuantile, Quantile
from discreet.mechanisms.ranks.rank_grid import RankGrid, Target
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, tripled
from tests.mechanisms.ranks.test_rank_grid import known_reach
from tests.mechanisms.trial import MechanismTrial
from tests.noise.fit import ALARM
from tests.noise.test_stretch_race import chances as race_chances


@dataclasses.dataclass(frozen=True)
class ShortReach(Quantile):
    """As if one row drove two scores apart by two thirds of what it does."""

    def target(self, rows: int, neighbors: Neighbors) -> Target:
        return Target.priced(self.q, 1.5 * self.epsilon, rows, neighbors)


@dataclasses.dataclass(frozen=True)
class OnTheRecords(Quantile):
    """The value of a record, where the mechanism has a grid."""

    def release(self, answer: Records, bits: Bits) -> Array:
        found = super().release(answer, bits)
        return answer.values[np.abs(found[..., None] - answer.values[:, 0]).argmin(axis=-1), 0]


VALUES = [3.0, 3.0, 3.0, 5.0, 9.0, 9.0, math.nan, 14.0]


def records(values: list[float] | np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE, rows: int = 1) -> Records:
    return Records(np.asarray(values, dtype=np.float64).reshape(-1, 1), rows, neighbors)


def audits(kind: type[Quantile]) -> list[Audit]:
    """The worst of all data sets of up to three values on this grid, by the exact law."""
    median, quartile = kind(1.0, 0.5, 0.0, 15.0, 15), kind(1.3, 0.25, 0.0, 15.0, 15)
    joined = NeighborPair(records([0.0] * 3), records([0.0] * 4))
    replaced = NeighborPair(*(records(values, Neighbors.REPLACE) for values in ([0.0, 0.0, 1.0], [0.0, 1.0, 15.0])))
    moved = NeighborPair(*(records(values, Neighbors.REPLACE) for values in ([0.0, 1.0], [1.0, 15.0])))
    return [
        Audit("a row joins", median, joined),
        Audit("three rows join", median, tripled(joined)),
        Audit("a row is replaced", median, replaced),
        Audit("three rows are replaced, first quartile", quartile, tripled(moved)),
        Audit("the defaults", kind(), kind().worst_neighbors()),
    ]


def chances(values: np.ndarray, share: float, exponent: float, cells: int) -> np.ndarray:
    """The law, cell by cell."""
    below, upto = (
        np.array([test(values, cell).sum() for cell in range(cells + 1)]) for test in (np.less, np.less_equal)
    )
    wanted = share * len(values)
    weights = np.exp(-exponent * np.maximum(below - wanted, wanted - upto))
    return weights / weights.sum()


def neighboring(neighbors: Neighbors) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All data sets of up to three values on a few cells, each with its neighbors."""
    for number in range(4):
        for values in itertools.combinations_with_replacement((0.0, 1.0, 8.0, 14.0, 15.0), number):
            rests = (
                [values[:i] + values[i + 1 :] for i in range(number)] if neighbors is Neighbors.REPLACE else [values]
            )
            for rest, new in itertools.product(rests, (0.0, 1.0, 8.0, 14.0, 15.0)):
                yield np.array(values), np.array([*rest, new])


@dataclasses.dataclass(frozen=True)
class FlippedShortReach(FlippedQuantile):
    """As if one row drove two scores apart by two thirds of what it does."""

    def target(self, rows: int, neighbors: Neighbors) -> Target:
        return Target.priced(self.q, 1.5 * self.epsilon, rows, neighbors)


@dataclasses.dataclass(frozen=True)
class AlwaysTheBest(FlippedQuantile):
    """The exact quantile, on the grid."""

    def release(self, answer: Records, bits: Bits) -> Array:
        values = np.sort(answer.values[:, 0])
        return np.full(answer.copies, values[(len(values) - 1) // 2])


def distances(values: np.ndarray, share: float, cells: int) -> np.ndarray:
    """The ranks between that which is looked for and those of every cell."""
    at = np.arange(cells + 1)[:, None]
    below, upto = (values < at).sum(axis=1), (values <= at).sum(axis=1)
    return np.maximum(below - share * len(values), share * len(values) - upto)


AUDITS = [*audits(Quantile), *audits(FlippedQuantile)]
TRIAL = MechanismTrial(twins=[ShortReach(), OnTheRecords(), FlippedShortReach(), AlwaysTheBest()], audits=AUDITS)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_no_small_data_sets_lose_much_more_than_those_that_are_audited(neighbors: Neighbors) -> None:
    def loss(first: np.ndarray, second: np.ndarray) -> float:
        exponent = 1 / known_reach(0.5, neighbors)
        return float(np.abs(np.log(chances(first, 0.5, exponent, 15) / chances(second, 0.5, exponent, 15))).max())

    worst = max(loss(*pair) for pair in neighboring(neighbors))
    pair = AUDITS[0 if neighbors is Neighbors.ADD_REMOVE else 2].pair
    assert worst <= 1
    assert isinstance(pair, NeighborPair)
    assert loss(*(answer.values[:, 0] for answer in (pair.first, pair.second))) >= 2 / 3 * worst  # type: ignore[union-attr]


def test_the_price_is_that_of_the_exponential_mechanism() -> None:
    assert Quantile(0.7).event == Exponential(0.7).event


def test_cells_are_chosen_by_the_exponential_of_their_ranks() -> None:
    for neighbors, share in itertools.product(Neighbors, (0.5, 0.3, 0.0, 1.0)):
        mechanism = Quantile(0.8, share, 0.0, 15.0, 15)
        found = mechanism.release(records(VALUES, neighbors).stacked(100_000), DeterministicBits(1))
        expected = chances(np.array(VALUES[:6] + VALUES[7:]), share, 0.8 / known_reach(share, neighbors), 15)
        counts = np.bincount(found.astype(int), minlength=16)
        assert stats.chisquare(counts, expected * 100_000).pvalue > ALARM


def test_looking_near_the_target_only_follows_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so near a limit that most draws are beyond it; ties reach across it."""
    values = np.repeat(np.arange(1.0, 15.0), 5)
    mechanism = Quantile(0.1, 0.6, 0.0, 15.0, 15)
    monkeypatch.setattr(module, "SOON", -math.log(16))
    found = mechanism.release(records(values).stacked(4000), DeterministicBits(2))
    expected = chances(values, 0.6, 0.1 / known_reach(0.6, Neighbors.ADD_REMOVE), 15)
    assert stats.chisquare(np.bincount(found.astype(int), minlength=16), expected * 4000).pvalue > ALARM


@pytest.mark.partial_audit("not on the worst neighbors, which AUDITS has")
def test_the_audit_does_not_refute_other_shares_under_either_relation() -> None:
    for neighbors, share in itertools.product(Neighbors, (0.5, 0.1, 0.0, 1.0)):
        top = [1024.0] * 3
        first = [*top, 1024.0] if neighbors is Neighbors.REPLACE else top
        pair = NeighborPair(records(first, neighbors), records([*top, 100.0], neighbors))
        verdict = trial(Quantile(1.0, share), DeterministicBits(5), neighbors=pair, runs=60_000)
        assert verdict.holds, str(verdict)


def test_a_person_of_three_rows_is_hidden_too() -> None:
    first, second = [1024.0] * 3, [1024.0] * 3 + [100.0] * 3
    pair, careless = (NeighborPair(records(first, rows=rows), records(second, rows=rows)) for rows in (3, 1))
    verdict = trial(Quantile(), DeterministicBits(6), neighbors=pair, runs=60_000)
    assert verdict.holds, str(verdict)
    assert not trial(Quantile(), DeterministicBits(6), neighbors=careless, runs=60_000).holds


@pytest.mark.parametrize(("share", "ranks"), [(0.5, 1.0), (0.9, 1.8)])
def test_the_rank_is_off_by_laplace_noise_of_the_reach_over_epsilon(share: float, ranks: float) -> None:
    """On evenly spread values; the deviation of 20 000 draws is off by less than a twentieth."""
    found = Quantile(0.2, share, 0.0, 1000.0, 2**40).release(
        records(np.arange(1000)).stacked(20_000), DeterministicBits(1)
    )
    assert found.mean() == pytest.approx(share * 1000, abs=1)
    assert found.std() == pytest.approx(math.sqrt(2) * ranks / 0.2, rel=1 / 20)


def test_a_common_value_is_found_exactly() -> None:
    ages = np.repeat([20.0, 30.0, 40.0], [300, 400, 300])
    for share, age in ((0.1, 20), (0.5, 30), (0.9, 40)):
        found = Quantile(1.0, share, 0.0, 100.0, 2**40).release(records(ages).stacked(500), DeterministicBits(1))
        assert (np.abs(found - age) < 1e-9).all()


def test_missing_values_do_not_count() -> None:
    values = np.append(np.full(200, 3.0), np.full(900, np.nan))
    found = Quantile(1.0, 0.9, 0.0, 10.0, 10).release(records(values).stacked(500), DeterministicBits(1))
    assert (found == 3.0).mean() > 0.99


@pytest.mark.parametrize("values", [[], [math.nan, math.nan], [0.3]], ids=["none", "missing", "one"])
def test_hardly_any_data_have_a_release_on_the_grid(values: list[float]) -> None:
    found = Quantile(1.0, 0.25, 0.0, 1.0, 4).release(records(values).stacked(500), DeterministicBits(1))
    assert set(found.tolist()) == {0.0, 0.25, 0.5, 0.75, 1.0}


def test_a_single_release_is_a_number_and_copies_are_rows_of_them() -> None:
    assert np.shape(Quantile().release(records([1.0]), DeterministicBits(1))) == ()
    assert Quantile().release(records([1.0]).stacked(3).stacked(2), DeterministicBits(1)).shape == (2, 3)


def test_the_grid_is_that_of_the_bounds() -> None:
    grid = RankGrid(-3.0, 7.0, 2**40)
    found = Quantile(1.0, 0.5, -3.0, 7.0, 2**40).release(
        records(np.linspace(-3, 7, 50)).stacked(1000), DeterministicBits(8)
    )
    np.testing.assert_array_equal(grid.values(grid.nearest(found)), found)


@pytest.mark.parametrize(
    "fields",
    [
        {"q": -0.1},
        {"q": 1.1},
        {"q": math.nan},
        {"lower": 2000.0},
        {"upper": math.inf},
        {"cells": 0},
        {"epsilon": 0.0},
    ],
)
def test_parameters_without_meaning_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        Quantile(**fields)  # type: ignore[arg-type]


def test_the_price_is_pure_and_not_that_of_a_bounded_range() -> None:
    assert FlippedQuantile(0.7).event == PureLoss(0.7)


def test_cells_are_taken_as_by_permuting_and_flipping() -> None:
    for neighbors, share in itertools.product(Neighbors, (0.5, 0.3, 0.0, 1.0)):
        mechanism = FlippedQuantile(0.8, share, 0.0, 15.0, 15)
        found = mechanism.release(records(VALUES, neighbors).stacked(100_000), DeterministicBits(1))
        far = distances(np.array(VALUES[:6] + VALUES[7:]), share, 15)
        expected = race_chances(far, known_reach(share, neighbors) / mechanism.epsilon) * 100_000
        assert stats.chisquare(np.bincount(found.astype(int), minlength=16), expected).pvalue > ALARM


def test_flips_near_the_target_only_follow_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so near a limit that most draws are beyond it; ties reach across it."""
    values = np.repeat(np.arange(1.0, 15.0), 5)
    mechanism = FlippedQuantile(0.1, 0.6, 0.0, 15.0, 15)
    monkeypatch.setattr(module, "SOON", -math.log(16))
    found = mechanism.release(records(values).stacked(250), DeterministicBits(2))
    expected = (
        race_chances(distances(values, 0.6, 15), known_reach(0.6, Neighbors.ADD_REMOVE) / mechanism.epsilon) * 250
    )
    assert stats.chisquare(np.bincount(found.astype(int), minlength=16), expected).pvalue > ALARM


@pytest.mark.partial_audit("not on the worst neighbors, which AUDITS has")
def test_the_audit_does_not_refute_other_flipped_shares_under_either_relation() -> None:
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


def test_a_single_flipped_release_is_a_number_and_copies_are_rows_of_them() -> None:
    assert np.shape(FlippedQuantile().release(records([1.0]), DeterministicBits(1))) == ()
    assert FlippedQuantile().release(records([1.0]).stacked(3).stacked(2), DeterministicBits(1)).shape == (2, 3)


@pytest.mark.parametrize("fields", [{"q": -0.1}, {"lower": 2000.0}, {"cells": 0}, {"epsilon": math.nan}])
def test_a_mistake_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        FlippedQuantile(**fields)  # type: ignore[arg-type]
