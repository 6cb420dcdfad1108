"""Layers that are made of linear ones: what they compute, written with these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.core.held import unheld
from discreet.deep.forms.explicit import Explicit
from discreet.deep.forms.finite import finite_factor
from discreet.deep.forms.form import Form
from discreet.deep.layers.linear import linear_forms
from discreet.deep.layers.rule import load_rules

Watch = Callable[[Tensor, list[Tensor | None]], Tensor]
"""What went out, in a way that its derivative is put at the end of the list."""


class LayerParts(Protocol):
    """What a composite layer computes with, so that the gradients of its parameters are known."""

    def linear(self, inputs: Tensor, weight: str, bias: str | None = None) -> Tensor:
        """The inputs times a matrix among the layer's parameters, by its name, and plus a bias."""

    def copies(self, name: str, samples: int) -> Tensor:
        """A parameter, once for each sample: shape (samples, *parameter)."""


Composite = Callable[..., Any]
"""A layer, its parts, and what the layer is called with; gives what the layer gives."""

_COMPOSITES: dict[type[nn.Module], Composite] = {}
C = TypeVar("C", bound=Composite)


def composite(*kinds: type[nn.Module]) -> Callable[[C], C]:
    """Register what such layers compute, written with `LayerParts`."""

    def register(function: C) -> C:
        _COMPOSITES.update(dict.fromkeys(kinds, function))
        return function

    return register


def composite_of(module: nn.Module) -> Composite | None:
    """The composite of exactly this kind: what a subclass computes is not known."""
    load_rules()
    return _COMPOSITES.get(type(module))


@unheld("one call")
@dataclass
class ComposedUse:
    """One call of a composite layer: all products with its matrices, and the copies of its other parameters."""

    name: str
    module: nn.Module
    trained: list[str]
    watch: Watch
    each: int = 1
    _products: dict[tuple[str, str | None], tuple[list[Tensor], list[Tensor | None]]] = field(default_factory=dict)
    _copies: dict[str, list[Tensor | None]] = field(default_factory=dict)

    def linear(self, inputs: Tensor, weight: str, bias: str | None = None) -> Tensor:
        """The inputs times a matrix, and plus a bias."""
        given, slopes = self._products.setdefault((weight, bias), ([], []))
        inputs = finite_factor(inputs)
        given.append(inputs.detach())
        return self.watch(
            functional.linear(inputs, self._now(weight), None if bias is None else self._now(bias)), slopes
        )

    def copies(self, name: str, samples: int) -> Tensor:
        """A parameter, once for each sample: the derivative by a copy is the gradient of the sample."""
        one = self._now(name)
        return self.watch(one.expand(samples, *one.shape), self._copies.setdefault(name, []))

    def forms(self) -> dict[str, Form]:
        """The forms of the gradients of the layer's trained parameters: the places of all products together."""
        found: dict[str, Form] = {}
        for (weight, bias), (inputs, slopes) in self._products.items():
            kept = [(x, slope) for x, slope in zip(inputs, slopes, strict=True) if slope is not None]
            if kept:
                places = torch.cat([_places(x) for x, _ in kept], dim=1)
                slopes_of = torch.cat([_places(slope) for _, slope in kept], dim=1)
                found |= linear_forms(places, slopes_of, weight, bias)
        for name, each in self._copies.items():
            there = [slope for slope in each if slope is not None]
            if there:
                found[name] = Explicit(torch.stack(there).float().sum(dim=0))
        own = {name: form for name, form in found.items() if name in self.trained}
        return own if self.each < 2 else {name: form.grouped(self.each) for name, form in own.items()}

    def _now(self, name: str) -> Tensor:
        one: Tensor = attrgetter(name)(self.module)
        return one.detach()


def _places(values: Tensor) -> Tensor:
    return values.detach().reshape(len(values), -1, values.shape[-1])
