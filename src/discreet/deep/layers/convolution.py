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
    inputs, padding = _padded(module, in_precision_of(slopes, inputs))
    kernel = Kernel(tuple(module.weight.shape), module.stride, padding, module.dilation, module.groups)
    forms: dict[str, Form] = {"weight": Patches(inputs, slopes, kernel)}
    if module.bias is not None:
        forms["bias"] = Explicit(slopes.float().flatten(2).sum(dim=2))
    return forms


def _padded(module: Convolution, inputs: Tensor) -> tuple[Tensor, tuple[int, ...]]:
    """What came in, with what is put around it except for zeros on both sides; and how many of these there are."""
    if isinstance(module.padding, str) or module.padding_mode != "zeros":
        around = module._reversed_padding_repeated_twice
        mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
        return functional.pad(inputs, around, mode=mode), (0,) * len(module.stride)
    return inputs, tuple(module.padding)
