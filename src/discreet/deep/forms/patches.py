"""Gradients of convolutions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from discreet.deep.forms.blocks import weighted_sum
from discreet.deep.forms.cost import AT_HAND, AT_HAND_ON_GPU, Cost, Way, of_convolution
from discreet.deep.forms.explicit import counted, squared_lengths, times
from discreet.deep.forms.finite import overflown
from discreet.deep.forms.form import Form
from discreet.deep.forms.precision import (
    FLOOR,
    HALVES,
    LEAST,
    cut_off,
    has_kernels,
    held,
    in_tf32,
    on_processor,
    product,
    unit,
    wide,
)
from discreet.deep.forms.rounding import Rounding, lengthened, rounding_of


@dataclass(frozen=True)
class Kernel:
    """A convolution, without its numbers.

    Parameters
    ----------
    shape : tuple of int
        Public. Of the weights: channels out, channels in of a group, and the taps of each axis.
    stride, padding, dilation : tuple of int
        Public. Of each axis; zeros are put on both sides.
    groups : int
        Public.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int

    @property
    def window(self) -> tuple[tuple[int, ...], ...]:
        """The taps, strides, padding and dilation."""
        return self.shape[2:], self.stride, self.padding, self.dilation

    @property
    def size(self) -> int:
        """The number of weights."""
        return math.prod(self.shape)

    def padded(self, inputs: Tensor) -> Tensor:
        """What came in, with zeros around it."""
        return functional.pad(inputs, [side for side in reversed(self.padding) for _ in range(2)])

    def gradient(self, inputs: Tensor, slopes: Tensor, groups: int) -> Tensor:
        """The gradient of the weights of so many groups, over all samples."""
        weights = inputs.new_empty(slopes.shape[1], *self.shape[1:])
        args = self.stride, self.padding, self.dilation, False, (0,) * len(self.stride), groups, (False, True, False)
        found: Tensor = torch.ops.aten.convolution_backward(slopes, inputs, weights, None, *args)[1]
        return found


@dataclass(frozen=True)
class Written:
    """Gradients of some samples, as they are added up: what is measured is what is stored, however it was rounded.

    Parameters
    ----------
    values : Tensor of shape (samples, *parameter)
        The gradients.
    squares : Tensor of shape (samples,)
        Their squared lengths.
    scales : Tensor of shape (samples,), optional
        What the values of each sample are multiples of; finite where there are none.
    """

    values: Tensor
    squares: Tensor
    scales: Tensor | None = None

    def weighted(self, weights: Tensor) -> Tensor:
        """Their sum, each times its weight."""
        if self.scales is None:
            return weighted_sum(weights, self.values)
        scaled = torch.where(weights > 0, weights * self.scales, 0)
        return weighted_sum(scaled, counted(self.values, weights))


