"""Gradients of matrices: sums of outer products."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from discreet.deep.forms.blocks import added_up, outer_sum
from discreet.deep.forms.cost import AT_HAND, Cost, Way, of_matrix
from discreet.deep.forms.explicit import squared_lengths, times
from discreet.deep.forms.finite import overflown
from discreet.deep.forms.form import Form
from discreet.deep.forms.precision import (
    BFLOAT,
    FLOOR,
    HALF,
    SPLIT,
    cut_off,
    has_kernels,
    in_tf32,
    power_of_two,
    product,
    unit,
    wide,
)
from discreet.deep.forms.rounding import KernelBlocks, Rounding, kernel_blocks, lengthened, rounding_of

LARGEST = 2.0**126


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
        The derivatives of the loss by what went out; in bfloat16 on a GPU finite, too.

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
        """What is added to squared lengths, of the product of both squared lengths: for what rounding may hide.

        A sum over n terms is off by n units of them. Pairs of places are sums over d, over p and twice over places;
        gradients are sums over places.
        """
        places, d, p = *self.inputs.shape[1:], self.slopes.shape[2]
        if self.cost.way is Way.CLOSED:
            return 0.0
        terms = places + ((d + p) / 2 if self.cost.way is Way.PAIRS else 0) + 8
        return 2 * terms * unit(self.slopes) + self._rounding.cancelling**-2

    @property
    def cut(self) -> float:
        """How far the gradient that is measured may be from the held one, of the lengths of both factors.

        Products of float32 may cut off digits of both.
        """
        return 0.0 if self.cost.way is Way.CLOSED else 2 * cut_off(self.slopes) * (1 + 2.0**-8)

    @property
    def stored(self) -> float:
        """How far the gradient that is added up may be from the held one, of the lengths of both factors.

        A kernel may have a factor times its weights in bfloat16; or both factors in float16, or in three parts.
        """
        blocks = self._rounding
        if isinstance(blocks, Rounding) or blocks.whole:
            return 0.0
        if self._direct:
            return BFLOAT * (1 + 2.0**-8)
        if cut_off(self.inputs) == SPLIT:
            return 4 * SPLIT
        return HALF * (1 + 2.0**-8) * (2 if self.inputs.dtype == torch.float32 else 1)

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient."""
        return lengthened(*self.squares(), self.guard, self.cut + self.stored) + overflown(self.inputs)

    def squares(self) -> tuple[Tensor, Tensor]:
        """The squared lengths as they are found, and the product of the squared lengths of both factors."""
        found, *each = self._found
        return found, each[0] * each[1]

    def weighted(self, weights: Tensor, clip: float | Tensor) -> Tensor:
        """The sum of the gradients, each times its weight: products of matrices over many samples and places."""
        if not has_kernels(self.inputs):
            return outer_sum(times(self.slopes, weights), self.inputs)
        from discreet.deep.forms.gpu_sums import outer_sums

        inputs, slopes, scale = self._scaled(weights, clip)
        processors = torch.cuda.get_device_properties(slopes.device).multi_processor_count
        by = weights.float() if self._blocks.whole else None
        parts = outer_sums(slopes.flatten(0, 1), inputs.flatten(0, 1), by, slopes.shape[1], processors)
        return added_up(parts) * scale

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
    def _direct(self) -> bool:
        """Whether a kernel takes both factors as they are."""
        return self.inputs.dtype == self.slopes.dtype == torch.bfloat16

    @property
    def _blocks(self) -> KernelBlocks:
        return kernel_blocks(self.inputs.shape[1], self._direct)

    @property
    def _rounding(self) -> Rounding | KernelBlocks:
        return self._blocks if has_kernels(self.inputs) else rounding_of(self.slopes, self.inputs.shape[1])

    @cached_property
    def _found(self) -> tuple[Tensor, Tensor, Tensor]:
        """The squared lengths as they are found, and those of both factors."""
        way = self.cost.way
        if way is Way.PAIRS and has_kernels(self.inputs):
            from discreet.deep.forms.gpu_norms import pair_norms

            found = pair_norms(self.inputs, self.slopes, in_tf32(self.inputs.device))
            return found[:, 0], found[:, 1] + self._floors[0], found[:, 2] + self._floors[1]
        if way is Way.PAIRS:
            met = product(self.inputs, self.inputs.mT), product(self.slopes, self.slopes.mT)
            each = [one.diagonal(dim1=1, dim2=2).sum(dim=1) + low for one, low in zip(met, self._floors, strict=True)]
            return (met[0] * met[1]).sum(dim=2).sum(dim=1), each[0], each[1]
        lengths = squared_lengths(self.inputs), squared_lengths(self.slopes)
        if way is Way.CLOSED:
            return lengths[0] * lengths[1], *lengths
        return torch.cat([squared_lengths(part.explicit()) for part in self._slices()]), *lengths

    def _scaled(self, weights: Tensor, clip: float | Tensor) -> tuple[Tensor, Tensor, float | Tensor]:
        """Both factors as a kernel takes them, with weights, and the scale of their products.

        In bfloat16 both are left as they are, if the kernel weighs whole samples; else the smaller one is multiplied
        with weights. Other numbers are in float16: inputs of each sample are divided by a power of two near their root
        mean square, and slopes multiplied with it. So no entry is above the limits of float16, nor so many below that
        their length would matter: `rounding.md`.
        """
        if self._direct and self._blocks.whole:
            return self.inputs, self.slopes, 1.0
        if self._direct and self.inputs.shape[2] < self.slopes.shape[2]:
            return _weighed(self.inputs, weights).bfloat16(), self.slopes, 1.0
        if self._direct:
            return self.inputs, _weighed(self.slopes, weights).bfloat16(), 1.0
        places, d = self.inputs.shape[1:]
        size = power_of_two(torch.sqrt(self._found[1] / (places * d)))
        scale = 2.0 ** (8 + math.floor(math.log2(places * d) / 2))
        slopes = _weighed(self.slopes, ((weights / clip) * size * scale).clamp(max=LARGEST))
        inputs = wide(self.inputs) / size[:, None, None]
        kind = torch.float32 if cut_off(self.inputs) == SPLIT else torch.float16
        return inputs.to(kind), slopes.to(kind), clip / scale

    @property
    def _floors(self) -> tuple[float, float]:
        return FLOOR * self.inputs[0].numel(), FLOOR * self.slopes[0].numel()

    def _slices(self) -> Iterator[OuterProducts]:
        rows = max(1, AT_HAND // (self.inputs.shape[2] * self.slopes.shape[2]))
        return map(OuterProducts, torch.split(self.inputs, rows), torch.split(self.slopes, rows))


def _weighed(factor: Tensor, weights: Tensor) -> Tensor:
    """Numbers of samples times their weights; zero, where a weight is, whatever they are."""
    by = weights[:, None, None]
    return torch.where(by > 0, wide(factor) * by, 0)
