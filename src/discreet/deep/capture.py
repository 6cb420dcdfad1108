"""One forward and one backward pass that note what goes into layers and the derivatives by what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from discreet.deep.forms.form import Form
from discreet.deep.forms.precision import bounded
from discreet.deep.layers.any_layer import Given, any_layer
from discreet.deep.layers.rule import rule_of

Layer = tuple[str, nn.Module, list[str]]
"""The name of a module, the module, and the names of those of its parameters that are trained."""


@dataclass
class Use:
    """One call of a layer."""

    name: str
    module: nn.Module
    trained: list[str]
    given: Given
    slopes: list[Tensor | None] = field(default_factory=list)

    def forms(self) -> dict[str, Form]:
        """The forms of the gradients of the layer's trained parameters, by name; none if the loss has none of it."""
        if all(slope is None for slope in self.slopes):
            return {}
        found = rule_of(self.module)
        if found is not None:
            (inputs,), (slopes,) = (*self.given[0], *self.given[1].values()), self.slopes
            assert slopes is not None
            forms = found(self.module, inputs.detach(), slopes.detach())
            return {name: form for name, form in forms.items() if name in self.trained}
        return any_layer(self.module, self.trained, self.given, [slope for slope in self.slopes if slope is not None])


def layers(model: nn.Module) -> Iterator[Layer]:
    """The modules that gradients are taken of, outermost first, and the names of their trained parameters.

    A module with parameters of its own and no rule is taken as a whole, with all that is in it.
    """
    inside: tuple[str, ...] = ()
    for name, module in model.named_modules():
        if any(name.startswith(outer) for outer in inside):
            continue
        whole = rule_of(module) is None and any(True for _ in module.parameters(recurse=False))
        trained = [one for one, parameter in module.named_parameters(recurse=whole) if parameter.requires_grad]
        if whole:
            inside += (f"{name}." if name else "",)
        if trained:
            yield name, module, trained


@contextmanager
def _frozen(model: nn.Module) -> Iterator[None]:
    """No gradients of parameters are formed inside."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for parameter in trained:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in trained:
            parameter.requires_grad_(True)


def captured(model: nn.Module, taken: Sequence[Layer], losses: Callable[[], Tensor]) -> tuple[list[Use], Tensor]:
    """What every layer was given, with the derivatives of the sum of all losses by what it gave; and the losses.

    Parameters
    ----------
    model : Module
        Public. Plain, and unchanged afterwards.
    taken : sequence of Layer
        Public. Its `layers`.
    losses : callable
        Calls the model, and gives one loss for each sample.
    """
    uses: list[Use] = []
    anchor: list[Tensor] = []

    def noting(name: str, module: nn.Module, trained: list[str]) -> Any:
        def note(_: nn.Module, args: tuple[Any, ...], named: dict[str, Any], out: Any) -> Any:
            use = Use(name, module, trained, (args, named))
            uses.append(use)
            parts, form = tree_flatten(out)
            for place, part in enumerate(parts):
                if isinstance(part, Tensor) and part.is_floating_point():
                    parts[place] = _watched(part, use, anchor)
            return tree_unflatten(parts, form)

        return note

    hooks = [
        module.register_forward_hook(noting(name, module, trained), with_kwargs=True) for name, module, trained in taken
    ]
    hooks += [
        module.register_forward_pre_hook(_bounded, with_kwargs=True)
        for _, module, _ in taken
        if rule_of(module) is not None
    ]
    try:
        with _frozen(model), torch.enable_grad():
            found = losses()
            if anchor:
                torch.autograd.grad(found.sum(), anchor, allow_unused=True)
    finally:
        for hook in hooks:
            hook.remove()
    return uses, found.detach()


class Bounded(torch.autograd.Function):
    """What a layer is given, `bounded`; the derivatives are those without that."""

    @staticmethod
    def forward(values: Tensor) -> Tensor:
        return _channels_last(bounded(values, values.dtype))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is kept."""

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Tensor:
        return slopes[0]


def _bounded(_: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What a layer is given, such that products with zero are zero."""

    def one(given: Any) -> Any:
        return Bounded.apply(given) if isinstance(given, Tensor) and given.is_floating_point() else given  # type: ignore[no-untyped-call]

    return tree_map(one, (args, named))


def _channels_last(values: Tensor) -> Tensor:
    """Images on a GPU in the order that its convolutions take: so nothing has to be turned around in between."""
    if values.dim() == 4 and values.is_cuda:
        return values.contiguous(memory_format=torch.channels_last)
    return values


def _watched(out: Tensor, use: Use, anchor: list[Tensor]) -> Tensor:
    """What went out, in a way that its derivative is noted: before anything that is done to it in place."""
    place = len(use.slopes)
    use.slopes.append(None)
    if not out.requires_grad:
        if not anchor:
            anchor.append(torch.zeros((), dtype=torch.float32, device=out.device, requires_grad=True))
        out = out + anchor[0].to(out.dtype)

    def note(slope: Tensor) -> Tensor:
        slope = _channels_last(slope) if isinstance(use.module, nn.Conv2d) else slope
        use.slopes[place] = slope
        return slope

    out.register_hook(note)  # type: ignore[no-untyped-call]
    return out
