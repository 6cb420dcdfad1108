"""Sums of tabulated losses under an exponential tilt: their moments and their laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.accounting.pairs import Array
from discreet.accounting.tabulation import TabulatedLoss


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


def tilted_variance(summands: Sequence[Summand], tilt: float) -> float:
    """The variance of the whole sum under a tilt."""
    total = 0.0
    for summand in summands:
        losses, masses = summand.table.losses, tilted(summand.table, tilt).masses
        mean = float(masses @ losses)
        total += summand.times * float(masses @ (losses - mean) ** 2)
    return total
