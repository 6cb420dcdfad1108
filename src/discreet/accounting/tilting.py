"""Sums of tabulated losses under an exponential tilt: their moments and their laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.accounting.pairs.pairs import Array
from discreet.accounting.pairs.tabulation import TabulatedLoss


@dataclass(frozen=True, eq=False)
class Summand:
    """A tabulated loss, and how many independent copies of it are added."""

    table: TabulatedLoss
    times: int


@dataclass(frozen=True)
class Tilted:
    """A law tilted by e^(tilt * loss): its masses, and the logarithm of what they added up to before scaling."""

    masses: Array
    log: float


def tilted(table: TabulatedLoss, tilt: float) -> Tilted:
    """The table's masses under a tilt."""
    if tilt * table.top < 600:
        raw = table.masses * np.exp(tilt * table.losses)
        total = float(raw.sum())
        return Tilted(raw / total, math.log(total))
    exponents = table.log_masses + tilt * table.losses
    top = float(exponents.max())
    raw = np.exp(exponents - top)
    total = float(raw.sum())
    return Tilted(raw / total, top + math.log(total))


def log_moment(summands: Sequence[Summand], tilt: float) -> float:
    """The logarithm of the moment generating function of the whole sum."""
    return sum(summand.times * _log_total(summand.table, tilt) for summand in summands)


def _log_total(table: TabulatedLoss, tilt: float) -> float:
    if tilt * table.top < 600:
        return math.log(float((table.masses * np.exp(tilt * table.losses)).sum()))
    return tilted(table, tilt).log


@dataclass(frozen=True, eq=False)
class TiltedSum:
    """Independent losses, added up, under a tilt."""

    summands: Sequence[Summand]
    tilt: float

    @cached_property
    def laws(self) -> list[Tilted]:
        """The law of one copy of each summand."""
        return [tilted(summand.table, self.tilt) for summand in self.summands]

    @cached_property
    def log(self) -> float:
        """The logarithm of the moment generating function at the tilt."""
        return sum(summand.times * law.log for summand, law in zip(self.summands, self.laws, strict=True))

    @cached_property
    def variance(self) -> float:
        total = 0.0
        for summand, law in zip(self.summands, self.laws, strict=True):
            losses = summand.table.losses
            total += summand.times * float(law.masses @ (losses - float(law.masses @ losses)) ** 2)
        return total

    def doubled(self, more: float, count: int) -> Array:
        """The logarithms at tilt + more, tilt + 2 more, tilt + 4 more and so on: squares of one exponential.

        It is scaled to 1 at the greatest loss that has mass, so that nothing overflows and no moment becomes 0.
        """
        found, times = np.zeros(count), 2.0 ** np.arange(count)
        for summand, law in zip(self.summands, self.laws, strict=True):
            last = int(np.flatnonzero(law.masses)[-1])
            masses, losses = law.masses[: last + 1], summand.table.losses[: last + 1]
            powers, sums = np.exp(more * (losses - losses[-1])), np.empty(count)
            for place in range(count):
                sums[place] = masses @ powers
                np.square(powers, out=powers)
            found += summand.times * (law.log + more * times * losses[-1] + np.log(sums))
        return found
