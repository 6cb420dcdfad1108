"""PrivUnit: a Gaussian vector that leans towards the own one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import Event
from discreet.local.means.report_reach import ReportReach
from discreet.local.means.vector_report import VectorReport
from discreet.local.randomizer import Reports
from discreet.mechanisms.vectors.sphere_report import FINENESS, Ball, SphereReport

COARSE = 20  # bits of a deviation that are reported
ROWS = 2**20


@dataclass(frozen=True)
class SphereVector(VectorReport):
    """Report a Gaussian vector that is more likely in the cap around the own direction: the default for vectors.

    Its variance is the least of all pure reports, up to a factor that tends to 1 with the number of coordinates.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    size : int
        Public. The number of coordinates.
    radius : float
        Public. Of the ball in l2.

    Guarantee
    ---------
    That of `mechanisms.SphereReport`, whose draws are rounded here and moved inside their `reach`: pure, epsilon, where
    one vector is replaced by any other. Bhowmick, Duchi, Freudiger, Kapoor and Rogers 2018; Asi, Feldman and
    Talwar 2022.

    Examples
    --------
    >>> round(SphereVector(epsilon=1.0, size=64).stddev, 3)
    2.516
    """

    kind: ClassVar[str] = "sphere_vector"

    @cached_property
    def mechanism(self) -> SphereReport:
        """What draws."""
        return SphereReport(self.epsilon)

    @property
    def ball(self) -> Ball:
        """Where the vectors are."""
        return Ball.around(Bound("l2", self.radius), self.size)

    @property
    def event(self) -> Event:
        """The price of one report."""
        return self.mechanism.event

    @property
    def unit(self) -> float:
        """Of the grid that reports are rounded to."""
        return math.ldexp(self.mechanism.fine_grid(self.ball).step, FINENESS - COARSE)

    @property
    def stddev(self) -> float:
        """The same in each coordinate."""
        return self.ball.radius / self.mechanism.cap.pull

    @property
    def reach(self) -> ReportReach:
        """Of the reports: their density is at most 64 times Gaussian, since the cap holds a draw in 64 or more."""
        return ReportReach.of_gaussian(self.stddev / self.unit, self.size)

    def reports(self, values: Any, bits: Bits) -> Reports:
        """A vector for each one."""
        vectors, rows = self.inside(values), max(1, ROWS // (self.size + 1))
        drawn = [
            np.rint(np.ldexp(self.mechanism.draws(self.ball, vectors[start : start + rows], bits), COARSE - FINENESS))
            for start in range(0, len(vectors), rows)
        ]
        whole = np.concatenate(drawn) if drawn else np.empty((0, self.size))
        return self.reach.pulled(whole).astype(self.form.base)

    @property
    def longest(self) -> float:
        """The greatest length of a report."""
        return self.reach.length

    def misfit(self, reports: Reports) -> str:
        """Reports have a reach."""
        return self.reach.misfit(reports)
