"""Rules: hiding them against two published heuristics, and finding them privately."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from benchmarks.rows import Row, at_most, printed
from discreet.core.grid import Array
from discreet.mechanisms.microdata.exact_hiding import exact_hiding
from discreet.mechanisms.microdata.guarded_deletion import GuardedDeletion
from discreet.mechanisms.microdata.hiding_task import HidingOutcome, HidingTask
from discreet.mechanisms.microdata.strong_rules import RulePlaces, StrongRules, Thresholds
from discreet.questions.tables.domain import Mask
from discreet.questions.tables.itemsets import Items
from discreet.schema.schema import Boolean, Schema


@dataclass(frozen=True)
class Baskets:
    """Made baskets, and when a rule of theirs is strong."""

    name: str
    present: Mask
    thresholds: Thresholds

    @property
    def schema(self) -> Schema:
        return Schema({f"i{place}": Boolean() for place in range(self.present.shape[1])})

    @property
    def items(self) -> Items:
        return Items.of(self.schema, tuple(self.schema.columns), 1)


def of_patterns(n: int, items: int, seed: int) -> Mask:
    """Unions of a few of many patterns, of which items are left out (after Agrawal and Srikant 1994)."""
    rng = np.random.default_rng(seed)
    patterns = [rng.choice(items, rng.integers(2, 5), replace=False) for _ in range(items // 2)]
    weights = rng.exponential(size=len(patterns))
    found = np.zeros((n, items), dtype=np.bool_)
    for row in found:
        for place in rng.choice(len(patterns), rng.integers(1, 5), p=weights / weights.sum()):
            pattern = patterns[place]
            row[pattern[rng.random(len(pattern)) < 0.8]] = True
    return found


def of_classes(n: int, items: int, seed: int) -> Mask:
    """Records of three hidden classes, each with its own chances of items."""
    rng = np.random.default_rng(seed)
    chances = rng.beta(0.6, 0.9, (3, items))
    return rng.random((n, items)) < chances[rng.integers(0, 3, n)]


MADE = (
    Baskets("patterns, 2000 x 40", of_patterns(2000, 40, 1), Thresholds(0.03, 0.5, 3)),
    Baskets("classes, 1000 x 14", of_classes(1000, 14, 2), Thresholds(0.15, 0.6, 3)),
    Baskets("small, 120 x 9", of_classes(120, 9, 3), Thresholds(0.2, 0.6, 3)),
)


def tasks(baskets: Baskets, each: int = 4, rounds: int = 5) -> list[HidingTask]:
    """Some of the strong rules, chosen at random, several times."""
    strong = StrongRules.of(baskets.items, baskets.present, baskets.thresholds).rules
    found = []
    for seed in range(rounds):
        chosen = np.random.default_rng(seed).choice(len(strong), each, replace=False)
        found.append(HidingTask(baskets.items, tuple(strong[one] for one in chosen), baskets.thresholds))
    return found


def by_consequent(task: HidingTask, original: Mask) -> Mask:
    """Algorithm 1.b of Verykios, Elmagarmid, Bertino, Saygin and Dasseni 2004: an item of what follows leaves the
    shortest records with the rule, until its support or its confidence is low enough."""
    present = original.copy()
    for first, then in task.sensitive:
        while True:
            whole = present[:, [*first, *then]].all(axis=1)
            starts = present[:, list(first)].all(axis=1)
            if task.hidden(np.array([whole.sum()]), np.array([starts.sum()]), len(present))[0]:
                break
            rows = np.flatnonzero(whole)
            row = rows[np.argmin(present[rows].sum(axis=1))]
            present[row, min(then, key=lambda item: int(present[:, item].sum()))] = False
    return present


def by_least_frequent(task: HidingTask, original: Mask) -> Mask:
    """MinFIA of Oliveira and Zaiane 2002: the rarest item of each pattern leaves the records with most conflicts."""
    present = original.copy()
    conflicts = sum(original[:, [*first, *then]].all(axis=1).astype(int) for first, then in task.sensitive)
    for first, then in task.sensitive:
        whole = [*first, *then]
        victim = min(whole, key=lambda item: int(original[:, item].sum()))
        rows = np.flatnonzero(present[:, whole].all(axis=1))
        need = max(len(rows) - task.thresholds.least(len(present)) + 1, 0)
        present[rows[np.argsort(-np.asarray(conflicts)[rows], kind="stable")[:need]], victim] = False
    return present


def hiding(baskets: Baskets) -> list[Row]:
    """Failures, and lost rules against the better of both heuristics, of all tasks together."""
    before = StrongRules.of(baskets.items, baskets.present, baskets.thresholds)
    totals: dict[str, Array] = {}
    seconds: dict[str, float] = {}
    for task in tasks(baskets):
        ways = {
            "Verykios 1.b": lambda task=task: by_consequent(task, baskets.present),
            "MinFIA": lambda task=task: by_least_frequent(task, baskets.present),
            "greedy": lambda task=task: GuardedDeletion(task, before, False).hide(baskets.present),
            "border": lambda task=task: GuardedDeletion(task, before, True).hide(baskets.present),
            "exact": lambda task=task: exact_hiding(task, before, baskets.present),
        }
        for name, way in ways.items():
            start = time.process_time()
            found = way()
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
            if found is None:
                continue
            present = found if isinstance(found, np.ndarray) else found.present
            one = HidingOutcome.of(task, before, baskets.present, present)
            totals[name] = totals.get(name, np.zeros(4)) + [*one.worth, len(one.ghosts)]
    for name, one in totals.items():
        print(baskets.name, len(before.rules), name, one, round(seconds[name], 2))
    return []


if __name__ == "__main__":
    for one in MADE:
        hiding(one)
