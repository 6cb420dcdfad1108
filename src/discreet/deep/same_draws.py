"""Random numbers that are the same for all records, so that a rehearsal shows what one record does to another."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

ATEN = torch.ops.aten


class SameDraws(TorchDispatchMode):
    """Inside, every random tensor has the same numbers in all entries of its first axis, and in every run.

    So what dropout or augmentation do to a record depends neither on its place nor on how many there are.

    Examples
    --------
    >>> with SameDraws(torch.device("cpu")):
    ...     first = torch.rand(2, 3)
    >>> with SameDraws(torch.device("cpu")):
    ...     again = torch.rand(4, 3)
    >>> bool((again == first[0]).all())
    True
    """

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self._devices, self.drawn, self.other = [device] if device.type == "cuda" else [], 0, False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch's compiler is loaded, which takes seconds

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """The operation; of a random one, the draws of the first entry, for all."""
        named = kwargs or {}
        if torch.Tag.nondeterministic_seeded not in func.tags or named.get("generator") is not None:
            return func(*args, **named)
        self.drawn += 1
        with torch.random.fork_rng(devices=self._devices):
            torch.manual_seed(self.drawn)
            return self._same(func, args, named)

    def _same(self, func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        first, rest = args[0], args[1:]
        if func is ATEN.native_dropout.default:
            _, mask = func(torch.ones_like(first[:1]), *rest)
            mask = mask.expand_as(first)
            return first * mask / (1 - rest[0]), mask
        if func in _IN_PLACE and first.dim():
            return first.copy_(func(torch.empty_like(first[:1]), *rest, **named).expand_as(first))
        if func in _LIKE and first.dim():
            return func(first[:1], *rest, **named).expand_as(first).clone()
        if func in _MADE:
            size = args[_MADE[func]]
            one = [*args[: _MADE[func]], [1, *size[1:]] if len(size) else size, *args[_MADE[func] + 1 :]]
            return func(*one, **named).expand(size).clone()
        self.other = True
        return func(*args, **named)


def _overloads(*names: str) -> list[Any]:
    return [getattr(getattr(ATEN, name), one) for name in names for one in getattr(ATEN, name).overloads()]


_IN_PLACE = {
    ATEN.bernoulli_.float, ATEN.uniform_.default, ATEN.normal_.default, ATEN.exponential_.default,
    ATEN.random_.default, ATEN.random_.to, ATEN.random_.__getattr__("from"),
}  # fmt: skip
_LIKE = {*_overloads("rand_like", "randn_like", "randint_like")}
_MADE = {ATEN.rand.default: 0, ATEN.randn.default: 0, ATEN.randint.default: 1, ATEN.randint.low: 2, ATEN.normal.float_float: 2}


def same(first: Tensor, second: Tensor, slack: Tensor | float = 0.0) -> bool:
    """Whether numbers are equal, up to a slack; what is not finite is equal to what is not finite."""
    both = ~torch.isfinite(first) & ~torch.isfinite(second)
    return bool((both | ((first - second).abs() <= slack)).all())
