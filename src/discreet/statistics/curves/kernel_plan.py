"""The knots of a kernel density and the noise on them, chosen without a look at the records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.columns.knots import Knots, bump_length, process_of, process_size, splines_of
from discreet.questions.question import BoundedQuestion, BoundedSum
from discreet.questions.tables.domain import Bins, Domain
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread, spread
from discreet.schema.schema import Number
from discreet.statistics.curves.density import Boxed
from discreet.statistics.curves.smoother import GAUSSIAN, Smoother
from discreet.trust.private_data import PrivateData

Noise = Literal["least", "process"]
LOOKS = {1: 512, 2: 64, 3: 24}  # places in each column, by the number of columns
MOST_KNOTS = 2**15
FINE = 2.0  # knots in a bandwidth that is given


@dataclass(frozen=True)
class KernelPlan:
    """What is asked, and how it will be read. All of it public.

    `records` is their number where it is public; those that have no mass are then counted at the last place, times
    `missing`.
    """

    question: BoundedSum
    knots: tuple[Knots, ...]
    records: int | None
    missing: float = 1.0

    @property
    def knots_size(self) -> int:
        return math.prod(one.size for one in self.knots)

    @property
    def size(self) -> int:
        return self.knots_size + (self.records is not None)

    @property
    def apart(self) -> float | None:
        return None if self.records is None else 1 / self.missing

    def count(self, released: Array) -> float:
        """The number of records that have a mass."""
        if self.records is None:
            return float(released.sum())
        return self.records - float(released[-1]) / self.missing

    def readers(self, widths: Array, order: int) -> tuple[Smoother, ...]:
        looks = LOOKS[len(self.knots)]
        return tuple(Smoother(one, float(h), order, looks) for one, h in zip(self.knots, widths, strict=True))

    def variance(self, of: Boxed, widths: Array, budget: Budget) -> float:
        """Of the noise in the curve, in the mean over the box, times the squared number of records."""
        readers = self.readers(widths, GAUSSIAN)
        each = (np.square(one.weights(one.places)).sum(axis=1).mean() for one in readers)
        return least_noise(of.data, self.question, budget).stddev ** 2 * float(math.prod(each))


def even(of: Boxed, bins: Bins | None, number: int, budget: Budget) -> KernelPlan:
    """Knots for a bandwidth that is chosen later."""
    schema, columns = of.data.schema, of.box.columns
    if bins is None:
        trial = splines_of(schema, columns, (2,) * of.box.size, 1, False)
        stddev = least_noise(of.data, trial, budget).stddev
        best = 6 * (number / stddev) ** (1 / (1 + 2 * of.box.size))
        most = int(min(max(best, 4), MOST_KNOTS ** (1 / of.box.size)))
        bins = {name: _above_steps(schema.number(name), most) for name in columns}
    each = Domain.of(schema, columns, bins).bins
    if math.prod(each) > MOST_KNOTS:
        raise ParameterError("kernel density", f"there are {math.prod(each)} knots", f"Use {MOST_KNOTS} at most.")
    return _splines(of, each, 1)


def _above_steps(number: Number, most: int) -> int:
    """At most so many knots that some values of a number with a step lie between two, so that none shows by itself."""
    return most if number.step is None else max(4, min(most, round((number.upper - number.lower) / number.step) // 2))


def planned(of: Boxed, widths: Array, noise: Noise, budget: Budget) -> KernelPlan:
    """The knots that minimise the noise for these bandwidths, or those of a process."""
    bins = tuple(max(math.ceil(FINE / h), 4) for h in widths)
    processed, shared = math.prod(map(process_size, widths)), math.prod(bins) if noise == "least" else math.inf
    if min(processed, shared) > MOST_KNOTS:
        remedy = f"Use {MOST_KNOTS} at most: a larger bandwidth, fewer columns or closer bounds."
        raise ParameterError("kernel density", f"so small a bandwidth takes {min(processed, shared)} knots", remedy)
    plans = [] if processed > MOST_KNOTS else [_process(of, widths)]
    if shared <= MOST_KNOTS:
        plans.append(_splines(of, bins, 3))
    return min(plans, key=lambda plan: plan.variance(of, widths, budget))


def _splines(of: Boxed, bins: tuple[int, ...], degree: int) -> KernelPlan:
    question = splines_of(of.data.schema, of.box.columns, bins, degree, of.of.size is not None)
    return KernelPlan(question, tuple(Knots.spline(one, degree) for one in bins), of.of.size)


def _process(of: Boxed, widths: Array) -> KernelPlan:
    each = tuple(widths.tolist())
    question = process_of(of.data.schema, of.box.columns, each, of.of.size is not None)
    return KernelPlan(question, tuple(map(Knots.process, each)), of.of.size, bump_length(len(each)))


def process_noise(data: PrivateData, question: BoundedQuestion, budget: Budget) -> Spread:
    """The noise on knots that make a process: Gaussian."""
    return spread(data, question, calibrate(Gaussian(), budget))
