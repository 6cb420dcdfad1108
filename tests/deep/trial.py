"""What a training step, or a run of steps, brings for the trial that all are put through: `TRIAL` in its own test file.

A stand-in for noise shows which linear map of the noise z a release has in it: f + B z. So two neighbors, whose
releases differ by d without noise, look like noise that differs by B^-1 d: that may be no longer than the price allows.
What noise cannot explain was released without any.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.grid import Array, Steps
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Exact, with_less_noise

ENOUGH = Budget(1e3, 1e-5)
LARGE = 2**30  # steps of noise, beside which no rounding of a release shows
EXPLAINED = 1e-5  # what rounding leaves, of a difference that noise explains


@dataclass(frozen=True)
class Trained:
    """A class of steps or runs, and the noise of one of its releases."""

    kind: type[Any]
    noise: Gaussian
    calibrated: str = field(default="noise", init=False)


@dataclass
class StandIn:
    """What stands in for noise: all draws are alike, but for one; and a note of every scale."""

    base: int
    at: int | None = None
    scales: list[float] = field(default_factory=list)

    def noise(self, own: Gaussian, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        steps = np.full(math.prod(shape), self.base, np.int64)
        if self.at is not None and 0 <= self.at - len(self.scales) < len(steps):
            steps[self.at - len(self.scales)] += LARGE
        self.scales += [scale] * len(steps)
        return steps.reshape(shape)


@dataclass(frozen=True)
class Part:
    """One of the releases of a step: all records are in its sample, so that nothing hides what noise does not.

    Parameters
    ----------
    released : callable
        The class, the noise, one of two neighbors (0 or 1) and bits in; out come all numbers that are released.
    base : int
        Of noise, in steps, where small numbers would be cut off afterwards.
    """

    released: Callable[[type[Any], Gaussian, int, Bits], Array]
    base: int = 0

    def lost(self, one: Trained, less: float) -> float:
        """How far apart neighbors are with so many times less noise, in units of what the price allows."""
        accused = with_less_noise(one, less)
        first, scales = self._shown(accused, 0)
        second, _ = self._shown(accused, 1)
        by_noise = [(self._shown(accused, 0, at)[0] - first) / LARGE * scale for at, scale in enumerate(scales)]
        drawn, apart = np.array(by_noise).reshape(len(scales), first.size).T, second - first
        moved = np.linalg.lstsq(drawn, apart, rcond=1e-9)[0]
        if np.linalg.norm(drawn @ moved - apart) > EXPLAINED * np.linalg.norm(apart):
            return math.inf
        return float(np.linalg.norm(moved)) * one.noise.multiplier

    def _shown(self, one: Trained, side: int, at: int | None = None) -> tuple[Array, list[float]]:
        """What is released with a stand-in for noise, and the scales that noise would have."""
        draws = StandIn(self.base, at)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Gaussian, "noise", lambda *given: draws.noise(*given))
            found = self.released(one.kind, one.noise, side, DeterministicBits(side))
        return np.asarray(found, dtype=np.float64).ravel(), draws.scales


@dataclass(frozen=True)
class TrainingTrial:
    """How a training step or a run is tried.

    Parameters
    ----------
    parts : mapping of str to Part
        Each of its releases, by its name.
    run : callable, optional
        The class and a budget in; out comes a run of a few steps that has not begun, with a `plan` and a `model`, and
        the holder of its records. A step alone has no account.
    twins : sequence of (str, type)
        Subclasses with a mistake that somebody could make, and the part whose trial must refute it.
    """

    parts: Mapping[str, Part]
    run: Callable[[type[Any], Budget], tuple[Any, Any]] | None = None
    twins: Sequence[tuple[str, type[Any]]] = ()

    def audits(self, part: str, kind: type[Any]) -> list[Exact]:
        """Of one release, with little noise and with much."""
        return [Exact(part, Trained(kind, Gaussian(size)), self.parts[part].lost) for size in (0.5, 4.0)]


def numbers(model: Any) -> Array:
    """The gradients of a model, which a step has set."""
    return np.concatenate([np.asarray(one.grad, dtype=np.float64).ravel() for one in model.parameters()])
