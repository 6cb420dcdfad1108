"""Boosting for queries: its price, twins that break it, how well it answers, and an error bar that holds."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon
from discreet.core.answer import Answer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, LaplaceLoss, Repeated
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.mwem import FARTHEST, TOTAL
from discreet.mechanisms.online.queries import ExactCounts, Queries, distance
from discreet.mechanisms.online.query_boosting import QueryBoosting
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, counted, part
from tests.mechanisms.online.test_mwem import marginals, people
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class _Claimed(QueryBoosting):
    @property
    def event(self) -> Composed:
        return QueryBoosting(self.epsilon, self.rounds, self.sample, self.queries).event


@dataclasses.dataclass(frozen=True)
class ForgetsTheErrorBar(_Claimed):
    """Noise as if the choices alone had to be paid for."""

    @property
    def noise(self) -> Laplace:
        return Laplace(super().noise.multiplier / 2)


@dataclasses.dataclass(frozen=True)
class LastDraw(QueryBoosting):
    """The last query that is drawn, if the histograms of all rounds before have ten records in each cell."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        answers = ExactCounts(answer).to(self.queries)
        errors, past = distance(answers, np.full(len(self.queries), 10.0)), self.rounds - 1
        scores = dataclasses.replace(errors, steps=np.zeros_like(errors.steps))
        for _ in range(past):
            scores = self._reweighted(scores, errors)
        return self._drawn(scores, past, bits)[..., 0].astype(np.float64)


class LastDrawAsIfOfOneRound(LastDraw):
    """Scores of all rounds, drawn as if they moved no farther than those of one."""

    def choice(self, past: int) -> Exponential:
        return Exponential(super().choice(1).epsilon * past**2)


ONE = Queries([1, 0])
MOVED = NeighborPair(counted([1, 0]), counted([2, 0]))
AWAY = Queries([[1, 0], *19 * [[0, 1]]])
LAST = LastDraw(12.0, 6, 1, AWAY)
AUDITS = [
    *(
        Audit(name, QueryBoosting(4.0, 2, 1, ONE), MOVED, claim=LaplaceLoss(2.0), view=part(1, place))
        for place, name in enumerate(("the total", "an answer"))
    ),
    Audit(
        "another answer, replaced",
        QueryBoosting(6.0, 2, 1, ONE),
        NeighborPair(*(counted([1 + one, 1 - one], Neighbors.REPLACE) for one in (0, 1))),
        claim=LaplaceLoss(4 / 3),
        view=part(1, 2),
    ),
    Audit(
        "the last query, where one is farther off and all others less",
        LAST,
        NeighborPair(*(counted([14 - one, 14 + one], Neighbors.REPLACE) for one in (0, 1))),
        claim=LAST.choice(5).event,
    ),
]
TRIAL = MechanismTrial(
    twins=[
        dataclasses.replace(AUDITS[0], mechanism=ForgetsTheErrorBar(4.0, 2, 1, ONE)),
        dataclasses.replace(AUDITS[-1], mechanism=LastDrawAsIfOfOneRound(12.0, 6, 1, AWAY)),
    ],
    audits=AUDITS,
)


def test_the_price_is_that_of_its_parts() -> None:
    mechanism = QueryBoosting(epsilon=1.0, rounds=4, sample=3)
    measured, *choices = mechanism.event.events
    assert measured == Repeated(LaplaceLoss(28.0), 14)
    assert choices == [Repeated(Exponential(past / 36).event, 3) for past in (1, 2, 3)]
    assert epsilon(mechanism.event, 0.0) == pytest.approx(1.0, rel=1e-12)


