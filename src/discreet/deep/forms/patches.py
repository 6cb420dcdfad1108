"""Gradients of convolutions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import torch
from torch import Tensor

from discreet.deep.forms.explicit import counted, squared_lengths, times
from discreet.deep.forms.form import Form
from discreet.deep.forms.outer_products import AT_HAND, GUARD

CROSSING = 6  # by how much sums over taps are slower than the products that they replace, measured on CPU and GPU


@dataclass(frozen=True)
class Kernel:
    """A convolution, without its numbers: of inputs that are padded already.

    Parameters
    ----------
    shape : tuple of int
        Public. Of the weights: channels out, channels in of a group, and the taps of each axis.
    stride, dilation : tuple of int
        Public. Of each axis.
    groups : int
        Public.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int

    def gradient(self, inputs: Tensor, slopes: Tensor, groups: int) -> Tensor:
        """The gradient of the weights of so many groups, over all samples."""
        weights = inputs.new_empty(slopes.shape[1], *self.shape[1:])
        axes = len(self.stride)
        args = self.stride, (0,) * axes, self.dilation, False, (0,) * axes, groups, (False, True, False)
        found: Tensor = torch.ops.aten.convolution_backward(slopes, inputs, weights, None, *args)[1]
        return found


@dataclass(frozen=True)
class Patches:
    """The gradient of a sample is the sum over places of slopes times the patch of the inputs below the kernel.

    Parameters
    ----------
    inputs : Tensor of shape (samples, channels, *axes)
        What came in, padded.
    slopes : Tensor of shape (samples, channels out, *axes)
        The derivatives of the loss by what went out.
    kernel : Kernel
        Public.
    """

    inputs: Tensor
    slopes: Tensor
    kernel: Kernel

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient, by pairs of places where these are few."""
        taps = torch.Size(self.kernel.shape[2:]).numel()
        hidden = GUARD * taps * squared_lengths(self.inputs) * squared_lengths(self.slopes)
        places, size = self.slopes[0, 0].numel(), self.inputs[0, 0].numel()
        channels, out = self.inputs.shape[1], self.slopes.shape[1]
        by_pairs = size * size * channels + places * places * out
        if self.kernel.groups == 1 and CROSSING * by_pairs < places * torch.Size(self.kernel.shape).numel():
            return self._by_pairs() + hidden
        if self._fits:
            return squared_lengths(self._written)
        return torch.cat([squared_lengths(part.explicit()) for part in self._slices()]) + hidden

    def weighted(self, weights: Tensor) -> Tensor:
        """The sum of the gradients, each times its weight."""
        if "_written" in vars(self):
            return torch.tensordot(weights.to(self._written.dtype), counted(self._written, weights), dims=1)
        return self.kernel.gradient(counted(self.inputs, weights), times(self.slopes, weights), self.kernel.groups)

    def explicit(self) -> Tensor:
        """The gradients themselves: those of a convolution in which every sample is a group of its own."""
        samples = len(self.inputs)
        inputs, slopes = (part.reshape(1, -1, *part.shape[2:]) for part in (self.inputs, self.slopes))
        found = self.kernel.gradient(inputs, slopes, samples * self.kernel.groups)
        return found.view(samples, *self.kernel.shape)

    def joined(self, other: Form) -> None:
        """No form of this kind, as places of two uses may have different sizes."""
        return

    @property
    def _fits(self) -> bool:
        return len(self.inputs) * torch.Size(self.kernel.shape).numel() <= AT_HAND and not self.inputs.is_cuda

    @cached_property
    def _written(self) -> Tensor:
        return self.explicit()

    def _by_pairs(self) -> Tensor:
        """Products of all pairs of pixels, then for each tap of the kernel those of the pixels below it."""
        size, places = self.inputs.shape[2:], self.slopes.shape[2:]
        pixels, slopes = self.inputs.flatten(2), self.slopes.flatten(2)
        met = (pixels.mT @ pixels).view(-1, *size, *size)
        below = torch.zeros((), device=met.device)
        for tap in product(*map(range, self.kernel.shape[2:])):
            each = zip(tap, places, self.kernel.stride, self.kernel.dilation, strict=True)
            cut = [slice(at * wide, at * wide + step * (count - 1) + 1, step) for at, count, step, wide in each]
            below = below + met[(slice(None), *cut, *cut)].float()
        return (below * (slopes.mT @ slopes).float().view(-1, *places, *places)).flatten(1).sum(dim=1)

    def _slices(self) -> Iterator[Patches]:
        rows = max(1, AT_HAND // torch.Size(self.kernel.shape).numel())
        for inputs, slopes in zip(torch.split(self.inputs, rows), torch.split(self.slopes, rows), strict=True):
            yield Patches(inputs, slopes, self.kernel)
