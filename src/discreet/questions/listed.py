"""Any question, asked about records whose text is read by lists of values."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.answer import AnyAnswer
from discreet.questions.question import Question, View
from discreet.schema.schema import Category


@dataclass(frozen=True)
class OfListed:
    """A question about records with columns of text that are read as categories. A curator alone can ask this.

    What a record's text is read as depends on that record and on public lists, so neighbors stay neighbors.

    Parameters
    ----------
    question : Question
        Public. What is asked.
    lists : tuple of (str, Category)
        Public. The columns, and their values; any other value is missing.
    """

    question: Question
    lists: tuple[tuple[str, Category], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.question.columns

    def answer(self, view: View) -> AnyAnswer:
        """What the question answers from these records."""
        return self.question.answer(view.listing(dict(self.lists)))
