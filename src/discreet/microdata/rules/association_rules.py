"""Association rules, mined by whoever holds the records: not private."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.checks import instead_of, quoted
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.parameters import checked
from discreet.display.notebook import carded
from discreet.display.plain import plain
from discreet.mechanisms.microdata.strong_rules import RulePlaces, StrongRules, Thresholds
from discreet.microdata.own_records import OwnRecords
from discreet.questions.tables.domain import BINS, Bins
from discreet.questions.tables.itemsets import NOTHING, Items
from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import drawn_on
from discreet.schema.schema import Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ASKED = "association rules"
TITLE = "association rules (NOT PRIVATE)"


@dataclass(frozen=True)
class AssociationRule:
    """Who has the first items has the others too.

    Parameters
    ----------
    first, then : tuple of str
        Items: the name of a column of truth values, or `column=value`.

    Examples
    --------
    >>> rule = AssociationRule.of("tea, milk -> sugar")
    >>> rule.first, rule.then, str(rule)
    (('milk', 'tea'), ('sugar',), 'milk, tea -> sugar')
    """

    first: tuple[str, ...]
    then: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.first or not self.then or len({*self.first, *self.then}) != len(self.first + self.then):
            raise ParameterError("rule", f"it is {str(self)!r:.80}", "Name items on both sides, each once.")
        object.__setattr__(self, "first", tuple(sorted(self.first)))
        object.__setattr__(self, "then", tuple(sorted(self.then)))

    @classmethod
    def of(cls, given: Any) -> AssociationRule:
        """A rule as it is, or one that is written, or given as a pair of sequences of items."""
        if isinstance(given, AssociationRule):
            return given
        parts = given.split("->") if isinstance(given, str) else given
        if not isinstance(parts, Sequence) or len(parts) != 2:
            raise ParameterError("rule", f"it is {quoted(given)}", "Write it so: 'tea, milk -> sugar'.")
        return cls(*(_items(part) for part in parts))

    def __str__(self) -> str:
        return plain(f"{', '.join(self.first)} -> {', '.join(self.then)}")


def _items(part: Any) -> tuple[str, ...]:
    items = part.split(",") if isinstance(part, str) else part
    if not isinstance(items, Sequence) or not all(isinstance(item, str) for item in items):
        raise ParameterError("rule", f"its items are {quoted(part)}", "Give texts.")
    return tuple(item.strip() for item in items if item.strip())


@dataclass(frozen=True)
class AssociationRules:
    """The strong rules of records, exact: as secret as these. NOT PRIVATE.

    Parameters
    ----------
    schema : Schema
        Of the records.
    items : Items
        Public. What a record can have.
    thresholds : Thresholds
        Public. When a rule is strong.
    rules : tuple of AssociationRule
        The rules, the most confident first.
    counts, supports, confidences, lifts : array of shape (rules,)
        How many records have all items, which share that is; the share of those with the first items that have all; and
        how many times as often the others follow as they occur.
    itemsets : mapping of tuples of str to float
        The frequent itemsets, and their shares.

    Examples
    --------
    >>> baskets = {"tea": [1, 1, 1, 0], "milk": [1, 1, 1, 0]}
    >>> print(mine_rules(baskets, bounds={"tea": bool, "milk": bool}, support=0.5))
    association rules (NOT PRIVATE): 2
    first  then  support  confidence     lift
      tea  milk     0.75           1  1.33333
     milk   tea     0.75           1  1.33333
    """

    schema: Schema = field(repr=False)
    items: Items = field(repr=False)
    thresholds: Thresholds
    rules: tuple[AssociationRule, ...]
    counts: Array = field(repr=False)
    supports: Array = field(repr=False)
    confidences: Array = field(repr=False)
    lifts: Array = field(repr=False)
    itemsets: dict[tuple[str, ...], float] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rules)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.items.names)}

    def places(self, asked: str, given: Any) -> RulePlaces:
        """The items of a rule by their places; one that is not among these rules is refused."""
        rule = AssociationRule.of(given)
        for item in rule.first + rule.then:
            if item not in self._places:
                raise ParameterError(asked, f"there is no item {item!r:.80}", instead_of(item, self._places))
        if rule not in self.rules:
            obstacle = f"nobody mined {str(rule)!r:.200}: it is not strong at these thresholds"
            raise ParameterError(asked, obstacle, "Name rules that `mine_rules` found, or mine with lower thresholds.")
        return tuple(sorted(self._places[item] for item in rule.first)), tuple(
            sorted(self._places[item] for item in rule.then)
        )

    def tabulated(self) -> Columns:
        """A row for each rule."""
        sides = {name: tuple(", ".join(getattr(rule, name)) for rule in self.rules) for name in ("first", "then")}
        numbers = {"support": self.supports, "confidence": self.confidences, "lift": self.lifts}
        return Columns(sides, tuple(Series(name, values) for name, values in numbers.items()))

    def to_dict(self) -> dict[str, Any]:
        """All rules and itemsets as plain texts and numbers."""
        itemsets = [{"items": list(items), "support": share} for items, share in self.itemsets.items()]
        return {"kind": type(self).__name__, "private": False, **self.tabulated().to_dict(), "itemsets": itemsets}

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def to_pandas(self) -> Any:
        """A data frame with a row for each rule."""
        return self.tabulated().to_pandas(TITLE)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw support against confidence, a point for each rule.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        """
        ax = drawn_on(TITLE, ax)
        ax.scatter(self.supports, self.confidences)
        ax.set(xlabel="support", ylabel="confidence", title=TITLE)
        return ax

    def __str__(self) -> str:
        return f"{TITLE}: {len(self.rules)}\n{self.tabulated().text()}"

    def _repr_html_(self) -> str:
        return carded(self.tabulated().html(TITLE))


