"""Losses that are square for small residuals and grow less from a threshold on: Huber's and Tukey's."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.statistics.fits.loss import Loss


@dataclass(frozen=True)
class Bent(Loss):
    """A loss that is square for small residuals and grows less from a threshold on."""

    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 < self.threshold < math.inf:
            raise ParameterError(
                f"{type(self).__name__} loss",
                f"its threshold is {self.threshold}",
                "Give a positive number, in the units of the response, or none.",
            )

    @property
    @abstractmethod
    def usual(self) -> float:
        """The usual threshold, in standard deviations."""

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

    @property
    def usual(self) -> float:
        """The usual threshold, in standard deviations (Huber and Ronchetti 2009, exhibit 4.3)."""
        return 1.345

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

    @property
    def usual(self) -> float:
        """The usual threshold, in standard deviations (Holland and Welsch 1977)."""
        return 4.685

    def of(self, response: Array, prediction: Array) -> Array:
        part = np.clip((response - prediction) / self.bend, -1.0, 1.0)
        return self.bend**2 / 6 * (1 - (1 - np.square(part)) ** 3)

    def slope(self, response: Array, prediction: Array) -> Array:
        part = np.clip((response - prediction) / self.bend, -1.0, 1.0)
        return -self.bend * part * np.square(1 - np.square(part))
