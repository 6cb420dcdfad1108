"""Calibration: the least noise that fits a budget."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Protocol, TypeVar, cast

from discreet.accounting import accountant
from discreet.accounting.closed_forms import gaussian_multiplier, laplace_multiplier
from discreet.accounting.loss_distribution import ACCURACY
from discreet.accounting.terms import Term, terms
from discreet.core.budget import Budget
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Event, GaussianLoss, LaplaceLoss, Repeated
from discreet.core.mechanism import SecretSample

TOLERANCE = 1e-6  # of the calibrated field, relative
ROUGH = 400 * ACCURACY
FARTHEST = 1e9
DOUBLINGS = 60  # of what is added to the noise until it fits
SECANTS = 200
LEAST, MOST = 1e-250, 1e15  # epsilon, for which all numbers on the way are finite
HEADROOM = 2.0**-24  # of epsilon: ten charges of a tenth fit an account of one, though each is rounded up


class Tunable(Protocol):
    """A frozen dataclass whose field named by `calibrated` sets its noise, and whose event follows from it.

    That field is "multiplier", where more is safer, or "epsilon", where less is.
    """

    calibrated: ClassVar[str]

    @property
    def event(self) -> Event: ...


M = TypeVar("M", bound=Tunable)


def calibrate(mechanism: M | type[M], budget: Budget, times: int = 1, sample: SecretSample | None = None) -> M:
    """Calibrate a mechanism to the least noise with which its releases fit the budget.

    Parameters
    ----------
    mechanism : dataclass instance, or class that needs no arguments
        Public. What will be released; its other fields are kept.
    budget : Budget
        Public. What all the releases together may cost.
    times : int
        Public. How many releases.
    sample : SecretSample, optional
        Public. The sample that each release is asked of.

    Returns
    -------
    dataclass
        The mechanism, calibrated to within a millionth on the safe side. The accountant has checked that
        the releases fit: `epsilon(releases, budget.delta) <= budget.epsilon` and
        `delta(releases, budget.epsilon) <= budget.delta`.

    Raises
    ------
    ParameterError
        No noise is enough, such as Gaussian noise for a budget without delta.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Noise:
    ...     multiplier: float = 1.0
    ...     calibrated: ClassVar[str] = "multiplier"
    ...     @property
    ...     def event(self) -> Event:
    ...         return GaussianLoss(self.multiplier)
    >>> round(calibrate(Noise, Budget(1.0, 1e-6), times=1000).multiplier, 3)
    133.596
    """
    template: Any = mechanism() if isinstance(mechanism, type) else mechanism
    check_whole("calibrate", "times", times)
    check_positive("calibrate", "epsilon", budget.epsilon, LEAST, MOST)
    return cast(M, _found(template, budget, int(times), sample))


@lru_cache(maxsize=1024)
def _found(template: Any, budget: Budget, times: int, sample: SecretSample | None) -> Any:
    search = _Search(template, Budget(budget.epsilon * (1 - HEADROOM), budget.delta), times, sample)
    return search.tuned(search.noise())


@dataclass(frozen=True)
class _Search:
    """Noise is the multiplier, or 1 / epsilon: the more, the safer."""

    template: Any
    budget: Budget
    times: int
    sample: SecretSample | None

    def tuned(self, noise: float) -> Any:
        calibrated = self.template.calibrated
        if calibrated not in ("multiplier", "epsilon"):
            raise ParameterError(
                f"calibrate {type(self.template).__name__}",
                f"its calibrated field is {calibrated!r}",
                'Knobs are "multiplier" and "epsilon".',
            )
        return dataclasses.replace(self.template, **{calibrated: noise if calibrated == "multiplier" else 1 / noise})

    def event(self, noise: float) -> Event:
        event = cast(Event, self.tuned(noise).event)
        if self.sample is not None:
            event = self.sample.event(event)
        return Repeated(event, self.times) if self.times > 1 else event

    def fits(self, noise: float) -> bool:
        """For the whole epsilon too: a bound on delta from tables need not fall where epsilon rises by so little."""
        event, budget = self.event(noise), self.budget
        return (
            accountant.epsilon(event, budget.delta) <= budget.epsilon
            and accountant.delta(event, budget.epsilon) <= budget.delta
            and accountant.delta(event, budget.epsilon / (1 - HEADROOM)) <= budget.delta
        )

    def ratio(self, noise: float, accuracy: float) -> float:
        """ln(epsilon / budget), the quantity to bring to 0."""
        found = accountant.epsilon(self.event(noise), self.budget.delta, accuracy=accuracy)
        return math.log(max(found, 1e-12 * self.budget.epsilon) / self.budget.epsilon)

    def noise(self) -> float:
        """The least noise that fits, by closed form where there is one, by search where there is none."""
        for candidate in self.closed_forms():
            if self.fits(candidate) and not self.fits(candidate * (1 - TOLERANCE)):
                return candidate
        farthest = self.farthest()
        if self.ratio(farthest, ROUGH) > 0:
            raise self.infeasible()
        most = math.log(farthest)
        start = _crossing(lambda log: self.ratio(math.exp(log), ROUGH), _Crossing(0.0, -1.5), 1e-3, most)
        end = _crossing(lambda log: self.ratio(math.exp(log), ACCURACY), start, TOLERANCE / 4, most)
        noise, more = min(math.exp(end.at), farthest), TOLERANCE / 4
        for _ in range(DOUBLINGS):
            if self.fits(noise):
                return noise
            if noise == farthest:
                break
            noise, more = min(noise * (1 + more), farthest), 2 * more
        raise self.infeasible()

    def farthest(self) -> float:
        """The most noise that is tried: up to a factor of two, what the mechanism takes.

        Parts of a plan that have much noise already cannot have that many times more.
        """
        for halvings in range(math.ceil(math.log2(FARTHEST))):
            noise = FARTHEST / 2**halvings
            try:
                self.event(noise)
            except ParameterError:
                continue
            return noise
        return 1.0

    def closed_forms(self) -> list[float]:
        """Gaussian noise, one Laplace release, and noise whose pure epsilon is proportional to 1 / noise.

        With some room for rounding.
        """
        event, found = self.event(1.0), []
        pure = accountant.pure_epsilon(event)
        if self.budget.delta == 0 and 0 < pure < math.inf:
            found.append(pure / self.budget.epsilon)
        gathered = terms(event)
        match gathered if self.budget.delta > 0 else ():
            case (Term(GaussianLoss(multiplier)),):
                found.append(gaussian_multiplier(self.budget.epsilon, self.budget.delta) / multiplier)
            case (Term(LaplaceLoss(multiplier), 1),):
                found.append(laplace_multiplier(self.budget.epsilon, self.budget.delta) / multiplier)
        return [noise * (1 + ulps * 2.0**-52) for noise in found for ulps in (0, 1, 2, 4, 8, 16, 32)]

    def infeasible(self) -> ParameterError:
        without = "Give the budget a delta, or use noise with a pure loss such as Laplace."
        name, budget = type(self.template).__name__, self.budget
        return ParameterError(
            f"calibrate {name} for epsilon {budget.epsilon:.6g} and delta {budget.delta}",
            f"{self.times} releases cost more with any noise",
            without if self.budget.delta == 0 else "Ask fewer times, or allow a greater epsilon or delta.",
            budget=self.budget,
            times=self.times,
        )


@dataclass(frozen=True)
class _Crossing:
    """Where a decreasing function is 0, about, and its slope there."""

    at: float
    slope: float


def _crossing(value: Callable[[float], float], start: _Crossing, tolerance: float, most: float) -> _Crossing:
    """Follow secants, held inside a bracket, to a place up to `most` where the function is between -tolerance and 0."""
    low, high, here, slope = -math.inf, math.inf, min(start.at, most), start.slope
    now = value(here)
    for _ in range(SECANTS):
        if -tolerance < now <= 0 or high - low < tolerance:
            break
        low, high = (here, high) if now > 0 else (low, here)
        there = here + min(max(-(now + tolerance / 2) / slope, -1.5), 1.5)
        if not low < there < high or min(there - low, high - there) < 0.01 * (high - low):
            there = (low + high) / 2 if high - low < math.inf else there
        there = min(there, most)
        if there == here:
            break
        after = value(there)
        secant = (after - now) / (there - here)
        slope = min(max(secant, -20.0), -0.1) if math.isfinite(secant) else slope
        here, now = there, after
    return _Crossing(here if now <= 0 or math.isinf(high) else high, slope)
