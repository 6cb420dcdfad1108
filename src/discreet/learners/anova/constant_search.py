"""The constant that a model is where noise hides its functions: all that is left of the budget looks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.core.mechanism import Noise
from discreet.fitting.task import Task
from discreet.learners.anova.anova_fit import SizeEstimate, TargetCounts, TargetStart
from discreet.questions.columns.total import winsorized_of
from discreet.releases.spread import spread
from discreet.trust.permit import Permit

# From made-up data: `short` of benchmarks/tuning_anova.py, and, of CLOSE and CLOSEST, targets without features.
CLOSE, CLOSEST = 1.5, 0.1  # cuts are so many standard deviations of what is known from the mean; half the bounds' width
FEWEST, FAR = 10.0, 5.0  # records, and standard deviations of their number
PLACES, NUMBERS = 257, 64  # of the mean and of the number of records, that are told apart


class ConstantSearch(Protocol):
    """What is known of a constant: more with every release, whatever its noise."""

    def ask(self, permit: Permit, noise: Noise) -> None:
        """Once more, with this noise."""

    def found(self) -> TargetStart:
        """A model of this constant."""


@unheld("releases")
class CountSearch:
    """A constant that follows from counts of the target, which are averaged.

    Parameters
    ----------
    counts : TargetCounts
        Those that were released before are among them.
    read : callable
        Counts and their standard deviation in, the model out.
    """

    def __init__(self, counts: TargetCounts, read: Callable[[Array, float], TargetStart]) -> None:
        self._counts, self._read = counts, read

    def ask(self, permit: Permit, noise: Noise) -> None:
        self._counts.ask(permit, noise)

    def found(self) -> TargetStart:
        return self._read(self._counts.counts, self._counts.stddev)


@unheld("releases")
class MeanSearch:
    """The mean of a target between cuts that close in on it: so the last releases have the least noise.

    Each release splits the mass of all records between two cuts, beyond which values are moved to the nearer one. A
    mean m of n records puts about n (m - lower) / (upper - lower) on the upper cut, and the rest on the other: what is
    known of m and n follows by Bayes' rule from an even prior of the place and what is known of n before.

    Parameters
    ----------
    task : Task
        What is fitted.
    count : SizeEstimate
        Of the number of records.
    read : callable
        A place between the bounds of the target, from 0 to 1, and the number of records in; the model out.
    """

    def __init__(self, task: Task, count: SizeEstimate, read: Callable[[float, float], TargetStart]) -> None:
        self._data, self._target, self._read = task.data, str(task.target), read
        deviation = count.variance**0.5
        least = max(count.value - FAR * deviation, FEWEST)
        self._numbers = np.geomspace(least, max(count.value + FAR * deviation, 2 * least), NUMBERS)
        self._places = np.linspace(0.0, 1.0, PLACES)
        known = -np.square((self._numbers - count.value) / deviation) / 2
        self._likely = np.repeat(known[:, None], PLACES, axis=1)
        self.cuts = 0.0, 1.0

    def ask(self, permit: Permit, noise: Noise) -> None:
        question = winsorized_of(self._data.schema, self._target, *self._ends())
        self.add(permit.ask(question, noise), spread(self._data, question, noise).stddev)

    def _ends(self) -> list[float]:
        """The cuts in units of the target, inside its bounds."""
        number = self._data.schema.number(self._target)
        return [
            min(max(number.lower * (1 - cut) + number.upper * cut, number.lower), number.upper) for cut in self.cuts
        ]

    def add(self, masses: Array, stddev: float) -> None:
        """Noisy masses at the two cuts."""
        lower, upper = self.cuts
        above = np.clip((self._places - lower) / (upper - lower), 0.0, 1.0)
        off = [mass - np.outer(self._numbers, share) for mass, share in zip(masses, (1 - above, above), strict=True)]
        self._likely = self._likely - (off[0] ** 2 + off[1] ** 2) / (2 * stddev**2)
        place, doubt = self._known()
        near = max(CLOSE * doubt, CLOSEST / 2)
        self.cuts = max(place - near, 0.0), min(place + near, 1.0)

    def _known(self) -> tuple[float, float]:
        """The mean of the place, and its standard deviation."""
        chances = np.exp(self._likely - self._likely.max()).sum(axis=0)
        chances /= chances.sum()
        place = float(chances @ self._places)
        return place, float(chances @ np.square(self._places - place)) ** 0.5

    def found(self) -> TargetStart:
        chances = np.exp(self._likely - self._likely.max()).sum(axis=1)
        return self._read(self._known()[0], float(chances @ self._numbers / chances.sum()))
