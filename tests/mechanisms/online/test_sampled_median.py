"""The sampled median mechanism: twins that break it, and candidates that fit what was measured and no more."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.core.answer import NeighborPair
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.online_queries import MEASURED
from discreet.mechanisms.online.queries import Queries
from discreet.mechanisms.online.sampled_median import SampledMedian
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, counted, part, stretched
from tests.mechanisms.online.test_multiplicative_weights import bell, intervals
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class ForgetsTheTotal(SampledMedian):
    """Noise for the measured answers alone, as if the total cost nothing."""

    @property
    def noise(self) -> Laplace:
        return Laplace(2 * self.updates / self.epsilon)


ONE_MORE = NeighborPair(counted([1, 0, 0]), counted([2, 0, 0]))
AUDITS = [
    Audit(
        name,
        SampledMedian(epsilon, 1, Queries([1, 0, 0]), threshold=-100.0),
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


def test_candidates_begin_evenly_spread_over_all_histograms() -> None:
    """Shares of exponential variables are uniform on the simplex: each has mean 1/3 and variance 2/36."""
    mechanism = SampledMedian(queries=Queries(np.zeros(3)), candidates=20_000)
    shares = mechanism.hypothesis(np.array(30.0), DeterministicBits(1)).weighted.shares
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(shares.mean(axis=0), 1 / 3, atol=0.01)
    np.testing.assert_allclose(shares.var(axis=0), 2 / 36, atol=0.003)


def test_candidates_fit_what_was_measured_within_its_noise_and_differ_elsewhere() -> None:
    query, other = Queries([1, 1, 0, 0]), Queries([1, 0, 1, 0])
    mechanism = SampledMedian(2.0, 1, query, candidates=400)
    candidates = mechanism.hypothesis(np.array(1000.0), DeterministicBits(1))
    free = np.std(candidates.weighted.answers(query)[:, 0])
    candidates.learn(query, np.array(600.0), np.array(True))
    said, elsewhere = (candidates.weighted.answers(one)[:, 0] for one in (query, other))
    assert np.median(said) == pytest.approx(600, abs=1)
    assert np.std(said) == pytest.approx(math.sqrt(2) * 2, rel=0.3)  # Laplace noise of scale 2 (1 + 1) / epsilon
    assert np.std(elsewhere) > 0.5 * free


def test_many_correlated_queries_are_answered_well_after_a_few_corrections() -> None:
    queries, answer = intervals(24), bell(24, 20_000)
    mechanism = SampledMedian(1.0, 20, queries, threshold=600.0, candidates=15)
    release = mechanism.release(answer.stacked(5), DeterministicBits(2))
    off = np.abs(release[:, 0, 1:] - queries.answers(answer.steps.astype(float)))
    assert ((release[:, 1, 1:] == MEASURED).sum(axis=1) <= 20).all()
    assert np.median(off.max(axis=1)) < 1000
    assert (off < 600).mean() > 0.95


@pytest.mark.parametrize("fields", [{"threshold": math.inf}, {"candidates": 0}, {"candidates": 2.5}])
def test_parameters_without_meaning_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        SampledMedian(**fields)  # type: ignore[arg-type]
