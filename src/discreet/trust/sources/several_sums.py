"""Several questions at once: sums that they ask are found out first, and share readings of the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol, Self

import numpy as np

from discreet.core.answer import AnyAnswer
from discreet.core.grid import Steps
from discreet.core.held import Secret, unheld
from discreet.core.mechanism import SecretSample
from discreet.questions.question import BoundedSum, Question, View
from discreet.schema.schema import Category


class SharingView(View, Protocol):
    """A view that makes several sums at once."""

    def sums(self, questions: Sequence[BoundedSum]) -> list[Steps]:
        """The exact sums, in grid steps."""

    def listing(self, lists: Mapping[str, Category]) -> SharingView:
        """The same records, with columns of text that are read as categories of these values."""


class ReadsOtherwise(Exception):
    """A question asks for something else than a sum."""


class _StandIn(Secret):
    """A view to which one question is put, in place of another one."""

    def __init__(self, view: SharingView) -> None:
        self._view = view
        self.unit, self.neighbors, self.bits = view.unit, view.neighbors, view.bits

    def listing(self, lists: Mapping[str, Category]) -> Self:
        self._view = self._view.listing(lists)
        return self

    def __getattr__(self, name: str) -> NoReturn:
        raise ReadsOtherwise(name)


@unheld("one call")
class WantedSum(_StandIn):
    """Learns which sums a question asks for; it gives zeros, as no records are read yet.

    Parameters
    ----------
    view : SharingView
        Whose records they are of.
    """

    def __init__(self, view: SharingView) -> None:
        super().__init__(view)
        self.asked: list[tuple[SharingView, BoundedSum]] = []

    def sum(self, question: BoundedSum, sample: SecretSample | None = None) -> Steps:
        if sample is not None:
            raise ReadsOtherwise("sample")
        self.asked.append((self._view, question))
        return np.zeros(question.size, dtype=np.int64)


class FoundSum(_StandIn):
    """Gives the sum that was made for the question.

    Parameters
    ----------
    view : SharingView
        Whose records they are of.
    steps : array
        The sum.
    """

    def __init__(self, view: SharingView, steps: Steps) -> None:
        super().__init__(view)
        self._steps = steps

    def sum(self, question: BoundedSum, sample: SecretSample | None = None) -> Steps:
        return self._steps


def answers(view: SharingView, questions: Sequence[Question]) -> list[AnyAnswer]:
    """The exact answers: those that are made of one sum share readings, and every other question is asked by itself.

    A question that asks for one sum is the same whatever the sum is, so what it asks is found out without records.
    """
    wanted = [_wanted(view, question) for question in questions]
    sums: dict[int, Steps] = {}
    for source in {id(one[0]): one[0] for one in wanted if one is not None}.values():
        own = [place for place, one in enumerate(wanted) if one is not None and one[0] is source]
        sums |= zip(own, source.sums([wanted[place][1] for place in own]), strict=True)  # type: ignore[index]
    every: Sequence[Any] = [FoundSum(view, sums[i]) if i in sums else view for i in range(len(questions))]
    return [question.answer(one) for question, one in zip(questions, every, strict=True)]


def _wanted(view: SharingView, question: Question) -> tuple[SharingView, BoundedSum] | None:
    """The sum that a question asks for, and of what; none, where it asks for more or for something else."""
    trial: Any = WantedSum(view)
    try:
        question.answer(trial)
    except ReadsOtherwise:
        return None
    return trial.asked[0] if len(trial.asked) == 1 else None
