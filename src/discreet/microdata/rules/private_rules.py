"""Private rules: the most frequent itemsets, chosen privately, and the rules among them, from noisy counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.grid import Array, Steps
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.exponential import TopK
from discreet.microdata.rules.association_rules import AssociationRule
from discreet.questions.tables.domain import BINS, Bins
from discreet.questions.tables.itemsets import (
    MOST_SETS,
    MOST_SIZE,
    NOTHING,
    Items,
    itemset_counts_of,
    padded,
)
from discreet.releases.ask import Subject
from discreet.releases.columns import Columns, Series
from discreet.releases.declaration import Refusal
from discreet.releases.joint_plan import JointPlan
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE, Spread, spread, whole_half_width
from discreet.releases.statistic import OfTheseData, statistic
from discreet.releases.table import Table, Tabular
from discreet.schema.schema import Schema, Text
from discreet.trust.permit import Permit

TITLE = "private rules"
MOST_CHOSEN = 200
CHOICE = 0.5  # of the information that the budget pays for: the rest is for counts


@dataclass(frozen=True, kw_only=True)
class PrivateRules(Tabular):
    """Rules among the most frequent itemsets, the most confident first, with their noisy figures.

    Parameters
    ----------
    rules : tuple of AssociationRule
        All rules of the itemsets that were chosen.
    series : tuple of Series
        Of each rule: the share of those with the first items that have the others; the share of all records that have
        all items; and how many records that is.
    itemsets : Columns
        The itemsets that were chosen, with their counts and shares.
    candidates : int
        Public. Among how many itemsets was chosen.

    Examples
    --------
    >>> baskets = {"tea": [1] * 700 + [0] * 300, "milk": [1] * 600 + [0] * 400}
    >>> found = private_rules(baskets, bounds={"tea": bool, "milk": bool}, k=1, epsilon=4.0)
    >>> list(found.itemsets.labels["itemset"]), [str(rule) for rule in found.rules]
    (['tea, milk'], ['milk -> tea', 'tea -> milk'])
    """

    rules: tuple[AssociationRule, ...]
    series: tuple[Series, ...] = field(repr=False)
    itemsets: Columns = field(repr=False)
    candidates: int

    def tabulated(self) -> Columns:
        """A row for each rule."""
        sides = {name: tuple(", ".join(getattr(rule, name)) for rule in self.rules) for name in ("first", "then")}
        return Columns(sides, self.series)

    def to_itemsets(self) -> Table:
        """The itemsets that were chosen, as a table of their own; nothing more is paid."""
        return Table(
            name=f"frequent itemsets of {self.candidates:,} candidates",
            receipt=self.receipt,
            confidence=self.confidence,
            labels=self.itemsets.labels,
            series=self.itemsets.series,
        )


@statistic(
    no_by="groups would need choices of their own: name the column that makes groups among the items",
    no_population=Refusal("its itemsets are chosen by these records", "Ask `contingency` for a table of the items."),
    curator="itemsets are chosen by whoever holds the exact counts",
)
def private_rules(
    records: RecordsOf,
    columns: Sequence[str] | None = None,
    *,
    k: int = 10,
    size: int = 2,
    bins: Bins = BINS,
    confidence: float = CONFIDENCE,
    **_: Unpack[OfTheseData],
) -> PrivateRules:
    """Release the k most frequent itemsets, about, and the rules among their items, with supports and confidences.

    Candidates are all sets of 2 to `size` items: an item is a column that is true, a value of a category, or a cell of
    a number; a missing value is none. k of them are chosen by their exact counts with noise; they and all their parts
    are then counted with fresh noise, so that intervals are not those of winners.

    Parameters
    ----------
    columns : sequence of str, optional
        Public. The columns whose values are items; by default all whose values are public.
    k : int
        Public. How many itemsets are chosen.
    size : int
        Public. The most items of an itemset, from 2 to 5.

    Returns
    -------
    PrivateRules
        The rules; `itemsets` and `to_itemsets()` have the itemsets. Nothing else is released.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: `TopK` on counts that a record moves by one each, and
    `Laplace` or `Gaussian` noise on the counts of what was chosen, composed. Dwork and Roth 2014, Theorem 3.16.
    Bhaskar, Laxman, Smith and Thakurta 2010 choose frequent itemsets so.

    Examples
    --------
    >>> baskets = {"tea": [1] * 700 + [0] * 300, "milk": [1] * 600 + [0] * 400, "salt": [0, 1] * 500}
    >>> schema = {"tea": bool, "milk": bool, "salt": bool}
    >>> found = private_rules(baskets, bounds=schema, k=1, epsilon=4.0)
    >>> found.candidates, str(found.rules[0]), bool(found.series[0].values[0] > 0.9)
    (3, 'milk -> tea', True)
    """
    subject = records.opened()
    schema = subject.data.schema
    names = _columns(schema) if columns is None else schema.values(columns)
    check_whole(TITLE, "size", size, 2, MOST_SIZE)
    items = Items.of(schema, names, bins)
    candidates = _candidates(items, int(size), k)
    plan = _plan(int(k), subject.budget.delta == 0)
    joint = calibrate(JointPlan(plan), subject.budget)
    asker = _ItemsetAsker(subject, items, int(size), joint)
    with subject.data.permit(joint.event, TITLE, key=subject.key) as permit:
        made = permit.artefact(lambda: asker.asked(permit), (TITLE, names, items.domain.bins, int(size), int(k)))
    sets, counts = np.asarray(made["sets"]), np.asarray(made["counts"])
    figures = _RuleFigures(items, sets, counts, asker.spread(sets), subject.size, confidence)
    rules, series = figures.rules(np.asarray(made["chosen"]))
    return PrivateRules(
        name=TITLE,
        receipt=permit.receipt,
        confidence=confidence,
        rules=rules,
        series=series,
        itemsets=figures.itemsets(np.asarray(made["chosen"])),
        candidates=candidates,
    )


def _columns(schema: Schema) -> tuple[str, ...]:
    names = tuple(name for name, column in schema.columns.items() if not isinstance(column, Text))
    if not names:
        remedy = "List their values in the schema, or buy them with discreet.learners.buy_categories."
        raise SchemaError(TITLE, "all columns are text", remedy)
    return schema.values(names)


def _candidates(items: Items, size: int, k: int) -> int:
    """How many itemsets there are to choose from; too many, or fewer than are wanted, are refused."""
    found = items.sets(range(2, size + 1))
    if found > MOST_SETS:
        obstacle = f"there are {found:,} itemsets of 2 to {size} of {len(items.names):,} items, more than {MOST_SETS:,}"
        raise ParameterError(TITLE, obstacle, "Name fewer columns, or give fewer bins or a lower size.", size=found)
    if not found:
        raise ParameterError(TITLE, "one column alone makes no itemsets of two items", "Name another column.")
    check_whole(TITLE, "k", k, 1, min(found, MOST_CHOSEN))
    return found


def _plan(k: int, pure: bool) -> tuple[Any, ...]:
    """The mechanisms at a price of 1: of concentrated privacy, where there is a delta."""
    if pure:
        return TopK(CHOICE, count=k), Laplace(1 / (1 - CHOICE))
    return TopK(math.sqrt(8 * CHOICE * k), count=k), Gaussian(1 / math.sqrt(2 * (1 - CHOICE)))


@dataclass(frozen=True)
class _ItemsetAsker:
    """Chooses itemsets, and counts them and their parts."""

    subject: Subject
    items: Items
    size: int
    joint: JointPlan

    def question(self, sets: Steps, norm: Norm) -> Any:
        return itemset_counts_of(
            self.subject.data.schema, self.items.columns, self.items.domain.bins, sets.astype(np.float64), norm
        )

    def counting(self, sets: Steps) -> Any:
        """The counts of what was chosen, bounded as their noise is."""
        return self.question(sets, "l1" if self.subject.budget.delta == 0 else "l2")

    def asked(self, permit: Permit) -> dict[str, Any]:
        """What was chosen, all parts of it, and their noisy counts."""
        chooser, noise = self.joint.mechanisms
        every = self.items.listed(range(2, self.size + 1))
        chosen = every[np.asarray(permit.ask(self.question(every, "linf"), chooser), dtype=np.int64)]
        sets = parts_of(chosen)
        return {"chosen": chosen, "sets": sets, "counts": permit.ask(self.counting(sets), noise)}

    def spread(self, sets: Steps) -> Spread:
        return spread(self.subject.data, self.counting(sets), self.joint.mechanisms[1])


def parts_of(chosen: Steps) -> Steps:
    """All sets that are part of one of these, the empty set and themselves too; each once.

    Examples
    --------
    >>> parts_of(np.array([[0, 2, -1]])).tolist()
    [[-1, -1, -1], [0, -1, -1], [0, 2, -1], [2, -1, -1]]
    """
    found = {
        part
        for one in chosen.tolist()
        for own in [[item for item in one if item != NOTHING]]
        for size in range(len(own) + 1)
        for part in combinations(own, size)
    }
    rows = [padded(np.array([part], dtype=np.int64).reshape(1, -1), chosen.shape[1]) for part in sorted(found)]
    return np.concatenate(rows)


@dataclass(frozen=True)
class _RuleFigures:
    """Reads supports and confidences off noisy counts: post-processing."""

    items: Items
    sets: Steps
    counts: Array
    spread: Spread
    size: int | None
    confidence: float

    def _count(self, items: tuple[int, ...]) -> float:
        place = {tuple(item for item in one if item != NOTHING): at for at, one in enumerate(self.sets.tolist())}
        return float(self.counts[place[items]])

    def rules(self, chosen: Steps) -> tuple[tuple[AssociationRule, ...], tuple[Series, ...]]:
        """All rules of the itemsets, the most confident first, and their figures."""
        pairs = [
            (first, whole)
            for whole in _tuples(chosen)
            for taken in range(1, len(whole))
            for first in combinations(whole, taken)
        ]
        tops, bottoms = (np.array([self._count(pair[side]) for pair in pairs]) for side in (1, 0))
        sure = self._share("confidence", tops, bottoms)
        order = np.lexsort((-tops, -sure.values))
        rules = [self._rule(*pairs[place]) for place in order]
        series = _taken(sure, order), _taken(self._support(tops), order), _taken(self._counts(tops), order)
        return tuple(rules), series

    def itemsets(self, chosen: Steps) -> Columns:
        """The itemsets with their counts, the most frequent first."""
        wholes = _tuples(chosen)
        counts = np.array([self._count(whole) for whole in wholes])
        order = np.argsort(-counts, kind="stable")
        names = tuple(", ".join(self.items.names[item] for item in wholes[place]) for place in order)
        return Columns({"itemset": names}, (self._counts(counts[order]), self._support(counts[order])))

    def _rule(self, first: tuple[int, ...], whole: tuple[int, ...]) -> AssociationRule:
        then = (item for item in whole if item not in first)
        return AssociationRule(*(tuple(self.items.names[item] for item in part) for part in (first, then)))

    def _counts(self, counts: Array) -> Series:
        half = whole_half_width(self.spread, np.ones(1), self.confidence)
        return Series.around("count", counts, half, self.spread.stddev)

    def _support(self, counts: Array) -> Series:
        """Shares of all records: of their public number, or of a noisy one."""
        if self.size is None:
            return self._share("support", counts, np.full(len(counts), self._count(())))
        whole = max(self.size, 1)
        half = self.spread.half_width([1.0], self.confidence) / whole
        return Series.around("support", np.clip(counts / whole, 0.0, 1.0), half, self.spread.stddev / whole)

    def _share(self, name: str, tops: Array, bottoms: Array) -> Series:
        """Quotients of noisy counts, with intervals that hold whatever the noise on both is (Fieller 1954).

        The exact quotient r, from 0 to 1, has a top - r bottom whose noise is that of two counts with weights 1 and r.
        """
        values, low, high = np.zeros(len(tops)), np.zeros(len(tops)), np.ones(len(tops))
        errors = np.full(len(tops), math.inf)
        for place, (top, bottom) in enumerate(zip(tops.tolist(), bottoms.tolist(), strict=True)):
            values[place] = min(max(top / bottom, 0.0), 1.0) if bottom > 0 else 0.0
            if bottom <= 0:
                continue
            errors[place] = self.spread.stddev * math.hypot(1.0, values[place]) / bottom
            for _ in range(3):
                half = self.spread.half_width([1.0, max(high[place], 1e-9)], self.confidence)
                high[place] = min(max((top + half) / bottom, values[place]), high[place])
            low[place] = min(max((top - half) / bottom, 0.0), values[place])
        return Series(name, values, errors, low, high)


def _tuples(sets: Steps) -> list[tuple[int, ...]]:
    return [tuple(item for item in one if item != NOTHING) for one in sets.tolist()]


def _taken(series: Series, order: Steps) -> Series:
    arrays = (None if one is None else one[order] for one in (series.standard_error, series.low, series.high))
    return Series(series.name, series.values[order], *arrays)
