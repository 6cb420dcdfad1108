"""The lowest frequencies of a series that many people add to, as one bounded sum.

A series of T periods is written in the orthonormal real Fourier basis: a constant, then a cosine and a sine for each
frequency j = 1, 2, ...; for an even T the last frequency, T / 2, has a cosine alone. The first `coefficients`
frequencies, the constant among them, are 2 `coefficients` - 1 numbers: what are real and imaginary parts of complex
coefficients elsewhere are counted here one by one.

The basis has rows of length one that are perpendicular, so nobody's coefficients are longer in l2 than the series that
they come from. With an FFT that is not normalised they would be sqrt(T) times as long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.answer import Answer
from discreet.core.bound import ULP, Bound, Norm
from discreet.core.checks import check_one_of, check_positive, check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.question import BoundedSum, View
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import place_among
from discreet.schema.schema import Schema

ASKED = "Fourier coefficients"
MOST_PERIODS = 2**13  # products of values and waves of 20 bits each then add up to less than 2**53 steps
MOST_WAVES = 2**24  # numbers in a basis
BITS = 20  # of a value, and of a wave, where they are multiplied and added up
INSIDE = 1 + 2.0**-40  # keeps rounded lengths inside their bound
DIGITS = 2.0**24  # binary digits of a length that depends on sines, so that it is the same on all machines
FARTHEST = 2**60  # steps: the lesser of a length and this moves no farther than the length


@dataclass(frozen=True)
class FourierBasis:
    """The first frequencies of a series of T periods.

    Parameters
    ----------
    periods : int
        Public. T, at least 2.
    coefficients : int
        Public. How many frequencies, the constant among them: at most T // 2 + 1.

    Examples
    --------
    >>> basis = FourierBasis(8, 3)
    >>> basis.size, bool(np.allclose(basis.waves @ basis.waves.T, np.eye(5)))
    (5, True)
    """

    periods: int
    coefficients: int

    def __post_init__(self) -> None:
        check_whole(ASKED, "periods", self.periods, 2, MOST_PERIODS)
        check_whole(ASKED, "coefficients", self.coefficients, 1, self.periods // 2 + 1)
        check_size(ASKED, self.size * self.periods, MOST_WAVES)

    @property
    def size(self) -> int:
        return min(2 * self.coefficients - 1, self.periods)

    @cached_property
    def waves(self) -> Array:
        """The basis, of shape (size, periods)."""
        return self.at(np.arange(self.periods))

    def at(self, places: ArrayLike) -> Array:
        """The rows at any places, where period t is at t."""
        row = np.arange(self.size)
        turns = np.outer((row + 1) // 2, np.asarray(places, dtype=np.float64))
        angles = 2 * math.pi / self.periods * np.remainder(turns, self.periods)
        waves = np.where((row % 2 == 0)[:, None] & (row > 0)[:, None], np.sin(angles), np.cos(angles))
        alone = (row == 0) | ((row == self.periods - 1) & (self.periods % 2 == 0))
        return np.asarray(waves * np.sqrt(np.where(alone, 1.0, 2.0) / self.periods)[:, None])

    @cached_property
    def grid(self) -> Grid:
        return Grid(math.frexp(math.sqrt(2 / self.periods))[1] - BITS)

    @cached_property
    def steps(self) -> Array:
        """The basis on its grid, each number cut towards zero: whole numbers of up to 20 bits."""
        return self.grid.cut(self.waves)

    def longest(self, norm: Norm) -> float:
        """The longest that one column is, rounded up: what a value of one in a single period adds.

        All columns are of length sqrt(size / T) in l2, since the squares of a cosine and a sine add up to one.
        """
        if norm == "l2":
            return math.sqrt(self.size / self.periods) * INSIDE
        digits, exponent = math.frexp(float(np.abs(self.waves).sum(axis=0).max()))
        return math.ldexp(math.ceil(digits * DIGITS) + 1, exponent) / DIGITS


@lru_cache(maxsize=32)
def fourier_basis(periods: int, coefficients: int) -> FourierBasis:
    """The basis, remembered."""
    return FourierBasis(periods, coefficients)


@recipe("fourier_of_people")
def fourier_of_people(
    schema: Schema, columns: tuple[str, ...], coefficients: int, origin: float, radius: float | None
) -> BoundedSum:
    """The coefficients of the sum of everybody's series, where a record is a person and a column is a period.

    Parameters
    ----------
    columns : tuple of str
        Public. Numeric columns, in the order of time.
    coefficients : int
        Public. How many frequencies.
    origin : float
        Public. What is taken off every value; a missing one counts as this.
    radius : float, optional
        Public. The length in l2 that a person's coefficients are shrunk to; by default what the bounds allow.
    """
    basis, numbers = fourier_basis(len(columns), coefficients), [schema.number(name) for name in columns]
    if len(set(columns)) != len(columns):
        raise ParameterError(ASKED, "a column is named twice", "Name each period once.")
    lower, upper = (np.array([float(getattr(one, end)) for one in numbers]) for end in ("lower", "upper"))
    farthest = np.maximum(np.abs(lower - origin), np.abs(upper - origin))
    own = Grid(math.frexp(_checked(float(farthest.max())))[1] - BITS)
    bound = Bound("l2", math.hypot(*farthest.tolist()) * INSIDE if radius is None else _checked(radius))

    def of(records: Array) -> Array:
        """All products are whole numbers, which add up without error in any order."""
        values = own.cut(np.nan_to_num(np.clip(records, lower, upper) - origin, nan=0.0))
        return bound.clip((values @ basis.steps.T) * (own.step * basis.grid.step))

    return BoundedSum(of, bound, columns)


@recipe("fourier_of_events")
def fourier_of_events(
    schema: Schema, time: str, value: str | None, periods: int, coefficients: int, norm: Norm, radius: float | None
) -> BoundedSum:
    """The coefficients of the series of sums of values in periods, where a record is an event of a time and a value.

    Parameters
    ----------
    schema : Schema
        Public. The bounds of time and value.
    time : str
        Public. A numeric column, cut into periods of equal length. An event of an unknown time adds nothing.
    value : str, optional
        Public. A numeric column; a missing value adds nothing. By default events are counted.
    periods : int
        Public. How many.
    coefficients : int
        Public. How many frequencies.
    norm : {"l1", "l2"}
        Public. In which what an event adds is bounded.
    radius : float, optional
        Public. The length that what an event adds is shrunk to or, where the events of a unit are pooled, what all of
        them add; by default the longest of a single event.
    """
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    basis, clock = fourier_basis(periods, coefficients), schema.number(time)
    edges = np.linspace(clock.lower, clock.upper, periods + 1)
    lower, upper = (1.0, 1.0) if value is None else _ends(schema, value)
    longest = basis.longest(norm) * _checked(max(abs(lower), abs(upper))) * INSIDE
    bound = Bound(norm, longest if radius is None else _checked(radius))
    grid, columns = Grid.of_radius(bound.radius), (time,) if value is None else (time, value)

    def of(records: Array) -> Array:
        there = ~np.isnan(records).any(axis=1)
        values = np.ones((len(records), 1)) if value is None else np.clip(records[:, 1:], lower, upper)
        added = np.zeros((len(records), basis.size))
        added[there] = values[there] * basis.waves.T[place_among(edges, records[there, 0])]
        return bound.clip(added)

    each = grid.cut(bound.clip(np.ascontiguousarray(basis.waves.T))).astype(np.int64)

    def counted(records: Array) -> Steps:
        places = place_among(edges, records[~np.isnan(records[:, 0]), 0])
        return np.bincount(places, minlength=periods) @ each

    return BoundedSum(of, bound, columns, grid, counted if value is None else None)


def _ends(schema: Schema, value: str) -> tuple[float, float]:
    number = schema.number(value)
    return float(number.lower), float(number.upper)


def _checked(length: float) -> float:
    """A length that noise can be drawn for."""
    check_positive(ASKED, "radius", length, 1e-100, 1e100)
    return length


@dataclass(frozen=True)
class SpectrumTails:
    """Minus the length of the coefficients that are left out, minus the length of noise on those that are not.

    These are the errors that Rastogi and Nath 2010 weigh against each other. A curator alone can ask this, with a
    mechanism that chooses the index of a high score.

    A choice depends on the differences of scores alone, and these are of sensitivity sqrt(2) bounds. For what a larger
    number of frequencies leaves out is a part b of what a smaller one does, (a, b); the gradient of |(a, b)| - |b| is
    (a, b) / |(a, b)| - (0, b / |b|), the difference of two unit vectors at an acute angle, so no longer than sqrt(2).
    Scores to which a suitable constant is added, the same for all, therefore move by at most 1 / sqrt(2) of the l2
    bound of the whole spectrum. Lengths are the whole parts of exact square roots of sums of squared grid steps, so
    that rounding adds less than one step. This holds for up to 2**33 records, whose sums do not wrap around.

    Parameters
    ----------
    spectrum : BoundedSum
        Public. All coefficients that may be taken, bounded in l2.
    sizes : tuple of int
        Public. How many numbers of the spectrum each candidate takes, from the first on.
    noises : tuple of float
        Public. The expected length of the noise on them.
    """

    spectrum: BoundedSum
    sizes: tuple[int, ...]
    noises: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.spectrum.bound.norm != "l2" or len(self.sizes) != len(self.noises):
            obstacle = "the spectrum is not bounded in l2, or not every candidate has a noise"
            raise ParameterError("choice of frequencies", obstacle, "Give a spectrum in l2, and one noise for each.")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.spectrum.columns

    def answer(self, view: View) -> Answer:
        """The scores, and how far one unit can move them, up to a constant that no choice depends on."""
        question = self.spectrum.for_unit(view.unit)
        steps = [int(step) for step in view.sum(question)]
        squares = [step * step for step in steps]
        left = [sum(squares[size:]) for size in self.sizes]
        noises = [noise / question.grid.step for noise in self.noises]
        lost = [
            min(math.isqrt(rest), FARTHEST) + int(min(own, FARTHEST)) for rest, own in zip(left, noises, strict=True)
        ]
        longest = question.bound.radius * question.bound.rounding(question.size) * (1 + 8 * ULP)
        bound = Bound("linf", longest / math.sqrt(2) * (1 + 8 * ULP)).times(view.unit.rows)
        return Answer(-np.array(lost, dtype=np.int64), question.grid, bound, view.neighbors, slack=1.0)
