"""The sum over samples of gradients that are shortened to a common length."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any
from weakref import ref

import torch
from torch import Tensor, nn

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.held import Secret
from discreet.deep.clipping.capture import Layer, Use, captured
from discreet.deep.clipping.indices_in_range import IndicesInRange
from discreet.deep.clipping.kept_memory import keep_memory
from discreet.deep.forms.chosen_rows import ChosenRows, TiedRows
from discreet.deep.forms.explicit import Explicit
from discreet.deep.forms.form import Form
from discreet.deep.forms.outer_products import OuterProducts
from discreet.deep.forms.rounding import SLACK
from discreet.deep.layers.composite import ComposedUse

Losses = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class ClippedSum(Secret):
    """A sum of shortened gradients, before noise: not to be shown.

    Parameters
    ----------
    gradients : dict of str to Tensor
        The sums, by the names of the parameters; from a processor in float64.
    norms : Tensor of shape (samples,)
        The lengths of the gradients before, and what rounding may have hidden of them.
    losses : Tensor of shape (samples,)
        What was differentiated.

    Examples
    --------
    >>> ClippedSum({"weight": torch.zeros(2)}, torch.zeros(1), torch.zeros(1))
    ClippedSum()
    """

    gradients: dict[str, Tensor] = field(repr=False)
    norms: Tensor = field(repr=False)
    losses: Tensor = field(repr=False)


def clipped_sum(
    model: nn.Module,
    losses: Losses,
    inputs: Tensor,
    targets: Tensor,
    *,
    clip: float = 1.0,
    there: Tensor | None = None,
    views: int = 1,
    taken: list[Layer] | None = None,
) -> ClippedSum:
    """The sum over samples of the gradients of their losses, each shortened to the length `clip`.

    One forward and one backward pass; gradients of single samples are not written out where their lengths and their
    weighted sum follow from what went into and came out of a layer (Bu, Wang, Zha and Karypis 2023). A sample whose
    gradient is not finite counts for nothing.

    To put one sample into an empty place, to take it out or to exchange it for another moves the sum by at most `clip`,
    rounding included, and by twice that where it is exchanged: on a processor by the proof in `forms/rounding.md`.

    Parameters
    ----------
    model : Module
        Public. Treats samples one by one; see `check`.
    losses : callable
        Public. Of what the model gives and the targets: one loss for each sample, and not their mean.
    inputs, targets : Tensor
        The samples, along the first axis.
    clip : float
        Public. The greatest length of a gradient, over all parameters together.
    there : Tensor of shape (samples,), optional
        Which samples count: the others fill up the batch.
    views : int
        Public. How many inputs, one after another, are views of one sample: its loss is the mean of theirs.
    taken : list of Layer, optional
        Public. The layers as a rehearsal on made-up samples found them; by default there is one, once for each model
        and loss, which refuses models and losses in which one sample changes what another adds.

    Examples
    --------
    >>> model = nn.Linear(2, 1, bias=False)
    >>> far = lambda given, wanted: (given[:, 0] - wanted) ** 2
    >>> found = clipped_sum(model, far, torch.ones(5, 2), torch.full((5,), 1e3), clip=0.5)
    >>> bool(found.gradients["weight"].norm() <= 5 * 0.5)
    True
    """
    check_positive("clipped_sum", "clip", clip)
    check_whole("clipped_sum", "views", views)
    if len(inputs) == 0:  # an empty sample: shapes would not be known inside
        trained = {name: torch.zeros_like(one) for name, one in model.named_parameters() if one.requires_grad}
        return ClippedSum(trained, torch.zeros(0), torch.zeros(0))
    taken = taken or rehearsed_layers(model, losses, inputs, targets, views)
    return clipped_sum_of(model, taken, losses, inputs, targets, clip, there, views)


def rehearsed_layers(model: nn.Module, losses: Losses, inputs: Tensor, targets: Tensor, views: int = 1) -> list[Layer]:
    """The layers as a rehearsal finds them, or as the last ones of this model and loss have found them."""
    from discreet.deep.checks.rehearsal import rehearsed  # it looks at clipped sums itself
    from discreet.deep.clipping.augmentation_multiplicity import AugmentationMultiplicity

    modules = tuple((name, id(module), module.training) for name, module in model.named_modules())
    trained = tuple(name for name, one in model.named_parameters() if one.requires_grad)
    kinds = tuple((one.shape[1:], one.dtype, one.device) for one in (inputs, targets))
    key = (modules, trained, kinds, views)
    for kept, loss, known, found in _LAST:
        if kept() is model and loss == losses and known == key:
            return [layer._replace(module=model.get_submodule(layer.name)) for layer in found]
    same = AugmentationMultiplicity(lambda x: x, views) if views > 1 else None
    fresh = rehearsed(model, losses, inputs, targets, same)
    _LAST.appendleft((ref(model), losses, key, [layer._replace(module=_NONE) for layer in fresh]))
    return fresh


_NONE = nn.Identity()  # in the place of modules, which nothing should keep
_LAST: deque[tuple[ref[nn.Module], Losses, Any, list[Layer]]] = deque(maxlen=8)


def clipped_sum_of(
    model: nn.Module,
    taken: list[Layer],
    losses: Losses,
    inputs: Tensor,
    targets: Tensor,
    clip: float | Tensor,
    there: Tensor | None,
    views: int = 1,
) -> ClippedSum:
    """The same, of these layers: for a model whose parameters were exchanged for other tensors."""
    _check_precision(model)
    if inputs.device.type == "cpu":
        keep_memory()
    targets = targets if views == 1 else targets.repeat_interleave(views, dim=0)

    def run() -> Tensor:
        with nullcontext() if inputs.is_floating_point() else IndicesInRange():
            given = model(inputs)
        with IndicesInRange():
            found = losses(given, targets)
        return one_each(found, len(inputs)) / views

    uses, lost = captured(model, taken, run, len(inputs))
    with torch.no_grad(), torch.autocast(lost.device.type, enabled=False):  # forms know how precise they must be
        forms = by_parameter(model, uses, views)
        lost = torch.unflatten(lost, 0, (-1, views)).sum(dim=1)
        squares = [form.squared_norms() for form in forms.values()]
        norms = torch.stack(squares).sum(dim=0).sqrt() if squares else torch.zeros_like(lost)
        margin = SLACK + max((form.rounding for form in forms.values()), default=0.0)
        weights = _weights(norms, clip * (1 - margin), there)
        trained = {id(dict(part.named_parameters())[name]) for _, part, names, *_ in taken for name in names}
        given = {name: one for name, one in model.named_parameters() if id(one) in trained}
        sums = {
            name: forms[name].weighted(weights, clip * (1 - margin)).view_as(one)
            if name in forms
            else torch.zeros_like(one)
            for name, one in given.items()
        }
    return ClippedSum(sums, norms, lost)


def one_each(losses: Tensor, samples: int) -> Tensor:
    """The losses, if there is one for each sample."""
    if not isinstance(losses, Tensor) or losses.shape != (samples,):
        shape = tuple(losses.shape) if isinstance(losses, Tensor) else type(losses).__name__
        obstacle = f"the losses have shape {shape}, and there are {samples} samples"
        raise ParameterError("clipped_sum", obstacle, "Give one loss for each sample, as with reduction='none'.")
    return losses


def _check_precision(model: nn.Module) -> None:
    """Refuse numbers in which sums or steps would be rounded to a few digits."""
    for name, one in model.named_parameters():
        if one.requires_grad and torch.finfo(one.dtype).bits < 32:
            remedy = "Keep parameters in float32, and let products be faster: precision=torch.bfloat16, or autocast."
            raise ParameterError("clipped_sum", f"the parameter {name} is in {one.dtype}", remedy)
        if one.device.type == "cpu" and torch.get_float32_matmul_precision() != "highest":
            remedy = "Call torch.set_float32_matmul_precision('highest'), or compute on a device."
            raise ParameterError("clipped_sum", "products of float32 may be rounded on this processor", remedy)


def by_parameter(model: nn.Module, uses: Sequence[Use | ComposedUse], views: int = 1) -> dict[str, Form]:
    """One form for each parameter that was used, however often and under whatever names."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    forms: dict[str, Form] = {}
    for use in uses:
        own = dict(use.module.named_parameters(remove_duplicate=False))
        for name, form in use.forms().items():
            found = names[id(own[name])]
            form = form if views == 1 else form.grouped(views)
            forms[found] = _joined(forms[found], form) if found in forms else form
    return forms


def _joined(first: Form, second: Form) -> Form:
    """Both uses of one parameter; written out where they are of two kinds that nothing better is known of."""
    match first, second:
        case (ChosenRows() as rows, OuterProducts() as products) | (OuterProducts() as products, ChosenRows() as rows):
            return TiedRows(rows, products)
    return first.joined(second) or Explicit(first.explicit()).joined(second)


def _weights(norms: Tensor, clip: float | Tensor, there: Tensor | None) -> Tensor:
    """What each gradient is multiplied with: at most 1, and 0 where it is not finite or only fills up the batch."""
    counts = torch.isfinite(norms) if there is None else torch.isfinite(norms) & there
    return torch.where(counts, clip / norms.clamp(min=clip), 0.0)
