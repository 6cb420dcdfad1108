"""Sums over samples in blocks: float32 inside a block, float64 between them."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from discreet.deep.forms.precision import on_processor, wide
from discreet.deep.forms.rounding import Rounding, rounding_of

AT_HAND = 2**21  # numbers of blocks that are written out at a time
PARTS = 64  # in how many parts at most, so that a graph of them stays small
FEW = 8  # blocks that are added up together, of some rows rather than of all


def outer_sum(slopes: Tensor, inputs: Tensor) -> Tensor:
    """The sum over all samples and places of slopes times inputs', of shapes (samples, places, p or d).

    In blocks, as `rounding_of` says, and in float64 where they are many.

    Examples
    --------
    >>> outer_sum(torch.ones(900, 1, 2), torch.ones(900, 1, 3))
    tensor([[900., 900., 900.],
            [900., 900., 900.]], dtype=torch.float64)
    """
    rounding = rounding_of(slopes, slopes.shape[1])
    slopes, inputs = (_blocks(wide(one), rounding) for one in (slopes, inputs))
    if len(slopes) == 1:
        return slopes[0].T @ inputs[0]
    room = max(AT_HAND, math.prod((len(slopes), slopes.shape[2], inputs.shape[2])) // PARTS)
    rows = max(1, room // (inputs.shape[2] * min(FEW, len(slopes))))
    few = max(1, room // (inputs.shape[2] * min(rows, slopes.shape[2])))
    parts = [_added(part, inputs, few, rounding.blocks) for part in torch.split(slopes, rows, dim=2)]
    return torch.cat(parts) if len(parts) > 1 else parts[0]


def _added(slopes: Tensor, inputs: Tensor, few: int, blocks: int) -> Tensor:
    """The sum of all blocks, a few at a time, so that they are added before they leave the cache; most in float64."""
    total: Tensor | None = None
    for left, right in zip(torch.split(slopes, few), torch.split(inputs, few), strict=True):
        for some in torch.split(left.mT @ right, blocks):
            found = some.sum(dim=0) if len(some) > 1 else some[0]
            total = found if total is None else total.double().add_(found)
    assert total is not None
    return total


def added_up(parts: Tensor) -> Tensor:
    """The sum of parts, along the first axis, in float64: one after another, which compiles to one pass over few.

    Examples
    --------
    >>> added_up(torch.ones(3, 2))
    tensor([3., 3.], dtype=torch.float64)
    """
    if len(parts) > PARTS // 4:
        return parts.sum(dim=0, dtype=torch.float64)
    first, *rest = parts.unbind()
    return sum(rest, first.double())


def weighted_sum(weights: Tensor, values: Tensor) -> Tensor:
    """The sum over samples of their numbers, along the first axis, each times its weight: in the same way.

    Examples
    --------
    >>> weighted_sum(torch.full((300,), 0.5), torch.ones(300, 2))
    tensor([150., 150.], dtype=torch.float64)
    """
    values = wide(values)
    weights = weights.to(values.dtype)
    rows = rounding_of(values, 1).samples
    if not on_processor(values):  # where the sums over all blocks are one kernel
        values = values * weights.view(-1, *(1 for _ in values.shape[1:]))
        missing = [0, 0] * (values.dim() - 1) + [0, -len(values) % rows]
        blocks = torch.unflatten(functional.pad(values, missing), 0, (-1, rows))
        return blocks.sum(dim=1).sum(dim=0, dtype=torch.float64)
    parts = zip(torch.split(weights, rows), torch.split(values, rows), strict=True)
    first, *others = [torch.tensordot(part, numbers, dims=1) for part, numbers in parts]
    return sum(others, first.double()) if others else first


def _blocks(values: Tensor, rounding: Rounding) -> Tensor:
    """Numbers of shape (samples, places, n) as blocks of so many samples and places, filled up with zeros."""
    samples, places, _ = values.shape
    missing = -places % rounding.places, -samples % min(rounding.samples, samples)
    if any(missing):  # else it would be copied
        values = functional.pad(values, (0, 0, 0, missing[0], 0, missing[1]))
    if places > rounding.places:
        return torch.unflatten(values, 1, (-1, rounding.places)).flatten(0, 1)
    return torch.unflatten(values, 0, (-1, min(rounding.samples, samples))).flatten(1, 2)
