"""The net mechanism: its law by brute force, twins that break it, and what it finds."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter

import numpy as np
import pytest

from discreet.core.answer import Answer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, LaplaceLoss
from discreet.core.grid import Grid, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.net import NetMechanism, databases, orders
from discreet.mechanisms.online.queries import Queries
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, counted
from tests.mechanisms.trial import MechanismTrial

AUDITS = [
    Audit(
        "the choice, where one database is nearer and the other farther",
        NetMechanism(4 / 3, 1),
        NeighborPair(*(counted([13 - more, 10 + more], Neighbors.REPLACE) for more in (0, 1))),
        claim=Exponential(1.0).event,
        view=lambda found: found[:, 1],
    ),
    Audit(
        "the total",
        NetMechanism(2.0, 1),
        NeighborPair(counted([1, 0]), counted([2, 0])),
        claim=LaplaceLoss(2.0),
        view=lambda found: found[:, 0],
    ),
]


@dataclasses.dataclass(frozen=True)
class _Claimed(NetMechanism):
    @property
    def event(self) -> Composed:
        return NetMechanism(self.epsilon, self.size).event


@dataclasses.dataclass(frozen=True)
class ChoosesTooSharply(_Claimed):
    """A choice that costs half as much again as was paid."""

    @property
    def choice(self) -> Exponential:
        return Exponential(1.5 * 0.75 * self.epsilon)


@dataclasses.dataclass(frozen=True)
class CountsTooExactly(_Claimed):
    """The total, with two thirds of its noise."""

    @property
    def noise(self) -> Laplace:
        return Laplace(4 / 1.5 / self.epsilon)


def histogram(counts: list[int]) -> Answer:
    return Answer(np.array(counts), Grid(0), Bound("l1", 1.0, nonnegative=True), Neighbors.ADD_REMOVE)


TRIAL = MechanismTrial(
    twins=[
        dataclasses.replace(audit, mechanism=twin(audit.mechanism.epsilon, 1))
        for audit, twin in zip(AUDITS, (ChoosesTooSharply, CountsTooExactly), strict=True)
    ],
    audits=AUDITS,
)


def test_the_price_is_that_of_the_total_and_of_one_choice() -> None:
    event = NetMechanism(epsilon=2.0).event
    assert event.events == (LaplaceLoss(2.0), Exponential(1.5).event)


def test_the_law_is_the_one_that_can_be_computed_by_hand() -> None:
    """P(total t, database S): a rounded Laplace mass, times a weight of exp(-0.75 epsilon / 2 * farthest distance)."""
    counts, queries, runs = [3, 1, 0], [[1, 0, 0], [0, 1, 1], [1, 0, 1]], 200_000
    mechanism = NetMechanism(2.0, 2, Queries(queries))
    rows = mechanism.release(histogram(counts).stacked(runs), DeterministicBits(1)).astype(int)
    seen = Counter(map(tuple, rows.tolist()))
    small = [one for one in itertools.product(range(3), repeat=3) if sum(one) == 2]
    apart = 0.0
    for total in range(-8, 17):
        mass = _rounded_laplace(total - 4, 2.0)
        weights = [math.exp(-0.75 * _farthest(counts, queries, one, max(total, 0))) for one in small]
        for one, weight in zip(small, weights, strict=True):
            apart += abs(seen[total, *one] / runs - mass * weight / sum(weights))
    assert apart / 2 < 0.012  # about sqrt(150 outcomes / 200 000) / 2.5; an eighth more epsilon gives 0.02


def _rounded_laplace(k: int, scale: float) -> float:
    if k == 0:
        return 1 - math.exp(-0.5 / scale)
    return 0.5 * (math.exp(-(abs(k) - 0.5) / scale) - math.exp(-(abs(k) + 0.5) / scale))


def _farthest(counts: list[int], queries: list[list[int]], small: tuple[int, ...], total: int) -> int:
    said = [round(sum(q * s for q, s in zip(query, small, strict=True)) * total / 2) for query in queries]
    exact = [sum(q * c for q, c in zip(query, counts, strict=True)) for query in queries]
    return max(abs(a - b) for a, b in zip(said, exact, strict=True))


def test_one_record_moves_the_scores_by_no_more_than_is_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain counts and linear queries together, whose answers are on different grids when asked one by one."""
    seen: list[Answer] = []
    release = Exponential.release
    monkeypatch.setattr(Laplace, "release", lambda self, answer, bits: np.array([3.0]))

    def watched(self: Exponential, answer: Answer, bits: Bits) -> Steps:
        seen.append(answer)
        return release(self, answer, bits)

    monkeypatch.setattr(Exponential, "release", watched)
    mechanism = NetMechanism(1.0, 3, Queries([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0]]))
    for counts in ([5, 2], [6, 2]):
        mechanism.release(histogram(counts), DeterministicBits(1))
    here, there = seen
    moved = np.abs(here.grid.values(here.steps - there.steps))
    assert 0.99 < moved.max() <= here.sensitivity("linf")
    assert mechanism.choice.epsilon * moved.max() / here.sensitivity("linf") <= 0.75


def test_a_database_of_a_few_records_answers_all_queries() -> None:
    """Every set of four cells is a query: sixteen, to a tenth, from twenty records."""
    queries = Queries(list(itertools.product([0, 1], repeat=4)))
    mechanism, counts = NetMechanism(1.0, 20, queries), [600, 250, 100, 50]
    found = mechanism.histogram(mechanism.release(histogram(counts).stacked(30), DeterministicBits(1)))
    off = np.abs(queries.answers(found) - queries.answers(np.array(counts, dtype=float))).max(axis=1)
    assert (off < 100).all()


def test_so_many_records_as_the_docstring_says_are_near_any_database() -> None:
    share, queries = 0.1, 16
    size = math.ceil(math.log(2 * queries) / (2 * share**2))
    rng = np.random.default_rng(0)
    sets = np.array(list(itertools.product([0, 1], repeat=4)))
    for _ in range(20):
        exact = rng.dirichlet(np.ones(4))
        drawn = rng.multinomial(size, exact, 2000) / size
        off = np.abs((drawn - exact) @ sets.T)
        assert (off > share).mean(axis=0).max() <= 1 / queries
        assert off.max(axis=1).min() <= share


@pytest.mark.parametrize("fields", [{"size": 0}, {"size": 10**7}, {"epsilon": -1.0}])
def test_parameters_without_meaning_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        NetMechanism(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(("cells", "size"), [(1, 4), (2, 5), (3, 4), (4, 3)])
def test_each_database_is_listed_once_with_the_share_of_its_orders(cells: int, size: int) -> None:
    sequences = Counter(
        tuple(Counter(sequence)[cell] for cell in range(cells))
        for sequence in itertools.product(range(cells), repeat=size)
    )
    listed = databases(cells, size)
    assert len(listed) == len(sequences) == math.comb(size + cells - 1, cells - 1)
    for row, share in zip(listed.tolist(), orders(listed), strict=True):
        assert share == pytest.approx(sequences[tuple(row)] / cells**size, rel=1e-12)


def test_too_many_are_refused_with_their_number() -> None:
    with pytest.raises(ParameterError, match=r"there are 4\.26e\+12 of 100 records over 10 cells"):
        databases(10, 100)
    with pytest.raises(ParameterError, match="size is 0"):
        databases(3, 0)


def test_a_long_list_is_made_fast_enough_to_use() -> None:
    listed = databases(4, 80)
    assert len(listed) == 91_881
    assert (listed.sum(axis=1) == 80).all()
    assert len(np.unique(listed, axis=0)) == len(listed)
