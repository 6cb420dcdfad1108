"""Secure sums: the price of a curator, no exact sum for anybody, and parties that may vanish."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.accounting.calibration import calibrate
from discreet.accounting.single_plan import SinglePlan
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.core.question import BoundedSum
from discreet.core.schema import Schema
from discreet.crypto.errors import TooFewSurvivors
from discreet.crypto.identity import Identity
from discreet.crypto.terms import Terms
from discreet.learners.kmeans import KMeans
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.bits import system_bits
from discreet.statistics.histogram import histogram
from discreet.statistics.mean import mean
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import Party, SecureSum
from discreet.trust.sources.matrix import Matrix

SCHEMA = Schema.numeric(0.0, 1.0, 1)
HEADS = BoundedSum(lambda records: np.ones((len(records), 1)), Bound("l2", 1.0))


class Vanishing(Party):
    """Takes so many steps and is gone."""

    def __init__(self, *fields: Any, steps: int) -> None:
        super().__init__(*fields)
        self.steps = steps

    def joined(self, terms: Terms, roster: Any) -> Any:
        return _Flaky(super().joined(terms, roster), self.steps)


class _Flaky:
    def __init__(self, client: Any, steps: int) -> None:
        self._client, self._left, self.name = client, steps, client.name

    def __getattr__(self, step: str) -> Any:
        def taken(*arguments: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise ConnectionError(f"{self.name} is gone")
            return getattr(self._client, step)(*arguments)

        return taken


def hospitals(
    rows: Array, count: int = 4, steps: dict[int, int] | None = None, schema: Schema = SCHEMA, **options: Any
) -> SecureSum:
    parties: dict[str, Party] = {}
    for i, part in enumerate(np.array_split(rows, count)):
        fields = Identity.drawn(f"h{i}", system_bits()), Matrix(part, schema)
        vanishing = (steps or {}).get(i)
        parties[f"h{i}"] = Party(*fields) if vanishing is None else Vanishing(*fields, steps=vanishing)
    return SecureSum(parties, **{"threshold": 3, **options})


def test_the_total_is_that_of_everybody_and_the_price_that_of_a_curator() -> None:
    people = np.random.default_rng(0).uniform(0, 1, (4000, 1))
    data = PrivateData(hospitals(people), SinglePlan(Budget(1.0, 1e-6)))
    estimate = mean(data, "x0", epsilon=1.0, delta=1e-6)
    assert estimate.value == pytest.approx(people.mean(), abs=4 * estimate.error)
    assert estimate.receipt.event == calibrate(Laplace(), Budget(1.0, 1e-6)).event


@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6)])
def test_whole_numbers_are_counted_too(budget: Budget) -> None:
    people = np.random.default_rng(0).uniform(0, 1, (4000, 1))
    data = PrivateData(hospitals(people), SinglePlan(budget))
    cells = histogram(data, "x0", bins=5, epsilon=1.0, delta=budget.delta)
    np.testing.assert_allclose(cells.counts, np.histogram(people, 5, (0, 1))[0], atol=5 * cells.error)


@pytest.mark.parametrize("noise", [Gaussian(5.0), Laplace(5.0 / np.sqrt(2))], ids=["gaussian", "laplace"])
@pytest.mark.parametrize(("threshold", "colluding"), [(4, 0), (4, 2)])
def test_the_honest_survivors_alone_hold_the_noise_that_was_paid_for(
    threshold: int, colluding: int, noise: Gaussian | Laplace
) -> None:
    """200 Laplace draws tell their deviation to 8 % (one standard error), Gaussian ones to 5 %: five of the former."""
    trust = hospitals(np.zeros((40, 1)), threshold=threshold, colluding=colluding)
    sums = [trust.ask(HEADS, noise)[0] for _ in range(200)]
    expected = 5.0 * np.sqrt(4 / (threshold - colluding))
    assert np.std(sums) == pytest.approx(expected, rel=0.4)
    assert np.mean(sums) == pytest.approx(40, abs=5 * expected / 14)
    assert trust.reports == pytest.approx(4 / (threshold - colluding))


@pytest.mark.parametrize("steps", range(5))
def test_a_party_may_vanish_at_any_step(steps: int) -> None:
    trust = hospitals(np.zeros((4000, 1)), steps={1: steps})
    total = trust.ask(HEADS, Gaussian(1.0))[0]
    assert total == pytest.approx(4000 if steps >= 3 else 3000, abs=12)


def test_with_too_few_left_there_is_an_error_and_no_sum() -> None:
    with pytest.raises(TooFewSurvivors):
        hospitals(np.zeros((40, 1)), steps={0: 1, 1: 2}).ask(HEADS, Gaussian(1.0))


def test_a_learner_runs_without_a_line_of_its_own() -> None:
    rng = np.random.default_rng(0)
    points = rng.permutation(np.vstack([rng.normal(center, 0.05, (3000, 2)) for center in (-0.5, 0.5)]))
    trust = hospitals(points, schema=Schema.numeric(-1.0, 1.0, 2), threshold=4, colluding=1)
    model = KMeans(2, epsilon=1.0, random_state=0).fit(PrivateData(trust, SinglePlan(Budget(1.0, 1e-6))))
    np.testing.assert_allclose(np.sort(model.cluster_centers_[:, 0]), [-0.5, 0.5], atol=0.1)


def test_noise_that_cannot_be_shared_is_refused_before_anything_is_spent() -> None:
    trust = hospitals(np.zeros((8, 1)))
    data = PrivateData(trust, SinglePlan(Budget(1.0, 1e-6)))
    with pytest.raises(NotPermitted, match="Nothing was released or spent"):
        data.permit(Exponential().event, "best")
    mean(data, "x0", epsilon=1.0)
    with pytest.raises(NotPermitted, match="stays so"):
        trust.ask(HEADS, Exponential())


@pytest.mark.parametrize(
    "options", [{"threshold": 2}, {"threshold": 5}, {"threshold": 3, "colluding": 2}, {"colluding": -1}]
)
def test_terms_that_protect_nobody_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(DiscreetError):
        hospitals(np.zeros((8, 1)), **options)


def test_parties_with_different_schemas_are_refused() -> None:
    parties = {
        f"h{i}": Party(
            Identity.drawn(f"h{i}", system_bits()), Matrix(np.zeros((1, 1)), Schema.numeric(0.0, 1.0 + i, 1))
        )
        for i in range(3)
    }
    with pytest.raises(ParameterError, match="Agree"):
        SecureSum(parties, threshold=2)
