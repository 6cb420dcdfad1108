"""Gradients of matrices: sums of outer products."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from discreet.deep.forms.blocks import outer_sum
from discreet.deep.forms.cost import AT_HAND, Cost, Way, of_matrix
from discreet.deep.forms.explicit import squared_lengths, times
from discreet.deep.forms.finite import overflown
from discreet.deep.forms.form import Form
from discreet.deep.forms.precision import (
    FLOOR,
    HALF,
    SPLIT,
    TF32,
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
        """How far the gradient that is measured may be from that which is added up, of the lengths of both factors.

        Products of float32 may cut off digits of both factors; and what is added up may have its inputs in float16.
        """
        if self.cost.way is Way.CLOSED:
            return 0.0
        cut = cut_off(self.slopes)
        return (2 * cut + (HALF if cut == TF32 and has_kernels(self.slopes) else 0.0)) * (1 + 2.0**-8)

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient."""
        return lengthened(*self.squares(), self.guard, self.cut) + overflown(self.inputs)

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
        places, processors = (
            len(slopes) // len(weights),
            torch.cuda.get_device_properties(slopes.device).multi_processor_count,
        )
        return outer_sums(slopes, inputs, places, processors).sum(dim=0, dtype=torch.float64) * scale

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
    def _rounding(self) -> Rounding | KernelBlocks:
        places = self.inputs.shape[1]
        return kernel_blocks(places) if has_kernels(self.inputs) else rounding_of(self.slopes, places)

    @cached_property
    def _found(self) -> tuple[Tensor, Tensor, Tensor]:
        """The squared lengths as they are found, and those of both factors."""
        way, tall = self.cost.way, self.inputs.shape[1]
        kernel = self.inputs.dtype == torch.float32 or tall % 8
        if way is Way.PAIRS and has_kernels(self.inputs) and kernel:
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
        """Both factors as rows of float16, and the scale of their products: slopes times their weights.

        Inputs of each sample are divided by a power of two near their root mean square, and slopes multiplied with it.
        So no entry is above the limits of float16, nor so many below that their length would matter: `rounding.md`.
        """
        places, d = self.inputs.shape[1:]
        size = power_of_two(torch.sqrt(self._found[1] / (places * d)))
        scale = 2.0 ** (8 + math.floor(math.log2(places * d) / 2))
        factors = ((weights / clip) * size * scale).clamp(max=LARGEST)[:, None, None]
        slopes = torch.where(factors > 0, wide(self.slopes) * factors, 0)
        inputs = wide(self.inputs) / size[:, None, None]
        filled = kernel_blocks(places).places - places
        kind = torch.float32 if cut_off(self.inputs) == SPLIT else torch.float16
        inputs, slopes = (functional.pad(one.to(kind), (0, 0, 0, filled)).flatten(0, 1) for one in (inputs, slopes))
        return inputs, slopes, clip / scale

    @property
    def _floors(self) -> tuple[float, float]:
        return FLOOR * self.inputs[0].numel(), FLOOR * self.slopes[0].numel()

    def _slices(self) -> Iterator[OuterProducts]:
        rows = max(1, AT_HAND // (self.inputs.shape[2] * self.slopes.shape[2]))
        return map(OuterProducts, torch.split(self.inputs, rows), torch.split(self.slopes, rows))
