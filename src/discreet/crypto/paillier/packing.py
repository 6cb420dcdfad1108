"""Fixed-point numbers side by side in one plaintext: their range, their precision, and room for what is computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.checks import check_whole, is_number, shown
from discreet.core.errors import ParameterError
from discreet.crypto.paillier.big_integers import Big, big, gmp

ASKED = "packing"
WIDEST = 1024  # bits of a slot
FINEST, COARSEST = -500, 500  # exponents of a step
EXACT_FLOATS = 2**62  # steps that a float is rounded to


@dataclass(frozen=True)
class StepInterval:
    """Between which whole numbers the numbers of an array surely are, whatever they are; public."""

    low: int
    high: int

    @property
    def most(self) -> int:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def __add__(self, other: StepInterval) -> StepInterval:
        return StepInterval(self.low + other.low, self.high + other.high)

    def times(self, positive: int, negative: int) -> StepInterval:
        """Of weighted sums, by the sums of positive and of negative weights; the latter without its sign."""
        return StepInterval(positive * self.low - negative * self.high, positive * self.high - negative * self.low)

    def hull(self, other: StepInterval) -> StepInterval:
        """The least interval with both in it."""
        return StepInterval(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True)
class Packing:
    """How numbers lie in a plaintext: several slots of equal width, one signed number in each.

    A slot is wide enough for `headroom` times the largest number. Arrays carry bounds of what is in them; what could
    leave its slot and change the one beside it is refused before anything is computed (`paillier.md`).

    Parameters
    ----------
    low, high : float
        Public. The range of the numbers that are encrypted; others are refused.
    exponent : int
        Public. Numbers are rounded to multiples of 2**exponent. With 0, the default, only integers are taken.
    headroom : int
        Public. By how much sums and products make the largest number larger: the number of terms of a sum; for
        products, the sum of the absolute weights.

    Examples
    --------
    >>> packing = Packing(0, 2**32 - 1, headroom=1000)
    >>> packing.width, packing.slots(2048)
    (43, 47)
    >>> packing.steps([1, -1])
    Traceback (most recent call last):
    discreet.core.errors.ParameterError: packing: a number is outside its range. Nothing was encrypted. \
