"""Which rules are to be hidden in baskets, and what is looked at while items are taken out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.mechanisms.microdata.strong_rules import RulePlaces, StrongRules, Thresholds
from discreet.questions.tables.domain import Mask
from discreet.questions.tables.itemsets import Items, packed, padded, support_counts


@dataclass(frozen=True)
class HidingTask:
    """Which rules are to be hidden, and what may be changed: all public.

    Parameters
    ----------
    items : Items
        The items.
    sensitive : tuple of rules
        By the places of their items.
    thresholds : Thresholds
        When a rule is strong.
    margin : float
        How far below the thresholds sensitive rules must come, as a share of them.
    fixed : tuple of str
        Columns that are not changed.
    most_changes : int, optional
        How many items may be taken out of all records together.
    """

    items: Items
    sensitive: tuple[RulePlaces, ...]
    thresholds: Thresholds = field(default_factory=Thresholds)
    margin: float = 0.0
    fixed: tuple[str, ...] = ()
    most_changes: int | None = None

    def __post_init__(self) -> None:
        _ = self.lowered  # refused now, and not once the records are read

    @property
    def lowered(self) -> Thresholds:
        """What sensitive rules must be below, in one respect or the other."""
        own, part = self.thresholds, 1 - self.margin
        return Thresholds(own.support * part, own.confidence * part, own.size)

    def hidden(self, wholes: Steps, firsts: Steps, n: int) -> Mask:
        """Whether rules with these counts are hidden."""
        return (wholes < self.lowered.least(n)) | ~self.lowered.confident(wholes, firsts)

    @cached_property
    def victims(self) -> tuple[tuple[int, ...], ...]:
        """The items of each sensitive rule that may be taken out."""
        homes = [self.items.columns.index(name) for name in self.fixed]
        return tuple(
            tuple(item for item in sorted(first + then) if self.items.homes[item] not in homes)
            for first, then in self.sensitive
        )


@dataclass(frozen=True)
class RuleCounts:
    """Rules, by the itemset of all items and the one that they start from, and how to count both.

    Parameters
    ----------
    wholes, firsts : array of shape (rules, items)
        Which items are in each.
    """

    wholes: Mask = field(repr=False)
    firsts: Mask = field(repr=False)

    @classmethod
    def of(cls, rules: tuple[RulePlaces, ...], items: int) -> RuleCounts:
        """Of rules by the places of their items."""
        wholes, firsts = (np.zeros((len(rules), items), dtype=np.bool_) for _ in range(2))
        for place, (first, then) in enumerate(rules):
            wholes[place, list(first + then)] = True
            firsts[place, list(first)] = True
        return cls(wholes, firsts)

    @cached_property
    def _sets(self) -> Steps:
        both = np.concatenate([self.wholes, self.firsts])
        width = int(both.sum(axis=1).max(initial=1))
        rows = [padded(np.flatnonzero(one)[None, :], width) for one in both]
        return np.concatenate([np.empty((0, width), dtype=np.int64), *rows])

    def counted(self, present: Mask) -> tuple[Steps, Steps]:
        """How many records have all items of each rule, and those that it starts from."""
        counts = support_counts(packed(present), self._sets)
        return counts[: len(self.wholes)], counts[len(self.wholes) :]


def having(present: Mask, sets: Mask) -> Mask:
    """Which records have all items of each set.

    Examples
    --------
    >>> having(np.array([[True, True], [True, False]]), np.array([[True, False], [True, True]])).astype(int)
    array([[1, 1],
           [1, 0]])
    """
    lacking = (~present).astype(np.float32) @ sets.T.astype(np.float32)
    return np.asarray(lacking == 0)


@dataclass(frozen=True)
class HidingOutcome:
    """What became of the rules.

    Parameters
    ----------
    present : array
        The items of each record, as they are given away.
    changes : int
        How many items were taken out.
    failures, lost, ghosts : tuple of rules
        Sensitive rules that are not hidden; others that were strong and are not; and that are strong and were not.
    remaining : array of shape (failures, 2)
        The support and the confidence of each sensitive rule that is not hidden.
    """

    present: Mask = field(repr=False)
    changes: int
    failures: tuple[RulePlaces, ...]
    lost: tuple[RulePlaces, ...]
    ghosts: tuple[RulePlaces, ...]
    remaining: Array

    @classmethod
    def of(cls, task: HidingTask, before: StrongRules, original: Mask, present: Mask) -> HidingOutcome:
        """By mining once more."""
        after = StrongRules.of(task.items, present, task.thresholds)
        was, now, sensitive = set(before.rules), set(after.rules), set(task.sensitive)
        wholes, firsts = RuleCounts.of(task.sensitive, present.shape[1]).counted(present)
        failed = ~task.hidden(wholes, firsts, len(present))
        shares = np.column_stack([wholes / max(len(present), 1), wholes / np.maximum(firsts, 1)])
        return cls(
            present,
            int((original & ~present).sum()),
            tuple(rule for rule, one in zip(task.sensitive, failed, strict=True) if one),
            tuple(rule for rule in before.rules if rule not in now and rule not in sensitive),
            tuple(rule for rule in after.rules if rule not in was and rule not in sensitive),
            shares[failed],
        )

    @property
    def worth(self) -> tuple[int, int, int]:
        """Less is better: failures first, then lost rules, then changes."""
        return len(self.failures), len(self.lost), self.changes
