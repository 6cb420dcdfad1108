"""Audits: a mechanism, two answers of neighbors, and what may be lost between these two at most."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.audit.trial import Verdict, judged
from discreet.core.answer import Answer, KeyedAnswer, NeighborPair, Records, whole_numbers
from discreet.core.bound import Bound
from discreet.core.events import Event
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits

RUNS = 60_000
VARIATIONS = [  # relation, rows of a unit, whether the grid was made coarser, and whether the trial is slow
    (Neighbors.REPLACE, 1, 1, False),
    (Neighbors.ADD_REMOVE, 3, 0, False),
    (Neighbors.ADD_REMOVE, 1, 1, True),
    (Neighbors.REPLACE, 3, 1, True),
]


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

    def shorter(self, *parts: int) -> list[Audit]:
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
    return np.asarray(mechanism.release(answer.stacked(runs), bits))


def with_less_noise(mechanism: Any, times: float) -> Any:
    """The same mechanism, calibrated for a loss so many times as large."""
    value = getattr(mechanism, mechanism.calibrated)
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