@checked
def mine_rules(
    records: Any,
    columns: Sequence[str] | None = None,
    *,
    bounds: Any = None,
    bins: Bins = BINS,
    support: float = 0.1,
    confidence: float = 0.5,
    size: int = 3,
) -> AssociationRules:
    """Find the rules that hold in records as they are.

    NOT PRIVATE: it is for the owner of the records, or for a table that was released. Ask `private_rules` for rules to
    publish. An item is a column that is true, or a value of a category, or a cell of a number; a missing value is none.

    Parameters
    ----------
    records : data frame, mapping of arrays, path, or PublishedTable
        The records. Private data are refused.
    columns : sequence of str, optional
        The columns whose values are items; by default all but text.
    bounds : Schema, or mapping of str to columns
        What the columns are: `bool` for truth values, a list of values for a category. A published table has its own.
    bins : int, or mapping of str to int
        Into how many equal cells each number is cut.
    support : float
        The least share of records that have all items of a rule.
    confidence : float
        The least share of those with the first items that have the others.
    size : int
        The most items of a rule, from 2 to 5.

    Examples
    --------
    >>> baskets = {"tea": [1, 1, 1, 0], "milk": [1, 1, 0, 0]}
    >>> rules = mine_rules(baskets, bounds={"tea": bool, "milk": bool}, support=0.5, confidence=0.6)
    >>> for rule, confidence in zip(rules.rules, rules.confidences):
    ...     print(rule, round(float(confidence), 2))
    milk -> tea 1.0
    tea -> milk 0.67
    """
    thresholds = Thresholds(support, confidence, int(size))
    own = OwnRecords.of(ASKED, records, bounds, columns)
    items = Items.of(own.schema, own.columns, bins)
    found = StrongRules.of(items, items.present(own.values), thresholds)
    if not found.complete:
        obstacle = f"there are more than {len(found.sets)} itemsets with a support of {support:g}"
        raise ParameterError(ASKED, obstacle, "Give a higher support, a lower size, or fewer columns.")
    return _ordered(own.schema, items, found)


def _ordered(schema: Schema, items: Items, found: StrongRules) -> AssociationRules:
    wholes, firsts, n = found.counts[found.wholes], found.counts[found.firsts], max(found.n, 1)
    known = {tuple(item for item in one if item != NOTHING): place for place, one in enumerate(found.sets.tolist())}
    thens = found.counts[[known[then] for _, then in found.rules]] if found.rules else wholes
    sure = wholes / np.maximum(firsts, 1)
    order = np.lexsort((-wholes, -sure))
    named = [AssociationRule(*(tuple(items.names[item] for item in part) for part in rule)) for rule in found.rules]
    return AssociationRules(
        schema,
        items,
        found.thresholds,
        tuple(named[place] for place in order),
        wholes[order].astype(np.float64),
        wholes[order] / n,
        sure[order],
        (sure * n / np.maximum(thens, 1))[order],
        {tuple(items.names[item] for item in one): int(found.counts[place]) / n for one, place in known.items()},
    )
