"""Records in which sensitive rules are hidden, given away without a promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from discreet.core.checks import check_positive, check_whole, instead_of, names_of, quoted
from discreet.core.errors import ParameterError, SchemaError
from discreet.mechanisms.microdata.hidden_rules import HiddenRules
from discreet.mechanisms.microdata.hiding_task import HidingTask
from discreet.mechanisms.microdata.strong_rules import RulePlaces
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.rules.association_rules import AssociationRules
from discreet.microdata.waived_table import gives_away, waived_table
from discreet.questions.tables.itemsets import Items
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData

TITLE = "table with hidden rules"
MOST_SENSITIVE = 256
Method = Literal["greedy", "border", "exact"]


@gives_away
def hide_rules(
    data: Any,
    sensitive: Any,
    mined: AssociationRules,
    *,
    method: Method = "border",
    margin: float = 0.0,
    fixed: Sequence[str] = (),
    most_changes: int | None = None,
    waiver: str | None = None,
    key: str | None = None,
) -> PublishedTable:
    """Give records away in which sensitive rules are no longer strong, by taking as few items out of them as possible.

    A truth value becomes false, any other value missing. Without a limit of changes every rule is hidden. The notes of
    the table count changes and name the rules that are not hidden (`failures`, with their `remaining` support and
    confidence), those that were strong and are not (`lost`), and those that are and were not (`ghosts`): they tell of
    the original, so keep them. It keeps no promise about people. Whoever mines with a slightly lower threshold finds
    hidden rules just below it, and values that went missing show where a rule held (Saygin,
    Verykios and Clifton 2001). Ask `private_rules` for rules with a promise.

    Parameters
    ----------
    sensitive : sequence of str or AssociationRule
        Public. The rules to hide, such as "tea, milk -> sugar"; one that nobody mined is refused.
    mined : AssociationRules
        Public. What `mine_rules` found: its columns are given away, and its thresholds decide which rules are strong.
    method : {"border", "greedy", "exact"}
        Public. Guards the other rules by their distance from the thresholds; takes the fewest changes one after
        another; or finds the least loss by integer programming, where a table is small enough (`notes["exact"]`).
    margin : float
        Public. By which share of the thresholds sensitive rules must come below them, from 0 to 0.9.
    fixed : sequence of str
        Public. Columns that are not changed.
    most_changes : int, optional
        Public. How many items may be taken out of all records together.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.microdata.rules.association_rules import mine_rules
    >>> baskets, schema = {"tea": [1] * 10, "milk": [1] * 6 + [0] * 4}, {"tea": bool, "milk": bool}
    >>> mined = mine_rules(baskets, bounds=schema, support=0.3, confidence=0.5)
    >>> data = PrivateData.of(baskets, schema, Budget(1.0))
    >>> table = hide_rules(data, ["tea -> milk"], mined, waiver="an example")
    >>> table.notes["failures"], table.notes["changes"]
    ([], 2)
    >>> [str(rule) for rule in mine_rules(table, support=0.3, confidence=0.5).rules]
    ['milk -> tea']
    """
    if not isinstance(data, PrivateData):
        obstacle = f"the records are in a {type(data).__name__}, which no ledger guards"
        raise ParameterError(TITLE, obstacle, "Put them behind one: PrivateData.of(records, schema, budget).")
    items = _items(data.schema, mined)
    if margin != 0:
        check_positive(TITLE, "margin", margin, 1e-6, 0.9)
    task = HidingTask(
        items,
        _sensitive(sensitive, mined),
        mined.thresholds,
        float(margin),
        _fixed(fixed, mined),
        None if most_changes is None else int(most_changes),
    )
    _check(task, most_changes)
    schema = Schema({name: data.schema.columns[name] for name in mined.items.columns})
    mechanism = HiddenRules(task, method)
    return waived_table(data, TITLE, items.columns, mechanism, lambda _: schema, waiver=waiver, key=key)


def _items(schema: Schema, mined: AssociationRules) -> Items:
    """The items of the data, if they are those that were mined."""
    names = mined.items.columns
    missing = [name for name in names if name not in schema.columns]
    if missing:
        raise SchemaError(TITLE, f"there is no column {missing[0]!r}", f"There are {', '.join(schema.columns)}.")
    items = Items.of(schema, names, mined.items.domain.bins)
    if items.names != mined.items.names:
        raise SchemaError(TITLE, "its items are not those that were mined", "Mine the records by the same schema.")
    return items


def _sensitive(sensitive: Any, mined: AssociationRules) -> tuple[RulePlaces, ...]:
    if isinstance(sensitive, str) or not isinstance(sensitive, Sequence):
        raise ParameterError(TITLE, f"the rules are {quoted(sensitive)}", "Give a list of rules.")
    check_whole(TITLE, "number of sensitive rules", len(sensitive), 1, MOST_SENSITIVE)
    return tuple(dict.fromkeys(mined.places(TITLE, rule) for rule in sensitive))


def _fixed(fixed: Sequence[str], mined: AssociationRules) -> tuple[str, ...]:
    names = names_of(fixed)
    for name in names:
        if name not in mined.items.columns:
            raise SchemaError(TITLE, f"there is no column {name!r:.80} to keep", instead_of(name, mined.items.columns))
    return names


def _check(task: HidingTask, most_changes: int | None) -> None:
    """Refuse what cannot be hidden whatever the records are."""
    check_whole(TITLE, "most_changes", most_changes or 0, 0)
    for (first, then), victims in zip(task.sensitive, task.victims, strict=True):
        if not victims:
            names = ", ".join(task.items.names[item] for item in first + then)
            raise ParameterError(TITLE, f"all items of a rule ({names:.200}) are fixed", "Leave one that may change.")
