"""A secret random sample of the units, and the price of a release on it."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.events import Event, PureLoss, Sampled, Scheme


@dataclass(frozen=True)
class SecretSample:
    """A fresh sample of this share of the units, drawn from secret bits for every release.

    What is drawn and what is priced are this one object.

    Parameters
    ----------
    rate : float
        Public. In (0, 1].
    scheme : {"poisson", "fixed_size", "poisson_replace"}
        Public. Every unit is in by itself, with probability `rate`, for add/remove neighbors; or floor(rate n) of n
        units, all subsets being equally likely, for replace neighbors; or by itself for replace neighbors, with
        Gaussian noise alone (see `Sampled`).

    Examples
    --------
    >>> from discreet.core.events import GaussianLoss
    >>> SecretSample(0.01).event(GaussianLoss(1.0))
    Sampled(event=GaussianLoss(multiplier=1.0), rate=0.01, scheme='poisson')
    """

    rate: float
    scheme: Scheme = "poisson"

    def __post_init__(self) -> None:
        self.event(PureLoss(1.0))  # refuses what is no rate or no scheme

    def event(self, event: Event) -> Sampled:
        """What a release with this event costs when it is asked of such a sample."""
        return Sampled(event, self.rate, self.scheme)
