"""The values of text columns, bought: the plan, and the lists that it releases."""

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
from discreet.schema.schema import Category
from discreet.schema.value import form_of
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData

UNNAMED = "(no value was named)"


@dataclass(frozen=True)
class CategoryPurchase:
    """One selection of keys for each of several columns of text, within one budget.

    Parameters
    ----------
    names : tuple of str
        Public. The columns.
    most : int
        Public. How many values of a column are listed at most.
    selection : KeySelection
        Public. Of each column.
    """

    names: tuple[str, ...]
    most: int
    selection: KeySelection

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
