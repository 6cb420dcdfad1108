"""Private multiplicative weights: twins that break it, how well it answers, what anybody can compute from a release."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.core.answer import Answer, NeighborPair
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online import multiplicative_weights
from discreet.mechanisms.online.multiplicative_weights import MultiplicativeWeights, WeightedHistogram
from discreet.mechanisms.online.online_queries import MEASURED, TESTED, OnlineQueries
from discreet.mechanisms.online.queries import Queries
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, counted, part, stretched
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class ForgetsTheTotal(MultiplicativeWeights):
    """Noise for the measured answers alone, as if the total cost nothing."""

    @property
    def noise(self) -> Laplace:
        return Laplace(2 * self.updates / self.epsilon)


def intervals(cells: int) -> Queries:
    places = np.arange(cells)
    rows = [(places >= a) & (places < b) for a in range(cells) for b in range(a + 1, cells + 1)]
    return Queries(np.random.default_rng(0).permutation(np.array(rows)))


def bell(cells: int, records: int) -> Answer:
    density = np.exp(-0.5 * np.square((np.arange(cells) - cells / 3) / (cells / 8)))
    counts = np.rint(records * density / density.sum()).astype(np.int64)
    return Answer(counts, Grid(0), Bound("l1", 1.0, nonnegative=True), Neighbors.ADD_REMOVE)


ONE_MORE = NeighborPair(counted([1, 0, 0]), counted([2, 0, 0]))

AUDITS = [
    Audit(
        name,
        MultiplicativeWeights(epsilon, 1, Queries([1, 0, 0]), threshold=-100.0),
        pair,
        LaplaceLoss(4 / epsilon),
        part(0, place),
    )
    for epsilon, pair in ((2.0, ONE_MORE), (3.0, stretched(ONE_MORE, Neighbors.REPLACE, 3, 0)))
    for place, name in enumerate(("the total", "a measured answer"))
]
TRIAL = MechanismTrial(
    twins=[
        dataclasses.replace(
            audit, mechanism=ForgetsTheTotal(2.0, 2, Queries([1, 0, 0]), threshold=-100.0), claim=LaplaceLoss(3.0)
        )
        for audit in AUDITS[:2]
    ],
    audits=AUDITS,
)


def test_many_correlated_queries_are_answered_well_after_a_few_corrections() -> None:
    queries, answer = intervals(32), bell(32, 20_000)
    mechanism = MultiplicativeWeights(1.0, 20, queries, threshold=600.0)
    release = mechanism.release(answer.stacked(20), DeterministicBits(2))
    off = np.abs(release[:, 0, 1:] - queries.answers(answer.steps.astype(float)))
    assert len(queries) == 528
    assert ((release[:, 1, 1:] == MEASURED).sum(axis=1) <= 20).all()
    assert np.median(off.max(axis=1)) < 1000  # Laplace noise on each would give 528 ln(528), or 3300
    assert (off < 600).mean() > 0.95


def test_anybody_can_compute_the_public_histogram_from_the_release() -> None:
    queries, answer = intervals(8), bell(8, 5000)
    mechanism = MultiplicativeWeights(2.0, 4, queries, threshold=200.0)
    release = mechanism.release(answer.stacked(3), DeterministicBits(4))
    talk = OnlineQueries(mechanism, answer.stacked(3), DeterministicBits(4))
    for place in range(len(queries)):
        talk.ask(queries[place])
    last = queries[0]
    after = talk.ask(last)
    guessed = after.sources != MEASURED
    assert guessed.any()
    said = last.answers(mechanism.histogram(release))[:, 0]
    np.testing.assert_allclose(after.values[guessed], np.rint(said)[guessed])


def test_a_guess_that_is_tested_is_near_with_the_confidence_that_the_margin_states() -> None:
    """Of all tested guesses that are off by more than threshold + margin, at most a share of 5 % passes: here of
    4000 that are off by exactly that, hence at most 200 and five deviations."""
    mechanism = MultiplicativeWeights(1.0, 1, Queries([[1, 0]]), threshold=50.0)
    off = math.ceil(50.0 + mechanism.tests.margin(0.05))
    answer = Answer(np.array([10_000 + 2 * off, 10_000]), Grid(0), Bound("l1", 1.0, True), Neighbors.ADD_REMOVE)
    release = mechanism.release(answer.stacked(4000), DeterministicBits(6))
    assert (release[:, 1, 1] == TESTED).sum() <= 200 + 5 * math.sqrt(200)


@pytest.mark.parametrize(
    "fields", [{"threshold": math.nan}, {"updates": 0}, {"updates": 1.5}, {"epsilon": 0.0}, {"epsilon": 1e-12}]
)
def test_parameters_without_meaning_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        MultiplicativeWeights(**fields)  # type: ignore[arg-type]


def divergence(exact: Array, guess: Array) -> float:
    return float(np.where(exact > 0, exact * np.log(np.where(exact > 0, exact, 1) / guess), 0.0).sum())


@pytest.mark.parametrize("plain", [True, False])
def test_each_step_brings_the_exact_histogram_nearer_by_twice_the_squared_error(
    plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multiplicative_weights, "SWEEPS", 1)
    rng = np.random.default_rng(0)
    for _ in range(200):
        exact, start = rng.dirichlet(np.full(12, 0.3)), rng.dirichlet(np.ones(12))
        query = (rng.random(12) < 0.5).astype(float) if plain else rng.random(12)
        guess = WeightedHistogram(np.array(1000.0), start)
        error = query @ exact - query @ start
        guess.learn(query, np.array(1000 * query @ exact))
        assert guess.shares.sum() == pytest.approx(1.0, abs=1e-12)
        assert divergence(exact, guess.shares) <= divergence(exact, start) - 2 * error**2 + 1e-12


def test_no_sequence_of_queries_finds_more_errors_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst query that there is, each time: the sign of the difference, over all cells."""
    monkeypatch.setattr(multiplicative_weights, "SWEEPS", 1)
    exact, least = np.eye(64)[7], 0.05
    guess, found = WeightedHistogram(np.array(1.0), np.ones(64)), 0
    while True:
        query = (exact > guess.shares).astype(float)
        if query @ exact - query @ guess.shares < least:
            break
        guess.learn(query, np.array(query @ exact))
        guess._past.clear()
        found += 1
    assert 1 < found <= math.log(64) / (2 * least**2)


