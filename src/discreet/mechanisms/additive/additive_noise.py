"""Noise that is added to every coordinate of a sum: what the additive mechanisms share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_positive
from discreet.core.errors import NotPermitted
from discreet.core.events import Event
from discreet.core.grid import Array, Grid, Steps
from discreet.core.mechanism import NoiseContext, Share
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.additive.error_law import ErrorLaw, UnknownError


@dataclass(frozen=True)
class Additive(CheckedParameters, ABC):
    """Add independent noise to every coordinate of a sum.

    The noise is drawn on the answer's own grid, so the release is on it too, whatever the answer is.

    Parameters
    ----------
    multiplier : float
        Public. Noise scale in units of the sensitivity in `norm`.

    Notes
    -----
    `law` is the law of its errors, `share` what each of several parties adds, `report` what one person reports, and
    `suits` whether it may be chosen where the least noise is wanted. They hold for what `noise` and `release` do, so a
    subclass that draws or releases something else has none of them, unless it defines its own.
    """

    multiplier: float = 1.0
    calibrated: ClassVar[str] = "multiplier"
    norm: ClassVar[Norm]
    deviation: ClassVar[float]  # of noise of scale one
    step: ClassVar[float] = 2.0**20  # how far the worst neighbors are apart, in grid steps
    law: ClassVar[ErrorLaw] = UnknownError()
    tossed: ClassVar[bool] = False  # whether it is made of coins, and chosen only where parties toss them together
    refines: ClassVar[bool] = False  # whether what people report is put on a fine grid first

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if not {"noise", "release"}.isdisjoint(vars(cls)):
            for claim in {"law", "share", "report", "suits"} - set(vars(cls)):
                setattr(cls, claim, vars(Additive)[claim])

    def __post_init__(self) -> None:
        check_positive(type(self).__name__, "multiplier", self.multiplier)

    @property
    @abstractmethod
    def event(self) -> Event:
        """The price of one release."""

    @abstractmethod
    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        """Independent draws of this scale, in grid steps."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        """The sum with noise, on the answer's grid."""
        if not isinstance(answer, Answer):
            obstacle = f"it adds noise to a bounded sum, and was given a {type(answer).__name__}"
            remedy = "Ask a sum over all records, or release a sum over a secret sample by OnSample."
            raise NotPermitted(type(self).__name__, obstacle, remedy, "Nothing was released.")
        answer = answer.coarsened(self.multiplier, self.norm)
        return answer.noised(self.noise(bits, answer.steps.shape, answer.scale(self.multiplier, self.norm)))

    def share(self, honest: int) -> Share:
        """What each party adds to its own sum, for this number of honest parties."""
        raise NotPermitted(
            type(self).__name__,
            "its noise cannot be shared among parties",
            "Use Laplace or Gaussian noise.",
            "Nothing was released.",
        )

    def report(self, answers: Answer, bits: Bits) -> Array:
        """What people report of their own contributions, one stacked answer each, so that the reports can be added."""
        raise NotPermitted(
            type(self).__name__,
            "it does not say that reports with its noise can be added up",
            "Use Laplace or Gaussian noise, or trust a curator.",
            "Nothing was released.",
        )

    @classmethod
    def suits(cls, asked: NoiseContext) -> bool:
        """Whether it may be chosen for this sum, if its noise is the least."""
        return False

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors, grid: Grid | None = None) -> float:
        """The standard deviation of the noise on each coordinate of such a sum, on a fine grid or on this one."""
        return self.deviation * self.multiplier * bound.sensitivity(self.norm, size, neighbors)

    def worst_neighbors(self) -> NeighborPair:
        """A scalar that moves by its whole bound."""
        bound = Bound(self.norm, self.step)
        return NeighborPair(whole_numbers([0], bound), whole_numbers([int(self.step)], bound))
