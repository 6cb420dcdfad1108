"""Reports of vectors: points of a sphere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.local.means.vector_report import ReportReach, VectorReport
from discreet.local.miss_chance import miss_chance
from discreet.local.randomizer import Reports
from discreet.mechanisms.vectors.sphere_report import FINENESS, Ball, SphereReport
from discreet.noise.bernoulli import bernoulli
from discreet.noise.gaussian import rounded_gaussian

COARSE = 20  # bits of a deviation that are reported
ROWS = 2**20
STEPS = 2.0**24  # of a unit vector that is reported
DEVIATION = 2.0**30


@dataclass(frozen=True)
class PrivUnitVector(VectorReport):
    """Report a Gaussian vector that is more likely in the cap around the own direction: the default for vectors.

    Its variance is the least of all pure reports, up to a factor that tends to 1 with the number of coordinates.

    Guarantee
    ---------
    That of `mechanisms.SphereReport`, whose draws are rounded here and moved inside their `reach`: pure, epsilon, where
    one vector is replaced by any other. Bhowmick, Duchi, Freudiger, Kapoor and Rogers 2018; Asi, Feldman and
    Talwar 2022.

    Examples
    --------
    >>> round(PrivUnitVector(epsilon=1.0, size=64).stddev, 3)
    2.516
    """

    kind: ClassVar[str] = "sphere_vector"

    @cached_property
    def mechanism(self) -> SphereReport:
        return SphereReport(self.epsilon)

    @property
    def ball(self) -> Ball:
        """The ball that the vectors are in."""
        return Ball.around(Bound("l2", self.radius), self.size)

    @property
    def event(self) -> Event:
        return self.mechanism.event

    @property
    def unit(self) -> float:
        """The step of the grid that reports are rounded to."""
        return math.ldexp(self.mechanism.fine_grid(self.ball).step, FINENESS - COARSE)

    @property
    def stddev(self) -> float:
        return self.ball.radius / self.mechanism.cap.pull

    @property
    def reach(self) -> ReportReach:
        """How far reports reach: their density is at most 64 times Gaussian, since the cap's chance is 1/64 or more."""
        return ReportReach.of_gaussian(self.stddev / self.unit, self.size)

    def reports(self, values: Any, bits: Bits) -> Reports:
        vectors, rows = self.inside(values), max(1, ROWS // (self.size + 1))
        drawn = [
            np.rint(np.ldexp(self.mechanism.draws(self.ball, vectors[start : start + rows], bits), COARSE - FINENESS))
            for start in range(0, len(vectors), rows)
        ]
        whole = np.concatenate(drawn) if drawn else np.empty((0, self.size))
        return self.reach.pulled(whole).astype(self.form.base)

    @property
    def longest(self) -> float:
        return self.reach.length

    def misfit(self, reports: Reports) -> str:
        return self.reach.misfit(reports)


@dataclass(frozen=True)
class DuchiVector(VectorReport):
    """Report a random direction of the half of the sphere around the own one, or with a known probability of the other.

    The own vector is first rounded at random to its direction or the opposite one. `PrivUnitVector` has less variance:
    this one is the simple form that lower bounds are compared with.

    Guarantee
    ---------
    Pure, epsilon, where one vector is replaced by any other. A line is drawn first, whatever the vector is. Of its two
    ends, the one whose product with the own direction is not negative is reported, or with the probability of a lie,
    rounded up and tossed exactly (`miss_chance`), the other. So given the line, each end has at least the probability
    of a lie and at most that of the truth, however products are rounded.
    Duchi, Jordan and Wainwright 2018, section 4.2.3.

    Examples
    --------
    >>> round(DuchiVector(epsilon=1.0, size=64).stddev, 3)
    2.702
    """

    kind: ClassVar[str] = "half_sphere_vector"

    @cached_property
    def lie(self) -> float:
        """The probability of the other half."""
        return miss_chance(self.epsilon)

    @property
    def length(self) -> float:
        """Of the estimate from one report, for radius 1: the mean of a half of the sphere has 1 / sqrt(pi) times
        gamma(size / 2) / gamma((size + 1) / 2).
        """
        logs = math.lgamma((self.size + 1) / 2) - math.lgamma(self.size / 2)
        return math.sqrt(math.pi) * math.exp(logs) / (1 - 2 * self.lie)

    @property
    def unit(self) -> float:
        return self.radius * self.length / STEPS

    @property
    def stddev(self) -> float:
        return self.radius * self.length / math.sqrt(self.size)

    @property
    def longest(self) -> float:
        """The length of directions, and half a step in each coordinate."""
        return STEPS + math.sqrt(self.size) / 2 + 1

    def misfit(self, reports: Reports) -> str:
        """Directions have a known length, up to half a step in each coordinate."""
        off = np.abs(np.linalg.norm(np.asarray(reports, np.float64), axis=1) - STEPS)
        return f"one does not have the length {STEPS:g}" if (off > self.longest - STEPS).any() else ""

    def reports(self, values: Any, bits: Bits) -> Reports:
        vectors = self.inside(values) / self.radius
        directions = _rounded(vectors, bits)
        lines = rounded_gaussian(bits, vectors.shape, DEVIATION).astype(np.float64)
        lines[np.abs(lines).sum(axis=1) == 0, 0] = 1.0
        away = np.einsum("ij,ij->i", lines, directions) < 0
        turned = away ^ bernoulli(bits, len(vectors), self.lie)
        lines[turned] *= -1
        return np.rint(lines * (STEPS / np.linalg.norm(lines, axis=1, keepdims=True))).astype(self.form.base)


def _rounded(vectors: Array, bits: Bits) -> Array:
    """The direction of each vector or the opposite one, with the vector as their mean."""
    lengths = np.linalg.norm(vectors, axis=1)
    directions = np.zeros_like(vectors)
    directions[:, 0] = 1.0
    there = lengths > 0
    directions[there] = vectors[there] / lengths[there, None]
    opposite = bernoulli(bits, len(vectors), (1 - np.minimum(lengths, 1.0)) / 2)
    directions[opposite] *= -1
    return directions
