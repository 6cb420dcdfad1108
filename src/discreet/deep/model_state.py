"""What a model holds, so that nothing but noisy gradients changes it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map

OF_MODULES = frozenset(vars(nn.Module()))  # what every module has: its tables, hooks and mode


class ModelState:
    """The parameters, buffers and other attributes of a model as they were, to be compared and put back.

    A forward pass may write into a model: averages of what it saw, rows of a table that it shortens, what it gave last.
    All that is about records, without noise.

    Parameters
    ----------
    model : Module
        Public. Tensors that are trained are copied where they are, the others in the memory of the processor.

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
        self._modules = list(model.named_modules())
        self._buffers = [(module, dict(module._buffers)) for _, module in self._modules]
        self._tensors = dict(model.named_parameters()) | dict(model.named_buffers())
        self._copies = {name: _copy(one) for name, one in self._tensors.items()}
        self._versions = {name: one._version for name, one in self._tensors.items()}
        self._attributes = [
            {key: (value, _kept(value)) for key, value in vars(module).items() if key not in OF_MODULES}
            for _, module in self._modules
        ]

    def renew(self) -> None:
        """Take over the trained parameters as they are now: what an optimizer did to them is public."""
        moved = [name for name, one in self._tensors.items() if one._version != self._versions[name]]
        if moved:
            with torch.no_grad():
                torch._foreach_copy_([self._copies[name] for name in moved], [self._tensors[name] for name in moved])
        self._versions.update((name, self._tensors[name]._version) for name in moved)

    def restore_tensors(self) -> None:
        """Put back the parameters and buffers that were written."""
        for module, buffers in self._buffers:
            if module._buffers.keys() != buffers.keys() or any(
                module._buffers[key] is not one for key, one in buffers.items()
            ):
                module._buffers.clear()
                module._buffers.update(buffers)
        with torch.no_grad():
            for name, one in self._tensors.items():
                if one._version != self._versions[name]:
                    one.copy_(self._copies[name])
                    self._versions[name] = one._version

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


def _copy(one: Tensor) -> Tensor:
    copied = one.detach().clone() if one.requires_grad else one.detach().to("cpu", copy=True)
    return copied.clone() if copied._is_view() else copied


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