def test_all_answers_are_fitted_and_nothing_else_is_assumed() -> None:
    """Of all histograms with these answers, the one of greatest entropy: independent columns, for two marginals."""
    rows, columns = np.array([0.2, 0.8]), np.array([0.1, 0.3, 0.6])
    guess = WeightedHistogram(np.array(100.0), np.ones(6))
    cells = np.arange(6).reshape(2, 3)
    for _ in range(12):
        for place in range(2):
            guess.learn(np.isin(np.arange(6), cells[place]).astype(float), np.array(100 * rows[place]))
        for place in range(3):
            guess.learn(np.isin(np.arange(6), cells[:, place]).astype(float), np.array(100 * columns[place]))
    np.testing.assert_allclose(guess.counts.reshape(2, 3), 100 * np.outer(rows, columns), atol=1e-6)


def test_stacked_histograms_learn_by_themselves() -> None:
    both = WeightedHistogram(np.array([100.0, 200.0]), np.ones((2, 3)))
    both.learn(np.array([1, 0, 0]), np.array([90.0, 20.0]), np.array([True, False]))
    alone = WeightedHistogram(np.array(100.0), np.ones(3))
    alone.learn(np.array([1, 0, 0]), np.array(90.0))
    np.testing.assert_allclose(both.counts[0], alone.counts)
    np.testing.assert_allclose(both.counts[1], 200 / 3)
    each = WeightedHistogram(np.array([100.0, 100.0]), np.ones((2, 3)))
    each.learn(np.array([[1, 0, 0], [0, 1, 0]]), np.array([90.0, 90.0]))
    np.testing.assert_allclose(each.counts[0], each.counts[1][[1, 0, 2]])


def test_answers_beyond_nobody_and_everybody_are_taken_as_such() -> None:
    for measured, share in ((-50.0, 0.0), (500.0, 1.0)):
        guess = WeightedHistogram(np.array(-3.0), np.ones(4))
        for _ in range(10):
            guess.learn(np.array([1, 1, 0, 0]), np.array(measured))
        assert guess.total == 1.0
        assert guess.answers(Queries([1, 1, 0, 0]))[0] == pytest.approx(share, abs=0.01)
        assert np.isfinite(guess.shares).all()


def test_answers_that_contradict_each_other_do_not_move_the_total() -> None:
    """Rounding of the total grows up to 50 times whenever nearly all shares are taken from a query."""
    rng, guess = np.random.default_rng(0), WeightedHistogram(np.full(8, 10.0), np.ones((8, 4)))
    for place in rng.integers(4, size=40):
        guess.learn(np.eye(4)[place], 10.0 * rng.integers(2, size=8).astype(np.float64))
        np.testing.assert_allclose(guess.shares.sum(axis=-1), 1.0, atol=1e-12)
