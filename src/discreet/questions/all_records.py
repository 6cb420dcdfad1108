"""All records at once: for mechanisms that need more than a sum of them."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.answer import Records
from discreet.questions.question import View


@dataclass(frozen=True)
class AllRecords:
    """All records at once, for a mechanism that needs more than a sum of them. A curator alone can ask this.

    Parameters
    ----------
    columns : tuple of str
        Public. The columns that the mechanism sees, in order.
    """

    columns: tuple[str, ...]

    def answer(self, view: View) -> Records:
        """All records, and how many of them one unit has."""
        return Records(view.everything(self.columns), view.unit.rows, view.neighbors)
