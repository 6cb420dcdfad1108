"""Random numbers that are the same for all records, so that a rehearsal shows what one record does to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from discreet.core.held import unheld

ATEN = torch.ops.aten


@unheld("one call")
class SameDraws(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Inside, a random tensor has the same numbers along all axes but its last, and in every run; nothing is dropped.

    So what dropout or augmentation do to a record depends neither on its place nor on how many there are; and a part of
    a model that is left out at random is there.

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
        super().__init__()  # type: ignore[no-untyped-call]
        self._devices, self.drawn, self.other = [device] if device.type == "cuda" else [], 0, False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch's compiler is loaded, which takes seconds

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """The operation; of a random one, the draws of one entry, for all."""
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
            return first / (1 - rest[0]), torch.ones_like(first, dtype=torch.bool)
        if func is ATEN.bernoulli_.float:
            return first.fill_(1)
        if func in _IN_PLACE:
            return first.copy_(func(first.new_empty(_last(first.shape)), *rest, **named).expand_as(first))
        if func in _LIKE:
            like = first.new_empty(_last(first.shape))
            return self._middle(func, func(like, *rest, **named)).expand_as(first).clone()
        if func in _MADE:
            place = _MADE[func]
            found = func(*args[:place], _last(args[place]), *args[place + 1 :], **named)
            return self._middle(func, found).expand(args[place]).clone()
        self.other = True
        return func(*args, **named)

    def _middle(self, func: Any, found: Tensor) -> Tensor:
        """Numbers near one half, where they are uniform: what is kept with a great probability is kept."""
        return 0.45 + found / 10 if func in _UNIFORM else found


def _last(shape: Sequence[int]) -> list[int]:
    return [1 if place < len(shape) - 1 else size for place, size in enumerate(shape)]


def _overloads(*names: str) -> list[Any]:
    return [getattr(getattr(ATEN, name), one) for name in names for one in getattr(ATEN, name).overloads()]


_IN_PLACE = {
    ATEN.uniform_.default, ATEN.normal_.default, ATEN.exponential_.default,
    ATEN.random_.default, ATEN.random_.to, ATEN.random_.__getattr__("from"),
}  # fmt: skip
_LIKE = {*_overloads("rand_like", "randn_like", "randint_like")}
_MADE = {
    ATEN.rand.default: 0,
    ATEN.randn.default: 0,
    ATEN.randint.default: 1,
    ATEN.randint.low: 2,
    ATEN.normal.float_float: 2,
}
_UNIFORM = {ATEN.rand.default, *_overloads("rand_like")}


def same(first: Tensor, second: Tensor, slack: Tensor | float = 0.0) -> bool:
    """Whether numbers are equal, up to a slack; what is not finite is equal to what is not finite."""
    both = ~torch.isfinite(first) & ~torch.isfinite(second)
    return bool((both | ((first - second).abs() <= slack)).all())
