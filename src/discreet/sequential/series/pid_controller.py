"""The controller that decides when a series is looked at again, from released numbers alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.parameters import CheckedParameters

ASKED = "PID controller"
STEEPEST = 50.0  # exponent of a feedback error


@dataclass(frozen=True)
class PIDController(CheckedParameters):
    """Sample more often after a surprise, less often after none.

    With feedback errors E, relative differences between what was expected and what is estimated after a sample,

        D = proportional E + integral (mean of the last `window` E) + derivative (E - the one before) / (time between)
        interval = max(1, interval + gain (1 - exp((D - target) / target)))

    as Fan and Xiong 2012 have it.

    Parameters
    ----------
    proportional, integral, derivative : float
        Public. The gains; they add up to about one.
    window : int
        Public. Over how many errors the integral is taken.
    gain : float
        Public. How fast intervals change.
    target : float
        Public. The error that leaves an interval as it is.
    leeway : float
        Public. Intervals stay within this factor of the pace, the time left over the samples left, so that neither all
        samples are taken early nor many at the end. Infinite, as published, they do not.

    Examples
    --------
    >>> errors, four = np.array([[0.0, 0.5]] * 5), np.full(2, 4.0)
    >>> PIDController().interval(four, errors, np.ones(2), pace=four).round(2)
    array([6.  , 2.67])
    """

    proportional: float = 0.9
    integral: float = 0.1
    derivative: float = 0.0
    window: int = 5
    gain: float = 10.0
    target: float = 0.1
    leeway: float = 1.5

    def __post_init__(self) -> None:
        for name in ("proportional", "integral", "derivative"):
            check_positive(ASKED, name, getattr(self, name), 0.0, 1e6)
        check_positive(ASKED, "gain", self.gain, 0.0, 1e6)
        check_positive(ASKED, "target", self.target, 1e-6, 1e6)
        if not self.leeway >= 1:
            raise ParameterError(ASKED, f"leeway is {self.leeway}", "Give a number of at least 1, or infinity.")
        check_whole(ASKED, "window", self.window, most=1000)

    def interval(self, before: Array, errors: Array, elapsed: Array | NDArray[np.int64], pace: Array) -> Array:
        """The time to the next sample of each series.

        Parameters
        ----------
        before : array of shape (series,)
            Public. The present intervals.
        errors : array of shape (window, series)
            Public. The last feedback errors, the latest one first; zero where there was none.
        elapsed : array of shape (series,)
            Public. The time since the sample before.
        pace : array of shape (series,)
            Public. The time left over the samples left.
        """
        slope = (errors[0] - errors[min(1, len(errors) - 1)]) / np.maximum(elapsed, 1)
        signal = self.proportional * errors[0] + self.integral * errors.mean(axis=0) + self.derivative * slope
        push = np.exp(np.minimum((signal - self.target) / self.target, STEEPEST))
        free = before + self.gain * (1 - push)
        return np.asarray(np.maximum(1.0, np.clip(free, pace / self.leeway, pace * self.leeway)))
