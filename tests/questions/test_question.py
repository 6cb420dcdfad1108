"""What is sampled and what is priced are one object."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.accounting.accountant import delta
from discreet.accounting.calibration import calibrate
from discreet.audit.trial import judged
from discreet.core.answer import SampledAnswer, whole_numbers
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted
from discreet.core.events import Repeated
from discreet.core.grid import Steps
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.total import count_of, total_of
from discreet.questions.question import BoundedSum, SampledSum, quiet
from discreet.schema.schema import Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.local import Local
from discreet.trust.on_sample import OnSample
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source_of import source_of

SCHEMA = Schema.numeric(0.0, 1.0, 1)
COUNT = count_of(SCHEMA, "x0")
ROWS = np.full((2000, 1), 0.5)
TENTH = SecretSample(0.1)


def sizes(records: Any, sample: SecretSample, neighbors: Neighbors, times: int = 200) -> np.ndarray:
    view = CuratorsView(source_of(records, SCHEMA), neighbors, DeterministicBits(1))
    return np.array([SampledSum(COUNT, sample).answer(view).answer.steps[0] for _ in range(times)])


@pytest.mark.parametrize("records", [ROWS, pd.DataFrame(ROWS, columns=["x0"])], ids=["matrix", "frame"])
def test_a_poisson_sample_has_every_record_by_itself(records: Any) -> None:
    """The mean and the variance of a binomial number, within five standard errors of 200 draws."""
    found = sizes(records, TENTH, Neighbors.ADD_REMOVE)
    assert found.mean() == pytest.approx(200, abs=5 * np.sqrt(180 / 200))
    assert found.var() == pytest.approx(180, rel=5 * np.sqrt(2 / 200))


def test_a_sample_of_fixed_size_has_it_and_every_record_as_often() -> None:
    sample = SecretSample(0.1, "fixed_size")
    assert set(sizes(ROWS, sample, Neighbors.REPLACE, 20).tolist()) == {200}
    assert set(sizes(ROWS[:25], sample, Neighbors.REPLACE, 20).tolist()) == {2}  # floored: never more than is paid for
    marks = np.repeat([[0.0], [1.0]], [1000, 1000], axis=0)
    view = CuratorsView(Matrix(marks, SCHEMA), Neighbors.REPLACE, DeterministicBits(2))
    ones = SampledSum(total_of(SCHEMA, "x0", 0.0), sample)
    found = [ones.question.grid.values(ones.answer(view).answer.steps)[0] for _ in range(200)]
    assert np.mean(found) == pytest.approx(100, abs=5 * np.sqrt(45 / 200))


def test_the_price_is_that_of_the_sample() -> None:
    noise = calibrate(Gaussian(), Budget(1.0, 1e-6), 500, TENTH)
    plan = Repeated(OnSample(noise, TENTH).event, 500)
    assert delta(plan, 1.0) == pytest.approx(1e-6, rel=1e-3)
    assert noise.multiplier < calibrate(Gaussian(), Budget(1.0, 1e-6), 500).multiplier / 3


def test_a_sampled_price_does_not_buy_a_sum_over_all_records_nor_another_sample() -> None:
    cheap = OnSample(Gaussian(2.0), TENTH)
    data = PrivateData.of(ROWS, SCHEMA, Budget(10.0, 1e-6))
    for question in (COUNT, SampledSum(COUNT, SecretSample(0.2)), SampledSum(COUNT, SecretSample(0.1, "fixed_size"))):
        with (
            pytest.raises(NotPermitted, match="it is priced for"),
            PrivateData.of(ROWS, SCHEMA, Budget(10.0, 1e-6)).permit(cheap.event, "step") as permit,
        ):
            permit.ask(question, cheap)
    with data.permit(cheap.event, "step") as permit:
        found = permit.ask(SampledSum(COUNT, TENTH), cheap)
    assert found[0] == pytest.approx(200, abs=100)


def test_whoever_cannot_draw_a_sample_is_told_before_anything_is_spent() -> None:
    cheap = OnSample(Gaussian(2.0), TENTH)
    visits = {"x0": [0.5] * 6, "who": list("aabbcc")}
    people = PrivateData.of(visits, SCHEMA, Budget(10.0, 1e-6), unit=Unit("user", column="who", rows=2))
    phones = PrivateData(Local(Matrix(ROWS, SCHEMA)), MemoryLedger(Budget(10.0, 1e-6)))
    counted = PrivateData.of(ROWS, SCHEMA, Budget(10.0, 1e-6), neighbors=Neighbors.REPLACE)
    for data in (people, phones, counted):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            data.permit(cheap.event, "step")
        assert data.ledger.balance().certified == 0


def test_a_sample_that_is_none_is_refused() -> None:
    for rate, scheme in ((0.0, "poisson"), (1.5, "poisson"), (float("nan"), "poisson"), (0.5, "bootstrap")):
        with pytest.raises(DiscreetError, match="sampled"):
            SecretSample(rate, scheme)  # type: ignore[arg-type]


def test_noise_on_a_sample_is_that_of_the_noise() -> None:
    answer = SampledAnswer(whole_numbers([7], Bound("l1", 1.0)), TENTH)
    found, expected = OnSample(Laplace(2.0), TENTH).release(answer, DeterministicBits(3)), Laplace(2.0).release
    assert found == expected(answer.answer, DeterministicBits(3))


class Everybody(CuratorsView):
    """Takes everybody into the sample that is priced: the twin that the audit must catch."""

    def sum(self, question: BoundedSum, sample: SecretSample | None = None) -> Steps:
        return super().sum(question)


@pytest.mark.partial_audit("its noise is that of the mechanism, to the bit: see above")
@pytest.mark.parametrize(("view", "holds"), [(CuratorsView, True), (Everybody, False)])
def test_an_audit_of_the_whole_path_holds_and_catches_a_sample_of_everybody(
    view: type[CuratorsView], holds: bool
) -> None:
    """Three records or four, half of them in the sample: at half the price a release over all is found out."""
    mechanism, bits = OnSample(Gaussian(0.5), SecretSample(0.5)), DeterministicBits(4)
    question = SampledSum(BoundedSum(lambda rows: np.ones((len(rows), 1)), Bound("l2", 1.0), ("x0",)), mechanism.sample)
    seen = []
    for rows in (3, 4):
        shown = view(Matrix(ROWS[:rows], SCHEMA), Neighbors.ADD_REMOVE, bits)
        seen.append(np.array([mechanism.release(question.answer(shown), bits)[0] for _ in range(1500)]))
    assert judged(mechanism.event, *seen).holds is holds


def test_a_sum_of_ones_own_does_not_warn_of_a_record() -> None:
    logarithms = BoundedSum(
        lambda rows: np.log(rows) + np.nanmean(rows, axis=1, keepdims=True), Bound("l1", 1.0), ("x0",)
    )
    for records in ([[1.0]], [[0.0]], [[-1.0]], [[np.nan]]):
        assert np.isfinite(logarithms.steps(np.array(records))).all()


def test_silence_lasts_until_all_threads_are_done() -> None:
    inside, over = threading.Event(), threading.Event()

    def other() -> None:
        with quiet():
            inside.set()
            over.wait(60)
            warnings.warn("a record", UserWarning, stacklevel=1)

    thread = threading.Thread(target=other)
    with quiet():
        thread.start()
        inside.wait(60)
    warnings.warn("a record", UserWarning, stacklevel=1)
    over.set()
    thread.join()
    with pytest.raises(UserWarning, match="heard"):
        warnings.warn("heard", UserWarning, stacklevel=1)
