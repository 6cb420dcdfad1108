"""Correlated noise: how far a record moves a stream, the law of its noise, who takes part, and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.linalg import toeplitz
from torch import Tensor, nn

from discreet.accounting.accountant import epsilon
from discreet.audit.trial import judged
from discreet.core.answer import SampledAnswer
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Composed, Repeated, Sampled
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors
from discreet.deep.clipping.clip_quantile import ClipQuantile
from discreet.deep.forms.rounding import MARGIN, SLACK
from discreet.deep.noise.banded_factorization import BandedFactorization
from discreet.deep.noise.exact_sum import DeviceAnswer, device_sum, exact_sum, numbers
from discreet.deep.noise.fine_grid import OF_CHUNKS
from discreet.deep.noise.noise_stream import NoiseStream
from discreet.deep.questions.sampled_gradient import SampledGradient
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.deep.asked import draw

BUDGET = Budget(3.0, 1e-5)
WIDE = 30_000


def matrix(bands: BandedFactorization, steps: int) -> NDArray[np.float64]:
    column = np.zeros(steps)
    column[: bands.count] = bands.coefficients[:steps]
    return np.tril(toeplitz(column))


@dataclass(frozen=True)
class Fixed(Gaussian):
    """Noise that is given."""

    given: Any = field(default=None, kw_only=True)

    def release(self, answer: Any, bits: Any) -> Any:
        return numbers(answer) + (torch.from_numpy(self.given) if isinstance(answer, DeviceAnswer) else self.given)


def first(out: Tensor, _: Tensor) -> Tensor:
    return out[:, 0]


def asked(x: Tensor, plan: TrainingPlan) -> SampledGradient:
    """Of records whose gradients are themselves."""
    data = PrivateTensors(x, torch.zeros(len(x)), BUDGET, bits=DeterministicBits(5))
    return SampledGradient(nn.Linear(x.shape[1], 1, bias=False), first, data, plan, chunk=8)


def drawn(one: SampledGradient) -> NDArray[np.float64]:
    draw(one)
    found = one.trained["weight"].grad
    assert found is not None
    return found.flatten().double().numpy()


@pytest.mark.parametrize(("count", "momentum"), [(1, 0.0), (2, 0.9), (3, 0.0), (4, 0.5)])
def test_no_pattern_of_turns_moves_a_stream_further_than_its_rounds(count: int, momentum: float) -> None:
    steps, bands = 8, BandedFactorization.of(count, 8, momentum)
    c = matrix(bands, steps)
    for turn in range(count):
        times = range(turn, steps, count)
        for used in chain.from_iterable(combinations(times, k) for k in range(1, len(times) + 1)):
            for signs in product((-1.0, 1.0), repeat=len(used)):
                moved = np.linalg.norm(c[:, used] @ np.array(signs))
                assert moved <= math.sqrt(len(used))
                assert len(used) <= math.ceil(steps / count)
    assert np.linalg.norm(c[:, 0]) == pytest.approx(1.0)


def test_bands_have_the_least_error_of_their_kind() -> None:
    for count, momentum in ((3, 0.0), (3, 0.9)):
        best, a = BandedFactorization.of(count, 30, momentum), np.tril(np.ones((30, 30)))
        a = a @ np.tril(toeplitz(momentum ** np.arange(30)))
        found = best.error(30, momentum)
        assert found == pytest.approx(np.linalg.norm(a @ np.linalg.inv(matrix(best, 30))) / math.sqrt(30))
        for change in np.random.default_rng(0).normal(size=(20, count)):
            other = np.array(best.coefficients) + 0.02 * change
            assert BandedFactorization(tuple(0.999999 * other / np.linalg.norm(other))).error(30, momentum) >= found * (
                1 - 1e-5
            )


def test_noise_of_a_stream_is_independent_once_it_is_multiplied_by_the_factor() -> None:
    bands = BandedFactorization.of(3, 6)
    plan = TrainingPlan(SecretSample(0.5), Gaussian(1.5), 6, 0.2, 10.0, bands=bands)
    one = asked(torch.zeros(0, WIDE), plan)
    stream = np.array([drawn(one) for _ in range(6)]) * 10.0 / (1.5 * 0.2)
    rows = matrix(bands, 6) @ stream
    np.testing.assert_allclose(rows @ rows.T / WIDE, np.eye(6), atol=0.03)
    c = matrix(bands, 6)
    np.testing.assert_allclose(stream @ stream.T / WIDE, np.linalg.inv(c.T @ c).T, atol=0.08)


def test_a_record_has_its_turn_once_in_each_round_and_counts_whole() -> None:
    plan = TrainingPlan(SecretSample(1.0), Gaussian(2.0**-20), 9, 1.0, 1.0, bands=BandedFactorization.of(3, 9))
    one = asked(torch.eye(4) * torch.arange(1.0, 5.0)[:, None] * 100, plan)
    found = np.array([drawn(one) for _ in range(9)]).reshape(3, 3, 4) / (1 - MARGIN - SLACK)
    np.testing.assert_allclose(found, np.round(found), atol=1e-3)
    for later in found[1:]:
        np.testing.assert_array_equal(np.round(later), np.round(found[0]))
    np.testing.assert_array_equal(np.round(found[0]).sum(axis=0), np.ones(4))


def test_going_on_from_a_checkpoint_begins_a_stream_of_its_own() -> None:
    plan = TrainingPlan(SecretSample(0.5), Gaussian(1.0), 9, 1.0, 1.0, bands=BandedFactorization.of(2, 9))
    one = asked(torch.zeros(0, WIDE), plan)
    before, after = drawn(one), drawn(one)
    assert np.corrcoef(before, after)[0, 1] < -0.3
    one.load_state_dict(one.state_dict())
    assert abs(np.corrcoef(after, drawn(one))[0, 1]) < 0.03


def test_weights_move_by_the_error_that_a_plan_states() -> None:
    plan = TrainingPlan(SecretSample(0.5), Gaussian(1.5), 12, 0.2, 10.0, bands=BandedFactorization.of(4, 12, 0.5))
    one = asked(torch.zeros(0, WIDE), plan)
    weight = one.trained["weight"]
    optimizer, start, squares = torch.optim.SGD([weight], lr=1.0, momentum=0.5), weight.detach().clone(), 0.0
    for _ in range(12):
        draw(one)
        optimizer.step()
        squares += float((weight.detach() - start).square().mean()) / 12
    assert math.sqrt(squares) == pytest.approx(plan.error(momentum=0.5), rel=0.03)


def test_a_stream_of_tensors_is_that_of_arrays() -> None:
    bands, rng = BandedFactorization.of(3, 9), np.random.default_rng(0)
    arrays, tensors, bits = NoiseStream(bands), NoiseStream(bands), DeterministicBits(0)
    for step in range(9):
        sums, noise = rng.normal(size=(2, 5))
        flat, pays = torch.from_numpy(sums), step % 3 == 0
        first = arrays.released(exact_sum(flat, 1.0, 2.0), Fixed(given=noise), bits, pays)
        second = tensors.released(device_sum(flat, 1.0, 2.0), Fixed(given=noise), bits, pays)
        np.testing.assert_allclose(second.numpy(), first, atol=1e-7)


def test_a_step_of_a_round_that_nobody_paid_for_is_refused() -> None:
    stream, bits = NoiseStream(BandedFactorization.of(2, 9)), DeterministicBits(0)
    nobody, noise = exact_sum(torch.zeros(1, dtype=torch.float64), 1.0, 2.0), Gaussian(1.0)
    for _ in range(2):
        with pytest.raises(NotPermitted, match="no step of this round was paid for"):
            stream.released(nobody, noise, bits, False)
        stream.released(nobody, noise, bits, True)
        stream.released(nobody, noise, bits, False)
    stream.released(nobody, noise, bits, True)
    stream.end_round()
    with pytest.raises(NotPermitted, match="no step of this round was paid for"):
        stream.released(nobody, noise, bits, False)


def test_the_first_step_of_a_round_pays_for_it_and_a_block_pays_for_rounds_of_its_own() -> None:
    plan = TrainingPlan(SecretSample(0.5), Gaussian(1.0), 9, 1.0, 1.0, bands=BandedFactorization.of(3, 9))
    one, nothing = asked(torch.zeros(0, 1), plan), Composed(())
    for step in range(7):
        assert one.mechanism.event == (nothing if step % 3 else plan.event_of(1))
        draw(one)
    one.end_round()
    assert one.mechanism.event == plan.event_of(1)


def test_the_plan_with_the_least_noise_has_more_bands_for_a_greater_epsilon() -> None:
    rich = Budget(8.0, 1e-5)
    small, great = (
        TrainingPlan.least_noise(one, batch=500, expected_size=2_000, epochs=20) for one in (Budget(0.5, 1e-5), rich)
    )
    assert small.bands is None
    assert great.bands is not None
    assert great.error() < TrainingPlan.of(rich, batch=500, expected_size=2_000, epochs=20).error()


@pytest.mark.parametrize(("steps", "holds"), [((0, 2), True), ((0, 1, 2, 3), False)])
def test_an_audit_refutes_streams_of_records_that_do_not_wait(steps: tuple[int, ...], holds: bool) -> None:
    """Every coordinate is a run; scores are likelihood ratios of a record in these steps with a gradient of one."""
    plan = TrainingPlan(SecretSample(1.0), Gaussian(1.0), 4, 1.0, 1.0, bands=BandedFactorization.of(2, 4))
    assert plan.bands is not None
    c, sums = matrix(plan.bands, 4), np.isin(np.arange(4), steps).astype(float)
    one, bits, scores = asked(torch.zeros(0, 1), plan), DeterministicBits(5), []
    for there in (0.0, 1.0):
        one.begin()
        rows = []
        for part in sums:
            answer = exact_sum(torch.full((900,), there * part, dtype=torch.float64), 1.0, OF_CHUNKS)
            rows.append(one.mechanism.release(SampledAnswer(answer, plan.sample), bits))
        scores.append((c @ sums) @ (c @ np.array(rows)))
    assert judged(plan.event, *scores).holds is holds


def test_a_step_that_fails_ends_its_stream() -> None:
    plan = TrainingPlan(SecretSample(0.5), Gaussian(1.0), 9, 1.0, 1.0, bands=BandedFactorization.of(2, 9))
    model, data = nn.Linear(WIDE, 1, bias=False), PrivateTensors(torch.zeros(0, WIDE), torch.zeros(0), Budget(99, 1e-5))
    run = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.0), first, data, plan, block=4)
    next(steps := run.steps())
    assert model.weight.grad is not None
    before = model.weight.grad.flatten().double().numpy()
    run._gradient._losses = lambda out, _: out.sum()
    with pytest.raises(ParameterError, match="one loss"):
        next(steps)
    run._gradient._losses = first
    next(run.steps())
    assert abs(np.corrcoef(before, model.weight.grad.flatten().double().numpy())[0, 1]) < 0.03


def test_going_back_within_a_block_forfeits_the_rest_of_its_charge(tmp_path: Path) -> None:
    """Otherwise a record could take part in two streams at the price of one round."""
    account = SqliteLedger.create(tmp_path / "a.db", BUDGET, name="all", neighbors=Neighbors.ADD_REMOVE)
    data, model = PrivateTensors(torch.ones(40, 2), torch.zeros(40), account), nn.Linear(2, 1)
    plan = TrainingPlan(SecretSample(0.2), Gaussian(9.0), 4, 1.0, 4.0, bands=BandedFactorization.of(2, 4))
    run = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), first, data, plan, block=2)
    start, steps = run.checkpoint(), run.steps()
    next(steps)
    run.resume(start)
    assert next(steps).number == 1
    assert len(account.entries()) == 2
    assert [step.number for step in steps] == [2, 3, 4]
    assert len(account.entries()) == 3
    one, other = run.steps(), run.steps()
    run.resume(start)
    for generator in (one, other, one, other):  # each pays for what the other has interrupted
        next(generator)
    assert len(account.entries()) == 3 + 4


def test_a_plan_pays_for_rounds_of_its_groups_and_gains_where_epsilon_is_great(tmp_path: Path) -> None:
    rich = Budget(8.0, 1e-5)
    plain = TrainingPlan.of(rich, batch=500, expected_size=10_000, epochs=20)
    plan = TrainingPlan.of(rich, batch=500, expected_size=10_000, epochs=20, bands=8)
    assert plan.bands is not None
    assert plan.event == Repeated(Sampled(plan.noise.event, 0.4), 50)
    assert plan.event_of(7) == plan.event_of(1) == Sampled(plan.noise.event, 0.4)
    assert epsilon(plan.event, 1e-5) <= 8.0
    assert plan.error() < 0.85 * plain.error()
    account = SqliteLedger.create(tmp_path / "a.db", BUDGET, name="all", neighbors=Neighbors.ADD_REMOVE)
    data, model = PrivateTensors(torch.ones(40, 2), torch.zeros(40), account), nn.Linear(2, 1)
    small = TrainingPlan(SecretSample(0.2), Gaussian(5.0), 7, 1.0, 4.0, bands=BandedFactorization.of(2, 7))
    run = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), first, data, small, block=3)
    assert run.run().number == 7
    one = Sampled(small.noise.event, 0.2)
    assert [entry.event for entry in account.entries()] == [Repeated(one, 2), Repeated(one, 2), one]


def test_what_has_no_price_is_refused() -> None:
    bands = BandedFactorization.of(2, 9)
    with pytest.raises(ParameterError, match="fixed clip"):
        TrainingPlan(SecretSample(0.5), Gaussian(1.0), 9, 1.0, 1.0, ClipQuantile(0.5, 0.1), bands=bands)
    with pytest.raises(ParameterError, match="fewer bands"):
        TrainingPlan.of(BUDGET, batch=100, expected_size=1000, bands=11)
    for wrong in ((0.9, 0.9), (0.0, 0.5), (math.nan,), ()):
        with pytest.raises(ParameterError, match=r"bands|column"):
            BandedFactorization(wrong)
    with pytest.raises(ParameterError, match="momentum"):
        BandedFactorization.of(2, 9, momentum=1.0)
