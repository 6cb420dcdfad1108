"""The privacy loss of several reports of one value under one permanent response, by enumeration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.events import DiscreteLoss, Event, LossTable, PureLoss, Repeated
from discreet.core.grid import Array, Steps
from discreet.core.loss_cells import LossCells
from discreet.local.rappor.rappor_parameters import ROUNDING, RapporParameters, bit_loss, log_ratio

CLOSE = 1e-12  # losses that differ by less are merged, and count as the greater one
MOST_REPORTS = 2**16
MOST_ATOMS = 2**20
CELLS = 512


@dataclass(frozen=True)
class LossAtoms:
    """A discrete law of a loss: ascending values, and the mass of each."""

    losses: Array
    masses: Array

    @classmethod
    def merged(cls, losses: Array, masses: Array) -> LossAtoms:
        """Close values as one, each rounded up to the greatest of its group."""
        losses, masses = losses[masses > 0], masses[masses > 0]
        order = np.argsort(losses)
        losses, masses = losses[order], masses[order]
        finite = losses[np.isfinite(losses)]
        width = max(CLOSE, (finite[-1] - finite[0]) / MOST_ATOMS if losses.size > MOST_ATOMS and finite.size else 0.0)
        group = np.where(np.isfinite(losses), np.floor(losses / width), np.inf)
        first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        return cls(np.maximum.reduceat(losses, first), np.add.reduceat(masses, first))

    def plus(self, other: LossAtoms) -> LossAtoms:
        """The law of the sum of two independent losses."""
        return LossAtoms.merged(
            np.add.outer(self.losses, other.losses).ravel(), np.multiply.outer(self.masses, other.masses).ravel()
        )


@dataclass(frozen=True)
class ReportsLoss:
    """What a number of reports of one value cost together.

    Of a bit's reports only the number c of ones matters. It has the law

        (1 - f/2) Bin(n, q) + (f/2) Bin(n, p)    where the Bloom filter has a 1,

    and with p and q exchanged where it has a 0. Two values differ in h bits of either kind at most, so that the loss is
    a sum of 2 h independent terms, each with n + 1 values: it is enumerated, and rounded up by less than 1e-12 in each
    term as long as no more than 2**20 values occur.

    Parameters
    ----------
    parameters : RapporParameters
        Public.
    reports : int
        Public. The number n of reports under one permanent response; at most 2**16.

    Examples
    --------
    >>> loss = ReportsLoss(RapporParameters(f=0.5, p=0.5, q=0.75), reports=10)
    >>> round(loss.delta(0.0), 3), round(loss.delta(2.0), 3), loss.delta(5.0)
    (0.515, 0.097, 0.0)
    """

    parameters: RapporParameters
    reports: int = 1

    def __post_init__(self) -> None:
        check_whole("RAPPOR", "reports", self.reports, most=MOST_REPORTS)

    @cached_property
    def rising(self) -> LossAtoms:
        """The loss in a bit that is 1 for the value and 0 for the other."""
        return _bit(self.parameters.f, self.parameters.p, self.parameters.q, self.reports, 1)

    @cached_property
    def falling(self) -> LossAtoms:
        """The loss in a bit that is 0 for the value and 1 for the other."""
        return _bit(self.parameters.f, self.parameters.p, self.parameters.q, self.reports, -1)

    def delta(self, epsilon: float) -> float:
        """The hockey-stick divergence of order e**epsilon between the reports of two values that differ the most.

        The sum over pairs of a rising loss a and a falling loss b of mass * max(0, 1 - e**(epsilon - a - b)); those
        above zero are found by sorting.
        """
        rising, falling = _times(self.rising, self.parameters.hashes), _times(self.falling, self.parameters.hashes)
        start = np.searchsorted(falling.losses, epsilon - rising.losses, side="right")
        above = _suffix_sums(falling.masses)[start]
        with np.errstate(over="ignore"):
            shrunk = _suffix_sums(falling.masses * np.exp(-falling.losses))[start] * np.exp(epsilon - rising.losses)
        return float(min(1.0, np.dot(rising.masses, np.maximum(above - np.where(above > 0, shrunk, 0.0), 0.0))))

    @property
    def event(self) -> Event:
        """The price: h times that of two bits, of which one rises and one falls."""
        both, hashes = self.rising.plus(self.falling), self.parameters.hashes
        top = self.parameters.epsilon_of(self.reports) / hashes
        if not math.isfinite(top):
            table = _infinite(both)
            return _repeated(DiscreteLoss(1.0, table, table), hashes)
        if top == 0:
            return PureLoss(0.0)
        if self.reports == 1:
            return _repeated(_three_points(self.parameters, top), hashes)
        table = _cells(both, top / CELLS).table
        return _repeated(DiscreteLoss(top / CELLS, table, table), hashes)


@lru_cache(maxsize=64)
def _bit(f: float, p: float, q: float, reports: int, sign: int) -> LossAtoms:
    ones = np.arange(reports + 1)
    rise, fall = log_ratio(q, p), log_ratio(1 - q, 1 - p)
    likelihood = [_product(one, rise) + _product(reports - one, fall) for one in ones.tolist()]
    losses = np.array([sign * bit_loss(f, ratio) for ratio in likelihood])
    set_, clear = _binomial(ones, q), _binomial(ones, p)
    kept = 1 - f / 2
    masses = kept * set_ + (1 - kept) * clear if sign > 0 else (1 - kept) * set_ + kept * clear
    return LossAtoms.merged(losses, masses)


def _product(times: int, ratio: float) -> float:
    return times * ratio if times else 0.0


def _binomial(ones: Steps, chance: float) -> Array:
    from scipy.stats import binom  # loading it takes a second

    return np.asarray(binom.pmf(ones, ones[-1], chance))


def _times(atoms: LossAtoms, times: int) -> LossAtoms:
    found = atoms
    for _ in range(times - 1):
        found = found.plus(atoms)
    return found


def _suffix_sums(numbers: Array) -> Array:
    return np.append(np.cumsum(numbers[::-1])[::-1], 0.0)


def _repeated(event: Event, times: int) -> Event:
    return event if times == 1 else Repeated(event, times)


def _three_points(parameters: RapporParameters, top: float) -> DiscreteLoss:
    """The loss of one report: the two bits differ as in the value, or as in the other, or not at all."""
    one, other = parameters.one_if_set, parameters.one_if_clear
    like, unlike = max(one * (1 - other), other * (1 - one)), min(one * (1 - other), other * (1 - one))
    like = min(1.0, like * (1 + ROUNDING))
    table = LossTable(-1, (unlike, max(0.0, 1 - like - unlike), like))
    return DiscreteLoss(top, table, table)


def _cells(atoms: LossAtoms, step: float) -> LossCells:
    cell = np.minimum(np.ceil(atoms.losses / step).astype(np.int64) - 1, CELLS - 1)
    first = int(cell[0])
    p = np.bincount(cell - first, atoms.masses, CELLS - first)
    q = np.bincount(cell - first, atoms.masses * np.exp(-atoms.losses), CELLS - first)
    return LossCells(step, first, np.asarray(p, np.float64), np.asarray(q, np.float64))


def _infinite(atoms: LossAtoms) -> LossTable:
    """Where some reports exclude a value: what is finite is rounded up to whole numbers."""
    finite = np.isfinite(atoms.losses)
    losses, beyond = atoms.losses[finite], float(atoms.masses[~finite].sum())
    if not losses.size:
        return LossTable(0, (0.0,), 1.0)
    rounded = np.ceil(losses).astype(np.int64)
    masses = np.bincount(rounded - rounded[0], atoms.masses[finite])
    return LossTable(int(rounded[0]), tuple((masses * ((1 - beyond) / masses.sum())).tolist()), beyond)
