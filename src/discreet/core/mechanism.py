"""What turns a secret answer into a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import Event, PureLoss, Sampled, Scheme
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import Neighbors

Release_co = TypeVar("Release_co", covariant=True)


class Mechanism(Protocol[Release_co]):
    """A frozen dataclass that turns an answer into a release, and knows its price before any data.

    `calibrated` names the field that calibration sets: "multiplier" (more is more private) or "epsilon" (more is less).
    `worst_neighbors` gives the two answers that the audit tries to distinguish.
    """

    calibrated: ClassVar[str]

    @property
    def event(self) -> Event: ...

    def release(self, answer: Any, bits: Bits) -> Release_co: ...

    def worst_neighbors(self) -> Any: ...


@dataclass(frozen=True)
class NoiseContext:
    """What is public about a sum that noise is chosen for.

    Parameters
    ----------
    size : int
        How many numbers it has.
    whole : bool
        Whether one unit moves it by whole numbers.
    delta : float
        What may be paid of it.
    pure : bool
        Whether nothing but epsilon is ever paid.
    local : bool
        Whether every person reports by itself.
    """

    size: int
    whole: bool
    delta: float
    pure: bool
    local: bool


class Share(Protocol):
    """What one of several parties adds to its own sum, so that the honest shares keep the promise of an event."""

    promises: ClassVar[type[Any]]
    """The kind of event that such shares can keep."""

    @property
    def honest(self) -> int:
        """The fewest parties whose shares are surely in the sum and unknown to everybody else."""

    @classmethod
    def of(cls, event: Any, honest: int) -> Share:
        """The shares that keep this promise; refused where it is not one of theirs."""

    @property
    def event(self) -> Event: ...

    @property
    def excess(self) -> float:
        """By which factor the honest shares have more variance than was paid for."""

    def prepared(self, answer: Any) -> Any:
        """The answer on the grid that the noise is drawn on: the same for all parties."""

    def own_scale(self, prepared: Any) -> float:
        """The scale of one share, in grid steps; an error where no promise could be kept."""

    def reach(self, prepared: Any, parties: int) -> int:
        """How many steps from zero the shares of so many parties together stay, in all coordinates of a sum.

        But for a chance below 2**-64, where shares have no farthest value.
        """

    def drawn(self, prepared: Any, bits: Bits) -> Steps:
        """One share, in grid steps."""

    def farthest(self, prepared: Any, chance: float) -> int:
        """How many grid steps a number of one share is away from zero at most, but for this chance."""

    def masked(self, answer: Any, bits: Bits) -> Steps:
        """A party's own sum with its share, on the grid of the prepared answer, modulo 2**64."""


class Noise(Mechanism[Array], Protocol):
    """A mechanism that adds noise to every coordinate of a sum, and says all that others need to know of it."""

    refines: ClassVar[bool]
    """Whether what people report is put on a fine grid first."""

    @property
    def law(self) -> Any:
        """The law of its errors; see `mechanisms.additive.error_law`."""

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors, grid: Grid | None = None) -> float:
        """The standard deviation of the noise on each coordinate of such a sum."""

    def share(self, honest: int) -> Share:
        """What each party adds to its own sum, for this number of honest parties; refused where it cannot be shared."""

    def report(self, answers: Any, bits: Bits) -> Array:
        """What people report of their own contributions; refused where reports cannot be added up."""


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
