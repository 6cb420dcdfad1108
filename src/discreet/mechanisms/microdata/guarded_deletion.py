"""Hides rules by taking out items, some at a time, where the other rules suffer least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.mechanisms.microdata.hiding_task import HidingTask, RuleCounts, having
from discreet.mechanisms.microdata.strong_rules import StrongRules
from discreet.questions.tables.domain import Mask

PARTS = 8  # in which the items of one rule are taken out, the other rules being counted again after each
AT_ONCE = 2**12  # records whose other rules are looked at together


@dataclass(frozen=True)
class GuardedDeletion:
    """Takes items out of baskets until all sensitive rules are hidden, or no more changes are allowed.

    In each step one item of one sensitive rule leaves some of the records that have all of it: those in which the other
    strong rules would suffer least. With a border, a rule weighs the more, the nearer it is to a threshold; without one
    all weigh alike, and the fewest changes come first. What turns out not to have been needed is put back.

    Parameters
    ----------
    task : HidingTask
        Public. What is hidden.
    before : StrongRules
        The rules of the records as they are.
    border : bool
        Whether rules are guarded by their distance from the thresholds.
    """

    task: HidingTask
    before: StrongRules
    border: bool

    @cached_property
    def _sensitive(self) -> RuleCounts:
        return RuleCounts.of(self.task.sensitive, len(self.task.items.cells))

    @cached_property
    def _guarded(self) -> RuleCounts:
        sensitive = set(self.task.sensitive)
        others = tuple(rule for rule in self.before.rules if rule not in sensitive)
        return RuleCounts.of(others, len(self.task.items.cells))

    def hide(self, original: Mask) -> Mask:
        """The baskets without what was taken out."""
        present, taken = original.copy(), _TakenItems([], [])
        allowed = math.inf if self.task.most_changes is None else self.task.most_changes
        while taken.count < allowed:
            wholes, firsts = self._sensitive.counted(present)
            open_rules = np.flatnonzero(~self.task.hidden(wholes, firsts, len(present)))
            if not len(open_rules):
                break
            rows, item = self._next(present, open_rules, wholes, firsts)
            rows = rows[: int(min(len(rows), allowed - taken.count))]
            present[rows, item] = False
            taken.add(rows, item)
        return self._put_back(present, taken)

    def _next(self, present: Mask, open_rules: Steps, wholes: Steps, firsts: Steps) -> tuple[Steps, int]:
        """The records that an item is taken out of next, and the item."""
        counts, best = self._guarded.counted(present), (math.inf, math.inf)
        found: tuple[Steps, int] = (np.empty(0, dtype=np.int64), 0)
        for rule in open_rules.tolist():
            rows = np.flatnonzero(having(present, self._sensitive.wholes[[rule]])[:, 0])
            for item in self.task.victims[rule]:
                need = self._need(rule, item, int(wholes[rule]), int(firsts[rule]), len(present))
                slack = self._slack(item, *counts, len(present))
                costs = self._costs(present[rows], item, self._weights(item, slack), open_rules)
                chosen = np.argsort(costs, kind="stable")[:need]
                losses = self._losses(present[rows[chosen]], item, slack) if self.border else 0
                worth = (losses, float(costs[chosen].sum())) if self.border else (need, float(costs[chosen].sum()))
                if worth < best:
                    best, found = worth, (rows[chosen[: -(-need // PARTS)]], item)
        return found

    def _need(self, rule: int, item: int, whole: int, first: int, n: int) -> int:
        """How many records the item must leave, if nothing else is done for the rule."""
        lowered = self.task.lowered
        ratio, by_support = lowered.ratio, whole - lowered.least(n) + 1
        above = whole - ratio * first
        if not self._sensitive.firsts[rule, item]:
            return min(by_support, math.floor(above) + 1)
        return by_support if ratio == 1 else min(by_support, math.floor(above / (1 - ratio)) + 1)

    def _slack(self, item: int, wholes: Steps, firsts: Steps, n: int) -> Array:
        """How many records with all of it each other rule may lose this item in, and stay strong; -1, if it is not."""
        ratio = float(self.task.thresholds.ratio)
        step = np.where(self._guarded.firsts[:, item], max(1 - ratio, 1e-9), 1.0)
        slack = np.minimum(wholes - self.task.thresholds.least(n), np.floor((wholes - ratio * firsts) / step + 1e-9))
        return np.maximum(slack, -1.0)

    def _weights(self, item: int, slack: Array) -> Array:
        """What it costs each other rule that a record with all of it loses this item."""
        there = self._guarded.wholes[:, item] & (slack >= 0)
        return np.where(there, 1 / (np.maximum(slack, 0) + 1) if self.border else 1.0, 0.0)

    def _losses(self, baskets: Mask, item: int, slack: Array) -> int:
        """How many other rules are lost when these records lose this item."""
        touched = np.flatnonzero(self._guarded.wholes[:, item] & (slack >= 0))
        used = np.zeros(len(touched))
        for start in range(0, len(baskets), AT_ONCE):
            used += having(baskets[start : start + AT_ONCE], self._guarded.wholes[touched]).sum(axis=0)
        return int((used > slack[touched]).sum())

    def _costs(self, baskets: Mask, item: int, weights: Array, open_rules: Steps) -> Array:
        """The weight of all other rules in each record, shared by the sensitive rules that it would help to hide."""
        sets, where = np.unique(self._guarded.wholes[weights > 0], axis=0, return_inverse=True)
        joined = np.bincount(where.ravel(), weights[weights > 0], len(sets))
        others = self._sensitive.wholes[open_rules]
        helped = others[others[:, item]]
        parts = [baskets[start : start + AT_ONCE] for start in range(0, len(baskets), AT_ONCE)]
        costs = [having(part, sets) @ joined / having(part, helped).sum(axis=1) for part in parts]
        return np.concatenate([np.empty(0), *costs])

    def _put_back(self, present: Mask, taken: _TakenItems) -> Mask:
        """The baskets with all that is not needed, the last first; of a rule that is not hidden, nothing comes back."""
        wholes, firsts = self._sensitive.counted(present)
        rules, n = self._sensitive, len(present)
        was = self.task.hidden(wholes, firsts, n)
        for row, item in zip(reversed(taken.rows), reversed(taken.items), strict=True):
            basket = present[row].copy()
            basket[item] = True
            grown = [having(basket[None], sets)[0] & sets[:, item] for sets in (rules.wholes, rules.firsts)]
            still = self.task.hidden(wholes + grown[0], firsts + grown[1], n)
            if np.where(was, still, ~grown[0]).all():
                wholes, firsts = wholes + grown[0], firsts + grown[1]
                present[row, item] = True
        return present


@dataclass
class _TakenItems:
    """What was taken out: records and items."""

    rows: list[int]
    items: list[int]

    @property
    def count(self) -> int:
        return len(self.rows)

    def add(self, rows: Steps, item: int) -> None:
        self.rows += rows.tolist()
        self.items += [item] * len(rows)
