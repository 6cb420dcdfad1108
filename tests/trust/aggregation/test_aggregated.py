"""Devices and aggregators: the same answers as under a curator, with the noise, accounts and refusals that are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, NotPermitted, ParameterError
from discreet.core.events import GaussianLoss, LaplaceLoss
from discreet.core.grid import Steps
from discreet.core.neighbors import RECORD, Neighbors
from discreet.crypto.errors import TooFewReports
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.binomial import Binomial
from discreet.mechanisms.additive.bounded_noise import BoundedNoise
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import DiscreteLaplace, Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import count_of
from discreet.questions.question import AllRecords, BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.tables.workload import workload_of
from discreet.questions.vectors.second_moments import second_moments_of
from discreet.schema.schema import Schema
from discreet.trust.aggregation.aggregated import Aggregated
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.curator import CuratorsView
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.trust.aggregation.unproved import OneHonest, QuickAggregated
from tests.trust.trial import SCHEMA, TrustTrial

TRIAL = TrustTrial(lambda rows, bits: OneHonest(Matrix(rows, SCHEMA), least=1, bits=bits))
PLAIN = {"Aggregated": "the name of a class and two numbers"}
TWO = Schema.numeric(-1.0, 3.0, 2)
ROWS = np.random.default_rng(0).uniform(-1.0, 3.0, (40, 2))
ROWS[3, 0] = np.nan
QUESTIONS = [
    count_of(TWO, "x0"),
    moments_of(TWO, "x0", 2, False),
    moments_of(TWO, "x1", 1, True),
    contingency_of(TWO, ("x0",), (8,)),
    contingency_of(TWO, ("x0", "x1"), (3, 4)),
    workload_of(TWO, ("x0",), (4,), np.array([[1.0, 1.0, 0.0, 0.0], [3.0, 2.0, 1.0, 0.0]]), "l1"),
    second_moments_of(TWO, ("x0", "x1"), 1.5),
]


def asked(rows: Any = ROWS, **how: Any) -> Aggregated:
    options: dict[str, Any] = {"least": 1, "bits": DeterministicBits(0)} | how
    return Aggregated(Matrix(rows, TWO), **options)


class Silent:
    """A share of noise that is none."""

    def prepared(self, answer: Answer) -> Answer:
        return answer

    def masked(self, answer: Answer, bits: Bits) -> Steps:
        return np.zeros_like(answer.steps)


class SilentTask(AggregationTask):
    share = Silent()  # type: ignore[assignment]


class SilentAggregated(Aggregated):
    task = SilentTask


def test_without_noise_the_sums_are_those_of_a_curator_to_the_last_bit() -> None:
    view = CuratorsView(Matrix(ROWS, TWO), Neighbors.REPLACE, DeterministicBits(1))
    for question in QUESTIONS:
        exact = question.grid.values(question.answer(view).steps)
        for aggregators in (2, 3):
            trust = SilentAggregated(Matrix(ROWS, TWO), aggregators, least=1, bits=DeterministicBits(0))
            assert trust.ask(question, Laplace(1.0)).tolist() == exact.tolist(), question.recipe


def test_each_kind_of_question_has_the_narrowest_circuit() -> None:
    kinds = [type(_task(question).circuit).__name__.removesuffix("Circuit") for question in QUESTIONS]
    assert kinds == ["Count", "SumVec", "Sum", "DirectHistogram", "DirectHistogram", "SumVec", "SumVec"]


def _task(question: BoundedSum, event: Any = None) -> AggregationTask:
    assert question.recipe is not None
    return AggregationTask("t", question.recipe, event or LaplaceLoss(1.0), TWO)


def test_statistics_run_on_it_as_they_stand() -> None:
    trust = asked(np.repeat([[0.0, 1.0]], 400, axis=0), bits=None)
    found = discreet.histogram(trust, "x0", bins=4, epsilon=4.0)
    assert abs(found.counts - [0, 400, 0, 0]).max() < 60
    assert found.receipt.neighbors is Neighbors.REPLACE
    assert trust.batch is not None
    assert (trust.batch.accepted, trust.batch.failed) == (400, 0)
    assert abs(discreet.mean(trust, "x1", epsilon=8.0).value - 1.0) < 1.0
    assert abs(discreet.count(trust, "x1", where="x1 > 0", epsilon=4.0).value - 400) < 60


def test_each_aggregator_adds_all_of_the_noise_and_the_intervals_know_it() -> None:
    wide = Schema.numeric(0.0, 1.0, 1)
    question = contingency_of(wide, ("x0",), (2000,))
    for noise, bound in ((Gaussian(8.0), 5 * 2**0.5), (Laplace(8.0), 5 * 5**0.5)):
        for aggregators in (2, 3):
            trust = QuickAggregated(Matrix(np.full((5, 1), 0.0), wide), aggregators, least=1, bits=DeterministicBits(3))
            found = trust.ask(question, noise)[1:]
            told = trust.reports * noise.stddev(question.bound, 2000, Neighbors.REPLACE, question.grid) ** 2
            assert found.var() == pytest.approx(told, rel=bound / 2000**0.5)


def test_each_aggregator_keeps_an_account_and_pays_before_its_share_leaves() -> None:
    ledgers = [MemoryLedger(Budget(2.0), Neighbors.REPLACE, RECORD) for _ in range(2)]
    trust = asked(accounts=ledgers)
    trust.ask(QUESTIONS[0], Laplace(1.0))
    for ledger in ledgers:
        assert [entry.event for entry in ledger.entries()] == [LaplaceLoss(1.0)]
    trust = asked(accounts=[ledgers[0], MemoryLedger(Budget(0.5), Neighbors.REPLACE, RECORD)])
    with pytest.raises(BudgetExceeded, match="aggregator 1"):
        trust.ask(QUESTIONS[0], Laplace(1.0))
    assert len(ledgers[0].entries()) == 1


def test_what_cannot_be_proved_or_shared_is_refused_with_what_would_do() -> None:
    trust = asked()
    own = BoundedSum(lambda rows: np.ones((len(rows), 1)), Bound("l1", 1.0), ("x0",))
    large = contingency_of(TWO, ("x0", "x1"), (600, 600))
    refusals: list[tuple[Any, Any, str]] = [
        (AllRecords(("x0",)), Laplace(1.0), "trust a curator"),
        (QUESTIONS[0], DiscreteLaplace(1.0), "Laplace or Gaussian"),
        (own, Laplace(1.0), "recipe"),
        (large, Laplace(1.0), "SecureSum"),
    ]
    for question, mechanism, words in refusals:
        with pytest.raises(NotPermitted, match=words):
            trust.ask(question, mechanism)


def test_too_few_devices_are_refused_before_anything_is_charged() -> None:
    ledger = MemoryLedger(Budget(1.0), Neighbors.REPLACE, RECORD)
    data = PrivateData(asked(least=41), ledger)
    with pytest.raises(TooFewReports, match="at least 41"):
        discreet.count(data, "x0", where="x0 > 0", epsilon=1.0)
    assert ledger.entries() == ()


def test_heavy_noise_makes_the_grid_of_contributions_coarser_and_keeps_the_promise() -> None:
    question = moments_of(TWO, "x0", 1, True)
    fine, coarse = _task(question), _task(question, GaussianLoss(2.0**14))
    assert coarse.question.grid.exponent > fine.question.grid.exponent
    assert coarse.refined >= 0
    assert coarse.empty.slack == 0.0
    assert coarse.share.own_scale(coarse.empty) * coarse.empty.grid.step >= 2.0**14 * question.bound.radius


def test_tasks_that_differ_in_anything_have_another_digest() -> None:
    count, histogram = QUESTIONS[0].recipe, QUESTIONS[3].recipe
    assert count is not None
    assert histogram is not None
    tasks = [
        AggregationTask("t", count, LaplaceLoss(1.0), TWO),
        AggregationTask("u", count, LaplaceLoss(1.0), TWO),
        AggregationTask("t", histogram, LaplaceLoss(1.0), TWO),
        AggregationTask("t", count, LaplaceLoss(2.0), TWO),
        AggregationTask("t", count, GaussianLoss(1.0), TWO),
        AggregationTask("t", count, LaplaceLoss(1.0), Schema.numeric(-1.0, 4.0, 2)),
        AggregationTask("t", count, LaplaceLoss(1.0), TWO, aggregators=3),
        AggregationTask("t", count, LaplaceLoss(1.0), TWO, least=99),
    ]
    assert len({task.digest for task in tasks}) == len(tasks)


def test_odd_ways_to_make_one_are_refused() -> None:
    for how in ({"aggregators": 1}, {"aggregators": 6}, {"least": 0}, {"accounts": [MemoryLedger(Budget(1.0))]}):
        with pytest.raises(ParameterError):
            asked(**how)


def test_a_tabulated_loss_that_no_aggregator_can_make_is_refused_before_any_charge() -> None:
    """Binomial noise has such a loss too, and can be shared; bounded noise cannot."""
    trust = Aggregated(Matrix(np.full((200, 1), 0.5), Schema.numeric(0.0, 1.0, 1)))
    assert trust.keeps(Binomial().event)
    assert not trust.keeps(BoundedNoise(3.0).event)
    data = PrivateData(trust, MemoryLedger(Budget(9.0, 0.1)))
    with pytest.raises(NotPermitted, match="cannot keep the promise"):
        data.permit(BoundedNoise(3.0).event, "bounded")
    assert len(data.ledger.entries()) == 0
