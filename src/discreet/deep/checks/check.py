"""What can be trained with privacy as it is, and what has to be replaced first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.nn.parallel import DistributedDataParallel
from torch.utils._pytree import tree_flatten

from discreet.core.errors import ParameterError
from discreet.deep.clipping.capture import Layer, captured, layers
from discreet.deep.clipping.clipped_sum import by_parameter
from discreet.deep.forms.cost import Cost
from discreet.deep.layers.composite import composite_of
from discreet.deep.layers.rule import rule_of
from discreet.display.notebook import carded, grid, safe
from discreet.display.plain import plain

ASKED = "train with privacy"


@dataclass(frozen=True)
class ParameterCost:
    """How the lengths of the gradients of one parameter are found.

    Parameters
    ----------
    name : str
        Of the parameter.
    layer : str
        The kind of its layer.
    cost : Cost
        The way, and how many products it takes for each sample beyond a plain backward pass.
    """

    name: str
    layer: str
    cost: Cost


@dataclass(frozen=True)
class Checked:
    """How the gradients of single samples are found, layer by layer.

    Parameters
    ----------
    by_rule : tuple of str
        Layers whose gradients are never written out, or are small.
    one_by_one : tuple of str
        Layers without a rule: the gradient of every sample is written out, which takes memory and a second pass.
    costs : tuple of ParameterCost
        What was planned for each parameter that is trained, if there was an example.

    Examples
    --------
    >>> print(Checked(("0", "2"), ("1",)))
    2 layers by their rules; without a rule, and so written out: 1
    """

    by_rule: tuple[str, ...]
    one_by_one: tuple[str, ...]
    costs: tuple[ParameterCost, ...] = ()

    def __str__(self) -> str:
        slow = f"; without a rule, and so written out: {', '.join(self.one_by_one)}" if self.one_by_one else ""
        ruled = "1 layer by its rule" if len(self.by_rule) == 1 else f"{len(self.by_rule)} layers by their rules"
        lines = [ruled + slow]
        wide = max((len(one.name) for one in self.costs), default=0)
        kinds = max((len(one.layer) for one in self.costs), default=0)
        lines += [
            f"{one.name:{wide}}  {one.layer:{kinds}}  {one.cost.way:16}  {one.cost.products:>14,}" for one in self.costs
        ]
        return "\n".join(map(plain, lines))

    def _repr_html_(self) -> str:
        first, *_ = str(self).splitlines()
        head = ("parameter", "layer", "way to lengths", "products for each sample")
        rows = [(one.name, one.layer, one.cost.way, f"{one.cost.products:,}") for one in self.costs]
        return carded(f"<p>{safe(first)}</p>", grid("", head, rows) if rows else "")


def check(model: nn.Module, example: Any = None) -> Checked:
    """Refuse a model whose samples depend on one another, and say how gradients will be found.

    Parameters
    ----------
    model : Module
        Public.
    example : Tensor or tuple, optional
        Public, and made up. Two samples or more, which the model is run on to see whether one changes another, and
        which way to the lengths of gradients is the cheapest, for samples of this shape on this device.

    Examples
    --------
    >>> print(check(nn.Sequential(nn.Linear(3, 4, bias=False), nn.ReLU(), nn.Linear(4, 2)), torch.ones(2, 5, 3)))
    2 layers by their rules
    0.weight  Linear  written out                   60
    2.weight  Linear  written out                   40
    2.bias    Linear  written out once               2
    """
    for name, module in model.named_modules():
        obstacle = _obstacle(module)
        if obstacle is not None:
            raise ParameterError(ASKED, f"{name or 'the model'}, a {type(module).__name__}, {obstacle[0]}", obstacle[1])
    found = list(layers(model))
    if not any(one.trained for one in found):
        raise ParameterError(ASKED, "no parameter of the model is trained", "Set requires_grad of some of them.")
    whole = [(name, module) for name, module, *_ in found if rule_of(module) is None and composite_of(module) is None]
    for name, module in whole:
        if any(getattr(part, "dropout", 0) or getattr(part, "p", 0) for part in module.modules()):
            random = f"{name}, a {type(module).__name__}, has no rule, and draws random numbers that cannot be repeated"
            raise ParameterError(ASKED, random, "Set its dropout to 0, and put an nn.Dropout after it.")
    slow = tuple(name for name, _ in whole)
    checked = Checked(tuple(name for name, _, trained, *_ in found if trained and name not in slow), slow)
    if example is None:
        return checked
    given = example if isinstance(example, tuple) else (example,)
    _check_apart(model, given)
    return replace(checked, costs=_costs(model, found, given))


def _costs(model: nn.Module, found: list[Layer], example: tuple[Any, ...]) -> tuple[ParameterCost, ...]:
    """The way that is taken for each parameter that the model uses, of a loss that looks at all it gives."""

    def losses() -> Tensor:
        parts = [part for part in tree_flatten(model(*example))[0] if isinstance(part, Tensor)]
        return torch.stack([part.flatten(1).sum(dim=1) for part in parts]).sum(dim=0)

    with torch.random.fork_rng():
        uses, _ = captured(model, found, losses, len(tree_flatten(example)[0][0]))
    forms = by_parameter(model, uses)
    kinds = {id(one): type(module).__name__ for _, module, *_ in found for one in module.parameters()}
    return tuple(
        ParameterCost(name, kinds[id(one)], forms[name].cost)
        for name, one in model.named_parameters()
        if one.requires_grad and name in forms
    )


def _obstacle(module: nn.Module) -> tuple[str, str] | None:
    if isinstance(module, DistributedDataParallel | nn.DataParallel):
        return "adds gradients up before they are clipped", "Give the module in it: the trainer adds up over processes."
    if isinstance(module, _BatchNorm):
        return "normalises samples by one another", "Use nn.GroupNorm or nn.LayerNorm, which look at one sample."
    if getattr(module, "max_norm", None) is not None:
        return "shortens the rows that records choose, without noise", "Set max_norm=None."
    if isinstance(module, _InstanceNorm) and module.track_running_stats:
        return "keeps averages of the samples, without noise", "Set track_running_stats=False."
    if isinstance(module, nn.RNNBase) and composite_of(module) is None:
        return "has no gradients of single samples in PyTorch", "Use nn.RNN, nn.LSTM or nn.GRU itself."
    if getattr(module, "batch_first", True) is False:
        return "has samples along the second axis", "Set batch_first=True."
    return None


def _check_apart(model: nn.Module, example: tuple[Any, ...]) -> None:
    """Change one sample and see whether what the model gives for another one changes."""
    flat = [part for part in tree_flatten(example)[0] if isinstance(part, Tensor)]
    if not flat or any(part.dim() == 0 or len(part) < 2 for part in flat):
        raise ParameterError(ASKED, "the example has fewer than two samples", "Give two, made up.")
    changed = tuple(_first_changed(part) if isinstance(part, Tensor) else part for part in example)
    with torch.no_grad(), torch.random.fork_rng():
        results = []
        for given in (example, changed):
            torch.manual_seed(0)
            results.append([part for part in tree_flatten(model(*given))[0] if isinstance(part, Tensor)])
    for before, after in zip(*results, strict=True):
        if before.dim() == 0 or len(before) != len(flat[0]) or not torch.equal(before[1:], after[1:]):
            obstacle = "what the model gives for one sample depends on another"
            raise ParameterError(ASKED, obstacle, "Compute on the first axis sample by sample.")


def _first_changed(part: Tensor) -> Tensor:
    changed = part.clone()
    changed[0] = changed[1] if not changed.is_floating_point() else 1.5 * changed[0] + 1
    return changed
