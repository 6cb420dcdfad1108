"""Layers that normalise each sample by itself."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.deep.forms.explicit import Explicit
from discreet.deep.forms.form import Form
from discreet.deep.layers.rule import rule


def _forms(module: nn.Module, normal: Tensor, slopes: Tensor, shape: tuple[int, ...], first: int) -> dict[str, Form]:
    """A scale and a shift of normalised values; `first` is the axis of the values where the parameters' axes begin."""
    axes = tuple(axis for axis in range(1, normal.dim()) if not first <= axis < first + len(shape))
    slopes = slopes.float()
    forms: dict[str, Form] = {}
    if module.weight is not None:
        forms["weight"] = Explicit(_products(slopes, normal, axes))
    if getattr(module, "bias", None) is not None:
        forms["bias"] = Explicit(slopes.sum(dim=axes) if axes else slopes)
    return forms


def _products(slopes: Tensor, normal: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The sums of products over these axes. A compiler for GPUs fuses them; a processor would write them to memory."""
    if slopes.is_cuda or not axes:
        return (slopes * normal).sum(dim=axes) if axes else slopes * normal
    every = list(range(normal.dim()))
    with torch.autocast(slopes.device.type, enabled=False):
        return torch.einsum(slopes, every, normal, every, [axis for axis in every if axis not in axes])


@rule(nn.LayerNorm)
def layer_norm(module: nn.LayerNorm, inputs: Tensor, slopes: Tensor) -> dict[str, Form]:
    """Over the last axes."""
    shape = tuple(module.normalized_shape)
    normal = functional.layer_norm(inputs.float(), shape, eps=module.eps)
    return _forms(module, normal, slopes, shape, normal.dim() - len(shape))


@rule(nn.RMSNorm)
def rms_norm(module: nn.RMSNorm, inputs: Tensor, slopes: Tensor) -> dict[str, Form]:
    """Over the last axes, without a shift."""
    shape = tuple(module.normalized_shape)
    normal = functional.rms_norm(inputs.float(), shape, eps=module.eps)
    return _forms(module, normal, slopes, shape, normal.dim() - len(shape))


@rule(nn.GroupNorm)
def group_norm(module: nn.GroupNorm, inputs: Tensor, slopes: Tensor) -> dict[str, Form]:
    """Over groups of channels: sums over places of slopes, and of slopes times what came in, as for its own slopes."""
    channels, groups = module.num_channels, module.num_groups
    given, slopes = inputs.float(), slopes.float()
    mean, scale = _mean_and_scale(given, groups, module.eps)
    axes = tuple(range(2, given.dim()))
    shift, product = (one.sum(dim=axes) if axes else one for one in (slopes, slopes * given))
    mean, scale = (one.repeat_interleave(channels // groups, dim=1) for one in (mean, scale))
    found = {"weight": (product - shift * mean) * scale, "bias": shift}
    return {name: Explicit(values) for name, values in found.items() if getattr(module, name, None) is not None}


def _mean_and_scale(given: Tensor, groups: int, eps: float) -> tuple[Tensor, Tensor]:
    """The mean of each sample's groups, and one over their standard deviation.

    A GPU gets both from one kernel, which also writes the normalised values; a processor would wait for its memory.
    """
    if given.is_cuda:
        args = len(given), given.shape[1], given[0, 0].numel(), groups, eps
        return torch.native_group_norm(given.contiguous(), None, None, *args)[1:]
    values = given.reshape(len(given), groups, -1)
    mean = values.mean(dim=2)
    lengths = torch.linalg.vector_norm(values - mean[:, :, None], dim=2)
    return mean, (lengths.square() / values.shape[2] + eps).rsqrt()


@rule(nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
def instance_norm(
    module: nn.InstanceNorm1d | nn.InstanceNorm2d | nn.InstanceNorm3d, inputs: Tensor, slopes: Tensor
) -> dict[str, Form]:
    """Over each channel."""
    normal = functional.group_norm(inputs.float(), module.num_features, eps=module.eps)
    return _forms(module, normal, slopes, (module.num_features,), 1)
