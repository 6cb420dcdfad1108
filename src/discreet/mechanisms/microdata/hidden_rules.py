"""Baskets without some of their rules, which are hidden and not protected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.checks import check_one_of
from discreet.core.events import NoPromise
from discreet.core.grid import Array
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.exact_hiding import exact_hiding
from discreet.mechanisms.microdata.guarded_deletion import GuardedDeletion
from discreet.mechanisms.microdata.hiding_task import HidingOutcome, HidingTask
from discreet.mechanisms.microdata.strong_rules import RulePlaces, StrongRules
from discreet.questions.tables.domain import Mask
from discreet.questions.tables.itemsets import Items

METHODS = ("greedy", "border", "exact")


@dataclass(frozen=True)
class HiddenRules:
    """Give records away from which items were taken out, until sensitive rules are no longer strong.

    Parameters
    ----------
    task : HidingTask
        Public. Which rules, and how far.
    method : {"greedy", "border", "exact"}
        Public. The fewest changes one after another; the other rules guarded by their distance from the thresholds; or
        the least loss by integer programming, where a table is small enough, and else the better of the other two.

    Notes
    -----
    It promises nothing about people, and little about rules. A hidden rule ends just below a threshold, where hardly
    any other does: whoever mines with a slightly lower threshold finds it. A margin leaves
    a gap instead. Values that were taken out of a category are missing, and show where the rule held
    (Saygin, Verykios and Clifton 2001).

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.neighbors import Neighbors
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> from discreet.schema.schema import Boolean, Schema
    >>> items = Items.of(Schema({"tea": Boolean(), "milk": Boolean()}), ("tea", "milk"), 1)
    >>> rows = Records(np.array([[1.0, 1.0]] * 6 + [[1.0, 0.0]] * 4), 1, Neighbors.ADD_REMOVE)
    >>> found = HiddenRules(HidingTask(items, (((0,), (1,)),))).release(rows, DeterministicBits(1))
    >>> found.notes["changes"], found.values.sum(axis=0)
    (2, array([10.,  4.]))
    """

    task: HidingTask
    method: str = "border"
    event: ClassVar[NoPromise] = NoPromise(
        "rules are hidden by taking items out of records, which stay as they are else"
    )

    def __post_init__(self) -> None:
        check_one_of("hidden rules", "method", self.method, METHODS)

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records in no order; the notes say which rules failed, were lost and are new, all of them by name."""
        items = self.task.items
        original = items.present(answer.values)
        before = StrongRules.of(items, original, self.task.thresholds)
        found, exact = self._best(before, original)
        return ChangedRows.shuffled(
            _without(items, answer.values, original & ~found.present),
            bits,
            changes=found.changes,
            failures=_named(items, found.failures),
            remaining=found.remaining,
            lost=_named(items, found.lost),
            ghosts=_named(items, found.ghosts),
            strong=len(before.rules),
            exact=exact,
            complete=before.complete,
        )

    def _best(self, before: StrongRules, original: Mask) -> tuple[HidingOutcome, bool]:
        """What a method finds, and whether nothing better exists."""
        wanted = (self.method == "border",) if self.method != "exact" else (False, True)
        tried = [GuardedDeletion(self.task, before, border).hide(original) for border in wanted]
        least = exact_hiding(self.task, before, original) if self.method == "exact" else None
        if least is not None:
            tried.append(least.present)
        outcomes = [HidingOutcome.of(self.task, before, original, one) for one in tried]
        best = min(outcomes, key=lambda one: one.worth)
        return best, least is not None and least.proven and best.worth == outcomes[-1].worth


def _without(items: Items, records: Array, taken: Mask) -> Array:
    """The records without the items that were taken out."""
    changed = records.copy()
    for item, (home, _) in enumerate(items.cells):
        changed[taken[:, item], home] = items.without(home)
    return changed


def _named(items: Items, rules: tuple[RulePlaces, ...]) -> list[str]:
    return [" -> ".join(", ".join(items.names[item] for item in part) for part in rule) for rule in rules]
