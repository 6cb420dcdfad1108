"""Audits: a mechanism, two answers of neighbors, and what may be lost between these two at most."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from discreet.audit.trial import Verdict, judged
from discreet.core.answer import Answer, KeyedAnswer, NeighborPair, Records, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import Event
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits

RUNS = 60_000
ROUNDING = 1e-4  # what grids, and grids of noise, change in what is computed
VARIATIONS = [  # relation, rows of a unit, whether the grid was made coarser, and whether the trial is slow
    (Neighbors.REPLACE, 1, 1, False),
    (Neighbors.ADD_REMOVE, 3, 0, False),
    (Neighbors.ADD_REMOVE, 1, 1, True),
    (Neighbors.REPLACE, 3, 1, True),
]


class Found(Protocol):
    """What an audit ends with."""

    @property
    def holds(self) -> bool: ...


class Auditing(Protocol):
    """An audit of any kind: statistical, of outputs that are drawn, or exact."""

    @property
    def mechanism(self) -> Any: ...

    @property
    def slow(self) -> bool: ...

    def verdict(self, less: float = 1.0) -> Found:
        """Whether so many times less noise keeps the promise."""

    def shorter(self, *parts: int) -> list[Auditing]:
        """The same trial with these parts of the runs, and with all."""


@dataclass(frozen=True)
class Shown:
    """How much of what was promised at most is shown to be lost: 1 is all of it."""

    most: float
    holds: bool


@dataclass(frozen=True)
class Exact:
    """A trial that computes what is lost, where few draws would not show it.

    Parameters
    ----------
    name : str
        What is tried.
    mechanism : Any
        The accused.
    lost : callable
        What the accused, given so many times less noise, loses between neighbors at most, in units of its claim.
    """

    name: str
    mechanism: Any
    lost: Callable[[Any, float], float]
    slow: bool = False

    def verdict(self, less: float = 1.0) -> Shown:
        """Whether so many times less noise keeps the promise."""
        most = self.lost(self.mechanism, less)
        return Shown(most, most <= 1 + ROUNDING)

    def shorter(self, *parts: int) -> list[Auditing]:
        """The same: there are no runs."""
        return [self]

    def __str__(self) -> str:
        return f"{type(self.mechanism).__name__}: {self.name}"


@dataclass(frozen=True)
class Drawn:
    """A trial of anything that draws: outputs on both of two neighbors.

    Parameters
    ----------
    name : str
        What is tried.
    mechanism : Any
        The accused, with an `event`.
    outputs : callable
        The accused, 0 or 1 for the neighbor, a number of runs and bits in; so many scores out.
    claim : Event, optional
        What the theorem allows between these two, where that is less than the whole event.
    runs : int
        How many outputs of each neighbor.
    weaker : callable, optional
        The accused with so many times less noise, where it does not say which of its fields is calibrated.
    """

    name: str
    mechanism: Any
    outputs: Callable[[Any, int, int, Bits], np.ndarray]
    claim: Event | None = None
    runs: int = 15_000
    slow: bool = False
    weaker: Callable[[Any, float], Any] | None = None

    def verdict(self, less: float = 1.0) -> Verdict:
        """Whether so many times less noise keeps the promise."""
        accused = (self.weaker or with_less_noise)(self.mechanism, less)
        seen = [self.outputs(accused, side, self.runs, DeterministicBits(side)) for side in (0, 1)]
        return judged(self.mechanism.event if self.claim is None else self.claim, *seen)

    def shorter(self, *parts: int) -> list[Auditing]:
        """The same trial with these parts of the runs, and with all."""
        return [dataclasses.replace(self, runs=self.runs // part) for part in (*parts, 1)]

    def __str__(self) -> str:
        return f"{type(self.mechanism).__name__}: {self.name}"


@dataclass(frozen=True)
class Audit:
    """One trial of a mechanism.

    Parameters
    ----------
    name : str
        What is tried.
    mechanism : Mechanism
        The accused; not always with its defaults.
    pair : NeighborPair, or callable
        Answers of neighbors; or what finds, for a mechanism, those that tell most about it.
    claim : Event, optional
        What the theorem allows between these two, where that is less than the whole event: only one part of the
        mechanism can tell them apart.
    view : callable, optional
        The part of the releases that is looked at.
    runs : int
        How many releases of each answer.
    slow : bool
        Whether it tries together what others try apart, and is left to the long trials.
    """

    name: str
    mechanism: Any
    pair: NeighborPair | Callable[[Any], NeighborPair]
    claim: Event | None = None
    view: Callable[[np.ndarray], np.ndarray] = field(default=np.asarray)
    runs: int = RUNS
    slow: bool = False

    def verdict(self, less: float = 1.0) -> Verdict:
        """Whether so many times less noise keeps the promise."""
        accused = with_less_noise(self.mechanism, less)
        pair = self.pair_for(accused)
        answers = (pair.first, pair.second)
        first, second = (self.view(outputs(accused, answer, self.runs, i)) for i, answer in enumerate(answers))
        return judged(self.mechanism.event if self.claim is None else self.claim, first, second)

    def shorter(self, *parts: int) -> list[Auditing]:
        """The same trial with these parts of the runs, and with all."""
        return [dataclasses.replace(self, runs=self.runs // part) for part in (*parts, 1)]

    def pair_for(self, mechanism: Any) -> NeighborPair:
        """The neighbors on which this mechanism is tried."""
        return self.pair if isinstance(self.pair, NeighborPair) else self.pair(mechanism)

    def __str__(self) -> str:
        return f"{type(self.mechanism).__name__}: {self.name}"


def outputs(mechanism: Any, answer: Any, runs: int, seed: int) -> np.ndarray:
    """So many independent releases of one answer."""
    bits = DeterministicBits(seed)
    if isinstance(answer, KeyedAnswer):
        keys = tuple(f"{i:08}" for i in range(runs))  # each is counted by itself
        many = dataclasses.replace(answer, keys=keys, counts=np.repeat(answer.counts, runs))
        named = mechanism.release(many, bits)
        return np.array([named.get(key, -1) for key in keys])
    return np.asarray(releasing(mechanism)(answer.stacked(runs), bits))


def releasing(mechanism: Any) -> Callable[[Any, Bits], Any]:
    """How it releases: where people report in turn, by playing them."""
    return getattr(mechanism, "played", mechanism.release)


def with_less_noise(mechanism: Any, times: float) -> Any:
    """The same mechanism, calibrated for a loss so many times as large; or with such a part, where a part has noise."""
    value = getattr(mechanism, mechanism.calibrated)
    if hasattr(value, "calibrated"):
        return dataclasses.replace(mechanism, **{mechanism.calibrated: with_less_noise(value, times)})
    return dataclasses.replace(
        mechanism, **{mechanism.calibrated: value * times if mechanism.calibrated == "epsilon" else value / times}
    )


def varied(mechanism: Any, pair: NeighborPair | None = None, name: str = "a whole bound", **how: Any) -> list[Audit]:
    """The trial on a pair, and with less noise on those that other relations, units and grids allow in its place."""
    pair = mechanism.worst_neighbors() if pair is None else pair
    found, other = [Audit(name, mechanism, pair, **how)], with_less_noise(mechanism, 1.3)
    for neighbors, rows, floored, slow in VARIATIONS:
        words = f"{name}, {neighbors.value}, {rows} rows{', floored' if floored else ''}"
        found.append(Audit(words, other, stretched(pair, neighbors, rows, floored), slow=slow, **how))
    return found


def counted(counts: list[int], neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Answer:
    """A histogram."""
    return whole_numbers(counts, Bound("l1", 1.0, nonnegative=True), neighbors)


def part(row: int, place: int) -> Callable[[np.ndarray], np.ndarray]:
    """One number of releases that have rows of them."""
    return lambda releases: releases[:, row, place]


def tripled(pair: NeighborPair) -> NeighborPair:
    """Every record three times, and three of them are one unit's."""
    return NeighborPair(*(_tripled(records) for records in (pair.first, pair.second)))


