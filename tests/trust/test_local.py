"""Local trust: the same price, everybody by themselves, more noise."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors, Unit
from discreet.learners.clusters.kmeans import KMeans
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.exponential import Exponential, PermuteAndFlip
from discreet.mechanisms.selection.randomized_response import RandomizedResponse
from discreet.mechanisms.vectors.sphere_report import SphereReport
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import BoundedSum
from discreet.questions.tables.key_counts import KeyCounts
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.mean import mean
from discreet.statistics.tables.histogram import histogram
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.matrix import Matrix
from tests.trust import trial
from tests.trust.trial import TrustTrial

TRIAL = TrustTrial(lambda rows, bits: Local(Matrix(rows, trial.SCHEMA), bits=bits))

PEOPLE = np.clip(np.random.default_rng(0).normal(40, 10, (20_000, 1)), 0, 100)
SCHEMA = Schema.numeric(0.0, 100.0, 1)


def phones(budget: Budget, seed: int = 0) -> PrivateData:
    return PrivateData(Local(Matrix(PEOPLE, SCHEMA), bits=DeterministicBits(seed)), MemoryLedger(budget))


@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6)])
def test_the_error_bar_holds_the_truth_as_often_as_it_says(budget: Budget) -> None:
    """60 runs of a 95 % bar: fewer than 49 hits have probability below 1e-4."""
    hits = 0
    for seed in range(60):
        estimate = mean(phones(budget, seed), "x0", epsilon=1.0, delta=budget.delta)
        hits += abs(estimate.value - PEOPLE.mean()) <= estimate.half_width
    assert hits >= 49


def test_the_price_is_that_of_a_curator_and_the_noise_that_of_everybody() -> None:
    """A curator adds Laplace noise, everybody reports on the sphere; [0, 1] is a ball of radius 1/2."""
    central = PrivateData.of(PEOPLE, SCHEMA, Budget(1.0), neighbors=Neighbors.REPLACE)
    here, there = mean(central, "x0", epsilon=1.0), mean(phones(Budget(1.0)), "x0", epsilon=1.0)
    assert pure_epsilon(here.receipt.event) == pytest.approx(pure_epsilon(there.receipt.event), rel=1e-6)
    report = SphereReport(1.0).stddev(Bound("l2", 0.5), 1, Neighbors.REPLACE)
    assert there.half_width / here.half_width == pytest.approx(np.sqrt(20_000) * 1.96 * report / np.log(20), rel=0.01)


def test_every_record_has_noise_for_replacing_all_of_it() -> None:
    ones = BoundedSum(lambda records: np.ones((len(records), 1)), Bound("l2", 1.0), ("x0",), grid=Grid(-20))
    local = Local(Matrix(np.zeros((1, 1)), SCHEMA), bits=DeterministicBits(1))
    sums = [local.ask(ones, Gaussian(1.0))[0] for _ in range(1000)]  # known to five standard errors
    assert np.std(sums) == pytest.approx(2.0, rel=0.12)
    assert np.mean(sums) == pytest.approx(1.0, abs=0.32)


@pytest.mark.parametrize("mechanism", [Laplace(2.0**33), Gaussian(2.0**33), SphereReport(2.0**-33)], ids=str)
def test_noise_beyond_all_measure_is_added_up_too(mechanism: Laplace | Gaussian | SphereReport) -> None:
    """300 reports: their mean is within five deviations of its own, and none of them overflows."""
    local = Local(Matrix(np.zeros((300, 1)), SCHEMA), bits=DeterministicBits(1))
    question = BoundedSum(lambda records: records, Bound("l2", 1.0), ("x0",))
    deviation = mechanism.stddev(question.bound, 1, Neighbors.REPLACE) * np.sqrt(300)
    assert deviation / 1000 < abs(local.ask(question, mechanism)[0]) < 5 * deviation


def test_reports_on_the_sphere_add_up_to_the_sum_on_any_grid() -> None:
    """At epsilon 8 a report's deviation is a third of a step; rounded to whole numbers, sums would be off by 0.7 %."""
    people = np.repeat([[1.0, 0.0], [0.0, 1.0]], [150_000, 50_000], axis=0)
    local = Local(Matrix(people, Schema.numeric(0.0, 1.0, 2)), bits=DeterministicBits(1))
    question = BoundedSum(lambda records: records, Bound("l1", 1.0, nonnegative=True), ("x0", "x1"), Grid(0))
    deviation = SphereReport(8.0).stddev(question.bound, 2, Neighbors.REPLACE) * np.sqrt(200_000)
    assert 5 * deviation < 0.0065 * 150_000
    np.testing.assert_allclose(local.ask(question, SphereReport(8.0)), [150_000, 50_000], atol=5 * deviation)


