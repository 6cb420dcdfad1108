"""A trust model whose records have more columns, which expressions compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from discreet.core.errors import ParameterError
from discreet.questions.question import Question
from discreet.questions.transformation import KeptColumn, Transformation
from discreet.questions.transformed import transformed
from discreet.schema.expressed import Expressed
from discreet.schema.schema import Category
from discreet.trust.trust_model import TrustModel
from discreet.trust.wrapped_trust import WrappedTrust

MOST_STEPS = 8  # a question is written down inside another for each


class DerivedTrust(WrappedTrust):
    """Asks another trust model about its records with columns that are computed from them.

    A new column of a record depends on that record alone, and is missing where it cannot be computed. So neighbors stay
    neighbors, and one unit moves an answer by what its rows may add.

    Parameters
    ----------
    trust : TrustModel
        Who holds the records.
    by : Transformation
        Public. What is computed; see `derivation`.
    """

    def __init__(self, trust: TrustModel, by: Transformation) -> None:
        super().__init__(trust, by.after)
        self.by = by

    @classmethod
    def over(cls, trust: TrustModel, columns: tuple[Expressed, ...]) -> DerivedTrust:
        """More columns: in one step with those that were derived before, where none of them is read."""
        kept = tuple(map(KeptColumn, trust.schema.columns))
        if not isinstance(trust, DerivedTrust):
            return cls(trust, Transformation(trust.schema, (*kept, *columns)))
        if not any(name in trust.derived for one in columns for name in one.reads):
            return cls(trust.trust, replace(trust.by, outputs=(*trust.by.outputs, *columns)))
        if trust.steps >= MOST_STEPS:
            obstacle = f"columns are computed from computed ones in more than {MOST_STEPS} steps"
            raise ParameterError("derive", obstacle, "Write out some of them, so that fewer are read by others.")
        return cls(trust, Transformation(trust.schema, (*kept, *columns)))

    @property
    def steps(self) -> int:
        """How often columns are computed from columns that are computed."""
        return 1 + (self.trust.steps if isinstance(self.trust, DerivedTrust) else 0)

    @property
    def shows_all_rows(self) -> bool:
        """Whether the number of rows of each unit can be asked about."""
        return bool(self._own("shows_all_rows", False))

    @property
    def derived(self) -> dict[str, Expressed]:
        """The columns that are computed, by name."""
        return {one.name: one for one in self.by.outputs if isinstance(one, Expressed)}

    def listing(self, lists: Mapping[str, Category]) -> DerivedTrust:
        """The same records, with columns of text that are read as categories of these values."""
        trust: Any = self.trust
        inner = trust.listing(lists)
        return DerivedTrust(inner, replace(self.by, before=inner.schema))

    def inner(self, question: Question) -> Question:
        return transformed(question, self.by)
