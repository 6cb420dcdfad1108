"""Two releases of one secret sample, the second of which depends on the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted
from discreet.core.events import Composed, Sampled
from discreet.core.grid import Array
from discreet.core.held import Secret
from discreet.core.mechanism import SecretSample
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust.permit import KEPT


class SampleOfGroups(Protocol):
    """A secret sample of records in groups, which answers twice."""

    @property
    def sample(self) -> SecretSample:
        """How it was drawn."""
        ...

    def histogram(self) -> Answer:
        """The exact sums of scores by group."""

    def gradient(self, weights: Array) -> Answer:
        """The exact sum of clipped gradients, for weights of groups that are public by now."""


@dataclass(frozen=True)
class TwoSums(Secret):
    """A secret sample of which both sums are given, whatever the weights are: what trials are made of."""

    first: Answer
    second: Answer
    sample: SecretSample

    def histogram(self) -> Answer:
        """The first sum."""
        return self.first

    def gradient(self, weights: Array) -> Answer:
        """The second sum."""
        return self.second

    def stacked(self, count: int) -> TwoSums:
        """Copies of both, each to be released independently."""
        return replace(self, first=self.first.stacked(count), second=self.second.stacked(count))


@dataclass(frozen=True)
class HistogramThenGradient:
    """Release the histogram of a secret sample, and then the gradient for the weights that follow from it.

    Parameters
    ----------
    sample : SecretSample
        Public. How the sample is drawn.
    histogram, gradient : Gaussian
        Public. Their noises.
    weights : callable
        Public. From a released histogram to the weights of the gradient.

    Guarantee
    ---------
    `Sampled` of both noises together, as `OnSample` has it of one: the second release is of the same sample and depends
    on the first, as adaptive composition allows (Dwork, Rothblum and Vadhan 2010).

    Examples
    --------
    >>> HistogramThenGradient(SecretSample(0.1), Gaussian(2.0), Gaussian(1.0), lambda noisy: noisy).event.rate
    0.1
    """

    sample: SecretSample
    histogram: Gaussian
    gradient: Gaussian
    weights: Callable[[Array], Array]
    calibrated: ClassVar[str] = "gradient"

    @property
    def event(self) -> Sampled:
        """The price of both."""
        return self.sample.event(Composed((self.histogram.event, self.gradient.event)))

    def release(self, answer: SampleOfGroups, bits: Bits) -> Array:
        """The noisy gradient; the noisy histogram has gone to `weights`."""
        if getattr(answer, "sample", None) != self.sample:
            obstacle = f"it is priced for {self.sample} and was given another answer"
            raise NotPermitted("histogram and gradient", obstacle, "Ask a question about the same sample.", KEPT)
        found = self.weights(self.histogram.release(answer.histogram(), bits))
        return self.gradient.release(answer.gradient(found), bits)

    def worst_neighbors(self) -> NeighborPair:
        """An empty sample, and one with a unit that moves both sums by the whole bound."""
        bound = Bound("l2", 2.0**20)
        sums = [whole_numbers([value], bound) for value in (0, 2**20)]
        pair: list[Any] = [TwoSums(one, one, self.sample) for one in sums]
        return NeighborPair(*pair)