def test_no_record_moves_the_scores_of_a_round_farther_than_is_paid_for() -> None:
    """Whatever the histograms of the rounds are: here they are drawn anew for each trial."""
    rng, queries = np.random.default_rng(0), Queries(rng_weights())
    mechanism = QueryBoosting(8.0, 5, 2, queries)
    for _ in range(50):
        counts = rng.integers(0, 400, 12)
        other = counts.copy()
        other[rng.integers(12)] += 1
        exact = [ExactCounts(counted(one.tolist())).to(queries) for one in (counts, other)]
        scores = [dataclasses.replace(one, steps=np.zeros_like(one.steps)) for one in exact]
        for past in range(1, 5):
            guess = queries.answers(rng.dirichlet(np.ones(12)) * counts.sum())
            scores = [
                mechanism._reweighted(before, distance(one, guess)) for before, one in zip(scores, exact, strict=True)
            ]
            moved = np.abs(scores[0].steps - scores[1].steps).max() * scores[0].grid.step
            assert moved <= past * exact[0].sensitivity("linf")
            assert scores[0].bound == Bound("linf", exact[0].sensitivity("linf"))
        assert np.ptp(scores[0].steps) > 0


def rng_weights() -> np.ndarray:
    return np.random.default_rng(1).random((40, 12))


def test_queries_that_are_answered_badly_are_drawn_more_often() -> None:
    """By a factor of 3 for each round that was off by more than the margin, against a round that was within."""
    queries = Queries(np.eye(4))
    mechanism = QueryBoosting(0.04, 2, 1, queries)
    errors = distance(ExactCounts(counted([5000, 0, 0, 0])).to(queries), np.zeros(4))
    scores = mechanism._reweighted(dataclasses.replace(errors, steps=np.zeros(4, dtype=np.int64)), errors)
    drawn = mechanism._drawn(scores.stacked(20_000), 1, DeterministicBits(1))
    assert (drawn == 0).mean() == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(20_000) + 0.01)


def test_scores_of_many_rounds_weigh_as_much_as_those_of_one() -> None:
    """A round more costs more; the odds of two queries depend on their scores alone."""
    mechanism = QueryBoosting(1.0, 5, 1, Queries(np.eye(2)))
    errors = distance(ExactCounts(counted([40, 0])).to(mechanism.queries), np.zeros(2))
    odds = math.exp(mechanism.choice(1).epsilon * 40 / 2)
    for past in (1, 4):
        drawn = mechanism._drawn(errors.stacked(40_000), past, DeterministicBits(past))
        assert (drawn == 0).mean() == pytest.approx(odds / (1 + odds), abs=5 * 0.5 / math.sqrt(40_000))


def test_it_answers_better_than_ignorance_and_better_with_more_epsilon() -> None:
    queries, answer = marginals(5), people(5, 4000)
    exact = queries.answers(answer.steps.astype(float))
    errors = []
    for budget in (1.0, 100.0):
        mechanism = QueryBoosting(budget, 3, 24, queries)
        found = mechanism.answers(mechanism.release(answer.stacked(8), DeterministicBits(1)))
        errors.append(float(np.abs(found - exact).max(axis=1).mean()))
    assert errors[1] < 0.2 * np.abs(exact - 1000).max()
    assert errors[1] < errors[0] < np.abs(exact - 1000).max()


def test_the_error_bar_is_that_of_the_answers_that_are_released() -> None:
    queries, answer = marginals(4), people(4, 3000)
    mechanism = QueryBoosting(8.0, 2, 4, queries)
    release = mechanism.release(answer.stacked(200), DeterministicBits(3))
    assert (release[:, 0, 0] == TOTAL).all()
    assert (release[:, 0, -1] == FARTHEST).all()
    answers = np.rint(mechanism.answers(release))
    noise = release[:, 1, -1] - np.abs(answers - queries.answers(answer.steps.astype(float))).max(axis=1)
    scale = mechanism.noise.multiplier
    assert np.median(noise) == pytest.approx(0, abs=5 * scale / math.sqrt(200) + 1)
    assert np.abs(noise).mean() == pytest.approx(scale, rel=0.4)


@pytest.mark.parametrize(
    "fields", [{"rounds": 1}, {"rounds": 500}, {"sample": 0}, {"sample": 1.5}, {"epsilon": math.inf}]
)
def test_parameters_without_meaning_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        QueryBoosting(**fields)  # type: ignore[arg-type]
