"""What layers are given, such that zero times it is zero."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor


def bounded(values: Tensor, dtype: torch.dtype) -> Tensor:
    """The same numbers, except that those that are not finite become so large that no square of them is finite.

    So a sample with such a number has a gradient that is not finite, and weight zero; and zero times it is zero. Where
    squares of float16 are taken in float32, `overflown` tells.

    Examples
    --------
    >>> bounded(torch.tensor([1.0, torch.inf]), torch.float32).square()
    tensor([1., inf])
    """
    most = 2.0 ** (math.frexp(torch.finfo(dtype).max)[1] - 1)
    return values.to(dtype).nan_to_num(most, most, -most)


def overflown(values: Tensor) -> Tensor | float:
    """Infinity for samples with a number that was not finite in half precision, whose squares would be; else 0.

    Examples
    --------
    >>> overflown(bounded(torch.tensor([[1.0], [torch.inf]]), torch.float16))
    tensor([0., inf])
    """
    if values.dtype != torch.float16:
        return 0.0
    return torch.where(values.flatten(1).abs().amax(dim=1) >= 2.0**15, torch.inf, 0.0)


def finite(values: Tensor) -> Tensor:
    """What a layer is given, `bounded`; the derivatives are those without that."""
    return _Finite.apply(values)  # type: ignore[no-untyped-call]


def finite_factor(values: Tensor) -> Tensor:
    """What a layer multiplies with a matrix, in the precision that `torch.autocast` multiplies in, and `finite` there.

    What is rounded up in half precision may overflow: so it is bounded after that. And it is rounded once: the layer
    and the lengths and sums of gradients take the same numbers.

    Examples
    --------
    >>> with torch.autocast("cpu", dtype=torch.bfloat16):
    ...     finite_factor(torch.tensor([1.0, 3.4e38])).square()
    tensor([1., inf], dtype=torch.bfloat16)
    """
    kind = values.device.type
    if values.dtype != torch.float64 and torch.is_autocast_enabled(kind):
        values = values.to(torch.get_autocast_dtype(kind))
    return finite(values)


def in_precision_of(slopes: Tensor, inputs: Tensor) -> Tensor:
    """What came in, in the precision that it was multiplied in: where that reaches less far, bounded anew."""
    return inputs.to(slopes.dtype) if slopes.dtype != torch.float16 else bounded(inputs, slopes.dtype)


def channels_last(values: Tensor) -> Tensor:
    """Images on a GPU in the order that its convolutions take: so nothing has to be turned around in between."""
    if values.dim() == 4 and values.is_cuda:
        return values.contiguous(memory_format=torch.channels_last)
    return values


class _Finite(torch.autograd.Function):
    @staticmethod
    def forward(values: Tensor) -> Tensor:
        return bounded(values, values.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Tensor:
        return slopes[0]
