"""Itemsets that are frequent, and the rules that hold among them: of records as they are, so as secret as these."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from discreet.core.checks import check_positive, check_whole
from discreet.core.grid import Steps
from discreet.questions.tables.domain import Mask
from discreet.questions.tables.itemsets import MOST_SIZE, NOTHING, Items, Packed, packed, padded, support_counts

MOST_FOUND = 2**17  # itemsets
FINEST = 10**6  # the greatest denominator of a confidence
RulePlaces = tuple[tuple[int, ...], tuple[int, ...]]
"""The items of a rule, by their places: what it starts from, and what follows."""


@dataclass(frozen=True)
class Thresholds:
    """When a rule is strong: all public.

    Parameters
    ----------
    support : float
        The least share of the records that have all its items; of few records at least one.
    confidence : float
        The least share of those records that have its first items which have all.
    size : int
        The most items of a rule.

    Examples
    --------
    >>> Thresholds(0.1, 0.5).least(95), Thresholds(0.1, 0.5).least(0)
    (10, 1)
    """

    support: float = 0.1
    confidence: float = 0.5
    size: int = 3

    def __post_init__(self) -> None:
        check_positive("rules", "support", self.support, 1 / FINEST, 1.0)
        check_positive("rules", "confidence", self.confidence, 1 / FINEST, 1.0)
        check_whole("rules", "size", self.size, 2, MOST_SIZE)

    def least(self, n: int) -> int:
        """The least count of a frequent itemset."""
        return max(math.ceil(Fraction(self.support).limit_denominator(FINEST) * n), 1)

    @property
    def ratio(self) -> Fraction:
        """The confidence, as a fraction of whole numbers."""
        return Fraction(self.confidence).limit_denominator(FINEST)

    def confident(self, wholes: Steps, firsts: Steps) -> Mask:
        """Whether rules with these counts have the confidence: exact, in whole numbers."""
        return np.asarray(wholes * self.ratio.denominator >= self.ratio.numerator * firsts)


@dataclass(frozen=True)
class StrongRules:
    """Frequent itemsets of baskets, and the strong rules among them.

    Parameters
    ----------
    thresholds : Thresholds
        Public. When a rule is strong.
    n : int
        How many records there are.
    sets : array of shape (sets, size)
        The items of each frequent itemset, by their places, ascending; `NOTHING` at the end.
    counts : array of shape (sets,)
        How many records have all of them.
    wholes, firsts : array of shape (rules,)
        The itemset of each rule, and of what it starts from.
    complete : bool
        Whether all frequent itemsets are there, and not only those of fewer items.

    Examples
    --------
    >>> from discreet.schema.schema import Boolean, Schema
    >>> items = Items.of(Schema({"tea": Boolean(), "milk": Boolean()}), ("tea", "milk"), 1)
    >>> found = StrongRules.of(items, np.array([[1, 1], [1, 1], [1, 0], [0, 0]], dtype=bool), Thresholds(0.5, 0.9))
    >>> found.rules
    (((1,), (0,)),)
    """

    thresholds: Thresholds
    n: int
    sets: Steps = field(repr=False)
    counts: Steps = field(repr=False)
    wholes: Steps = field(repr=False)
    firsts: Steps = field(repr=False)
    complete: bool = True

    @classmethod
    def of(cls, items: Items, present: Mask, thresholds: Thresholds) -> StrongRules:
        """Mine baskets: level by level, from sets of one item on (Agrawal and Srikant 1994), over vertical bits."""
        n, bits = len(present), packed(present)
        sets, counts, complete = _frequent(bits, items.homes, thresholds, n)
        wholes, firsts = _splits(sets, len(items.cells))
        strong = thresholds.confident(counts[wholes], counts[firsts])
        return cls(thresholds, n, sets, counts, wholes[strong], firsts[strong], complete)

    @cached_property
    def rules(self) -> tuple[RulePlaces, ...]:
        """All strong rules."""
        pairs = zip(self.sets[self.wholes].tolist(), self.sets[self.firsts].tolist(), strict=True)
        return tuple(
            (
                tuple(item for item in first if item != NOTHING),
                tuple(item for item in whole if item != NOTHING and item not in first),
            )
            for whole, first in pairs
        )


def _frequent(bits: Packed, homes: Steps, thresholds: Thresholds, n: int) -> tuple[Steps, Steps, bool]:
    least, size = thresholds.least(n), thresholds.size
    level = np.arange(len(homes), dtype=np.int64)[:, None]
    found = [np.empty((0, size), dtype=np.int64)]
    counts: list[Steps] = [np.empty(0, dtype=np.int64)]
    total = 0
    while len(level) and level.shape[1] <= size:
        own = support_counts(bits, level)
        level, own = level[own >= least], own[own >= least]
        total += len(level)
        if total > MOST_FOUND:
            return np.concatenate(found), np.concatenate(counts), False
        found.append(padded(level, size))
        counts.append(own)
        level, complete = _joined(level, homes)
        if not complete:
            return np.concatenate(found), np.concatenate(counts), False
    return np.concatenate(found), np.concatenate(counts), True


def _joined(level: Steps, homes: Steps) -> tuple[Steps, bool]:
    """Sets of one item more: two that differ in their last item alone, joined."""
    if not len(level):
        return level, True
    new = np.ones(len(level), dtype=np.bool_)
    new[1:] = (level[1:, :-1] != level[:-1, :-1]).any(axis=1)
    ends = np.append(np.flatnonzero(new)[1:], len(level))[np.cumsum(new) - 1]
    partners = ends - np.arange(len(level)) - 1
    if partners.sum() > 16 * MOST_FOUND:
        return level[:0], False
    one = np.repeat(np.arange(len(level)), partners)
    other = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(partners) - partners, partners)
    joined = np.column_stack([level[one], level[other, -1]])
    return joined[homes[joined[:, -1]] != homes[joined[:, -2]]], True


def _splits(sets: Steps, items: int) -> tuple[Steps, Steps]:
    """Every rule of every set, strong or not: its itemset, and the one that it starts from, by their places."""
    codes = _codes(sets, items)
    order = np.argsort(codes, kind="stable")
    sizes = (sets != NOTHING).sum(axis=1)
    wholes, firsts = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for size in range(2, sets.shape[1] + 1):
        own = np.flatnonzero(sizes == size)
        for taken in range(1, size):
            for places in combinations(range(size), taken):
                first = padded(sets[own][:, list(places)], sets.shape[1])
                wholes.append(own)
                firsts.append(order[np.searchsorted(codes, _codes(first, items), sorter=order)])
    return np.concatenate(wholes), np.concatenate(firsts)


def _codes(sets: Steps, items: int) -> Steps:
    """A number for each set: its items as digits."""
    codes = np.zeros(len(sets), dtype=np.int64)
    for column in sets.T:
        codes = codes * (items + 1) + (column + 1)
    return codes
