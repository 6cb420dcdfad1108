"""Gradients of matrices: sums of outer products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.deep.forms.cost import AT_HAND, Cost, Way, of_matrix
from discreet.deep.forms.explicit import squared_lengths, times
from discreet.deep.forms.form import Form
from discreet.deep.forms.precision import GUARD, has_kernels, in_tf32


@dataclass(frozen=True)
class OuterProducts:
    """The gradient of a sample is the sum over places t of slopes[t] inputs[t]', as that of a linear layer.

    Its squared length is |g|^2 |a|^2 for one place. For T places it is the sum over pairs of places of
    (a_s'a_t)(g_s'g_t), which takes T (d + p) products for each place where the gradient itself takes d p: the cheaper
    of both is done (`cost`; Goodfellow 2015; Li, Tramer, Liang and Hashimoto 2022, Section 4). Places may cancel one
    another, and then float32 shows a length that is too small: what rounding may hide is added.

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

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient."""
        way = self.cost.way
        if way is Way.CLOSED:
            return squared_lengths(self.inputs) * squared_lengths(self.slopes)
        if (
            way is Way.PAIRS
            and has_kernels(self.inputs)
            and (self.inputs.dtype == torch.float32 or self.inputs.shape[1] % 8)
        ):
            from discreet.deep.forms.gpu_norms import pair_norms

            found = pair_norms(self.inputs, self.slopes, in_tf32(self.inputs.device))
            return found[:, 0] + GUARD * found[:, 1] * found[:, 2]
        if way is Way.PAIRS:
            met = (self.inputs @ self.inputs.mT).float(), (self.slopes @ self.slopes.mT).float()
            lengths = [one.diagonal(dim1=1, dim2=2).sum(dim=1) for one in met]
            return (met[0] * met[1]).sum(dim=(1, 2)) + GUARD * lengths[0] * lengths[1]
        hidden = GUARD * squared_lengths(self.inputs) * squared_lengths(self.slopes)
        return torch.cat([squared_lengths(part.explicit()) for part in self._slices()]) + hidden

    def weighted(self, weights: Tensor) -> Tensor:
        """The sum of the gradients, each times its weight: one matrix product over all samples and places."""
        return times(self.slopes, weights).flatten(0, 1).T @ self.inputs.flatten(0, 1)

    def explicit(self) -> Tensor:
        """The gradients themselves."""
        return self.slopes.mT @ self.inputs

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

    def _slices(self) -> Iterator[OuterProducts]:
        rows = max(1, AT_HAND // (self.inputs.shape[2] * self.slopes.shape[2]))
        return map(OuterProducts, torch.split(self.inputs, rows), torch.split(self.slopes, rows))
