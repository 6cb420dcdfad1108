"""Hides rules at the least loss that there is, by integer programming: for small tables.

Records with the same items are alike, so it is enough to say how many of each kind lose which items: all counts are
linear in these numbers. Menon, Sarkar and Mukherjee 2005 choose records; here items are chosen too, and rules counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array, vstack

from discreet.core.grid import Steps
from discreet.mechanisms.microdata.hiding_task import HidingTask, RuleCounts, having
from discreet.mechanisms.microdata.strong_rules import StrongRules
from discreet.questions.tables.domain import Mask

MOST_WAYS, MOST_RULES = 4096, 1024
NODES, SECONDS = 2000, 60.0  # of one program; the seconds are for machines on which a node takes much longer than usual


@dataclass(frozen=True)
class _HidingWays:
    """The kinds of records that have a sensitive rule, and the ways to change each.

    Parameters
    ----------
    kind : array of shape (ways,)
        Whose way it is.
    after : array of shape (ways, items)
        The items that are left.
    taken : array of shape (ways,)
        How many items are not.
    inverse, rows : array
        The kind of each record that is concerned, and its place.
    """

    kind: Steps
    after: Mask = field(repr=False)
    taken: Steps
    inverse: Steps
    rows: Steps

    @classmethod
    def of(cls, task: HidingTask, present: Mask) -> _HidingWays | None:
        """None, where there are too many."""
        sensitive = RuleCounts.of(task.sensitive, present.shape[1]).wholes
        rows = np.flatnonzero(having(present, sensitive).any(axis=1))
        kinds, inverse = np.unique(present[rows], axis=0, return_inverse=True)
        has, after = having(kinds, sensitive), [np.empty((0, present.shape[1]), dtype=np.bool_)]
        kind: list[int] = []
        for place, basket in enumerate(kinds):
            own = sorted({item for rule in np.flatnonzero(has[place]) for item in task.victims[rule]})
            if 2 ** len(own) + len(kind) > MOST_WAYS:
                return None
            every = list(chain(*(combinations(own, size) for size in range(len(own) + 1))))
            left = np.repeat(basket[None], len(every), axis=0)
            for row, items in zip(left, every, strict=True):
                row[list(items)] = False
            after.append(left)
            kind += [place] * len(every)
        ways = np.concatenate(after)
        places = np.array(kind, dtype=np.int64)
        return cls(places, ways, (kinds[places] & ~ways).sum(axis=1), inverse.ravel(), rows)


@dataclass(frozen=True)
class LeastLoss:
    """Baskets with the least loss that was found.

    Parameters
    ----------
    present : array of shape (n, items)
        The items that are left to each record.
    proven : bool
        Whether there is no less.
    """

    present: Mask = field(repr=False)
    proven: bool


def exact_hiding(task: HidingTask, before: StrongRules, present: Mask) -> LeastLoss | None:
    """The baskets with the fewest failures, of these with the fewest lost rules, of these with the fewest changes.

    None, where the table is too large for that.

    Parameters
    ----------
    task : HidingTask
        Public. What is hidden.
    before : StrongRules
        The rules of the records as they are.
    present : array of shape (n, items)
        Which items each record has.
    """
    ways = _HidingWays.of(task, present)
    touched = {item for items in task.victims for item in items}
    known = set(task.sensitive)
    others = tuple(rule for rule in before.rules if rule not in known and touched & {*rule[0], *rule[1]})
    if ways is None or len(others) > MOST_RULES:
        return None
    program = _HidingProgram(task, ways, present, RuleCounts.of(others, present.shape[1]))
    numbers, proven = program.solved()
    return None if numbers is None else LeastLoss(_changed(ways, present, numbers), proven)


@dataclass(frozen=True)
class _HidingProgram:
    """An integer program: how many records go each way, which rules fail, which are hidden by support, which are lost.

    Parameters
    ----------
    task, ways, present
        As they are.
    others : RuleCounts
        The rules that should stay strong.
    """

    task: HidingTask
    ways: _HidingWays
    present: Mask = field(repr=False)
    others: RuleCounts

    def solved(self) -> tuple[Steps | None, bool]:
        """How many records go each way, and whether that is proven to be best."""
        sensitive, rules, ways = len(self.task.sensitive), len(self.others.wholes), len(self.ways.kind)
        variables = ways + 2 * sensitive + rules
        goals = np.zeros((3, variables))
        goals[0, ways : ways + sensitive] = 1.0
        goals[1, ways + 2 * sensitive :] = 1.0
        goals[2, :ways] = self.ways.taken
        upper = np.concatenate([np.full(ways, np.inf), np.ones(variables - ways)])
        if self.task.most_changes is None:
            upper[ways : ways + sensitive] = 0.0
        limits, found, proven = self._limits(), None, True
        for goal in goals:
            result = milp(
                goal,
                constraints=limits,
                bounds=Bounds(0, upper),
                integrality=np.ones(variables),
                options={"mip_rel_gap": 0.0, "node_limit": NODES, "time_limit": SECONDS},
            )
            proven &= result.status == 0
            if result.x is None:
                break
            found = np.rint(result.x)
            limits = [*limits, LinearConstraint(csr_array(goal[None]), -np.inf, round(float(goal @ found)))]
        return None if found is None else found[:ways].astype(np.int64), proven

    def _limits(self) -> list[LinearConstraint]:
        """All that must hold."""
        kinds = int(self.ways.kind.max(initial=-1)) + 1
        sizes = np.bincount(self.ways.inverse, minlength=kinds)
        one = np.ones(len(self.ways.kind))
        whole = coo_array((one, (self.ways.kind, np.arange(len(one)))), shape=(kinds, len(one)))
        found = [self._limit(whole, {}, sizes, sizes), *self._hiding(), *self._keeping()]
        if self.task.most_changes is not None:
            found.append(self._limit(csr_array(self.ways.taken[None]), {}, -np.inf, self.task.most_changes))
        return found

    def _hiding(self) -> list[LinearConstraint]:
        """Each sensitive rule fails, or is below the support, or else below the confidence."""
        rules = RuleCounts.of(self.task.sensitive, self.present.shape[1])
        wholes, firsts, fixed_wholes, fixed_firsts = self._counts(rules)
        lowered, most = self.task.lowered, rules.counted(self.present)[0]
        ratio = float(lowered.ratio)
        below = lowered.least(len(self.present)) - 1 + most - fixed_wholes
        less = -0.5 / lowered.ratio.denominator - fixed_wholes + ratio * fixed_firsts
        return [
            self._limit(wholes, {"fails": -most, "by support": most}, -np.inf, below),
            self._limit(wholes - ratio * firsts, {"fails": -most, "by support": -most}, -np.inf, less),
        ]

    def _keeping(self) -> list[LinearConstraint]:
        """Each other rule is lost, or reaches the support and the confidence."""
        if not len(self.others.wholes):
            return []
        wholes, firsts, fixed_wholes, fixed_firsts = self._counts(self.others)
        own, started = self.task.thresholds, self.others.counted(self.present)[1]
        ratio, least = float(own.ratio), own.least(len(self.present))
        more = -0.5 / own.ratio.denominator - fixed_wholes + ratio * fixed_firsts
        return [
            self._limit(wholes, {"lost": np.full(len(started), least)}, least - fixed_wholes, np.inf),
            self._limit(wholes - ratio * firsts, {"lost": ratio * started}, more, np.inf),
        ]

    def _counts(self, rules: RuleCounts) -> tuple[csr_array, csr_array, Steps, Steps]:
        """What each way adds to the counts of rules, and what the records add that are not changed."""
        others = np.ones(len(self.present), dtype=np.bool_)
        others[self.ways.rows] = False
        fixed = rules.counted(self.present[others])
        wholes, firsts = (having(self.ways.after, sets).T.astype(np.float64) for sets in (rules.wholes, rules.firsts))
        return csr_array(wholes), csr_array(firsts), *fixed

    def _limit(
        self, ways: csr_array, signs: Mapping[str, ArrayLike], low: ArrayLike, high: ArrayLike
    ) -> LinearConstraint:
        """A row for each rule or kind, with a sign of its own where it has one."""
        sensitive, rules, rows = len(self.task.sensitive), len(self.others.wholes), ways.shape[0]
        parts = [csr_array(ways)]
        for name, size in (("fails", sensitive), ("by support", sensitive), ("lost", rules)):
            parts.append(
                csr_array(np.diag(np.asarray(signs[name], dtype=np.float64)))
                if name in signs
                else csr_array((rows, size))
            )
        return LinearConstraint(csr_array(vstack([part.T for part in parts]).T), low, high)


def _changed(ways: _HidingWays, present: Mask, numbers: Steps) -> Mask:
    """The baskets, of each kind as many changed in each way as the numbers say."""
    changed = present.copy()
    order = np.argsort(ways.inverse, kind="stable")
    changed[ways.rows[order]] = np.repeat(ways.after, numbers, axis=0)
    return changed
