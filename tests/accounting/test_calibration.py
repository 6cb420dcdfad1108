from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant

from discreet.accounting.accountant import delta, epsilon
from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import (
    ApproximateLoss,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    PureLoss,
    Repeated,
    Sampled,
)
from discreet.core.mechanism import SecretSample


@dataclass(frozen=True)
class Normal:
    multiplier: float = 1.0
    note: str = ""
    calibrated: ClassVar[str] = "multiplier"

    @property
    def event(self) -> Event:
        return GaussianLoss(self.multiplier)


@dataclass(frozen=True)
class Doubled:
    multiplier: float = 1.0
    calibrated: ClassVar[str] = "multiplier"

    @property
    def event(self) -> Event:
        return LaplaceLoss(self.multiplier)


@dataclass(frozen=True)
class Chooser:
    epsilon: float = 1.0
    calibrated: ClassVar[str] = "epsilon"

    @property
    def event(self) -> Event:
        return ConcentratedLoss(self.epsilon**2 / 8)


@dataclass(frozen=True)
class Response:
    epsilon: float = 1.0
    failure: float = 0.0
    calibrated: ClassVar[str] = "epsilon"

    @property
    def event(self) -> Event:
        return ApproximateLoss(self.epsilon, self.failure) if self.failure else PureLoss(self.epsilon)


def plan(mechanism: Any, times: int, sampling: SecretSample | None) -> Event:
    event: Event = mechanism.event
    if sampling is not None:
        event = Sampled(event, sampling.rate, sampling.scheme)
    return Repeated(event, times)


CASES: list[tuple[Any, Budget, int, SecretSample | None]] = [
    (Normal, Budget(3.0, 1e-5), 14000, SecretSample(256 / 60000)),
    (Normal, Budget(1.0, 1e-6), 500, SecretSample(0.05, "fixed_size")),
    (Normal, Budget(0.1, 1e-9), 100, SecretSample(0.1)),
    (Normal, Budget(50.0, 1e-9), 100, SecretSample(0.1)),
    (Normal, Budget(1.0, 1e-6), 1000, None),
    (Doubled, Budget(1.0, 1e-6), 100, None),
    (Doubled, Budget(0.3), 7, None),
    (Doubled, Budget(1.0, 1e-6), 1, None),
    (Response, Budget(0.7), 3, None),
    (Response, Budget(1.0, 1e-6), 100, None),
    (Response, Budget(1.0, 1e-6), 1000, SecretSample(0.01)),
    (Response(failure=1e-9), Budget(1.0, 1e-6), 100, None),
    (Chooser, Budget(1.0, 1e-6), 50, None),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_result_fits_the_budget_and_a_millionth_less_noise_does_not(case: int) -> None:
    mechanism, budget, times, sampling = CASES[case]
    found: Any = calibrate(mechanism, budget, times, sampling)
    event = plan(found, times, sampling)
    assert epsilon(event, budget.delta) <= budget.epsilon
    assert delta(event, budget.epsilon) <= budget.delta
    value = getattr(found, found.calibrated)
    less = value * (1 - 3e-6) if found.calibrated == "multiplier" else value * (1 + 3e-6)
    worse = plan(type(found)(**{**vars(found), found.calibrated: less}), times, sampling)
    assert epsilon(worse, budget.delta) > budget.epsilon or delta(worse, budget.epsilon) > budget.delta


@pytest.mark.parametrize(
    ("budget", "times", "sampling", "low", "high"),
    [
        (Budget(3.0, 1e-5), 14000, SecretSample(256 / 60000), 0.96718, 0.967212),
        (Budget(3.0, 1e-6), 100_000, SecretSample(0.001), 0.79020, 0.79029),
        (Budget(1.0, 1e-6), 1000, None, 133.59607673, 133.5960868),
    ],
)
def test_reference_multipliers_are_met(
    budget: Budget, times: int, sampling: SecretSample | None, low: float, high: float
) -> None:
    assert low <= calibrate(Normal, budget, times, sampling).multiplier <= high


def test_pure_budgets_are_spent_but_for_the_headroom() -> None:
    assert 7.0 <= calibrate(Doubled, Budget(1.0), 7).multiplier < 7.0 * (1 + 1e-7)
    assert 0.25 * (1 - 1e-7) < calibrate(Response, Budget(1.0), 4).epsilon <= 0.25
    assert epsilon(Repeated(calibrate(Response, Budget(0.7), 3).event, 3), 0.0) <= 0.7


def test_other_fields_are_kept() -> None:
    assert calibrate(Normal(note="kept"), Budget(1.0, 1e-6)).note == "kept"


def test_gaussian_noise_for_a_budget_without_delta_is_refused_with_a_remedy() -> None:
    with pytest.raises(ParameterError, match="Laplace"):
        calibrate(Normal, Budget(1.0))


def test_a_failure_probability_above_the_budget_is_refused() -> None:
    with pytest.raises(ParameterError, match="Ask fewer times"):
        calibrate(Response(failure=1e-6), Budget(1.0, 1e-6), 100)


@dataclass(frozen=True)
class Narrow(Doubled):
    """Noise that has a limit of its own."""

    most: float = 300.0

    def __post_init__(self) -> None:
        check_positive("narrow", "multiplier", self.multiplier, most=self.most)


@dataclass(frozen=True)
class Sudden(Narrow):
    """Enough noise from 100 on: until then nothing shows how far it is."""

    @property
    def event(self) -> Event:
        return GaussianLoss(1000.0 if self.multiplier >= 100 else 0.5)


def test_no_step_of_the_search_goes_beyond_the_limit() -> None:
    assert calibrate(Sudden(), Budget(1.0, 1e-6), 2).multiplier == pytest.approx(100.0, rel=1e-5)


def test_a_mechanism_with_a_limit_is_calibrated_up_to_it_and_refused_beyond() -> None:
    budget = Budget(1.0, 1e-6)
    free = calibrate(Doubled, budget, 1000)
    assert 100 < free.multiplier < 150
    assert calibrate(Narrow(), budget, 1000).multiplier == pytest.approx(free.multiplier, rel=2e-6)
    for most in (free.multiplier / 1.01, 60.0, 1.0):
        with pytest.raises(ParameterError, match="cost more with any noise"):
            calibrate(Narrow(most=most), budget, 1000)


def test_an_unknown_calibrated_field_and_no_releases_are_refused() -> None:
    @dataclass(frozen=True)
    class Odd(Normal):
        calibrated: ClassVar[str] = "note"

    with pytest.raises(ParameterError, match="calibrated"):
        calibrate(Odd, Budget(1.0, 1e-6))
    with pytest.raises(ParameterError, match="times"):
        calibrate(Normal, Budget(1.0, 1e-6), 0)


@pytest.mark.slow
def test_calibration_is_five_times_faster_than_dp_accounting_s() -> None:
    rate, times, budget = 256 / 60000, 14000, Budget(3.0, 1e-5)

    def event(multiplier: float) -> dp_accounting.DpEvent:
        sampled = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(multiplier))
        return dp_accounting.SelfComposedDpEvent(sampled, times)

    start = time.thread_time()
    theirs = dp_accounting.calibrate_dp_mechanism(
        PLDAccountant, event, budget.epsilon, budget.delta, dp_accounting.ExplicitBracketInterval(0.5, 2.0), tol=1e-6
    )
    middle = time.thread_time()
    ours = calibrate(Normal, budget, times, SecretSample(rate)).multiplier
    assert middle - start > 5 * (time.thread_time() - middle)
    assert math.isclose(ours, theirs, rel_tol=2e-5)
