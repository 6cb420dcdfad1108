"""A mechanism of somebody else's, run many times on records."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.audit.ratio import Values
from discreet.core.checks import check_positive, check_size, shown
from discreet.core.errors import ParameterError

ASKED = "audit"
SINGLY = 1000  # runs, at most, one at a time where many at once raise
MOST = 2**27  # numbers of all outputs on one data set
RUNS, RNG = "runs", ("rng", "generator", "random_state")


@dataclass(frozen=True)
class Outputs:
    """What a function returned on one data set, run by run; nan where it raised.

    It fell back if many runs at once raised, so that they were made one by one.
    """

    values: Values = field(repr=False)
    raised: Values = field(repr=False)
    fell_back: bool = False

    def __len__(self) -> int:
        return len(self.raised)


@dataclass(frozen=True)
class AuditedFunction:
    """A function of records, whose outputs are numbers or arrays of one shape.

    Parameters
    ----------
    function : callable
        Called as `function(records)`, or `function(records, rng)`; with a parameter `runs` it returns so many
        independent outputs at once, which is far quicker.
    rng : str, optional
        The parameter that takes the generator.
    batched : bool
        Whether there is a parameter `runs`.
    grid : float, optional
        Outputs are rounded to its multiples.
    """

    function: Callable[..., Any]
    rng: str | None
    batched: bool
    grid: float | None = None

    @classmethod
    def of(cls, function: Callable[..., Any], grid: float | None = None) -> AuditedFunction:
        """Read how the function wants to be called."""
        if not callable(function):
            raise ParameterError(
                ASKED, f"{shown(function)} cannot be called", "Give a function of an array of records."
            )
        if grid is not None:
            check_positive(ASKED, "grid", grid, least=2.0**-60)
            grid = float(grid)
        try:
            rest = list(inspect.signature(function).parameters.values())[1:]
        except (TypeError, ValueError):
            rest = []
        fixed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        rest = [each for each in rest if each.kind not in fixed and (each.default is each.empty or _known(each.name))]
        others = [each.name for each in rest if each.name != RUNS]
        if len(others) > 1:
            obstacle = f"the function has the parameters {', '.join(others)} besides the records"
            raise ParameterError(ASKED, obstacle, "Give all but the generator defaults, as with functools.partial.")
        return cls(function, others[0] if others else None, len(rest) > len(others), grid)

    def outputs(self, records: Values, runs: int, rng: np.random.Generator) -> Outputs:
        """Independent outputs: as many as runs, or fewer where many at once raise."""
        if not self.batched:
            return self.one_by_one(records, runs, rng)
        try:
            values = self._call(records, rng, runs)
        except (Exception, SystemExit):
            return replace(self.one_by_one(records, min(runs, SINGLY), rng), fell_back=True)
        values = self._numbers(values)
        if values.ndim == 0 or len(values) != runs:
            obstacle = f"asked for {runs} runs, the function returned outputs of shape {values.shape}"
            raise ParameterError(ASKED, obstacle, "Let the first axis count the runs.", shape=values.shape)
        return Outputs(_flat(values), np.zeros(runs, dtype=bool))

    def _call(self, records: Values, rng: np.random.Generator, runs: int | None) -> Any:
        """The records are copied: a function may change what it gets."""
        given = {} if self.rng is None else {self.rng: rng}
        return self.function(records.copy(), **given, **({} if runs is None else {RUNS: runs}))

    def one_by_one(self, records: Values, runs: int, rng: np.random.Generator) -> Outputs:
        """The same in as many calls, of which some may raise."""
        found, raised, many = [], np.zeros(runs, dtype=bool), 1 if self.batched else None
        for run in range(runs):
            try:
                found.append(self._call(records, rng, many))
            except (Exception, SystemExit):
                raised[run] = True
        if not found:
            return Outputs(np.full(runs, np.nan), raised)
        values = _flat(self._numbers([_plain(each) for each in found]))
        if not raised.any():
            return Outputs(values, raised)
        spread = np.full((runs, *values.shape[1:]), np.nan)
        spread[~raised] = values
        return Outputs(spread, raised)

    def _numbers(self, found: Any) -> Values:
        try:
            values = np.asarray(found)
        except ValueError:
            raise _odd("outputs of different shapes") from None
        if values.dtype.kind not in "biuf":
            raise _odd(f"outputs of type {values.dtype}")
        check_size(ASKED, math.prod(values.shape) or 1, MOST)
        if self.grid is None or values.dtype.kind != "f":
            return values
        return np.asarray(np.rint(values / self.grid) * self.grid)


def _known(name: str) -> bool:
    return name == RUNS or name in RNG


def _plain(output: Any) -> Any:
    """The number of a result; none is not a number."""
    value = getattr(output, "value", output) if not isinstance(output, np.generic | np.ndarray) else output
    return math.nan if value is None else value


def _flat(values: Values) -> Values:
    """Numbers, or rows of them; no output has no numbers."""
    rows = values.reshape(len(values), -1)
    if not rows.shape[1]:
        raise _odd("outputs without numbers")
    return rows[:, 0] if rows.shape[1] == 1 else rows


def _odd(what: str) -> ParameterError:
    remedy = "Return a number, or an array of one shape whatever the records are; pad what is shorter with nan."
    return ParameterError(ASKED, f"the function returned {what}", remedy)


def aligned(first: Outputs, second: Outputs) -> tuple[Values, Values]:
    """The outputs on two data sets as arrays of one shape and one type."""
    here, there = _shaped(first, second), _shaped(second, first)
    if here.shape[1:] != there.shape[1:]:
        raise _odd(f"outputs of shape {here.shape[1:]} on one data set and {there.shape[1:]} on its neighbor")
    kind = np.result_type(here, there)
    return here.astype(kind, copy=False), there.astype(kind, copy=False)


def _shaped(outputs: Outputs, like: Outputs) -> Values:
    if not outputs.raised.all():
        return outputs.values
    return np.full((len(outputs), *like.values.shape[1:]), np.nan)
