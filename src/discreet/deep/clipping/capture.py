"""One forward and one backward pass that note what goes into layers and the derivatives by what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from discreet.core.errors import ParameterError
from discreet.deep.clipping.indices_in_range import outside
from discreet.deep.forms.finite import bounded, channels_last, finite, finite_factor
from discreet.deep.forms.form import Form
from discreet.deep.layers.any_layer import Given, any_layer
from discreet.deep.layers.composite import ComposedUse, Composite, composite_of
from discreet.deep.layers.rule import rule_of

LEAVING_OUT = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.LayerNorm, nn.RMSNorm, nn.GroupNorm)
"""Layers whose forms leave samples that are not finite out by themselves, where no graph is compiled for a GPU."""

MULTIPLYING = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
"""Layers that `torch.autocast` rounds what they are given for."""

ASKED = "train with privacy"


@dataclass(frozen=True)
class Lead:
    """Whose the entries of first axes are, in one call of a layer.

    Parameters
    ----------
    each : int
        Public. How many entries one sample has, next to one another; 0 where all samples share what the layer is given.
    apart : tuple of bool, optional
        Public. Which of the tensors that it is given have samples along their first axis; by default those of the
        length of what it gives.
    """

    each: int
    apart: tuple[bool, ...] | None = None


class Layer(NamedTuple):
    """A module that gradients are taken of.

    Attributes
    ----------
    name : str
        Of the module.
    module : Module
        Itself.
    trained : list of str
        The names of those of its parameters that are trained.
    leads : tuple of Lead, optional
        Of its calls, in their order, as a rehearsal found them. Without one, samples have to be along the first axis.
    extra : bool
        Whether it is the whole model, beside its layers: for parameters that are used outside of these.
    """

    name: str
    module: nn.Module
    trained: list[str]
    leads: tuple[Lead, ...] | None = None
    extra: bool = False

    def lead(self, call: int) -> Lead:
        """That of a call."""
        if self.leads is None:
            return Lead(1)
        if call >= len(self.leads):
            obstacle = f"{self.name or 'the model'} is called more often than on made-up records"
            raise ParameterError(ASKED, obstacle, "Call each layer equally often, whatever the records are.")
        return self.leads[call]


@dataclass
class Use:
    """One call of a layer."""

    name: str
    module: nn.Module
    trained: list[str]
    given: Given
    lead: Lead = Lead(1)
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
            return grouped({name: form for name, form in forms.items() if name in self.trained}, self.lead.each)
        slopes_of = [slope for slope in self.slopes if slope is not None]
        written = any_layer(self.module, self.trained, self.given, slopes_of, self.lead.apart)
        return grouped(written, self.lead.each)


def grouped(forms: dict[str, Form], each: int) -> dict[str, Form]:
    """The forms of samples that have several entries each."""
    return forms if each < 2 else {name: form.grouped(each) for name, form in forms.items()}


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
        if trained or type(module) is nn.Embedding:  # also a frozen table: what it is asked for may not be in it
            yield Layer(name, module, trained)


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
    model: nn.Module, taken: Sequence[Layer], losses: Callable[[], Tensor], samples: int
) -> tuple[list[Use | ComposedUse], Tensor]:
    """What every layer was given, with the derivatives of the sum of all losses by what it gave; and the losses.

    A sample whose loss is not finite, or that asks a table for a row that it has not, counts for nothing.

    Parameters
    ----------
    model : Module
        Public. Plain, and unchanged afterwards.
    taken : sequence of Layer
        Public. Its `layers`.
    losses : callable
        Calls the model, and gives one loss for each sample.
    samples : int
        Public. How many there are.
    """
    run = _CapturedRun(samples)
    with ExitStack() as changed:
        for layer in taken:
            module, function = layer.module, composite_of(layer.module)
            if function is None:
                changed.callback(module.register_forward_hook(run.noting(layer), with_kwargs=True).remove)
            else:
                changed.enter_context(_computing(module, run.composed(function, layer)))
            if rule_of(module) is not None:
                changed.callback(module.register_forward_pre_hook(run.readying(layer), with_kwargs=True).remove)
        with _frozen(model), torch.enable_grad():
            found = losses()
            counts = torch.isfinite(found)
            for wrong in run.wrong:
                counts = counts & ~wrong
            found = torch.where(counts, found, 0)
            if run.anchor:
                torch.autograd.grad(found.sum(), run.anchor, allow_unused=True)
    return run.uses, found.detach()


class _CapturedRun:
    """What one forward pass calls, and with what."""

    def __init__(self, samples: int) -> None:
        self.samples = samples
        self.uses: list[Use | ComposedUse] = []
        self.anchor: list[Tensor] = []
        self.wrong: list[Tensor] = []
        self._calls: dict[str, int] = {}

    def noting(self, layer: Layer) -> Any:
        """A hook that notes a call of a layer."""

        def note(_: nn.Module, args: tuple[Any, ...], named: dict[str, Any], out: Any) -> Any:
            lead = self._next(layer)
            if not layer.trained:
                return out
            use = Use(layer.name, layer.module, layer.trained, (args, named), lead)
            self.uses.append(use)
            parts, form = tree_flatten(out)
            for place, part in enumerate(parts):
                if isinstance(part, Tensor) and part.is_floating_point():
                    self._check_first(layer, part, lead)
                    parts[place] = self._watch(part, use.slopes, isinstance(layer.module, nn.Conv2d))
            return tree_unflatten(parts, form)

        return note

    def composed(self, function: Composite, layer: Layer) -> Any:
        """What a composite layer computes by, noting it."""

        def forward(*args: Any, **named: Any) -> Any:
            lead = self._next(layer)
            if args and type(args[0]) is Tensor:
                self._check_first(layer, args[0], lead)
            use = ComposedUse(layer.name, layer.module, layer.trained, self._watch, each=lead.each)
            self.uses.append(use)
            return function(layer.module, use, *args, **named)

        return forward

    def readying(self, layer: Layer) -> Any:
        """A hook that makes what a layer is given one for each sample, in the range of a table, and finite."""

        def ready(module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
            lead = layer.lead(self._calls.get(layer.name, 0))

            def one(given: Any) -> Any:
                if not isinstance(given, Tensor):
                    return given
                if lead.each == 0 and layer.trained:
                    given = given.expand(self.samples, *(given.shape[1:] if len(given) == 1 else given.shape))
                if isinstance(module, nn.Embedding):
                    return self._in_range(module, given) if lead.each else given
                return _finite(module, given)

            return tree_map(one, (args, named))

        return ready

    def _in_range(self, module: nn.Embedding, given: Tensor) -> Tensor:
        wrong = outside(given, module.num_embeddings)
        if given.numel() and given.dim() and len(given) % self.samples == 0:  # else it is refused
            self.wrong.append(wrong.reshape(self.samples, -1).any(dim=1))
        return torch.where(wrong, 0, given)

    def _next(self, layer: Layer) -> Lead:
        call = self._calls.get(layer.name, 0)
        self._calls[layer.name] = call + 1
        return layer.lead(call)

    def _check_first(self, layer: Layer, part: Tensor, lead: Lead) -> None:
        wanted = self.samples * max(lead.each, 1)
        if layer.leads is None and (part.dim() == 0 or len(part) != wanted):
            obstacle = f"{layer.name or 'the model'} has no samples along its first axis"
            raise ParameterError(ASKED, obstacle, "Call it with one entry for each sample.")

    def _watch(self, out: Tensor, slopes: list[Tensor | None], images: bool = False) -> Tensor:
        return _watched(out, slopes, self.anchor, images)


def _finite(module: nn.Module, given: Tensor) -> Tensor:
    """What a layer is given, such that products with zero are zero."""
    if not given.is_floating_point() or (isinstance(module, LEAVING_OUT) and not given.is_cuda):
        return given
    given = finite_factor(given) if isinstance(module, MULTIPLYING) else finite(given)
    return channels_last(given) if isinstance(module, nn.Conv2d) else given


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
        if slope.is_cuda and slope.dtype == torch.bfloat16:  # kernels may weigh what they are multiplied with
            slope = bounded(slope, slope.dtype)
        slope = slopes[place] = channels_last(slope) if images else slope
        return slope

    out.register_hook(note)  # type: ignore[no-untyped-call]
    return out
