"""Noise that is added to every coordinate of a sum: what the additive mechanisms share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Answer, Apart, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound, Norm
from discreet.core.events import Event
from discreet.core.grid import Array, Steps
from discreet.core.knob import check_knob
from discreet.core.neighbors import Neighbors


@dataclass(frozen=True)
class Additive(ABC):
    """Add independent noise to every coordinate of a sum.

    The noise is drawn on the answer's own grid, so the release is on it too, whatever the answer is.

    Parameters
    ----------
    multiplier : float
        Public. Noise scale in units of the sensitivity in `norm`.
    """

    multiplier: float = 1.0
    knob: ClassVar[str] = "multiplier"
    norm: ClassVar[Norm]
    deviation: ClassVar[float]  # of noise of scale one
    step: ClassVar[float] = 2.0**20  # how far the worst neighbors are apart, in grid steps

    def __post_init__(self) -> None:
        check_knob(type(self).__name__, "multiplier", self.multiplier)

    @property
    @abstractmethod
    def event(self) -> Event:
        """The price of one release."""

    @abstractmethod
    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        """Independent draws of this scale, in grid steps."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        """The sum with noise, on the answer's grid."""
        answer = answer.coarsened(self.multiplier, self.norm)
        return answer.noised(self.noise(bits, answer.steps.shape, answer.scale(self.multiplier, self.norm)))

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors) -> float:
        """The standard deviation of the noise on each coordinate of such a sum, but for the grid: public."""
        return self.deviation * self.multiplier * bound.sensitivity(self.norm, size, neighbors)

    def worst_neighbors(self) -> Apart:
        """A scalar that moves by its whole bound."""
        bound = Bound(self.norm, self.step)
        return Apart(whole_numbers([0], bound), whole_numbers([int(self.step)], bound))
