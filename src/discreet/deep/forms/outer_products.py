"""Gradients of matrices: sums of outer products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.deep.forms.blocks import outer_sum
from discreet.deep.forms.cost import AT_HAND, Cost, Way, of_matrix
from discreet.deep.forms.explicit import squared_lengths, times
from discreet.deep.forms.finite import overflown
from discreet.deep.forms.form import Form
from discreet.deep.forms.precision import FLOOR, cut_off, has_kernels, in_tf32, product, unit
from discreet.deep.forms.rounding import Rounding, rounding_of


@dataclass(frozen=True)
class OuterProducts:
    """The gradient of a sample is the sum over places t of slopes[t] inputs[t]', as that of a linear layer.

    Its squared length is |g|^2 |a|^2 for one place. For T places it is the sum over pairs of places of
    (a_s'a_t)(g_s'g_t), which takes T (d + p) products for each place where the gradient itself takes d p: the cheaper
    of both is done (`cost`; Goodfellow 2015; Li, Tramer, Liang and Hashimoto 2022, Section 4). Places may cancel one
    another, and then float32 shows a length that is too small: what rounding may hide is added (`rounding.md`).

    Parameters
    ----------
    inputs : Tensor of shape (samples, places, d), finite
        What came in.
    slopes : Tensor of shape (samples, places, p)
        The derivatives of the loss by what went out.

    Examples
    --------
    >>> form = OuterProducts(torch.ones(1, 3, 2), torch.ones(1, 3, 4))
    >>> form.squared_norms().round(), form.explicit().square().sum()
    (tensor([72.]), tensor(72.))
    """

    inputs: Tensor
    slopes: Tensor

    @property
    def cost(self) -> Cost:
        """The way to the lengths."""
        return of_matrix(self.inputs.shape[1], self.inputs.shape[2], self.slopes.shape[2])

    @property
    def rounding(self) -> float:
        """What rounding may add to a sample's part in the sum."""
        return self._rounding.share

    @property
    def guard(self) -> float:
        """What is added to squared lengths, of the product of both squared lengths: for what rounding may hide."""
        return 0.0 if self.cost.way is Way.CLOSED else 2 * self.error + self._rounding.cancelling**-2

    @property
    def error(self) -> float:
        """By how much lengths are off, of the lengths of both factors: a sum over n terms is off by n units of them.

        Pairs of places are sums over d, over p and twice over places; gradients are sums over places.
        """
        places, d, p = *self.inputs.shape[1:], self.slopes.shape[2]
        if self.cost.way is Way.PAIRS:
            return (places + (d + p) / 2 + 8) * unit(self.slopes) + 2 * cut_off(self.slopes)
        return (places + 8) * unit(self.slopes) + 2 * cut_off(self.slopes)

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient."""
        squares, lengths = self.squares()
        return (squares + self.guard * lengths if self.guard else squares) + overflown(self.inputs)

    def squares(self) -> tuple[Tensor, Tensor]:
        """The squared lengths as they are found, and the product of the squared lengths of both factors."""
        way = self.cost.way
        if (
            way is Way.PAIRS
            and has_kernels(self.inputs)
            and (self.inputs.dtype == torch.float32 or self.inputs.shape[1] % 8)
        ):
            from discreet.deep.forms.gpu_norms import pair_norms

            found = pair_norms(self.inputs, self.slopes, in_tf32(self.inputs.device))
            return found[:, 0], (found[:, 1] + self._floors[0]) * (found[:, 2] + self._floors[1])
        if way is Way.PAIRS:
            met = product(self.inputs, self.inputs.mT), product(self.slopes, self.slopes.mT)
            each = [one.diagonal(dim1=1, dim2=2).sum(dim=1) + low for one, low in zip(met, self._floors, strict=True)]
            return (met[0] * met[1]).sum(dim=2).sum(dim=1), each[0] * each[1]
        lengths = squared_lengths(self.inputs) * squared_lengths(self.slopes)
        if way is Way.CLOSED:
            return lengths, lengths
        found = torch.cat([squared_lengths(part.explicit()) for part in self._slices()])
        return found * (1 + self.error), lengths

    def weighted(self, weights: Tensor) -> Tensor:
        """The sum of the gradients, each times its weight: products of matrices over many samples and places."""
        return outer_sum(times(self.slopes, weights), self.inputs)

    def explicit(self) -> Tensor:
        """The gradients themselves."""
        return product(self.slopes.mT, self.inputs)

    def grouped(self, count: int) -> OuterProducts:
        """The places of a group, one after another."""
        inputs, slopes = (torch.unflatten(one, 0, (-1, count)).flatten(1, 2) for one in (self.inputs, self.slopes))
        return OuterProducts(inputs, slopes)

    def joined(self, other: Form) -> OuterProducts | None:
        """The places of both uses, one after another."""
        if not isinstance(other, OuterProducts):
            return None
        inputs, slopes = (self.inputs, other.inputs), (self.slopes, other.slopes)
        return OuterProducts(torch.cat(inputs, dim=1), torch.cat(slopes, dim=1))

    @property
    def _rounding(self) -> Rounding:
        return rounding_of(self.slopes, self.inputs.shape[1])

    @property
    def _floors(self) -> tuple[float, float]:
        return FLOOR * self.inputs[0].numel(), FLOOR * self.slopes[0].numel()

    def _slices(self) -> Iterator[OuterProducts]:
        rows = max(1, AT_HAND // (self.inputs.shape[2] * self.slopes.shape[2]))
        return map(OuterProducts, torch.split(self.inputs, rows), torch.split(self.slopes, rows))
