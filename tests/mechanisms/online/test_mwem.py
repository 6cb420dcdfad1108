"""MWEM: its price, twins that break it, how well it answers, and an error bar that holds."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon
from discreet.core.answer import Answer, NeighborPair
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, LaplaceLoss, Repeated
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.mwem import FARTHEST, MWEM, TOTAL
from discreet.mechanisms.online.queries import Queries
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, counted, part
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class _Claimed(MWEM):
    @property
    def event(self) -> Composed:
        return MWEM(self.epsilon, self.rounds, self.queries).event


@dataclasses.dataclass(frozen=True)
class ChoosesTooSharply(_Claimed):
    """A choice that costs half as much again as was paid."""

    @property
    def choice(self) -> Exponential:
        return Exponential(1.5 * self.epsilon / (2 * self.rounds + 2))


@dataclasses.dataclass(frozen=True)
class ForgetsTheErrorBar(_Claimed):
    """Noise as if the choices alone had to be paid for."""

    @property
    def noise(self) -> Laplace:
        return Laplace((2 * self.rounds + 2) / 1.5 / self.epsilon)


def marginals(columns: int) -> Queries:
    """The cells of all tables of two binary columns."""
    cells = np.array(np.unravel_index(np.arange(2**columns), (2,) * columns))
    pairs = [(a, b) for a in range(columns) for b in range(a + 1, columns)]
    return Queries(np.array([(cells[a] == x) & (cells[b] == y) for a, b in pairs for x in (0, 1) for y in (0, 1)]))


def people(columns: int, records: int, seed: int = 0) -> Answer:
    rng = np.random.default_rng(seed)
    kinds, chances = rng.integers(0, 3, records), rng.uniform(0.1, 0.9, (3, columns))
    rows = (rng.random((records, columns)) < chances[kinds]).astype(int)
    places = rows @ (1 << np.arange(columns))[::-1]
    counts = np.bincount(places, minlength=2**columns)
    return Answer(counts.astype(np.int64), Grid(0), Bound("l1", 1.0, nonnegative=True), Neighbors.ADD_REMOVE)


FIRST = np.eye(64, dtype=int)[0]
AUDITS = [
    Audit(
        "everything",
        MWEM(4.0, 1, Queries([1, 0])),
        NeighborPair(counted([1, 0]), counted([2, 0])),
        view=lambda found: found[:, 1],
    ),
    *(
        Audit(
            name,
            MWEM(4.0, 1, Queries([1, 0])),
            NeighborPair(counted([1, 0]), counted([2, 0])),
            claim=LaplaceLoss(1.0),
            view=part(1, place),
        )
        for place, name in enumerate(("the total", "the answer"))
    ),
    Audit(
        "the choice, where one query is farther off and all others less",
        MWEM(4.0, 1, Queries([FIRST, *19 * [np.roll(FIRST, 1)]])),
        NeighborPair(*(counted([11 - more, 10 + more, *62 * [0]], Neighbors.REPLACE) for more in (0, 1))),
        claim=Exponential(1.0).event,
        view=lambda found: found[:, 0, 1],
    ),
]
TRIAL = MechanismTrial(
    twins=[
        dataclasses.replace(AUDITS[0], mechanism=ForgetsTheErrorBar(4.0, 1, Queries([1, 0]))),
        dataclasses.replace(AUDITS[-1], mechanism=ChoosesTooSharply(4.0, 1, AUDITS[-1].mechanism.queries)),
    ],
    audits=AUDITS,
)


def test_the_price_is_that_of_its_parts() -> None:
    event = MWEM(epsilon=1.0, rounds=4).event
    assert event.events[0] == Repeated(LaplaceLoss(10.0), 6)
    assert event.events[1] == Repeated(Exponential(0.1).event, 4)
    assert epsilon(event, 0.0) == pytest.approx(1.0, rel=1e-12)
    assert epsilon(MWEM(epsilon=1.0, rounds=60).event, 1e-6) < 0.6  # sums of losses are rarely all at their worst


def test_it_answers_better_than_ignorance_and_better_with_more_epsilon() -> None:
    queries, answer = marginals(6), people(6, 4000)
    exact = queries.answers(answer.steps.astype(float))
    ignorance = np.abs(exact - 1000).max()
    errors = []
    for budget in (0.5, 50.0):
        mechanism = MWEM(budget, 12, queries)
        histogram = mechanism.histogram(mechanism.release(answer.stacked(8), DeterministicBits(1)))
        errors.append(float(np.abs(queries.answers(histogram) - exact).max(axis=1).mean()))
    assert errors[1] < 0.25 * ignorance
    assert errors[1] < errors[0] < ignorance


def test_the_queries_that_are_farthest_off_are_measured_first() -> None:
    queries = Queries(np.eye(4))
    answer = Answer(np.array([1000, 0, 0, 3000]), Grid(0), Bound("l1", 1.0, True), Neighbors.ADD_REMOVE)
    release = MWEM(50.0, 1, queries).release(answer.stacked(50), DeterministicBits(1))
    assert (release[:, 0, 0] == TOTAL).all()
    assert (release[:, 0, 1] == 3).all()
    assert (release[:, 0, 2] == FARTHEST).all()
    np.testing.assert_allclose(release[:, 1, 0], 4000, atol=5)
    np.testing.assert_allclose(release[:, 1, 1], 3000, atol=5)


def test_the_farthest_distance_is_that_of_the_histogram_that_is_released() -> None:
    queries, answer = marginals(5), people(5, 3000)
    mechanism = MWEM(1.0, 6, queries)
    release = mechanism.release(answer.stacked(400), DeterministicBits(3))
    answers = np.rint(queries.answers(mechanism.histogram(release)))
    farthest = np.abs(answers - queries.answers(answer.steps.astype(float))).max(axis=1)
    noise = release[:, 1, -1] - farthest
    assert np.median(noise) == pytest.approx(0, abs=4)  # scale 14: five deviations of a median of 400
    assert np.abs(noise).mean() == pytest.approx(14, rel=0.25)
    covered = farthest <= release[:, 1, -1] + 14 * math.log(10)
    assert covered.mean() >= 0.95 - 5 * math.sqrt(0.05 * 0.95 / 400)


def test_both_relations_are_served() -> None:
    mechanism, queries = MWEM(1.0, 3, marginals(4)), marginals(4)
    for neighbors in Neighbors:
        answer = dataclasses.replace(people(4, 1000), neighbors=neighbors)
        histogram = mechanism.histogram(mechanism.release(answer, DeterministicBits(1)))
        assert histogram.shape == (16,)
        assert histogram.sum() == pytest.approx(1000, abs=200)
    assert len(queries) == 24


@pytest.mark.parametrize("fields", [{"rounds": 0}, {"rounds": 5000}, {"rounds": 1.5}, {"epsilon": math.inf}])
def test_parameters_without_meaning_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        MWEM(**fields)  # type: ignore[arg-type]
