"""Noise on a sum over a secret sample of the units, at the lower price of sampling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from discreet.core.answer import Answer, NeighborPair, SampledAnswer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted
from discreet.core.events import Event
from discreet.core.grid import Array, Grid
from discreet.core.mechanism import Noise, SecretSample, Share
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.error_law import ErrorLaw
from discreet.mechanisms.additive.gaussian import Gaussian

NOTHING = "Nothing was released."


@dataclass(frozen=True)
class OnSample:
    """Release a sum over a secret sample, with noise.

    It releases answers about this very sample (`SampledSum`, `SampledGradient`), and no others: a sum over all units
    would be too cheap.
    To find the noise for a budget, use `calibrate(Gaussian(), budget, times, sample)`.

    Parameters
    ----------
    noise : Noise
        Public. The noise on the sum over the sample.
    sample : SecretSample
        Public. How the sample is drawn.

    Guarantee
    ---------
    `Sampled(noise.event, rate, scheme)`, for add/remove neighbors with a Poisson sample, and for replace neighbors with
    one of fixed size. Privacy amplification by subsampling: Zhu, Dong and Wang 2022, Theorem 11, for the dominating
    pair.

    Examples
    --------
    >>> OnSample(Gaussian(1.0), SecretSample(0.01)).event
    Sampled(event=GaussianLoss(multiplier=1.0), rate=0.01, scheme='poisson')
    """

    noise: Noise = field(default_factory=Gaussian)
    sample: SecretSample = field(default_factory=lambda: SecretSample(0.5))
    calibrated: ClassVar[str] = "noise"
    refines: ClassVar[bool] = False

    @property
    def event(self) -> Event:
        """The price of one release."""
        return self.sample.event(self.noise.event)

    @property
    def law(self) -> ErrorLaw:
        """The law of the noise on the sum over the sample."""
        law: ErrorLaw = self.noise.law
        return law

    def release(self, answer: SampledAnswer, bits: Bits) -> Array:
        """The sum over the sample, with noise."""
        self.check_sample(answer)
        return self.noise.release(answer.answer, bits)

    def check_sample(self, answer: Any) -> None:
        """Refuse an answer about all units, or about another sample: it would be too cheap."""
        if not isinstance(answer, SampledAnswer) or answer.sample != self.sample:
            drawn = getattr(answer, "sample", "no sample")
            raise NotPermitted(
                "OnSample",
                f"it is priced for {self.sample} and was given an answer from {drawn}",
                "Ask a question about the same sample.",
                NOTHING,
            )

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors, grid: Grid | None = None) -> float:
        """The standard deviation of the noise on each coordinate of the sum over the sample."""
        return self.noise.stddev(bound, size, neighbors, grid)

    def share(self, honest: int) -> Share:
        """Refused: parties would have to draw one sample together."""
        raise NotPermitted("OnSample", "parties cannot draw one secret sample", "Ask sums over all records.", NOTHING)

    def report(self, answers: Answer, bits: Bits) -> Array:
        """Refused: people would have to be left out in secret."""
        raise NotPermitted("OnSample", "people report by themselves", "Ask sums over all records.", NOTHING)

    def worst_neighbors(self) -> NeighborPair:
        """An empty sample, and one with a unit of the whole bound."""
        bound = Bound("l2", 2.0**20)
        first, second = (SampledAnswer(whole_numbers([value], bound), self.sample) for value in (0, 2**20))
        return NeighborPair(first, second)
