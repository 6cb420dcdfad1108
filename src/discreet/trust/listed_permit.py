"""A permit that is asked about records whose text is read by lists of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from discreet.core.events import Event
from discreet.core.mechanism import Mechanism
from discreet.questions.listed import OfListed
from discreet.questions.question import Question
from discreet.schema.schema import Category
from discreet.trust.permit import Permit

Release = TypeVar("Release")


class ListedPermit(Permit):
    """Another permit, for questions that need the values of columns of text. It pays for nothing by itself.

    Parameters
    ----------
    permit : Permit
        Of the records as they are.
    lists : mapping of str to Category
        Public. The values of each column, released before.
    """

    def __init__(self, permit: Permit, lists: Mapping[str, Category]) -> None:
        self._permit, self._lists = permit, tuple(lists.items())

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """Release the answer to a question about these records, if the plan pays for it."""
        return self._permit.ask(OfListed(question, self._lists), mechanism)

    def check_pays(self, event: Event) -> None:
        """Refuse what the plan does not pay for any more."""
        self._permit.check_pays(event)

    def random_state(self, given: Any) -> Any:
        """A seed for public choices; see `Permit.random_state`."""
        return self._permit.random_state(given)
