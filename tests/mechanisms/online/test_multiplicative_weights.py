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
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.multiplicative_weights import MultiplicativeWeights
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
