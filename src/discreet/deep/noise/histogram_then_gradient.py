"""Two releases of one secret sample, the second of which depends on the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from discreet.core.answer import Answer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.events import Composed, Sampled
from discreet.core.grid import Array
from discreet.core.mechanism import SecretSample
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust.permit import KEPT


class SampleOfGroups(Protocol):
    """A secret sample of records in groups, which answers twice."""

    sample: SecretSample

    def histogram(self) -> Answer:
        """The exact sums of scores by group."""

    def gradient(self, weights: Array) -> Answer:
        """The exact sum of clipped gradients, for weights of groups that are public by now."""


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
    The composition of both noises, of one sample: the second release is of the same sample and depends on the first,
    as compositions allow. Priced as `OnSample`.

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
        """Those of each noise: see `Gaussian`."""
        neighbors: Any = self.gradient.worst_neighbors()
        return neighbors
