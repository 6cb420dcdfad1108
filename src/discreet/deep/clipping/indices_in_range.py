"""Whole numbers in records that no table has a row for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode


class IndicesInRange(TorchFunctionMode):
    """Inside, a label or token out of range raises nothing: what is looked up with it is nan.

    So the loss of that record is not finite, and it counts for nothing. On a device an index out of range would end the
    whole process; on a processor it would stop a run that is paid for, and be quoted.

    Examples
    --------
    >>> with IndicesInRange():
    ...     lost = functional.cross_entropy(torch.zeros(2, 2), torch.tensor([0, 12345]), reduction="none")
    >>> lost
    tensor([0.6931,    nan])
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """The function, or what stands for it."""
        found = _LOOKED_UP.get(func)
        named = kwargs or {}
        return func(*args, **named) if found is None else found(func, *args, **named)


def outside(indices: Tensor, size: int, least: int = 0) -> Tensor:
    """Which indices are not at least `least` and below `size`."""
    return (indices < least) | (indices >= size)


def _marked(found: Tensor, wrong: Tensor) -> Tensor:
    """What was looked up, and nan where nothing is."""
    if not found.is_floating_point():
        return found
    if wrong.dim() > found.dim():
        wrong = wrong.any()
    return torch.where(wrong.reshape([*wrong.shape, *[1] * (found.dim() - wrong.dim())]), torch.nan, found)


def _labels(func: Any, given: Tensor, target: Tensor, *rest: Any, **named: Any) -> Tensor:
    if target.is_floating_point():
        return func(given, target, *rest, **named)
    wrong = outside(target, given.shape[1 if given.dim() > 1 else 0]) & (target != named.get("ignore_index", -100))
    found = func(given, torch.where(wrong, 0, target), *rest, **named)
    return _marked(found, wrong if found.shape == target.shape else wrong.any())


def _rows(func: Any, indices: Tensor, table: Tensor, *rest: Any, **named: Any) -> Tensor:
    wrong = outside(indices, len(table))
    return _marked(func(torch.where(wrong, 0, indices), table, *rest, **named), wrong)


def _along(func: Any, given: Tensor, dim: int, index: Tensor, **named: Any) -> Tensor:
    wrong = outside(index, given.shape[dim])
    return _marked(func(given, dim, torch.where(wrong, 0, index), **named), wrong)


def _along_last(func: Any, given: Tensor, indices: Tensor, dim: int | None = None, **named: Any) -> Tensor:
    wrong = outside(indices, given.numel() if dim is None else given.shape[dim])
    return _marked(func(given, torch.where(wrong, 0, indices), dim, **named), wrong)


def _chosen(func: Any, given: Tensor, dim: int, index: Tensor, **named: Any) -> Tensor:
    wrong = outside(index, given.shape[dim])
    found = func(given, dim, torch.where(wrong, 0, index), **named)
    return _marked(found.movedim(dim, 0), wrong).movedim(0, dim)


def _indexed(func: Any, given: Tensor, index: Any) -> Tensor:
    """Advanced indexing by whole numbers alone; any other kind is left as it is."""
    each = index if isinstance(index, tuple) else (index,)
    if not all(isinstance(one, Tensor) and one.dtype in _WHOLE for one in each) or len(each) > given.dim():
        return func(given, index)
    wrong = [outside(one, size, -size) for one, size in zip(each, given.shape, strict=False)]
    kept = tuple(torch.where(bad, 0, one) for bad, one in zip(wrong, each, strict=True))
    anywhere = wrong[0]
    for one in wrong[1:]:
        anywhere = anywhere | one
    return _marked(func(given, kept), anywhere)


def _one_hot(func: Any, given: Tensor, num_classes: int = -1) -> Tensor:
    if num_classes < 1:
        return func(given, num_classes)
    wrong = outside(given, num_classes)
    return func(torch.where(wrong, 0, given), num_classes) * ~wrong[..., None]


_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8)
_LOOKED_UP: dict[Any, Callable[..., Tensor]] = {
    functional.cross_entropy: _labels,
    functional.nll_loss: _labels,
    functional.embedding: _rows,
    functional.one_hot: _one_hot,
    torch.gather: _along,
    Tensor.gather: _along,
    torch.take_along_dim: _along_last,
    Tensor.take_along_dim: _along_last,
    torch.index_select: _chosen,
    Tensor.index_select: _chosen,
    Tensor.__getitem__: _indexed,
}