Give integers from 0 to 4294967295.
    """

    low: float
    high: float
    exponent: int = 0
    headroom: int = 1

    def __post_init__(self) -> None:
        check_whole(ASKED, "exponent", self.exponent, FINEST, COARSEST)
        check_whole(ASKED, "headroom", self.headroom)
        for name in ("low", "high"):
            object.__setattr__(self, name, self._end(name))
        object.__setattr__(self, "exponent", int(self.exponent))
        object.__setattr__(self, "headroom", int(self.headroom))
        if not self.low <= self.high:
            raise ParameterError(ASKED, f"the range is from {self.low} to {self.high}", "Give the lower end first.")
        if self.width > WIDEST:
            raise ParameterError(
                ASKED,
                f"a slot would have {self.width} bits",
                f"Take a smaller range, headroom or precision: at most {WIDEST} bits.",
                width=self.width,
            )

    def _end(self, name: str) -> float:
        """One end of the range: an integer, or a finite float where numbers have a precision."""
        value = getattr(self, name)
        if isinstance(value, int | np.integer) and not isinstance(value, bool) and self.exponent == 0:
            return int(value)
        if not is_number(value) or not math.isfinite(value):
            raise ParameterError(ASKED, f"{name} is {shown(value)}", "Give a finite number.", parameter=name)
        if self.exponent == 0 and value != int(value):
            remedy = "Give integers, or a negative exponent: 2**exponent is the precision."
            raise ParameterError(ASKED, f"{name} is {value}, and only integers are packed", remedy, parameter=name)
        return int(value) if self.exponent == 0 else float(value)

    @cached_property
    def interval(self) -> StepInterval:
        """The range, in steps."""
        step = Fraction(2) ** self.exponent
        return StepInterval(round(Fraction(self.low) / step), round(Fraction(self.high) / step))

    @cached_property
    def width(self) -> int:
        """The bits of a slot; numbers of absolute value below 2**(width - 1) fit."""
        return (self.interval.most * self.headroom).bit_length() + 1

    def slots(self, key_bits: int) -> int:
        """How many numbers there are in one plaintext under a key of this length."""
        slots = (key_bits - 1) // self.width
        if not slots:
            raise ParameterError(ASKED, f"no slot of {self.width} bits fits {key_bits} bits", "Take a longer key.")
        return slots

    @cached_property
    def room(self) -> StepInterval:
        """All that a slot can hold."""
        return StepInterval(1 - 2 ** (self.width - 1), 2 ** (self.width - 1) - 1)

    def check_fits(self, asked: str, interval: StepInterval) -> None:
        """Refuse what could leave its slot."""
        room = self.room.high
        if interval.most > room:
            needed = -(-interval.most // max(1, self.interval.most))
            raise ParameterError(
                asked,
                f"numbers could reach {_brief(interval.most)} steps, and a slot holds {_brief(room)}",
                f"Pack with headroom {_brief(needed)} or more.",
                "Nothing was computed.",
                needed=needed,
            )

    def steps(self, values: ArrayLike) -> NDArray[Any]:
        """The numbers as whole steps; refused where one is outside the range, or is none."""
        given = np.asarray(values)
        if self.exponent == 0 and not isinstance(values, np.ndarray) and given.dtype.kind not in "iu":
            given = np.asarray(values, dtype=object)  # numpy makes floats of a list with integers above 2**63
        if given.dtype.kind == "O":
            whole = all(type(one) is int for one in given.flat)
        else:
            whole = given.dtype.kind in "iu"
        if not whole and (self.exponent == 0 or given.dtype.kind != "f"):
            raise self._refused("not all numbers are integers" if self.exponent == 0 else "not all are numbers")
        if self.exponent:
            given = self._rounded(given)
        if given.size and not (self.interval.low <= given.min() and given.max() <= self.interval.high):
            raise self._refused("a number is outside its range")
        return given

    def _rounded(self, given: NDArray[Any]) -> NDArray[Any]:
        """To the nearest step, ties to even, as the ends of the range are."""
        floats = given.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            inside = (floats >= float(self.low)) & (floats <= float(self.high))
            steps = np.rint(np.ldexp(floats, -self.exponent))
        if not inside.all() or (steps.size and np.abs(steps).max() >= EXACT_FLOATS):
            raise self._refused("a number is outside its range, or none")
        return steps.astype(np.int64)

    def _refused(self, obstacle: str) -> ParameterError:
        kind = "integers" if self.exponent == 0 else f"numbers on steps of 2**{self.exponent},"
        remedy = f"Give {kind} from {_brief(self.low)} to {_brief(self.high)}."
        return ParameterError(ASKED, obstacle, remedy, "Nothing was encrypted.", low=self.low, high=self.high)

    def packed(self, steps: Sequence[int]) -> Big:
        """The plaintext with these numbers, the first in the lowest slot: a signed integer."""
        half = 1 << (self.width - 1)
        return gmp().pack([step + half for step in steps], self.width) - half * self._ones(len(steps))

    def unpacked(self, plain: Big, count: int) -> list[int] | None:
        """The numbers in the lowest slots of a plaintext; none if it has something above them."""
        half = 1 << (self.width - 1)
        raised = plain + half * self._ones(count)
        if raised < 0 or raised.bit_length() > self.width * count:
            return None
        digits = gmp().unpack(raised, self.width)
        return [int(digit) - half for digit in digits] + [-half] * (count - len(digits))

    def _ones(self, count: int) -> Big:
        """One in each slot."""
        return ((big(1) << (self.width * count)) - 1) // ((big(1) << self.width) - 1)


def _brief(number: float) -> str:
    """A number in an error; a long integer by its length."""
    short = not isinstance(number, int) or abs(number) < 10**20
    return f"{number}" if short else f"{'-' if number < 0 else ''}2**{int(number).bit_length()}"
