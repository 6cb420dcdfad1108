"""Fourier perturbation: a series that many people add to, by the noisy coefficients of its lowest frequencies.

Rastogi and Nath 2010 (the Fourier perturbation algorithm). As it is often run, the number k of frequencies is the one
that is best for these data. Then k is a function of the records that nobody has paid for: `docs/series.md` shows how it
gives a person away. Here k is public, or chosen by a mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.questions.question import BoundedSum
from discreet.questions.series.fourier import MOST_PERIODS, fourier_basis, fourier_of_events, fourier_of_people
from discreet.releases.ask import columns_of
from discreet.releases.option_docs import describing
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.schema.dates import Temporal
from discreet.schema.schema import Number
from discreet.sequential.series.fourier_series import FourierSeries
from discreet.sequential.series.frequencies import Asks, LowFrequencies, NoisyCoefficients
from discreet.trust.as_private import Bounds, as_private
from discreet.trust.private_data import PrivateData

NORMS: tuple[Norm, ...] = ("l1", "l2")


@describing("columns")
def series_of_people(
    data: Any,
    columns: str | Sequence[str] | None = None,
    *,
    bounds: Bounds | None = None,
    coefficients: int | None = None,
    radius: float | None = None,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> FourierSeries:
    """Release the sum of all people's series, where each record is one person's whole series.

    Parameters
    ----------
    data : PrivateData, array of shape (people, periods), or data frame
        One record for each person, one column for each period. Under any trust model.
    columns : sequence of str, optional
        Public. The periods, in the order of time; by default all columns.
    coefficients : int, optional
        Public. How many frequencies are released, the constant among them. By default they are chosen by the data, and
        the choice is paid for: by a curator with a quarter of epsilon; where nobody holds the records, by a noisy
        spectrum with half of the budget. Where noise does not grow with their number, as Gaussian noise does not, the
        choice is made afterwards and costs nothing.
    radius : float, optional
        Public. The length in l2 that the coefficients of one person are shrunk to; by default the longest that the
        bounds allow.
    confidence : float
        Public. Of the band.

    Returns
    -------
    FourierSeries
        The series, with a band that holds its smooth part.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: additive noise on one bounded sum, whose l2 bound is
    that of a person's whole series, since the basis is orthonormal; in l1 it is sqrt(m) times as long, for m numbers.
    Rastogi and Nath 2010, with real and imaginary parts counted one by one.
    If frequencies are chosen, the release of the choice is in the event: `PermuteAndFlip` of scores of sensitivity
    `radius` / sqrt(2) (`SpectrumTails`), or a second noisy sum. The rest is post-processing.

    Examples
    --------
    >>> hours = 1 + np.sin(np.arange(24) / 24 * 2 * np.pi)
    >>> found = series_of_people(np.tile(hours, (1000, 1)), bounds=(0, 2), coefficients=2, epsilon=5.0)
    >>> bool(np.abs(found.values / 1000 - hours).max() < 0.2), found.coefficients
    (True, 2)
    """
    budget = Budget(epsilon, delta)
    asked = columns_of("series of people", data, columns, bounds, budget)
    private, names = asked.data, asked.columns
    origin = _origin(private, names)

    def asks(k: int) -> tuple[BoundedSum, ...]:
        return (fourier_of_people(private.schema, names, k, origin, radius),)

    series = f"sum of {names[0]} to {names[-1]}"
    found = _released(private, len(names), coefficients, asks, budget, confidence, series, key)
    added = origin * (private.public_size or 0) * math.sqrt(len(names))
    numbers = found.numbers + np.where(np.arange(found.basis.size) == 0, added, 0.0)
    return FourierSeries(
        name=f"{series}, {found.basis.coefficients} frequencies",
        receipt=found.receipt,
        confidence=confidence,
        time="period",
        start=-0.5,
        end=len(names) - 0.5,
        basis=found.basis,
        numbers=numbers,
        stddev=found.stddev,
        half_width=found.half_width,
    )


@describing("columns", series_of_people)
def series_of_events(
    data: Any,
    time: str,
    value: str | None = None,
    *,
    periods: int | None = None,
    bounds: Bounds | None = None,
    coefficients: int | None = None,
    radius: float | None = None,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> FourierSeries:
    """Release the sum of values, or the number of events, in each period of time, where each record is one event.

    What is protected is the data set's unit: a single event; up to so many events of a user; or all of them, where the
    unit is pooled. Then `radius` is the length that all events of a user are shrunk to.

    Parameters
    ----------
    data : PrivateData, data frame, or mapping of arrays
        One record for each event. One of an unknown time or value counts for nothing.
    time : str
        Public. The column of time; its bounds are cut into periods of equal length.
    value : str, optional
        Public. The column that is added up; by default events are counted.
    periods : int, optional
        Public. How many; by default one for each value of time, where the schema has a step.
    radius : float, optional
        Public. The length in l2 of what one event, or a pooled unit, adds; needed for pooled units. By default the
        longest of an event, sqrt(m / periods) of its value for m real numbers.

    Returns
    -------
    FourierSeries
        The series, with a band that holds its smooth part.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors, that of `series_of_people` with another bound: one event
    is a column of the basis times its value, bounded by its own length in l1 for Laplace noise, and in l2 for Gaussian
    noise.

    Examples
    --------
    >>> visits = {"day": np.repeat(np.arange(30.0), 200)}
    >>> found = series_of_events(visits, "day", bounds=(0, 29), periods=30, coefficients=3, epsilon=1.0)
    >>> bool(np.abs(found.values - 200).max() < 20)
    True
    >>> round(found.receipt.event.multiplier, 6)
    1.0
    """
    budget = Budget(epsilon, delta)
    private = as_private(data, budget, bounds, [time] if value is None else [time, value])
    asked = f"{'number of events' if value is None else f'sum of {value}'} by {time}"
    if radius is None and private.unit.pooled:
        remedy = "Give the length in l2 that all events of a unit are shrunk to."
        raise ParameterError(asked, "its units are pooled and there is no radius", remedy)
    clock = private.schema.number(time)
    cut = _periods(asked, clock, periods)

    def asks(k: int) -> tuple[BoundedSum, ...]:
        norms = NORMS if radius is None else NORMS[1:]
        return tuple(fourier_of_events(private.schema, time, value, cut.count, k, norm, radius) for norm in norms)

    found = _released(private, cut.count, coefficients, asks, budget, confidence, asked, key)
    return FourierSeries(
        name=f"{asked}, {found.basis.coefficients} frequencies",
        receipt=found.receipt,
        confidence=confidence,
        time=time,
        start=cut.start,
        end=cut.end,
        kind=clock if isinstance(clock, Temporal) else None,
        basis=found.basis,
        numbers=found.numbers,
        stddev=found.stddev,
        half_width=found.half_width,
    )


@dataclass(frozen=True)
class _Periods:
    """How many periods there are, and where the first begins and the last ends."""

    count: int
    start: float
    end: float


def _periods(asked: str, clock: Number, periods: int | None) -> _Periods:
    """Equal parts of the bounds of time; of one value each, they reach half a step to both sides of it."""
    values = None if clock.step is None else round((clock.upper - clock.lower) / clock.step) + 1
    count = values if periods is None else periods
    if count is None:
        obstacle = "the number of periods is not given, and time has no step"
        raise ParameterError(asked, obstacle, "Give periods, or a step in the schema.")
    check_whole(asked, "periods", count, 2, MOST_PERIODS)
    margin = 0.5 * clock.step if clock.step is not None and count == values else 0.0
    return _Periods(int(count), float(clock.lower) - margin, float(clock.upper) + margin)


def _released(
    data: PrivateData,
    periods: int,
    coefficients: int | None,
    asks: Asks,
    budget: Budget,
    confidence: float,
    asked: str,
    key: str | None,
) -> NoisyCoefficients:
    """So many frequencies, or as many as are worth it."""
    check_confidence(asked, confidence)
    fourier_basis(periods, 1 if coefficients is None else coefficients)
    frequencies = LowFrequencies(data, periods, asks, budget, confidence, asked, key)
    return frequencies.chosen() if coefficients is None else frequencies.fixed(int(coefficients))


def _origin(data: PrivateData, names: Sequence[str]) -> float:
    """What is taken off all values: the middle of the bounds where the number of people is public and it can be added
    again, since then a person's series is only half as long.
    """
    if data.public_size is None:
        return 0.0
    numbers = [data.schema.number(name) for name in names]
    return 0.5 * min(float(one.lower) for one in numbers) + 0.5 * max(float(one.upper) for one in numbers)
