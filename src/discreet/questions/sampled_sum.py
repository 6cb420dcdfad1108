"""A bounded sum over a secret sample of the units: what stochastic gradients are made of."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.answer import SampledAnswer
from discreet.core.bound import Bound
from discreet.core.secret_sample import SecretSample
from discreet.questions.question import BoundedSum, View


@dataclass(frozen=True)
class SampledSum:
    """The sum over a fresh sample, which only `OnSample` releases: it is priced for that very sample.

    Parameters
    ----------
    question : BoundedSum
        Public. What is summed.
    sample : SecretSample
        Public. How the sample is drawn.
    """

    question: BoundedSum
    sample: SecretSample

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.question.columns

    @property
    def size(self) -> int:
        """How many numbers the sum has."""
        return self.question.size

    @property
    def bound(self) -> Bound:
        """Of what one row of the sample adds."""
        return self.question.bound

    def answer(self, view: View) -> SampledAnswer:
        """The exact sum over a fresh sample."""
        return SampledAnswer(self.question.answer(view, self.sample), self.sample)
