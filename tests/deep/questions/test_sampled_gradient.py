"""A training step as a question: what it is released by, what it reads, and what refuses."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from discreet.core.answer import SampledAnswer
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError, UnplannedRelease
from discreet.core.events import Repeated, Sampled
from discreet.core.grid import Array, Steps
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors, Unit
from discreet.deep.questions.records_as_tensors import RecordsAsTensors
from discreet.deep.questions.sampled_gradient import SampledGradient, WholeGradient
from discreet.deep.questions.tensors_view import Chunk
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.schema.schema import Schema
from discreet.trust.on_sample import OnSample
from discreet.trust.private_data import PrivateData
from tests.deep.asked import paid, view_of
from tests.deep.trial import Part, TrainingTrial, numbers

RICH = Budget(1e4, 1e-5)
HALF = TrainingPlan(SecretSample(0.5), Gaussian(4.0), 4, 1.0, 2.0)


class TwoThirds(Gaussian):
    """Two thirds of the noise, at the price of all of it."""

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return super().noise(bits, shape, scale * 2 / 3)


class TwoThirdsOfTheNoise(SampledGradient):
    """Two thirds of the noise."""

    @property
    def mechanism(self) -> OnSample:
        return OnSample(TwoThirds(self._plan.noise.multiplier), self._plan.sample)


class OneLayerUnclipped(SampledGradient):
    """The gradient of a bias is not clipped with the rest."""

    def _sums(self, chunks: Iterable[Chunk]) -> dict[str, Tensor]:
        sums = super()._sums(chunks)
        return {**sums, "bias": 3 * sums["bias"]}


def released(kind: type[Any], noise: Gaussian, side: int, bits: Bits) -> Array:
    """What a step shows of nobody, or of a person with a gradient far longer than the clip."""
    x, model = torch.full((side, 1), 1e3), nn.Linear(1, 1)
    data = PrivateTensors(1e-3 * x, x, RICH, bits=bits)
    plan = TrainingPlan(SecretSample(1.0), noise, 1, 1.0, 1.0)
    one, permit = kind(model, lambda out, far: out[:, 0] * far[:, 0], data, plan, chunk=1), paid(data, plan.event)
    one.move(permit.ask(one, one.mechanism))
    return numbers(model)


TRIAL = TrainingTrial(
    {"a step": Part(released)},
    twins=[("a step", TwoThirdsOfTheNoise), ("a step", OneLayerUnclipped)],
)


def product(given: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return given[:, 0] * wanted


def tensors(n: int = 4, ledger: Any = RICH) -> PrivateTensors:
    return PrivateTensors(torch.ones(n, 1), torch.ones(n), ledger)


def gradient(data: Any, plan: TrainingPlan = HALF) -> SampledGradient:
    return SampledGradient(nn.Linear(1, 1, bias=False), product, data, plan, chunk=4)


def trainer(data: Any, plan: TrainingPlan = HALF, **given: Any) -> Trainer:
    model = nn.Linear(1, 1, bias=False)
    return Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), product, data, plan, **given)


def note_draws(run: Trainer, drawn: list[int]) -> None:
    """Note every sample that a run draws."""
    answer = run._gradient.answer

    def noted(view: Any) -> SampledAnswer:
        drawn.append(1)
        return answer(view)

    run._gradient.answer = noted  # type: ignore[method-assign]


def test_a_step_is_released_by_noise_that_is_priced_for_its_sample_and_by_nothing_else() -> None:
    data = tensors()
    one, own = gradient(data), OnSample(Gaussian(4.0), HALF.sample)
    assert one.mechanism == own
    assert own.event == HALF.event_of(1) == Sampled(Gaussian(4.0).event, 0.5)
    assert paid(data, own.event).ask(one, own).shape == (1,)
    others: list[Any] = [OnSample(Gaussian(4.0), SecretSample(rate)) for rate in (0.01, 0.25, 1.0)]
    for wrong in (*others, OnSample(Gaussian(4.0), SecretSample(0.5, "fixed_size")), Gaussian(4.0), Laplace(4.0)):
        with pytest.raises(NotPermitted):
            paid(data, wrong.event).ask(one, wrong)


def test_its_exact_sum_is_an_answer_of_which_one_record_moves_no_more_than_the_clip() -> None:
    found = gradient(tensors()).answer(view_of(tensors(0)))
    assert isinstance(found, SampledAnswer)
    assert found.sample == HALF.sample
    assert 1.0 <= found.answer.sensitivity("l2") <= 1.0 + 2.0**-28
    assert found.answer.steps.tolist() == [0]


def test_a_sum_over_all_records_is_not_one_over_a_sample() -> None:
    data = tensors()
    with pytest.raises(NotPermitted, match=r"it is a sample of 0\.5"):
        paid(data, Gaussian(4.0).event).ask(WholeGradient(gradient(data)), Gaussian(4.0))
    whole = gradient(data, TrainingPlan(SecretSample(1.0), Gaussian(4.0), 1, 1.0, 1.0))
    assert paid(data, Gaussian(4.0).event).ask(WholeGradient(whole), Gaussian(4.0)).shape == (1,)


def test_a_permit_that_pays_for_fewer_steps_is_refused_before_the_first() -> None:
    data = tensors()
    with data.permit(HALF.event_of(3), "three steps") as permit:
        run = trainer(data, permit=permit)
        with pytest.raises(UnplannedRelease):
            run.run()
        assert run.checkpoint()["done"] == 0
        assert trainer(data, TrainingPlan(HALF.sample, HALF.noise, 3, 1.0, 2.0), permit=permit).run().number == 3
        permit.commit(b"weights")


def test_going_back_again_and_again_asks_for_no_step_more_than_was_paid_for() -> None:
    data, drawn = tensors(), list[int]()
    with data.permit(HALF.event, "four steps") as permit:
        run = trainer(data, permit=permit)
        start = run.checkpoint()
        note_draws(run, drawn)
        steps = run.steps()
        next(steps)
        for _ in range(3):
            run.resume(start)
            with pytest.raises(UnplannedRelease):
                run.run()
        assert len(drawn) == 1
        permit.commit(b"weights")


def test_a_process_by_itself_is_given_no_permit_that_another_would_have_paid_for() -> None:
    with pytest.raises(NotPermitted, match="no other process has paid"):
        tensors()._paid_elsewhere(HALF.event, "train")


def test_a_step_stores_no_gradient_in_a_ledger() -> None:
    data = tensors()
    with data.permit(HALF.event, "four steps", key="once") as permit:
        trainer(data, permit=permit).run()
    assert permit._made.written() == type(permit._made)().written()


def test_sixteen_threads_make_no_step_that_was_not_paid_for() -> None:
    """Each pays for a block of its own, and all but the last one forfeit what is left of theirs."""
    data = tensors()
    run, drawn, errors = trainer(data, block=2), list[int](), list[BaseException]()
    note_draws(run, drawn)

    def stepped() -> None:
        try:
            list(run.steps())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=stepped) for _ in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors
    assert run.checkpoint()["done"] == 4
    times = [entry.event.times if isinstance(entry.event, Repeated) else 1 for entry in data.ledger.entries()]
    assert len(drawn) <= sum(times)


SCHEMA = Schema.numeric(-1.0, 1.0, 2)


def table(rows: Any, **how: Any) -> PrivateData:
    return PrivateData.of(rows, SCHEMA, RICH, **how)


def as_tensors(data: PrivateData, read: list[int]) -> RecordsAsTensors:
    def of(view: Any) -> tuple[torch.Tensor, torch.Tensor]:
        read.append(1)
        found = torch.from_numpy(view.everything(("x0", "x1"))).float()
        return found[:, :1], found[:, 1]

    return RecordsAsTensors(of, (torch.zeros(0, 1), torch.zeros(0)), data.ledger, ("x0", "x1"))


def test_rows_of_a_table_are_read_once_under_a_permit_and_anew_of_another_table() -> None:
    read: list[int] = []
    first, second = (table(np.full((9, 2), value)) for value in (0.5, 1.0))
    records = as_tensors(first, read)
    with pytest.raises(ParameterError, match="behind a permit"):
        trainer(records)
    with first.permit(HALF.event, "train") as permit:
        assert trainer(records, permit=permit).run().number == 4
    assert len(read) == 1
    one = gradient(records, TrainingPlan(SecretSample(1.0), Gaussian(2.0**-20), 1, 9.0, 1.0))
    found = [float(one.answer(each._trust._view).answer.steps[0]) for each in (first, second)]  # type: ignore[attr-defined]
    assert found[1] == pytest.approx(4 * found[0], rel=1e-3)
    assert len(read) == 2


def test_rows_are_read_of_units_alone_that_have_one_and_are_added_or_removed() -> None:
    rows = {"x0": [0.5, 0.5], "x1": [0.5, 0.5], "who": ["a", "a"]}
    hows: list[dict[str, Any]] = [
        {"neighbors": Neighbors.REPLACE},
        {"unit": Unit("user", column="who", rows=2)},
    ]
    for how in hows:
        read: list[int] = []
        data = table(rows, **how)
        with pytest.raises(NotPermitted, match="one row of each unit"):
            gradient(as_tensors(data, read)).answer(data._trust._view)  # type: ignore[attr-defined]
        assert not read
