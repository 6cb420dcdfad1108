"""Convolutions."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from discreet.deep.forms.explicit import Explicit
from discreet.deep.forms.finite import in_precision_of
from discreet.deep.forms.form import Form
from discreet.deep.forms.patches import Kernel, Patches
from discreet.deep.layers.rule import rule

Convolution = nn.Conv1d | nn.Conv2d | nn.Conv3d


@rule(nn.Conv1d, nn.Conv2d, nn.Conv3d)
def convolution(module: Convolution, inputs: Tensor, slopes: Tensor) -> dict[str, Form]:
    """A kernel and a bias, over any number of axes, with any stride, padding, dilation and groups."""
    inputs, padding = in_precision_of(slopes, inputs), module.padding
    if isinstance(padding, str) or module.padding_mode != "zeros":
        mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
        inputs = functional.pad(inputs, module._reversed_padding_repeated_twice, mode=mode)
        padding = (0,) * len(module.stride)
    kernel = Kernel(tuple(module.weight.shape), module.stride, padding, module.dilation, module.groups)
    forms: dict[str, Form] = {"weight": Patches(inputs, slopes, kernel)}
    if module.bias is not None:
        forms["bias"] = Explicit(slopes.float().flatten(2).sum(dim=2))
    return forms
