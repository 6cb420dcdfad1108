"""What a model holds, so that nothing but noisy gradients changes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map

from discreet.core.held import unheld

OF_MODULES = frozenset(vars(nn.Module()))  # what every module has: its tables, hooks and mode


@unheld("part")
class ModelState:
    """The parameters, buffers and other attributes of a model as they were, to be compared and put back.

    A forward pass may write into a model: averages of what it saw, rows of a table that it shortens, what it gave last.
    All that is about records, without noise.

    Parameters
    ----------
    model : Module
        Public. Frozen parameters are copied in the memory of the processor, all else where it is.

    Examples
    --------
    >>> model = nn.BatchNorm1d(1)
    >>> state = ModelState(model)
    >>> _ = model(torch.tensor([[1.0], [5.0]]))
    >>> sorted(state.written())
    ['num_batches_tracked', 'running_mean', 'running_var']
    >>> state.restore()
    >>> state.written(), model.running_mean
    ({}, tensor([0.]))
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._take()

    def _take(self) -> None:
        model = self._model
        self._modules = list(model.named_modules())
        self._buffers = [(module, dict(module._buffers)) for _, module in self._modules]
        self._tensors = dict(model.named_parameters()) | dict(model.named_buffers())
        frozen = {name for name, one in model.named_parameters() if not one.requires_grad}
        self._copies = {name: _copy(one, name in frozen) for name, one in self._tensors.items()}
        self._versions = {name: one._version for name, one in self._tensors.items()}
        self._attributes = self._attributes_now()

    def renew(self) -> None:
        """Take over what the model holds now: what an optimizer or its owner did between steps is public."""
        if any(not _one_table(module._buffers, buffers) for module, buffers in self._buffers):
            self._take()
            return
        self._copied(self._copies, self._tensors)
        self._attributes = self._attributes_now()

    def _near(self, name: str) -> bool:
        return self._copies[name].device == self._tensors[name].device

    def _attributes_now(self) -> list[dict[str, tuple[Any, Any]]]:
        return [
            {key: (value, _kept(value)) for key, value in vars(module).items() if key not in OF_MODULES}
            for _, module in self._modules
        ]

    def restore_tensors(self) -> None:
        """Put back the parameters and buffers that were written."""
        for module, buffers in self._buffers:
            if not _one_table(module._buffers, buffers):
                module._buffers.clear()
                module._buffers.update(buffers)
        self._copied(self._tensors, self._copies)

    def _copied(self, to: dict[str, Tensor], given: dict[str, Tensor]) -> None:
        """Copy all that is near, and what is far where it was written: not all ways of writing are counted."""
        names = [
            name for name, one in self._tensors.items() if self._near(name) or one._version != self._versions[name]
        ]
        if names:
            with torch.no_grad():
                torch._foreach_copy_([to[name] for name in names], [given[name] for name in names])
        self._versions.update((name, self._tensors[name]._version) for name in names)

    def restore(self) -> None:
        """Put back all that was written: parameters, buffers and other attributes."""
        self.restore_tensors()
        for (_, module), attributes in zip(self._modules, self._attributes, strict=True):
            own = vars(module)
            for key in [key for key in own if key not in OF_MODULES and key not in attributes]:
                del own[key]
            for key, (value, kept) in attributes.items():
                if own.get(key) is not value or (kept is not value and not _same(value, kept)):
                    own[key] = value if kept is value else _kept(kept)
                    attributes[key] = own[key], kept

    def written(self) -> dict[str, Any]:
        """What is not as it was, by its name: the values that it has now."""
        found: dict[str, Any] = {}
        for name, one in {**dict(self._model.named_parameters()), **dict(self._model.named_buffers())}.items():
            kept = self._copies.get(name)
            if kept is None or kept.shape != one.shape or not _same(one, kept):
                found[name] = one.detach().clone()
        for (path, module), attributes in zip(self._modules, self._attributes, strict=True):
            for key, value in vars(module).items():
                if key not in OF_MODULES and (key not in attributes or not _same(value, attributes[key][1])):
                    found[f"{path}.{key}" if path else key] = _kept(value)
        return found


def differing(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """The names of what is not the same in both; of things that are no numbers only whether they are there counts."""
    return sorted(
        name
        for name in first.keys() | second.keys()
        if name not in first or name not in second or not _same(first[name], second[name], things=False)
    )


def _one_table(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return first.keys() == second.keys() and all(first[key] is one for key, one in second.items())


def _copy(one: Tensor, frozen: bool) -> Tensor:
    return one.detach().to("cpu", copy=True) if frozen else one.detach().clone()


def _kept(value: Any) -> Any:
    """The value itself, if it is a parameter; of other tensors and of what contains values, a copy."""
    if isinstance(value, Tensor):
        return value if value.is_leaf and value.requires_grad else value.detach().clone()
    return tree_map(_kept, value) if isinstance(value, list | dict) else value


def _same(first: Any, second: Any, things: bool = True) -> bool:
    """Whether two values are equal: tensors and numbers by what they are, other things by whether they are one."""
    if first is second:
        return True
    if isinstance(first, list | dict) and isinstance(second, list | dict):
        (flat, form), (other, formed) = tree_flatten(first), tree_flatten(second)
        return form == formed and all(_same(a, b, things) for a, b in zip(flat, other, strict=True))
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        return first.shape == second.shape and _equal(first.detach(), second.detach())
    if isinstance(first, int | float | complex | str) or isinstance(second, int | float | complex | str):
        return type(first) is type(second) and (first == second or (first != first and second != second))
    return not things


def _equal(first: Tensor, second: Tensor) -> bool:
    second = second.to(first.device)
    return first.dtype == second.dtype and bool(((first == second) | ((first != first) & (second != second))).all())


@contextmanager
def replaced_parameters(model: nn.Module, others: Mapping[str, Tensor]) -> Iterator[None]:
    """Inside, the parameters of these names are other tensors, wherever the model has them; afterwards they are back.

    A module may be in several places of a model, and several modules may share a parameter.

    Parameters
    ----------
    model : Module
        Public.
    others : mapping of str to Tensor
        By the names of `named_parameters`.

    Examples
    --------
    >>> layer = nn.Linear(2, 2)
    >>> with replaced_parameters(nn.Sequential(layer, layer), {"0.weight": torch.eye(2)}):
    ...     layer.weight
    tensor([[1., 0.],
            [0., 1.]])
    >>> type(layer.weight).__name__
    'Parameter'
    """
    named: dict[str, Tensor] = dict(model.named_parameters())
    by_own: dict[Tensor, Any] = {named[name]: one for name, one in others.items()}
    owners = [(module._parameters, dict(module._parameters)) for module in model.modules()]
    try:
        for table, own in owners:
            table.update({name: by_own[one] for name, one in own.items() if one is not None and one in by_own})
        yield
    finally:
        for table, own in owners:
            table.update(own)
