"""Several quantiles by halves: the price of the levels, the law, ties, where twins break."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.audit.trial import trial
from discreet.core.answer import NeighborPair, Records
from discreet.core.errors import ParameterError
from discreet.core.events import Repeated
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.ranks import quantiles as module
from discreet.mechanisms.ranks.quantiles import Quantiles
from discreet.mechanisms.ranks.rank_grid import Target
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, tripled
from tests.mechanisms.ranks.test_rank_grid import known_reach
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class ForgetsHowManyLevels(Quantiles):
    """The last of two levels spends half as much again as is left for it."""

    def target(self, q: float, level: int, rows: int, neighbors: Neighbors) -> Target:
        price = self.epsilon / 2 * (1.5 if level else 1.0)
        return Target.priced(q, price, rows, neighbors, parted=level > 0)


def records(values: list[float] | np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE, rows: int = 1) -> Records:
    return Records(np.asarray(values, dtype=np.float64).reshape(-1, 1), rows, neighbors)


def chances(values: np.ndarray, share: float, exponent: float, cells: int) -> np.ndarray:
    """The law of a single share, computed with real places: for each of many places of the records, exactly."""
    rng, total = np.random.default_rng(0), np.zeros(cells + 1)
    for _ in range(2500):
        places = np.sort(values + rng.random(len(values)))
        edges = np.union1d(places, np.arange(cells + 2.0))
        below = np.searchsorted(places, edges[:-1], side="right")
        weights = np.diff(edges) * np.exp(-exponent * np.abs(below - share * len(values)))
        total += np.bincount(edges[:-1].astype(int), weights / weights.sum(), minlength=cells + 1)
    return total / 2500


LOW, HIGH = 12 * [500.0], 12 * [524.0]
AUDITS = [
    Audit("a row joins", Quantiles(1.0, (0.5,)), NeighborPair(records([1024.0]), records([1024.0, 200.0]))),
    Audit(
        "three rows join", Quantiles(1.0, (0.5,)), tripled(NeighborPair(records([1024.0]), records([1024.0, 200.0])))
    ),
    Audit(
        "a row is replaced",
        Quantiles(1.3, (0.5,)),
        NeighborPair(*(records(values, Neighbors.REPLACE) for values in ([0.0, 200.0], [200.0, 1024.0]))),
    ),
    Audit(
        "a row joins one part of the second level",
        Quantiles(3.0, (0.0, 0.5)),
        NeighborPair(records(LOW + HIGH), records([400.0, *LOW, *HIGH])),
        claim=Exponential(1.5).event,
        view=lambda found: found[:, 0],
    ),
    Audit(
        "a row changes parts of the second level",
        Quantiles(4.0, (0.0, 0.5, 1.0)),
        NeighborPair(*(records([one, *LOW, *HIGH], Neighbors.REPLACE) for one in (80.0, 608.0))),
        claim=Exponential(2.0).event,
        view=lambda found: np.array([found[:, 0] <= 80, found[:, 2] < 608]).T,
        runs=120_000,
    ),
]
TRIAL = MechanismTrial(
    twins=[
        dataclasses.replace(AUDITS[3], mechanism=ForgetsHowManyLevels(3.0, (0.0, 0.5))),
        dataclasses.replace(AUDITS[4], mechanism=ForgetsHowManyLevels(4.0, (0.0, 0.5, 1.0))),
    ],
    audits=AUDITS,
)


@pytest.mark.parametrize(("number", "depth"), [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (99, 7)])
def test_several_shares_cost_one_event_for_each_halving(number: int, depth: int) -> None:
    mechanism = Quantiles(1.0, tuple(np.linspace(0, 1, number)))
    assert mechanism.event == Repeated(Exponential(1 / depth).event, depth)
    assert pure_epsilon(mechanism.event) == pytest.approx(1.0)


@pytest.mark.parametrize("share", [0.5, 0.3, 0.0, 1.0])
def test_a_place_is_chosen_by_the_exponential_of_its_rank(share: float) -> None:
    """Tolerance: five deviations of 100 000 draws, and of the 2500 places that the expected law was computed from."""
    values = np.array([3.0, 3.0, 3.0, 5.0, 9.0, 9.0, 14.0])
    mechanism = Quantiles(0.8, (share,), 0.0, 15.0, 15)
    found = mechanism.release(records(np.append(values, np.nan)).stacked(100_000), DeterministicBits(1))[:, 0]
    expected = chances(values, share, 0.8 / known_reach(share, Neighbors.ADD_REMOVE), 15)
    np.testing.assert_allclose(np.bincount(found.astype(int), minlength=16) / 100_000, expected, atol=0.012)


@pytest.mark.partial_audit("not on the worst neighbors, which AUDITS has")
def test_the_audit_does_not_refute_other_shares_under_either_relation() -> None:
    for neighbors, shares in itertools.product(Neighbors, ((0.1, 0.9), (0.25, 0.5, 0.75), (0.0, 0.5, 1.0))):
        top = [1024.0] * 3
        first = [*top, 1024.0] if neighbors is Neighbors.REPLACE else top
        pair = NeighborPair(records(first, neighbors), records([*top, 100.0], neighbors))
        verdict = trial(Quantiles(1.0, shares), DeterministicBits(5), neighbors=pair, runs=20_000)
        assert verdict.holds, str(verdict)


def test_many_shares_come_in_order_and_near_their_places() -> None:
    values = np.random.default_rng(1).normal(size=20_000)
    shares = tuple(np.linspace(0.05, 0.95, 19))
    found = Quantiles(1.0, shares, -10.0, 10.0, 2**40).release(records(values), DeterministicBits(2))
    assert (np.diff(found) >= 0).all()
    np.testing.assert_allclose(np.searchsorted(np.sort(values), found) / 20_000, shares, atol=0.01)


def test_ties_are_parted_so_that_later_shares_are_right_too() -> None:
    ages = np.repeat([20.0, 30.0, 40.0], [3000, 4000, 3000])
    shares = (0.1, 0.4, 0.5, 0.6, 0.9)
    found = Quantiles(2.0, shares, 0.0, 100.0, 100).release(records(ages).stacked(50), DeterministicBits(1))
    assert (found == [20, 30, 30, 30, 40]).mean() > 0.98


def test_shares_may_be_the_same_or_at_the_ends() -> None:
    found = Quantiles(9.0, (0.0, 0.5, 0.5, 1.0), 0.0, 8.0, 8).release(records([4.0] * 99), DeterministicBits(3))
    assert (np.diff(found) >= 0).all()
    assert found[0] <= 4 <= found[3]
    assert found[1:3].tolist() == [4.0, 4.0]


@pytest.mark.parametrize("values", [[], [math.nan, math.nan], [0.3]], ids=["none", "missing", "one"])
def test_hardly_any_data_have_a_release_on_the_grid(values: list[float]) -> None:
    found = Quantiles(1.0, (0.25, 0.5), 0.0, 1.0, 4).release(records(values).stacked(500), DeterministicBits(1))
    assert set(found.ravel().tolist()) == {0.0, 0.25, 0.5, 0.75, 1.0}


def test_copies_and_single_releases_follow_one_law() -> None:
    values = np.random.default_rng(3).uniform(0, 16, 40)
    mechanism, bits = Quantiles(0.5, (0.3, 0.6), 0.0, 16.0, 16), DeterministicBits(4)
    single = np.array([mechanism.release(records(values), bits) for _ in range(1500)])
    copies = mechanism.release(records(values).stacked(15_000), bits)
    for column in (0, 1):
        shares = [np.bincount(found[:, column].astype(int), minlength=17) / len(found) for found in (single, copies)]
        np.testing.assert_allclose(shares[0], shares[1], atol=5 * 0.5 / math.sqrt(1500))


@pytest.mark.parametrize(
    "fields",
    [
        {"q": ()},
        {"q": (-0.1,)},
        {"q": (1.1,)},
        {"q": (0.5, 0.4)},
        {"q": (math.nan,)},
        {"lower": 2000.0},
        {"cells": 0},
        {"epsilon": 0.0},
    ],
)
def test_parameters_without_meaning_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        Quantiles(**fields)  # type: ignore[arg-type]


@pytest.mark.slow
def test_many_records_are_found_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean rank and its deviation, at the deciles of the same records; five deviations of 300 draws."""
    values, shares = np.random.default_rng(5).uniform(0, 1, 3000), tuple(np.arange(1, 10) / 10)
    mechanism = Quantiles(1.0, shares, 0.0, 1.0, 2**40)
    few = mechanism.release(records(values).stacked(3000), DeterministicBits(6))
    monkeypatch.setattr(module, "MANY", 1)
    many = mechanism.release(records(values).stacked(300), DeterministicBits(7))
    deviations = few.std(axis=0)
    assert (np.abs(many.mean(axis=0) - few.mean(axis=0)) < 5 * deviations / math.sqrt(300)).all()
    np.testing.assert_allclose(many.std(axis=0), deviations, rtol=5 * math.sqrt(5 / 4 / 300))