@dataclass(frozen=True)
class Patches:
    """The gradient of a sample is the sum over places of slopes times the patch of the inputs below the kernel.

    Parameters
    ----------
    inputs : Tensor of shape (samples * images, channels, *axes)
        What came in; on a GPU, finite.
    slopes : Tensor of shape (samples * images, channels out, *axes)
        The derivatives of the loss by what went out.
    kernel : Kernel
        Public.
    images : int
        Public. How many images, one after another, are one sample.
    """

    inputs: Tensor
    slopes: Tensor
    kernel: Kernel
    images: int = 1

    @property
    def cost(self) -> Cost:
        """The way to the lengths."""
        size = tuple(wide + 2 * side for wide, side in zip(self.inputs.shape[2:], self.kernel.padding, strict=True))
        places = tuple(self.slopes.shape[2:])
        batch = len(self.inputs) // self.images, self.images
        return of_convolution(
            *batch, size, places, self.kernel.shape, self.kernel.groups,
            kernel=self._has_kernel, most=AT_HAND if on_processor(self.inputs) else AT_HAND_ON_GPU,
        )  # fmt: skip

    @property
    def rounding(self) -> float:
        """What rounding may add to a sample's part in the sum."""
        return self._rounding.share

    @property
    def guard(self) -> float:
        """What is added to squared lengths by pairs, of the product of both squared lengths: as for `OuterProducts`."""
        (outs, given), taps = self.kernel.shape[:2], math.prod(self.kernel.shape[2:])
        terms = self._places + (outs + given + taps) / 2 + 8
        return 2 * terms * unit(self.slopes) + (0 if self._places == 1 else self._rounding.cancelling**-2)

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient."""
        return self._squares() + overflown(self._apart(self.inputs))

    def _squares(self) -> Tensor:
        """By pairs of places where these are few; else of what is added up later, so that rounding hides nothing."""
        if self.cost.way is Way.PAIRS:
            return lengthened(*self._by_pairs(), self.guard, 2 * cut_off(self.slopes))
        return torch.cat([one.squares for one in self._written_out()])

    def weighted(self, weights: Tensor, clip: float | Tensor) -> Tensor:
        """The sum of the gradients, each times its weight."""
        if self.cost.way is Way.PAIRS:
            return self._in_blocks(weights).explicit().sum(dim=0, dtype=torch.float64)
        first, *others = [one.weighted(few) for one, few in self._with(weights)]
        return sum(others, first)

    def explicit(self) -> Tensor:
        """The gradients themselves: those of a convolution in which every sample is a group of its own."""
        inputs, slopes = (self._apart(held(one)).transpose(0, 1).flatten(1, 2) for one in (self.inputs, self.slopes))
        samples = len(self.inputs) // self.images
        found = self.kernel.gradient(inputs, slopes, samples * self.kernel.groups)
        return found.view(samples, *self.kernel.shape)

    def grouped(self, count: int) -> Patches:
        """So many times the images for each sample."""
        return Patches(self.inputs, self.slopes, self.kernel, self.images * count)

    def joined(self, other: Form) -> None:
        """No form of this kind, as places of two uses may have different sizes."""
        return

    def _apart(self, part: Tensor) -> Tensor:
        """The images of each sample along an axis of their own."""
        return torch.unflatten(part, 0, (-1, self.images))

    @cached_property
    def _kept(self) -> list[Written]:
        return [self._write()]

    def _written_out(self) -> Iterable[Written]:
        """The gradients, all at once and once, or some at a time: then again in the same way."""
        return self._kept if self.cost.way is Way.KEPT else (part._write() for part in self._slices())

    def _with(self, weights: Tensor) -> Iterator[tuple[Written, Tensor]]:
        """The gradients and their weights."""
        start = 0
        for one in self._written_out():
            yield one, weights[start : start + len(one.squares)]
            start += len(one.squares)

    def _write(self) -> Written:
        if not self._has_kernel:
            values = self.explicit()
            squares = squared_lengths(values)  # where these are not finite, weights are zero: and zero times zero is
            return Written(values.nan_to_num_(0.0, 0.0, 0.0), squares)
        from discreet.deep.forms.gpu_norms import patch_gradients

        lengths = [squared_lengths(self._apart(one)) for one in (self.inputs, self.slopes)]
        sizes = [one[0].numel() * self.images for one in (self.inputs, self.slopes)]
        means = [(one / n).clamp(min=LEAST) for one, n in zip(lengths, sizes, strict=True)]
        fast, high = in_tf32(self.inputs.device), 2.0**14.9 / math.sqrt(math.prod(sizes))
        halved = fast or self.inputs.dtype in HALVES
        scales = means[0].sqrt() * means[1].sqrt() / high if halved else torch.ones_like(means[0])
        window = map(list, self.kernel.window)
        values, found = patch_gradients(self.inputs, self.slopes, means, scales, *window, fast, self.images)
        squares = (found * scales) * scales * (1 + 2.0**-10) + self.kernel.size * FLOOR
        return Written(values.permute(0, 3, 4, 1, 2), squares, scales)

    @property
    def _has_kernel(self) -> bool:
        return has_kernels(self.inputs) and self.inputs.dim() == 4 and self.kernel.groups == 1

    @property
    def _places(self) -> int:
        """How many places a sample has."""
        return self.images * math.prod(self.slopes.shape[2:])

    @property
    def _rounding(self) -> Rounding:
        """Gradients that are written out are one term for each sample."""
        written = self.cost.way is not Way.PAIRS
        found = rounding_of(self.slopes, 1 if written else self._places)
        if written:
            return found
        terms = self._places * found.samples  # all places of a sample are in one block, however many
        return replace(found, cancelling=found.cancelling * found.samples * found.places / terms)

    def _in_blocks(self, weights: Tensor) -> Patches:
        """Samples times their weights, of which so many are one: the last ones are filled up with zeros."""
        count = min(self._rounding.samples, len(weights))
        missing = -len(weights) % count
        inputs, slopes = (
            torch.cat([one, one.new_zeros(missing, *one.shape[1:])])
            for one in (counted(wide(self.inputs), weights), times(self.slopes, weights))
        )
        return Patches(inputs, slopes, self.kernel, count)

    def _by_pairs(self) -> tuple[Tensor, Tensor]:
        """Products of all pairs of pixels, then for each tap of the kernel those of the pixels below it.

        And the product of the squared lengths of what is below all taps, and of the slopes.
        """
        inputs = self.kernel.padded(self.inputs)
        size, places = inputs.shape[2:], self.slopes.shape[2:]
        pixels, slopes = inputs.flatten(2), self.slopes.flatten(2)
        met = product(pixels.mT, pixels).view(-1, *size, *size)
        below = torch.zeros((), device=met.device)
        for tap in itertools.product(*map(range, self.kernel.shape[2:])):
            each = zip(tap, places, self.kernel.stride, self.kernel.dilation, strict=True)
            cut = [slice(at * apart, at * apart + step * (count - 1) + 1, step) for at, count, step, apart in each]
            below = below + met[(slice(None), *cut, *cut)]
        below, across = below.flatten(1).view(len(slopes), *(slopes.shape[2],) * 2), product(slopes.mT, slopes)
        floors = FLOOR * self.inputs[0].numel() * math.prod(self.kernel.shape[2:]), FLOOR * self.slopes[0].numel()
        lengths = [
            one.diagonal(dim1=1, dim2=2).sum(dim=1) + low for one, low in zip((below, across), floors, strict=True)
        ]
        return (below * across).sum(dim=2).sum(dim=1), lengths[0] * lengths[1]

    def _slices(self) -> Iterator[Patches]:
        most = AT_HAND if on_processor(self.inputs) else AT_HAND_ON_GPU
        rows = self.images * max(1, most // self.kernel.size)
        for inputs, slopes in zip(torch.split(self.inputs, rows), torch.split(self.slopes, rows), strict=True):
            yield Patches(inputs, slopes, self.kernel, self.images)
