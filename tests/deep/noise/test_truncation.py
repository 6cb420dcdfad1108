"""Truncated samples: their price against all samples of few records, the test of the size, and what a run does."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import binom, norm
from torch import Tensor, nn

from discreet.accounting.accountant import delta, epsilon
from discreet.core.answer import Answer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, Composed, Repeated
from discreet.core.grid import Array
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors
from discreet.deep.noise.truncation import Truncation
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Drawn
from tests.deep.asked import view_of
from tests.mechanisms.trial import MechanismTrial

BUDGET = Budget(3.0, 1e-5)
PLACES = np.linspace(-16.0, 4.0, 4001)
SHORT = Truncation(5, 100, 1.0, 12)


def passed(test: Truncation, side: int, runs: int, bits: Bits) -> Array:
    """Whether one of the two numbers that the test is least sure about passes, so often."""
    pair: Any = test.worst_neighbors()
    return np.array([float(test.release((pair.first, pair.second)[side], bits)) for _ in range(runs)])


def sharper(test: Truncation, less: float) -> Truncation:
    return dataclasses.replace(test, epsilon=less * test.epsilon)


class TwiceAsSure(Truncation):
    """Half of the noise."""

    def release(self, answer: Answer, bits: Bits) -> bool:
        return sharper(Truncation(self.most, self.records, self.epsilon, self.slack), 2.0).release(answer, bits)


TRIAL = MechanismTrial(
    twins=[Drawn("twin", TwiceAsSure(5, 100, 1.0, 12), passed, runs=8000)],
    audits=[
        Drawn("a number that may pass", test, passed, runs=8000, weaker=sharper)
        for test in (SHORT, Truncation(5, 100, 1.5, 8))
    ],
    usual=SHORT,
    alone="it is asked one number of records, which one record moves by one",
    number=float,
)


def released(n: int, rate: float, most: int, stddev: float) -> NDArray[np.float64]:
    """The densities of a step on n records that add -1 each: without and with one more, the first, that adds 1."""
    drawn = binom.pmf(np.arange(n + 1), n, rate)
    kept, beside = np.minimum(np.arange(n + 1), most), np.minimum(np.arange(n + 1), most - 1)
    without, there = (drawn @ norm.pdf(PLACES, loc=sums[:, None], scale=stddev) for sums in (-1.0 * kept, 1.0 - beside))
    return np.array([without, (1 - rate) * without + rate * there])


def apart(pair: NDArray[np.float64], loss: float) -> float:
    return float(np.maximum(pair[0] - math.exp(loss) * pair[1], 0.0).sum() * (PLACES[1] - PLACES[0]))


def test_the_price_of_a_step_is_above_all_samples_of_few_records() -> None:
    broken = False
    for rate, most, stddev in ((0.3, 2, 1.0), (0.3, 9, 0.5), (0.5, 4, 1.0)):
        found = Truncation(most, 21, 1.0, 1)
        plan = TrainingPlan(SecretSample(rate), Gaussian(stddev), 1, 1.0, 1.0, truncation=found)
        pairs = [released(n, rate, most, stddev) for n in (1, 6, 12, found.records - 1)]
        for loss in (0.2, 1.0, 3.0):
            price, plain = (delta(event, loss) for event in (plan.event_of(1), plan.sample.event(plan.noise.event)))
            worst = max(apart(one, loss) for pair in pairs for one in (pair, pair[::-1]))
            assert worst <= price + 1e-9
            broken |= worst > 1.5 * plain
    assert broken  # without what is left out the price would be too low


def test_left_out_is_at_most_what_the_binomial_law_says() -> None:
    for rate, most, records in ((0.01, 30, 1001), (0.3, 12, 21), (0.3, 2, 21), (0.5, 20, 21), (0.5, 21, 21)):
        tail = rate * float(binom.sf(most - 1, records - 1, rate))
        assert (
            tail * (1 - 1e-9) <= Truncation(most, records, 1.0, 1).left_out(rate).delta <= min(rate, 40 * tail + 1e-9)
        )


def test_whoever_passes_has_no_more_records_than_stated_and_the_price_is_that_of_all_outcomes() -> None:
    found, bits = Truncation(5, 100, 0.5, 3), DeterministicBits(2)
    often = {
        size: sum(found.release(whole_numbers([size], Bound("l1", 1.0)), bits) for _ in range(150))
        for size in range(92, 106)
    }
    assert all(often[size] == 150 for size in range(92, 95))
    assert all(often[size] == 0 for size in range(101, 106))
    assert 0 < often[100] < often[97] < 150
    for slack in (1, 3, 20):
        law = np.exp(-0.5 * np.abs(np.arange(-slack, slack + 1)))
        law = np.append(law / law.sum(), 0.0)
        lost = np.maximum(np.roll(law, 1) - math.exp(0.5) * law, 0.0).sum()
        assert Truncation(5, 100, 0.5, slack).event.delta == pytest.approx(lost, rel=1e-6)
        assert Truncation(5, 100, 0.5, slack).event.delta >= lost


def test_a_truncated_plan_costs_hardly_more() -> None:
    plain = TrainingPlan.of(BUDGET, batch=500, expected_size=20_000, epochs=2)
    plan = TrainingPlan.of(BUDGET, batch=500, expected_size=20_000, epochs=2, truncated=True)
    assert plan.truncation is not None
    assert epsilon(plan.event, BUDGET.delta) <= BUDGET.epsilon
    assert plain.noise.multiplier < plan.noise.multiplier < 1.01 * plain.noise.multiplier
    assert plan.truncation.most < 1.5 * 500
    assert plan.event == Composed((plan.truncation.event, plan.event_of(80)))
    with pytest.raises(ParameterError, match="delta"):
        TrainingPlan.of(Budget(1.0), batch=10, expected_size=100, truncated=True)


def squared(out: Tensor, wanted: Tensor) -> Tensor:
    return (out[:, 0] - wanted).square()


@pytest.mark.parametrize(("size", "most"), [(200, 75), (600, None)])
def test_every_step_has_one_size_unless_there_are_more_records_than_stated(
    tmp_path: Path, size: int, most: int | None
) -> None:
    account = SqliteLedger.create(
        tmp_path / "ledger.db", Budget(20.0, 0.05), name="people", neighbors=Neighbors.ADD_REMOVE
    )
    data = PrivateTensors(torch.randn(size, 1), torch.zeros(size), account, bits=DeterministicBits(1))
    plan = TrainingPlan(SecretSample(0.2), Gaussian(4.0), 3, 1.0, 40.0, truncation=Truncation(75, 230, 0.5, 12))
    batches: list[int] = []

    def noted(out: Tensor, wanted: Tensor) -> Tensor:
        batches.extend([25] if len(out) == 25 else [])  # a rehearsal has two or three
        return squared(out, wanted)

    model = nn.Linear(1, 1)
    run = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.0), noted, data, plan, chunk=25, block=2)
    run.run()
    assert run._gradient.most == most
    assert (len(batches[1:]) == 3 * 3) is (most is not None)
    assert plan.truncation is not None
    steps = Composed((plan.sample.event(plan.noise.event), plan.truncation.left_out(0.2)))
    events = [entry.event for entry in account.entries()]
    assert events == [Composed((plan.truncation.event, Repeated(steps, 2))), steps]


def test_no_more_records_than_the_most_are_looked_at() -> None:
    data = PrivateTensors(torch.ones(100, 1), torch.zeros(100), BUDGET)
    for _ in range(5):
        drawn = list(view_of(data).chunks(SecretSample(0.5), 8, torch.device("cpu"), 2, most=16))
        assert [len(chunk.there) for chunk in drawn] == [8, 8]
        assert sum(int(chunk.there.sum()) for chunk in drawn) == 16
    assert Truncation(5, 3, 1.0, 1).left_out(0.5) == ApproximateLoss(0.0, 0.0)