def test_the_sum_of_no_reports_is_zero() -> None:
    local = Local(Matrix(np.empty((0, 2)), Schema.numeric(0.0, 1.0, 2)))
    question = BoundedSum(lambda records: records, Bound("l2", 1.0), ("x0", "x1"))
    for mechanism in (Laplace(), SphereReport()):
        np.testing.assert_array_equal(local.ask(question, mechanism), [0.0, 0.0])


def test_a_histogram_and_a_learner_run_without_a_line_of_their_own() -> None:
    cells = histogram(phones(Budget(8.0)), "x0", bins=4, epsilon=8.0)
    exact = np.histogram(PEOPLE, bins=4, range=(0, 100))[0]
    np.testing.assert_allclose(cells.counts, exact, atol=4 * cells.half_width)
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(center, 0.05, (15_000, 2)) for center in (-0.5, 0.5)])
    data = PrivateData(Local(Matrix(points, Schema.numeric(-1.0, 1.0, 2))), MemoryLedger(Budget(30.0, 1e-6)))
    model = KMeans(2, epsilon=30.0, max_iter=3, random_state=0).fit(data)
    np.testing.assert_allclose(np.sort(model.cluster_centers_[:, 0]), [-0.5, 0.5], atol=0.2)


def test_what_needs_an_exact_answer_is_refused() -> None:
    local = Local(Matrix(PEOPLE, SCHEMA))
    ones = BoundedSum(lambda records: np.ones((len(records), 2)), Bound("linf", 1.0), ("x0",))
    with pytest.raises(NotPermitted, match="trust a curator"):
        local.ask(ones, Exponential())
    with pytest.raises(NotPermitted, match="trust a curator"):
        local.ask(KeyCounts("x0"), Laplace())


def test_what_cannot_be_kept_is_refused_before_anything_is_spent() -> None:
    data = phones(Budget(1.0, 1e-6))
    for mechanism in (Exponential(), PermuteAndFlip(), RandomizedResponse()):
        with pytest.raises(NotPermitted, match="Nothing was released or spent"):
            data.permit(mechanism.event, "best")
    mean(data, "x0", epsilon=1.0)


def test_a_report_on_the_sphere_is_paid_for_like_any_other() -> None:
    data = phones(Budget(1.0))
    question = BoundedSum(lambda records: records / 100, Bound("linf", 1.0, nonnegative=True), ("x0",))
    with data.permit(SphereReport(1.0).event, "sum") as permit:
        found = permit.ask(question, SphereReport(1.0))
    deviation = SphereReport(1.0).stddev(question.bound, 1, Neighbors.REPLACE) * np.sqrt(20_000)
    assert found[0] == pytest.approx(PEOPLE.sum() / 100, abs=5 * deviation)


def test_a_curator_s_sum_is_no_report() -> None:
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(1.0))
    question = BoundedSum(lambda records: records, Bound("linf", 100.0), ("x0",))
    with pytest.raises(NotPermitted), data.permit(SphereReport(1.0).event, "sum") as permit:
        permit.ask(question, SphereReport(1.0))


def test_people_with_many_rows_are_refused() -> None:
    visits = Frame({"who": ["a"], "x": [1.0]}, Schema({"x": Number(0, 1)}), Unit("user", column="who", rows=2))
    with pytest.raises(ParameterError, match="one record per person"):
        Local(visits)


def test_the_number_of_reports_is_public() -> None:
    assert phones(Budget(1.0)).public_size == 20_000
    assert phones(Budget(1.0)).reports == 20_000


def test_only_people_report_on_the_sphere_and_others_say_so_before_anything_is_charged() -> None:
    data = PrivateData.of(np.zeros((5, 1)), Schema.numeric(0.0, 1.0, 1), Budget(1.0), neighbors=Neighbors.REPLACE)
    with pytest.raises(NotPermitted, match=r"Nothing was released or spent\..*another trust model"):
        data.permit(SphereReport(1.0).event, "a report")
