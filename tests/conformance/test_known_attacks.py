"""Published attacks on implementations of differential privacy, each tried on ours and on what it was found in."""

from __future__ import annotations

import copy
import pickle
import time

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon
from discreet.core.answer import whole_numbers
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded
from discreet.core.events import GaussianLoss, LaplaceLoss, Repeated
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.system_bits import SystemBits, system_bits
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.count import count
from discreet.statistics.moments.mean import mean
from discreet.statistics.moments.total import total
from discreet.trust.exact_sum import exact_sum
from discreet.trust.private_data import PrivateData

ONE = np.ones((1, 1))


def fine_bits(values: np.ndarray) -> float:
    """The share of outputs that have bits below 2**-53: only small sums of floats can."""
    return float((np.ldexp(values, 53) != np.rint(np.ldexp(values, 53))).mean())


def test_low_bits_tell_floats_apart_but_not_ours() -> None:
    """Mironov 2012; Haney et al. 2022: a float sum keeps bits that only one neighbor can produce."""
    noise = np.random.default_rng(0).laplace(size=100_000)
    assert fine_bits(0.0 + noise) > 0.2
    assert fine_bits(1.0 + noise) == 0.0
    schema = Schema({"x": Number(0, 1)})
    for records in ([], [1.0]):
        data = PrivateData.of({"x": records}, schema, Budget(1.0))
        values = np.array([data._trust.ask(_ones("x"), Laplace(1.0))[0] for _ in range(300)])
        assert fine_bits(values) == 0.0


def _ones(column: str) -> BoundedSum:
    return BoundedSum(lambda records: np.ones((len(records), 1)), Bound("l1", 1.0), (column,))


@pytest.mark.parametrize("mechanism", [Laplace(1.0), Gaussian(1.0)])
def test_all_outputs_near_the_answers_are_reachable_from_both_neighbors(mechanism: Laplace | Gaussian) -> None:
    """Jin et al. 2022: with float noise some outputs belong to one neighbor alone."""
    bound = Bound("l1", 1.0)
    first, second = (
        set(mechanism.release(whole_numbers([value], bound).stacked(200_000), system_bits())[:, 0].tolist())
        for value in (0, 1)
    )
    common = set(np.arange(-2.0, 4.0).tolist())
    assert common <= first
    assert common <= second


def test_a_sum_does_not_depend_on_order_as_a_float_sum_does() -> None:
    """Casacuberta et al. 2022: reordering moves a float sum by far more than the sensitivity."""
    values = np.array([2.0**53] + [1.0] * 1000)
    assert sum(values.tolist()) != sum(values[::-1].tolist())
    question = BoundedSum(lambda records: records, Bound("linf", 2.0**53), ("x0",))
    assert exact_sum(question, [values[:, None]]) == exact_sum(question, [values[::-1, None]])


def test_one_more_record_moves_the_exact_sum_by_no_more_than_its_bound_however_many_there_are() -> None:
    """Casacuberta et al. 2022: repeated rounding adds up in floats."""
    small = np.full(2**16, 2.0**-40)
    question = BoundedSum(lambda records: records, Bound("linf", 1.0), ("x0",))
    without, with_one = exact_sum(question, [small[:, None]]), exact_sum(question, [small[:, None], ONE])
    assert question.grid.values(with_one - without) <= 1.0


def test_integers_that_float64_cannot_tell_apart_are_still_bounded() -> None:
    records = np.array([2**53 + 1, 2**62, -(2**62)], dtype=np.int64)
    estimate = total(records, bounds=(0, 10), epsilon=5.0)
    assert abs(estimate.value - 20) < 50


def test_nan_does_not_show_as_it_does_in_a_float_mean() -> None:
    assert np.isnan(np.mean([1.0, np.nan, 2.0]))
    assert np.isfinite(mean(np.array([1.0, np.nan, 2.0]), bounds=(0, 3), epsilon=1.0).value)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_hardly_any_records_have_an_answer_of_the_same_kind(rows: int) -> None:
    data = PrivateData.of({"x": np.zeros(rows)}, Schema({"x": Number(0, 1)}), Budget(1.0))
    answer = count(data, "x", epsilon=1.0)
    assert answer.value.is_integer()
    assert answer.half_width == 3.0


def test_copies_of_the_noise_source_do_not_repeat_it() -> None:
    bits = SystemBits()
    copies = [copy.deepcopy(bits), copy.copy(bits), pickle.loads(pickle.dumps(bits)), bits]
    words = {copied.words(4).tobytes() for copied in copies}
    assert len(words) == 4


def test_copies_of_an_account_do_not_multiply_the_budget() -> None:
    data = PrivateData.of(np.zeros((10, 1)), Schema.numeric(0.0, 1.0, 1), Budget(1.0))
    copied = copy.deepcopy(data.ledger)
    mean(data, "x0", epsilon=1.0)
    with pytest.raises(BudgetExceeded):
        mean(data, "x0", epsilon=1.0)
    with pytest.raises((BudgetExceeded, TypeError)):
        copied.reserve(LaplaceLoss(1.0), "again", request="")


def test_the_same_multiplier_means_the_same_under_both_relations() -> None:
    """Noise is in units of the relation's own sensitivity, so its price does not depend on the relation."""
    price = epsilon(Repeated(GaussianLoss(20.0), 1000), 1e-6)
    assert price == pytest.approx(8.30622504995473, rel=5e-4)
    bound = Bound("l2", 1.0)
    assert bound.sensitivity("l2", 4, Neighbors.REPLACE) == 2 * bound.sensitivity("l2", 4, Neighbors.ADD_REMOVE)


def test_averaging_repeated_answers_is_charged_each_time() -> None:
    data = PrivateData.of(np.zeros((10, 1)), Schema.numeric(0.0, 1.0, 1), Budget(1.0))
    for _ in range(2):
        mean(data, "x0", epsilon=0.5)
    with pytest.raises(BudgetExceeded):
        mean(data, "x0", epsilon=0.5)


def test_a_secret_number_of_records_does_not_show_in_the_size_of_the_answer() -> None:
    answers = [mean(np.full(rows, 0.5), bounds=(0, 1), epsilon=1.0) for rows in (1000, 1001)]
    assert len({type(answer) for answer in answers}) == 1
    assert answers[0].receipt.event == answers[1].receipt.event
    assert answers[0].confidence == answers[1].confidence


@pytest.mark.slow
def test_time_does_not_follow_the_noise() -> None:
    """Jin et al. 2022: samplers that loop take longer for larger noise."""
    answer = whole_numbers([0], Bound("l1", 2.0**30))
    bits, mechanism = system_bits(), Laplace(1.0)
    seconds, sizes = np.empty(100_000), np.empty(100_000)
    for i in range(100_000):
        start = time.perf_counter_ns()
        value = mechanism.release(answer, bits)
        seconds[i] = time.perf_counter_ns() - start
        sizes[i] = abs(value[0])
    usual = seconds < np.quantile(seconds, 0.99)  # interruptions by the machine
    assert abs(np.corrcoef(seconds[usual], sizes[usual])[0, 1]) < 0.02
