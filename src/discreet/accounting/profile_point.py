"""What is asked of a profile: epsilon at some delta, or delta at some epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

SMALLEST = -690.0  # deltas below exp of this are not distinguished


class ProfilePoint(Protocol):
    """Epsilon at some delta, or delta at some epsilon.

    The answers are estimates by the saddle point: delta is about exp(height - tilt * epsilon), where the height is the
    log moment less the logarithm of (1 + tilt) (1 + 2.5 * tilt * spread).
    """

    def objective(self, height: float, tilt: float, infinity: float) -> float:
        """What the best tilt minimises."""
        ...

    def epsilon(self, height: float, tilt: float, infinity: float) -> float: ...

    def log_delta(self, height: float, tilt: float, infinity: float) -> float: ...


@dataclass(frozen=True)
class AtDelta:
    """Which epsilon goes with this delta?"""

    delta: float

    def objective(self, height: float, tilt: float, infinity: float) -> float:
        return (height - self.log_delta(height, tilt, infinity)) / tilt

    def epsilon(self, height: float, tilt: float, infinity: float) -> float:
        return max(0.0, self.objective(height, tilt, infinity))

    def log_delta(self, height: float, tilt: float, infinity: float) -> float:
        return math.log(max(self.delta - infinity, 1e-300))


@dataclass(frozen=True)
class AtEpsilon:
    """Which delta goes with this epsilon?"""

    at: float

    def objective(self, height: float, tilt: float, infinity: float) -> float:
        return height - tilt * self.at

    def epsilon(self, height: float, tilt: float, infinity: float) -> float:
        return self.at

    def log_delta(self, height: float, tilt: float, infinity: float) -> float:
        return min(0.0, max(SMALLEST, height - tilt * self.at))
