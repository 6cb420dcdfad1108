"""The values of text columns, bought once: what encoders need to know before any records are encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Repeated
from discreet.core.knob import check_whole
from discreet.core.schema import Category, Schema, Text
from discreet.core.value import form_of
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.questions.key_counts import KeyCounts
from discreet.trust.private_data import PrivateData

ASKED = "categories"
UNNAMED = "(no value was named)"


def buy_categories(
    data: PrivateData,
    columns: Sequence[str] | None = None,
    *,
    max_categories: int = 64,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    key: str | None = None,
) -> Schema:
    """Release the frequent values of text columns, as a schema that lists them.

    With it the same records can be put behind the same ledger again, and `OneHotEncoder`, `OrdinalEncoder` and all
    learners that take categories know the values; any that is not listed counts as missing. A column of which no value
    is named has one value that no record holds.

    Parameters
    ----------
    data : PrivateData
        The records. A curator alone can name values.
    columns : sequence of str, optional
        Public. Text columns of the schema; all of them where not given.
    max_categories : int
        Public. How many values of a column are listed at most: those with the greatest noisy counts.
    epsilon, delta : float
        Public. What this may cost, all columns together. Delta must be positive: it is the chance that a value of one
        unit alone is named.
    key : str, optional
        Public. Makes a retry safe: a committed key gives its stored releases again and charges nothing.

    Returns
    -------
    Schema
        Released. That of the data, with a `Category` in place of each `Text`; values are in alphabetical order.

    Guarantee
    ---------
    One `KeySelection` for each column, composed: Korolova, Kenthapadi, Mishra and Ntoulas 2009, Theorem 1. The schema
    is post-processing.

    Examples
    --------
    >>> from discreet.core.schema import Number
    >>> rows = {"age": [40] * 601, "town": ["Rome"] * 400 + ["Oslo"] * 200 + ["Nowhere"]}
    >>> data = PrivateData.of(rows, Schema({"age": Number(0, 120), "town": Text()}), Budget(0.5, 1e-7))
    >>> schema = buy_categories(data, epsilon=0.5, delta=1e-7)
    >>> schema.category("town").values
    ('Oslo', 'Rome')
    """
    check_whole(ASKED, "max_categories", max_categories)
    names = [name for name, column in data.schema.columns.items() if isinstance(column, Text)]
    names = names if columns is None else list(dict.fromkeys(columns))
    for name in names:
        data.schema.text(name)
    if not names or delta == 0:
        reason = "naming values that only the data know needs a positive delta" if names else "there is no text column"
        raise ParameterError(ASKED, reason, "Give delta and text columns, or list the categories in the schema.")
    data.check_curated(ASKED)
    selection = calibrate(KeySelection(delta=delta / (2 * len(names))), Budget(epsilon, delta), len(names))
    with data.permit(Repeated(selection.event, len(names)), ASKED, key=key) as permit:
        bought = {name: permit.ask(KeyCounts(name), selection) for name in names}
    lists = {name: listed(counts, max_categories) for name, counts in bought.items()}
    return Schema({name: lists.get(name, column) for name, column in data.schema.columns.items()})


def listed(counts: Mapping[str, int], most: int) -> Category:
    """The values with the greatest counts, in alphabetical order; of those that mean the same, the most frequent."""
    frequent = sorted(counts, key=lambda value: (-counts[value], value))
    different = list({form_of(value): value for value in reversed(frequent)}.values())[::-1]
    return Category(sorted(different[:most]) or (UNNAMED,))
