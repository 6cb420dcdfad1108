"""Several views of each record, whose gradients are averaged before the clip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError

ASKED = "augment records"


@dataclass(frozen=True)
class AugmentationMultiplicity:
    """Augmentation multiplicity: a record's gradient is the mean over some views of it (De et al. 2022).

    The mean is clipped as one, so a record still moves a sum by at most the clip, and the price is that of one view.

    Parameters
    ----------
    augment : callable
        Public. Gives a batch of records, changed at random: each by itself, whatever the others are. It draws by torch,
        without a generator of its own: a trainer lets torch draw from secret bits.
    count : int
        Public. How many views of each record.

    Examples
    --------
    >>> flips = AugmentationMultiplicity(lambda x: torch.where(torch.rand(len(x), 1) < 0.5, x, x.flip(1)), 3)
    >>> flips(torch.zeros(2, 5)).shape
    torch.Size([6, 5])
    """

    augment: Callable[[Tensor], Tensor]
    count: int

    def __post_init__(self) -> None:
        check_whole(ASKED, "count", self.count)

    def __call__(self, inputs: Tensor) -> Tensor:
        """The views of the first record, then those of the second, and so on."""
        found = [self.augment(inputs) for _ in range(self.count)]
        for one in found:
            if len(one) != len(inputs):
                obstacle = f"{len(inputs)} records became {len(one)}"
                raise ParameterError(ASKED, obstacle, "Give a function that keeps their number.")
        return torch.stack(found, dim=1).flatten(0, 1)

    def check(self, blank: Tensor) -> None:
        """Refuse an augmentation in which one record changes another, as mixing them does.

        Parameters
        ----------
        blank : Tensor
            Public. Records of zeros. One is changed, and the views of the others are drawn again from one seed.
        """
        blank = blank[:1].repeat(2, *(1 for _ in blank.shape[1:]))
        changed = blank.clone()
        changed[1] = 1
        before, again, after = (self._seeded(one) for one in (blank, blank, changed))
        if torch.equal(before, again) and not torch.equal(before[: self.count], after[: self.count]):
            raise ParameterError(ASKED, "one record changes the views of another", "Change each record by itself.")

    def _seeded(self, inputs: Tensor) -> Tensor:
        with torch.random.fork_rng(devices=[inputs.device] if inputs.is_cuda else []):
            torch.manual_seed(0)
            return self(inputs)
