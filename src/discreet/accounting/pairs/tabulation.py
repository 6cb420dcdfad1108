"""A privacy-loss distribution on a lattice of losses, above or below the true one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.accounting.pairs.pairs import LOSS_ROUNDING, UNIT, Array, AtomsPair, LossMasses, LossPair

SWEPT = 2**14
NEARBY = 256  # steps around loss 0 that hold most losses, where steps are long
HIGHEST = 700.0  # of an exponent that does not overflow
CELLS = 2**13
LOG_TAIL = math.log(1e-45)
ROUNDING = 2.0**-39  # a sum of CELLS products of positive numbers, some sixty times over


@dataclass(frozen=True, eq=False)
class TabulatedLoss:
    """Mass `masses[i]` at loss `origin + (first + i) * step`, and `infinity` at infinite loss.

    Losses are meant up to `slack` each: the true ones are that much higher at most (a table above), or lower (below).
    """

    step: float
    first: int
    masses: Array
    infinity: float
    slack: float
    origin: float = 0.0

    @cached_property
    def losses(self) -> Array:
        return self.origin + self.step * np.arange(self.first, self.first + len(self.masses), dtype=np.float64)

    @cached_property
    def log_masses(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(self.masses)

    @property
    def mean(self) -> float:
        """The mean of the finite losses."""
        return float(self.masses @ self.losses)

    @property
    def top(self) -> float:
        """The greatest finite size of a loss."""
        return max(abs(float(self.losses[0])), abs(float(self.losses[-1])))


@dataclass(frozen=True)
class Window:
    """The losses to tabulate; what lies beyond is summed up at the ends."""

    low: float = -np.inf
    high: float = np.inf


EVERYWHERE = Window()


@dataclass(frozen=True)
class _Lattice:
    first: int
    edges: Array
    cells: LossMasses


def _cells(pair: LossPair, step: float, log_tail: float, origin: float, window: Window) -> _Lattice:
    reach = pair.reach(log_tail)
    first = int(np.floor((max(reach.low, window.low) - origin) / step)) - 1
    last = max(int(np.floor((min(reach.high, window.high) - origin) / step + 1e-6)), first + 1) + 2
    edges = origin + step * np.arange(first, last + 1, dtype=np.float64)
    return _Lattice(first, edges, pair.cells(edges))


def table_above(
    pair: LossPair, step: float, log_tail: float, origin: float = 0.0, window: Window = EVERYWHERE
) -> TabulatedLoss:
    """Tabulate a pair that dominates this one: connect the dots (Doroshenko et al. 2022).

    The mass of each cell goes to its two ends so that both P and Q keep their totals, which is a spread of the
    likelihood ratio and so dominates. Rounding moves mass to the right end, the tail below to the first edge, and the
    tail above to infinity: losses are overstated, never understated.
    """
    lattice = _cells(pair, step, log_tail, origin, window)
    cells = lattice.cells
    masses = connected(cells, lattice.edges, np.full(len(lattice.edges) - 1, step))
    masses[0] += cells.p[0] + cells.p_error[0]
    infinity = float(cells.p[-1] + cells.p_error[-1])
    return TabulatedLoss(step, lattice.first, masses, infinity, _slack(lattice), origin)


def connected(cells: LossMasses, edges: Array, widths: Array) -> Array:
    """The masses that cells between edges leave at the edges, when each is shared so that P and Q keep their totals."""
    p, q = cells.p[1:-1] + cells.p_error[1:-1], cells.q[1:-1] - cells.q_error[1:-1]
    excess = p - np.exp(np.minimum(edges[:-1], 700.0)) * q + 8 * UNIT * p
    right = np.clip(excess / -np.expm1(-widths), 0.0, p)
    masses = np.zeros(len(edges))
    masses[:-1] += p - right
    masses[1:] += right
    return masses


def table_below(
    pair: LossPair, step: float, log_tail: float, origin: float = 0.0, window: Window = EVERYWHERE
) -> TabulatedLoss:
    """Tabulate a pair that this one dominates.

    Each cell is first merged into one outcome and then shared between its ends: the share of one cell that goes
    right is mixed with the share of the next that stays left, as much as is needed for a mixed loss of at least the
    edge between them. Merging and mixing are post-processing; all that is left over is rounded down. Losses are
    infinite only where Q has no mass at all.
    """
    lattice = _cells(pair, step, log_tail, origin, window)
    cells, inner = lattice.cells, slice(1, -1)
    p, q = np.maximum(cells.p[inner] - cells.p_error[inner], 0.0), cells.q[inner] + cells.q_error[inner]
    factors = np.exp(np.minimum(lattice.edges, HIGHEST))
    over = np.maximum(p - factors[:-1] * q, 0.0)
    under = np.maximum(factors[1:] * q - p * (1 + LOSS_ROUNDING), 0.0)
    right = _right_shares(p, over, under)
    right = np.where(p > 0, right * (lattice.edges[1:] < HIGHEST), 0.0)
    masses = np.zeros(len(lattice.edges))
    masses[:-1] += p * (1 - right)
    masses[1:] += p * right
    alone = float(cells.p[-1] - cells.p_error[-1]) if cells.q[-1] == 0 else 0.0
    infinity = alone if alone > 1e-290 else 0.0
    return TabulatedLoss(step, lattice.first, masses * (1 - 4 * UNIT), infinity, _slack(lattice), origin)


def best_origin_below(pair: LossPair, step: float) -> float:
    """Where to put the lattice so that a table below loses least: so that Q gets least above its total.

    The losses of most releases may lie within few steps of one another, and then it matters which of them have a point.
    """
    window = Window(-NEARBY * step, NEARBY * step)

    def surplus(origin: float) -> float:
        table = table_below(pair, step, -40.0, origin, window)
        return float((table.masses * np.expm1(np.minimum(-table.losses, HIGHEST))).sum())

    best, found = 0.0, surplus(0.0)
    for width in (step, step / 16):
        for origin in best + width * np.arange(-8, 8) / 16:
            here = surplus(float(origin))
            best, found = (float(origin), here) if here < found - 1e-12 else (best, found)
    return best


def _right_shares(p: Array, over: Array, under: Array) -> Array:
    """The share of each cell that goes right, so that the left share of the next one carries its shortfall.

    Exact balance is a recurrence, of which the first line is the smooth solution. Around the mode, where cells may be
    few and uneven, it is swept inwards from both sides, so that oscillations die out; the last line keeps to what is
    really carried.
    """
    offered = np.append(over[1:], 0.0)
    right = np.where(under > 0, offered / np.maximum(offered + under, 1e-300), 1.0)
    mode = int(p.argmax())
    low, high = slice(max(0, mode - SWEPT), mode), slice(mode, mode + SWEPT)
    right[low] = 1 - _swept(under[low][::-1], over[low][::-1])[::-1]
    right[high] = _swept(over[high], under[high])
    lent = np.append((1 - right[1:]) * over[1:], 0.0)
    return np.minimum(right, np.where(under > 0, lent / np.maximum(under, 1e-300), 1.0))


def _swept(over: Array, under: Array) -> Array:
    shares, share, offered = [], 1.0, 0.0
    for excess, shortfall in zip(over[::-1].tolist(), under[::-1].tolist(), strict=True):
        share = min(1.0, (1 - share) * offered / shortfall) if shortfall > 0 else 1.0
        shares.append(share)
        offered = excess
    return np.array(shares[::-1])


def _slack(lattice: _Lattice) -> float:
    return LOSS_ROUNDING * (1 + float(np.abs(lattice.edges[[0, -1]]).max()))


def envelope(tables: list[TabulatedLoss]) -> TabulatedLoss:
    """Tabulate one loss that dominates all of these tables above, which share step and origin: the greatest profile.

    Let H_i(k) be the hockey-stick divergence of table i at the k-th edge x_k = exp(k * step). The greatest of them
    is linear between edges, and the mass of Q at an edge is the change of its slope there: that of the table in
    front, plus, next to a change of the table in front, its lead over the table behind divided by x_(k+1) - x_k.
    Nothing is subtracted, so nothing is lost to rounding.
    """
    step = tables[0].step
    first = min(table.first for table in tables)
    last = max(table.first + len(table.masses) for table in tables)
    masses = np.zeros((len(tables), last - first))
    for row, table in zip(masses, tables, strict=True):
        row[table.first - first : table.first - first + len(table.masses)] = table.masses
    profiles = np.array([profile(row, step, table.infinity) for row, table in zip(masses, tables, strict=True)])
    front = profiles.argmax(axis=0)
    columns = np.arange(last - first)
    found = masses[front, columns]
    ratio = np.exp(-step)  # of an edge to the next one, which may be beyond floats
    changes = np.flatnonzero(np.diff(front))
    for here in changes:
        behind, ahead = front[here], front[here + 1]
        found[here] += (profiles[ahead, here + 1] - profiles[behind, here + 1]) * ratio / -np.expm1(-step)
        found[here + 1] += (profiles[behind, here] - profiles[ahead, here]) / -np.expm1(-step)
    infinity = max(table.infinity for table in tables)
    return TabulatedLoss(
        step, first, found * (1 + 64 * UNIT), infinity, max(table.slack for table in tables), tables[0].origin
    )


def profile(masses: Array, step: float, infinity: float) -> Array:
    """The hockey-stick divergence at each lattice point, infinity + sum over greater losses of p (1 - exp(-distance)).

    One pass from the top: with s the mass above, the value v obeys v(k) = e^-step * v(k + 1) + (1 - e^-step) * s(k).
    """
    from scipy.signal import lfilter  # loading it takes a second, and ledgers seldom need it

    above = np.append(np.cumsum(masses[::-1])[::-1][1:], 0.0)
    decay = np.exp(-step)
    return infinity + lfilter([1.0], [1.0, -decay], (-np.expm1(-step) * above)[::-1])[::-1]


@dataclass(frozen=True)
class _Law:
    """Masses from index `first` of a lattice on; what is missing is infinite."""

    first: int
    masses: Array

    def plus(self, other: _Law) -> _Law:
        return _Law(self.first + other.first, np.convolve(self.masses, other.masses))

    def times(self, count: int) -> _Law:
        if count == 1:
            return self
        half = self.times(count // 2)
        return half.plus(half).plus(self) if count % 2 else half.plus(half)


def convolved(parts: list[tuple[LossPair, int]]) -> AtomsPair:
    """A pair that dominates the composition of these pairs, each repeated a given number of times.

    The tables above are convolved term by term, without a transform: all terms are positive, so every mass keeps its
    relative precision, and a bound on it goes into the masses.
    """
    reaches = [(pair.reach(LOG_TAIL), times) for pair, times in parts]
    step = max(math.fsum(times * (reach.high - reach.low) for reach, times in reaches), 1e-9) / CELLS
    tables = [(table_above(pair, step, LOG_TAIL), times) for pair, times in parts]
    law = _Law(0, np.ones(1))
    for table, times in tables:
        law = law.plus(_Law(table.first, table.masses).times(times))
    slack = math.fsum(times * table.slack for table, times in tables)
    losses = step * (law.first + np.arange(len(law.masses), dtype=np.float64)) + slack
    infinity = -math.expm1(math.fsum(times * _log1m(table) for table, times in tables))
    p = law.masses * (1 + ROUNDING)
    kept, q = p > 0, p * np.exp(-losses)
    return AtomsPair(losses[kept], p[kept], q[kept], infinity, max(0.0, 1 - float(q.sum())))


def _log1m(table: TabulatedLoss) -> float:
    return math.log1p(-table.infinity) if table.infinity < 1 else -math.inf
