"""The values of text columns, bought once: what encoders need to know before any records are encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Event, Repeated
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.questions.tables.key_counts import KeyCounts
from discreet.schema.schema import Category, Schema, Text
from discreet.schema.value import form_of
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData

UNNAMED = "(no value was named)"
ASKED = "categories"


@dataclass(frozen=True)
class CategoryPurchase:
    """One selection of keys for each of several columns of text, within one budget."""

    names: tuple[str, ...]  # public: the columns
    most: int  # public: how many values of a column are listed at most
    selection: KeySelection  # public: of each column

    @classmethod
    def of(cls, asked: str, data: PrivateData, names: Sequence[str], most: int, budget: Budget) -> CategoryPurchase:
        """The purchase that a budget pays for: half of delta is for values of one unit, in all columns together."""
        check_whole(asked, "max_categories", most)
        for name in names:
            data.schema.text(name)
        if not names:
            remedy = "Describe a column as Text, or leave max_categories out."
            raise ParameterError(asked, "there is no text column", remedy)
        if budget.delta == 0:
            reason = "naming values that only the data know needs a positive delta"
            raise ParameterError(asked, reason, "Give delta, or list the categories in the schema.")
        data.check_curated(asked)
        selection = calibrate(KeySelection(delta=budget.delta / (2 * len(names))), budget, len(names))
        return cls(tuple(names), int(most), selection)

    @property
    def event(self) -> Event:
        """What all columns cost."""
        return Repeated(self.selection.event, len(self.names))

    def lists(self, permit: Permit) -> dict[str, Category]:
        """Buy them."""
        return {name: listed(permit.ask(KeyCounts(name), self.selection), self.most) for name in self.names}


def listed(counts: Mapping[str, int], most: int) -> Category:
    """The values with the greatest counts, in alphabetical order; of those that mean the same, the most frequent."""
    frequent = sorted(counts, key=lambda value: (-counts[value], value))
    different = list({form_of(value): value for value in reversed(frequent)}.values())[::-1]
    return Category(sorted(different[:most]) or (UNNAMED,))


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
    is named has one value that no record holds. A pipeline whose first step is an encoder with `max_categories` buys
    them by itself.

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
    >>> from discreet.schema.schema import Number
    >>> rows = {"age": [40] * 601, "town": ["Rome"] * 400 + ["Oslo"] * 200 + ["Nowhere"]}
    >>> data = PrivateData.of(rows, Schema({"age": Number(0, 120), "town": Text()}), Budget(0.5, 1e-7))
    >>> schema = buy_categories(data, epsilon=0.5, delta=1e-7)
    >>> schema.category("town").values
    ('Oslo', 'Rome')
    """
    texts = [name for name, column in data.schema.columns.items() if isinstance(column, Text)]
    names = texts if columns is None else list(dict.fromkeys(columns))
    purchase = CategoryPurchase.of(ASKED, data, names, max_categories, Budget(epsilon, delta))
    with data.permit(purchase.event, ASKED, key=key) as permit:
        return data.schema.listing(purchase.lists(permit))
