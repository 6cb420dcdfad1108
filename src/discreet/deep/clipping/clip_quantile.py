"""A clip that follows a quantile of the lengths of gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.core.checks import check_positive

ASKED = "follow a quantile of lengths"
PRECISION = 20.0  # the noise of the share below the clip is one over this, unless that takes too much
MOST = 0.5  # of the clip: with it the noise of gradients grows by 3 %
SPAN = 2.0**20  # the clip stays within this factor of the first one,
SHORTEST, LONGEST = 2.0**-40, 2.0**40  # and where squares neither vanish nor leave float32


@dataclass(frozen=True)
class ClipQuantile:
    """Adaptive clipping: a step also asks how many records are within the clip, and moves the clip by the answer.

    A record adds its clipped gradient, and beside it plus or minus half of `weight` times the clip: one vector, of
    length at most the clip times sqrt(1 + weight^2 / 4), that gets one Gaussian noise. Nothing is paid on top; the
    noise of gradients grows by that root (Andrew, Thakkar, McMahan and Ramaswamy 2021, Theorem 1).

    Parameters
    ----------
    level : float
        Public. The share of records that shall be within the clip, in (0, 1).
    weight : float
        Public. What a record within the clip adds more than one beyond it, in units of the clip.
    speed : float
        Public. The clip is multiplied by exp(-speed * (share - level)) after every step.

    Examples
    --------
    >>> median = ClipQuantile.of(0.5, multiplier=1.0, batch=256)
    >>> round(median.weight, 3), round(median.reach(1.0), 5)
    (0.078, 1.00076)
    """

    level: float
    weight: float
    speed: float = 0.2

    def __post_init__(self) -> None:
        check_positive(ASKED, "level", self.level, most=1 - 2.0**-40)
        check_positive(ASKED, "weight", self.weight)
        check_positive(ASKED, "speed", self.speed)

    @classmethod
    def of(cls, level: float, multiplier: float, batch: float) -> ClipQuantile:
        """The weight with which the count has noise of a twentieth of a batch, or less weight for small batches."""
        least = max((batch / PRECISION / multiplier) ** 2 - 0.25, MOST**-2)
        return cls(level, 1 / math.sqrt(least))

    def reach(self, clip: float) -> float:
        """How far one record moves the sums, count and all."""
        return clip * math.hypot(1.0, self.weight / 2)

    def counted(self, norms: Tensor, there: Tensor, clip: float) -> Tensor:
        """What records add beside their gradients; nothing for those that fill up the batch."""
        within = torch.where(norms <= clip, 0.5, -0.5).double()
        return torch.where(there, self.weight * clip * within, 0.0).sum()

    def moved(self, clip: float, first: float, noisy: float, batch: float) -> float:
        """The next clip, by the noisy count."""
        share = noisy / (self.weight * clip * batch) + 0.5
        least, most = max(first / SPAN, SHORTEST), min(first * SPAN, LONGEST)
        return min(max(clip * math.exp(-self.speed * (share - self.level)), least), most)
