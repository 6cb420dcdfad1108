"""Quantiles by a tree of noisy counts: bounded sums, which can be asked under every trust model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from discreet.core.bound import Norm
from discreet.core.grid import Array
from discreet.questions.question import BoundedSum
from discreet.questions.tables.tree import Tree
from discreet.releases.ask import ColumnOf, OneSum, Released, Result
from discreet.releases.joint_plan import priced
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread, spread
from discreet.statistics.ranks.cumulative_counts import CumulativeCounts
from discreet.statistics.ranks.rank_width import Found, RankWidth
from discreet.trust.permit import Permit

FANOUT = 16
MANY = 100.0  # reports from which on a coarse tree is as good as a fine one


@dataclass(frozen=True)
class ByTree:
    """By one release of noisy counts, from which all quantiles and their intervals are read off.

    Inside a cell, a quantile is put where it would be if values lay evenly there; an interval ends where a cell ends.

    Parameters
    ----------
    of, levels, confidence, population, cells
        As for `quantile_request.QuantileRequest`; `cells` as for `ByRecords`.
    """

    of: ColumnOf
    levels: tuple[float, ...]
    confidence: float | None
    population: bool
    cells: int

    @property
    def depth(self) -> int:
        """Of the tree: one level fewer, where noise makes fine cells worthless."""
        return 3 if self.of.data.reports < MANY else 2

    @property
    def norm(self) -> Norm:
        """In which one unit's marks are bounded: the one that needs less noise."""
        return "l1" if self._spread("l1").stddev <= self._spread("l2").stddev else "l2"

    @property
    def parts(self) -> tuple[Any, ...]:
        """What is paid for, at a price of 1."""
        return (priced(self._spread(self.norm).noise, 1 / self.of.budget.epsilon),)

    def found(self, permit: Permit, mechanisms: tuple[Any, ...]) -> Found:
        """The quantiles, for a permit that pays for this noise."""
        return self.read(self.tree(permit, mechanisms[0]), self.unit(mechanisms[0]))

    def asked(self, name: str, read: Callable[[Released, CumulativeCounts], Result]) -> OneSum[Result]:
        """The counts, as a sum that something is read off."""
        return OneSum(self.of, name, self.question, lambda released: read(released, self.counts(released.values)))

    def counts(self, released: Array) -> CumulativeCounts:
        """The counts on the tree, of a release."""
        tree = self._tree(self.norm)
        return CumulativeCounts(tree, tree.leaves_of(released), self.of.schema.number(self.of.column))

    def read(self, tree: CumulativeCounts, unit: Spread) -> Found:
        """The quantiles in counts with this noise: post-processing."""
        values = np.array([tree.quantile(q) for q in self.levels])
        if self.confidence is None:
            return Found(self._on_grid(values))
        widths = [self._width(tree, *both, unit) for both in zip(self.levels, values.tolist(), strict=True)]
        ends = [
            (tree.place(q * tree.number - width.ranks).low, tree.place(q * tree.number + width.ranks).high)
            for q, width in zip(self.levels, widths, strict=True)
        ]
        low, high = np.minimum(np.array(ends)[:, 0], values), np.maximum(np.array(ends)[:, 1], values)
        sampling = np.array([width.sampling for width in widths])
        return Found(self._on_grid(values), np.stack([low, high]), sampling)

    def tree(self, permit: Permit, noise: Any) -> CumulativeCounts:
        """The counts on the tree, for a permit that pays for this noise."""
        return self.counts(permit.ask(self._question(self.norm), noise))

    def unit(self, noise: Any) -> Spread:
        """How this noise spreads on each count."""
        return spread(self.of.data, self._question(self.norm), noise)

    @property
    def question(self) -> BoundedSum:
        return self._question(self.norm)

    def _question(self, norm: Norm) -> BoundedSum:
        tree = self._tree(norm)
        return tree.question(self.of.data.schema, self.of.column, tree.leaves)

    def _tree(self, norm: Norm) -> Tree:
        return Tree.even(FANOUT, self.depth, norm)

    def _width(self, tree: CumulativeCounts, q: float, value: float, unit: Spread) -> RankWidth:
        confidence = 0.5 if self.confidence is None else self.confidence
        noise = float(ndtri(0.5 + confidence / 2)) * unit.stddev * tree.deviation(value, q)
        return RankWidth(q, max(tree.number, 1.0), noise, confidence, self.population)

    def _spread(self, norm: Norm) -> Spread:
        return least_noise(self.of.data, self._question(norm), self.of.budget)

    def _on_grid(self, values: Array) -> Array:
        number = self.of.data.schema.number(self.of.column)
        step = (number.upper - number.lower) / self.cells
        return np.clip(number.lower + np.rint((values - number.lower) / step) * step, number.lower, number.upper)
