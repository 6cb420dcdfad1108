"""The clipped sum as one graph is the same as step by step."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.core.errors import ParameterError
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.clipping.compiled_sum import CompiledSum
from tests.deep.clipping.test_clipped_sum import MODELS, squares


def as_it_is(graph: nn.Module) -> nn.Module:
    """No compiler: the graph is run as it was traced."""
    return graph


@pytest.mark.parametrize(
    "name",
    [
        "linear",
        "linear over few places",
        "first weight frozen",
        "called twice",
        "conv2d by pairs",
        "tied embedding",
        "layer norm",
        "group norm",
        "attention",
    ],
)
def test_a_graph_gives_what_single_steps_give_whatever_the_parameters_are(name: str) -> None:
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    targets = torch.randn_like(model(inputs)).detach()
    compiled = CompiledSum(model, squares, torch.zeros_like(inputs), targets, compiler=as_it_is)
    with pytest.raises(ParameterError, match="clip"):
        compiled(inputs, targets, torch.ones(len(inputs), dtype=torch.bool), clip=0.0)
    there = torch.arange(len(inputs)) > 0
    for _ in range(2):
        wanted = clipped_sum(model, squares, inputs, targets, there=there).gradients
        found = compiled(inputs, targets, there).gradients
        assert found.keys() == wanted.keys()
        for part, one in wanted.items():
            torch.testing.assert_close(found[part], one.double(), rtol=1e-5, atol=1e-6)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.1)


def test_a_batch_of_another_shape_is_refused() -> None:
    model, inputs = MODELS["linear"]()
    compiled = CompiledSum(model, squares, inputs, model(inputs).detach(), compiler=as_it_is)
    with pytest.raises(ParameterError, match="Fill the batch up"):
        compiled(inputs[:3], model(inputs[:3]).detach(), torch.ones(3, dtype=torch.bool))
