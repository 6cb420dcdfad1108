"""The register of layers."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from torch import Tensor, nn

from discreet.deep.forms.form import Form

Rule = Callable[[nn.Module, Tensor, Tensor], dict[str, Form]]
"""A layer, what came in and the derivatives of the loss by what went out; gives the form of each parameter by name."""

_RULES: dict[type[nn.Module], Rule] = {}
R = TypeVar("R", bound=Callable[..., dict[str, Form]])


def rule(*kinds: type[nn.Module]) -> Callable[[R], R]:
    """Register the forms of the gradients of such layers."""

    def register(function: R) -> R:
        _RULES.update(dict.fromkeys(kinds, function))
        return function

    return register


def rule_of(module: nn.Module) -> Rule | None:
    """The rule of exactly this kind: what a subclass computes is not known."""
    load_rules()
    return _RULES.get(type(module))


@cache
def load_rules() -> None:
    """Import every file of this folder, which registers what it knows."""
    package = importlib.import_module(__package__)
    for found in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{__package__}.{found.name}")
