"""Losses that an M-estimate minimises: how badly a prediction fits a response.

Each is a function of the response and of a linear prediction from other columns, or from none: then the estimate is a
location. Thresholds are public or read off a release; see `m_estimate`.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit

from discreet.core.errors import ParameterError
from discreet.core.grid import Array


class Loss(ABC):
    """A loss of responses and predictions."""

    binary = False  # whether responses are 0 and 1
    convex = True  # as a function of the prediction
    jumps = False  # whether its slope jumps

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is called, as the beginning of a sentence."""

    @abstractmethod
    def of(self, response: Array, prediction: Array) -> Array:
        """The loss of each pair."""

    @abstractmethod
    def slope(self, response: Array, prediction: Array) -> Array:
        """How the loss of each pair changes with its prediction."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left to be filled in."""
        return True

    def completed(self, deviation: float) -> Self:
        """The loss with what was left out, for residuals of this standard deviation where they are normal."""
        return self

    def in_units(self, unit: float, step: float) -> Self:
        """The loss of responses in such units, each spread evenly over a step."""
        return self


@dataclass(frozen=True)
class Bent(Loss):
    """A loss that is square for small residuals and grows less from a threshold on."""

    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 < self.threshold < math.inf:
            remedy = "Give a positive number, in the units of the response, or none."
            raise ParameterError(f"{type(self).__name__} loss", f"its threshold is {self.threshold}", remedy)

    usual: ClassVar[float]  # threshold, in standard deviations

    @property
    def bend(self) -> float:
        """The threshold, once it is known."""
        assert self.threshold is not None
        return self.threshold

    @property
    def title(self) -> str:
        at = "" if self.threshold is None else f" (threshold {self.threshold:.4g})"
        return f"{type(self).__name__}{at}"

    @property
    def complete(self) -> bool:
        """Whether its threshold is known."""
        return self.threshold is not None

    def completed(self, deviation: float) -> Self:
        """The loss with its usual threshold, where none was given: 95% efficient at a normal distribution."""
        return self if self.complete else dataclasses.replace(self, threshold=self.usual * deviation)

    def in_units(self, unit: float, step: float) -> Self:
        """The loss of responses in such units."""
        return self if self.threshold is None else dataclasses.replace(self, threshold=self.threshold / unit)


@dataclass(frozen=True)
class Huber(Bent):
    """Square up to a threshold and straight beyond (Huber 1964): no single record moves the estimate far.

    Parameters
    ----------
    threshold : float, optional
        Public. In the units of the response. Where none is given it is 1.345 standard deviations, by the median
        distance from the median, read off the same release.

    Examples
    --------
    >>> Huber(1.0).of(np.array([0.5, 3.0]), np.zeros(2))
    array([0.125, 2.5  ])
    """

    usual: ClassVar[float] = 1.345  # Huber and Ronchetti 2009, exhibit 4.3

    def of(self, response: Array, prediction: Array) -> Array:
        far = np.abs(response - prediction)
        return np.where(far <= self.bend, 0.5 * np.square(far), self.bend * (far - 0.5 * self.bend))

    def slope(self, response: Array, prediction: Array) -> Array:
        return np.clip(prediction - response, -self.bend, self.bend)


@dataclass(frozen=True)
class Tukey(Bent):
    """Tukey's biweight, flat beyond a threshold: what lies there counts for nothing. It is not convex.

    Parameters
    ----------
    threshold : float, optional
        Public. In the units of the response. Where none is given it is 4.685 standard deviations, as for `Huber`.

    Examples
    --------
    >>> (6 * Tukey(1.0).of(np.array([0.0, 1.0, 9.0]), np.zeros(3))).round(3)
    array([0., 1., 1.])
    """

    convex = False
    usual: ClassVar[float] = 4.685  # Holland and Welsch 1977

    def of(self, response: Array, prediction: Array) -> Array:
        part = np.clip((response - prediction) / self.bend, -1.0, 1.0)
        return self.bend**2 / 6 * (1 - (1 - np.square(part)) ** 3)

    def slope(self, response: Array, prediction: Array) -> Array:
        part = np.clip((response - prediction) / self.bend, -1.0, 1.0)
        return -self.bend * part * np.square(1 - np.square(part))


