"""Every layer with a rule of its own, found by walking: its clipped sums are those of one sample after another."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from discreet.deep.forms.form import Form
from discreet.deep.layers.rule import _RULES, load_rules
from tests.conformance.walk import for_each, mirror
from tests.deep.layers.trial import LayerTrial, agrees

MADE_UP = 3  # samples of a rehearsal


def rules() -> list[Any]:
    """The rules, each once, whichever kinds of layers it is for."""
    load_rules()
    return list(dict.fromkeys(_RULES.values()))


@contextmanager
def noted(kind: type[nn.Module]) -> Iterator[list[int]]:
    """How many samples the rule of such layers is asked about: a rule that is wrong on made-up ones is not used."""
    right, sizes = _RULES[kind], list[int]()

    def asked(module: nn.Module, inputs: Tensor, slopes: Tensor) -> dict[str, Form]:
        sizes.append(len(inputs))
        forms = right(module, inputs, slopes)
        check_forms(module, inputs, slopes, forms)
        return forms

    _RULES[kind] = asked
    try:
        yield sizes
    finally:
        _RULES[kind] = right


def check_forms(module: nn.Module, inputs: Tensor, slopes: Tensor, forms: dict[str, Form]) -> None:
    """What a rule gives is what PyTorch gives: a rehearsal would not use one that is wrong, and nobody would notice."""
    own = {name: one.detach().clone().requires_grad_() for name, one in module.named_parameters()}
    with torch.enable_grad():
        given = functional_call(module, own, (inputs.detach(),))
        wanted = torch.autograd.grad((given * slopes.detach()).sum(), list(own.values()))
    for name, want in zip(own, wanted, strict=True):
        if name in forms:
            found = forms[name].weighted(torch.ones(len(inputs)), 1e9).view_as(want)
            assert float((found - want).norm()) <= 1e-4 * float(want.norm()) + 1e-6, name


def trials(found: Any) -> dict[str, LayerTrial]:
    """What the test file of a rule brings, by the kind of layer."""
    brought: dict[str, LayerTrial] = getattr(mirror(found), "TRIALS", {})
    missing = [kind.__name__ for kind, own in _RULES.items() if own is found and kind.__name__ not in brought]
    assert not missing, f"{mirror(found).__name__} has no TRIALS[{missing[0]!r}] = LayerTrial(...)"
    return brought


@for_each(rules())
def test_its_clipped_sums_are_those_of_gradients_of_one_sample_after_another(found: Any) -> None:
    """Norms never below the right ones, so that no sample counts for more than it may; and sums that are right."""
    for kind in [kind for kind, own in _RULES.items() if own is found]:
        for make in trials(found)[kind.__name__].models:
            torch.manual_seed(0)
            model, inputs = make()
            with noted(kind) as sizes:
                agrees(model, inputs)
            assert max(sizes, default=0) >= len(inputs) > MADE_UP, f"a rehearsal refutes the rule for {kind.__name__}"


@for_each(rules())
def test_it_says_what_it_computes(found: Any) -> None:
    assert found.__doc__
    assert importlib.import_module(found.__module__).__doc__
