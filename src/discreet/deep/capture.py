"""One forward and one backward pass that note what goes into layers and the derivatives by what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from discreet.deep.forms.finite import channels_last, finite
from discreet.deep.forms.form import Form
from discreet.deep.layers.any_layer import Given, any_layer
from discreet.deep.layers.composite import ComposedUse, Composite, composite_of
from discreet.deep.layers.rule import rule_of

LEAVING_OUT = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.LayerNorm, nn.RMSNorm, nn.GroupNorm)
"""Layers whose forms leave samples that are not finite out by themselves, where no graph is compiled for a GPU."""

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

    A composite module, and one with parameters of its own and no rule, is taken as a whole, with all that is in it.
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


def captured(
    model: nn.Module, taken: Sequence[Layer], losses: Callable[[], Tensor]
) -> tuple[list[Use | ComposedUse], Tensor]:
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
    uses: list[Use | ComposedUse] = []
    anchor: list[Tensor] = []

    def watch(out: Tensor, slopes: list[Tensor | None], images: bool = False) -> Tensor:
        return _watched(out, slopes, anchor, images)

    def composed(function: Composite, name: str, module: nn.Module, trained: list[str]) -> Any:
        def forward(*args: Any, **named: Any) -> Any:
            use = ComposedUse(name, module, trained, watch)
            uses.append(use)
            return function(module, use, *args, **named)

        return forward

    def noting(name: str, module: nn.Module, trained: list[str]) -> Any:
        def note(_: nn.Module, args: tuple[Any, ...], named: dict[str, Any], out: Any) -> Any:
            use = Use(name, module, trained, (args, named))
            uses.append(use)
            parts, form = tree_flatten(out)
            for place, part in enumerate(parts):
                if isinstance(part, Tensor) and part.is_floating_point():
                    parts[place] = watch(part, use.slopes, isinstance(module, nn.Conv2d))
            return tree_unflatten(parts, form)

        return note

    with ExitStack() as changed:
        for layer in taken:
            module, function = layer[1], composite_of(layer[1])
            if function is None:
                changed.callback(module.register_forward_hook(noting(*layer), with_kwargs=True).remove)
            else:
                changed.enter_context(_computing(module, composed(function, *layer)))
            if rule_of(module) is not None:
                changed.callback(module.register_forward_pre_hook(_finite, with_kwargs=True).remove)
        with _frozen(model), torch.enable_grad():
            found = losses()
            if anchor:
                torch.autograd.grad(found.sum(), anchor, allow_unused=True)
    return uses, found.detach()


def _finite(module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What a layer is given, such that products with zero are zero."""

    def one(given: Any) -> Any:
        if not isinstance(given, Tensor) or not given.is_floating_point():
            return given
        if isinstance(module, LEAVING_OUT) and not given.is_cuda:
            return given
        return channels_last(finite(given)) if isinstance(module, nn.Conv2d) else finite(given)

    return tree_map(one, (args, named))


@contextmanager
def _computing(module: nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    """Inside, the module computes by another function; the hook keeps modules around it from going past it."""
    own = vars(module).get("forward")
    hook = module.register_forward_hook(lambda *_: None)
    vars(module)["forward"] = forward
    try:
        yield
    finally:
        hook.remove()
        if own is None:
            del vars(module)["forward"]
        else:
            vars(module)["forward"] = own


def _watched(out: Tensor, slopes: list[Tensor | None], anchor: list[Tensor], images: bool) -> Tensor:
    """What went out, in a way that its derivative is noted: before anything that is done to it in place."""
    place = len(slopes)
    slopes.append(None)
    if not out.requires_grad:
        if not anchor:
            anchor.append(torch.zeros((), dtype=torch.float32, device=out.device, requires_grad=True))
        out = out + anchor[0].to(out.dtype)

    def note(slope: Tensor) -> Tensor:
        slope = slopes[place] = channels_last(slope) if images else slope
        return slope

    out.register_hook(note)  # type: ignore[no-untyped-call]
    return out