@dataclass(frozen=True)
class Squared(Loss):
    """Half the square: the estimate is a mean, or a line through means.

    Examples
    --------
    >>> Squared().of(np.array([3.0]), np.array([1.0]))
    array([2.])
    """

    @property
    def title(self) -> str:
        return "Least squares"

    def of(self, response: Array, prediction: Array) -> Array:
        return 0.5 * np.square(response - prediction)

    def slope(self, response: Array, prediction: Array) -> Array:
        return prediction - response


@dataclass(frozen=True)
class Pinball(Loss):
    """The loss whose estimate is a quantile; at level one half the median, and half the absolute residual.

    Parameters
    ----------
    q : float
        Public. The level of the quantile, in (0, 1).
    step : float
        Public. Over which each response counts as spread evenly; cells fill it in.

    Examples
    --------
    >>> Pinball(0.9).of(np.array([1.0, -1.0]), np.zeros(2)).round(2)
    array([0.9, 0.1])
    >>> Pinball(0.5, step=2.0).slope(np.array([0.0, 0.5, 3.0]), np.zeros(3))
    array([-0.  , -0.25, -0.5 ])
    """

    q: float = 0.5
    step: float = 0.0
    jumps = True

    def __post_init__(self) -> None:
        if not 0 < self.q < 1 or not 0 <= self.step < math.inf:
            raise ParameterError("pinball loss", f"q is {self.q}", "Give a level between 0 and 1.")

    @property
    def title(self) -> str:
        return "Median" if self.q == 0.5 else f"{self.q:.4g} quantile"

    def of(self, response: Array, prediction: Array) -> Array:
        """The loss of each pair: that of a response anywhere on its step, on average."""
        far, half = response - prediction, max(self.step / 2, 1e-300)
        size = np.where(np.abs(far) < half, (np.square(far) / half + half) / 2, np.abs(far))
        return (self.q - 0.5) * far + 0.5 * size

    def slope(self, response: Array, prediction: Array) -> Array:
        far, half = response - prediction, max(self.step / 2, 1e-300)
        return -(self.q - 0.5 + 0.5 * np.clip(np.clip(far, -half, half) / half, -1.0, 1.0))

    def in_units(self, unit: float, step: float) -> Self:
        """The loss of responses in such units."""
        return dataclasses.replace(self, step=step)


@dataclass(frozen=True)
class Logistic(Loss):
    """Minus the log-likelihood of a response that is 0 or 1, whose log-odds are the prediction.

    The response is a category of two values, of which the second counts as 1; or a number, which counts as 1 in the
    upper half of its bounds.

    Examples
    --------
    >>> Logistic().of(np.array([0.0, 1.0]), np.array([0.0, 800.0])).round(3)
    array([0.693, 0.   ])
    """

    binary = True

    @property
    def title(self) -> str:
        return "Logistic"

    def of(self, response: Array, prediction: Array) -> Array:
        return np.logaddexp(0.0, prediction) - response * prediction

    def slope(self, response: Array, prediction: Array) -> Array:
        return np.asarray(expit(prediction) - response)


NAMED: dict[str, Loss] = {
    "absolute": Pinball(),
    "huber": Huber(),
    "tukey": Tukey(),
    "squared": Squared(),
    "logistic": Logistic(),
}


def loss_of(loss: Any) -> Loss:
    """The loss of this name, or the loss itself."""
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in NAMED:
        raise ParameterError(
            "M-estimate", f"there is no loss {loss!r}", f"Name one of {', '.join(NAMED)}, or give one."
        )
    return NAMED[loss]
