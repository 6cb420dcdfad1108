"""Losses of margins: convex, decreasing, with slopes between -1 and 0 and a bounded second derivative."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

import numpy as np

from discreet.core.grid import Array
from discreet.noise.bars import assure

assure("exp")
LossName = Literal["logistic", "huber_hinge"]
FARTHEST = 50.0  # margins beyond pull less than 2**-72 differently


class MarginLoss(Protocol):
    """A loss l(m) of the margin m, through what a solver needs of it."""

    @property
    def bend(self) -> float:
        """The greatest second derivative."""

    def pull(self, margins: Array) -> Array:
        """-l'(m), between 0 and 1: off by 16 * 2**-53 at most."""

    def curvature(self, margins: Array) -> Array:
        """l''(m), about."""

    def exact_pull(self, margin: Decimal) -> Decimal:
        """-l'(m), to the precision of the decimal context."""


@dataclass(frozen=True)
class LogisticLoss:
    """ln(1 + exp(-m)).

    Examples
    --------
    >>> LogisticLoss().pull(np.array([-2.0, 0.0, 2.0])).round(3)
    array([0.881, 0.5  , 0.119])
    """

    bend: float = 0.25

    def pull(self, margins: Array) -> Array:
        """1 / (1 + exp(m)), from exp(-|m|): four units in the last place for exp, and one rounding for + and /."""
        less = np.exp(np.maximum(-np.abs(margins), -FARTHEST))
        return np.asarray(np.where(margins > 0, less, 1.0) / (1 + less))

    def curvature(self, margins: Array) -> Array:
        p = self.pull(margins)
        return p * (1 - p)

    def exact_pull(self, margin: Decimal) -> Decimal:
        """1 / (1 + exp(m)), from exp(-|m|)."""
        less = (-abs(margin)).exp()
        return (less if margin > 0 else 1) / (1 + less)


@dataclass(frozen=True)
class HuberHinge:
    """Hinge loss with a rounded corner: 1 - m below margin 0, 0 above 2, and a parabola between.

    Chapelle 2007, with h = 1.

    Examples
    --------
    >>> HuberHinge().pull(np.array([-2.0, 0.5, 3.0]))
    array([1.  , 0.75, 0.  ])
    """

    bend: float = 0.5

    def pull(self, margins: Array) -> Array:
        """1 below margin 0, 0 above 2, linear between."""
        return np.clip(1 - margins / 2, 0.0, 1.0)

    def curvature(self, margins: Array) -> Array:
        """1/2 between margins 0 and 2."""
        return np.where((margins >= 0) & (margins <= 2), 0.5, 0.0)

    def exact_pull(self, margin: Decimal) -> Decimal:
        """1 below margin 0, 0 above 2, linear between."""
        return min(max(1 - margin / 2, Decimal(0)), Decimal(1))


LOSSES: dict[LossName, MarginLoss] = {"logistic": LogisticLoss(), "huber_hinge": HuberHinge()}