def _tripled(records: Any) -> Records:
    assert isinstance(records, Records)
    return dataclasses.replace(records, values=np.repeat(records.values, 3, axis=0), rows=3 * records.rows)


def stretched(pair: NeighborPair, neighbors: Neighbors, rows: int, floored: int) -> NeighborPair:
    """A pair whose distance is the bound of one row under add/remove, for units that move an answer farther.

    Flooring moves every coordinate by up to as much again as one row does.
    """
    return NeighborPair(*(_stretched(answer, neighbors, rows, floored) for answer in (pair.first, pair.second)))


def _stretched(answer: Any, neighbors: Neighbors, rows: int, floored: int) -> Answer:
    assert isinstance(answer, Answer)
    assert answer.neighbors is Neighbors.ADD_REMOVE
    assert not answer.slack
    reach = 2 if neighbors is Neighbors.REPLACE and not answer.bound.nonnegative else 1
    return dataclasses.replace(
        answer,
        steps=answer.steps * (reach * rows + floored),
        bound=answer.bound.times(rows),
        neighbors=neighbors,
        slack=floored * answer.bound.radius / answer.grid.step,
    )


def check(audit: Auditing) -> None:
    """Of the claim, with as few runs as refute it with two thirds of the noise, but a quarter of all at least."""
    for shorter in audit.shorter(16, 4, 2):
        weaker = shorter.verdict(less=1.5)
        if not weaker.holds:
            break
    assert not weaker.holds, f"{audit}\n{weaker}"
    found = max(shorter, *audit.shorter(4)[:1], key=lambda one: getattr(one, "runs", 0)).verdict()
    assert found.holds, f"{audit}\n{found}"
