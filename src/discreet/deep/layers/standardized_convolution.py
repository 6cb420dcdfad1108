"""Convolutions with standardised kernels."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.deep.forms.explicit import Explicit
from discreet.deep.forms.form import Form
from discreet.deep.layers.convolution import convolution
from discreet.deep.layers.rule import rule

LEAST = 1e-6


class StandardizedConv2d(nn.Conv2d):
    """A convolution whose kernels have mean zero and the variance of one over their inputs (Qiao et al. 2019).

    The kernel that is applied is a function of the parameter. So gradients by the applied kernel, which are those of a
    plain convolution, are multiplied by the derivatives of that function before they are clipped.

    Examples
    --------
    >>> layer = StandardizedConv2d(3, 16, 3)
    >>> bool(layer.standardized().mean(dim=(1, 2, 3)).abs().max() < 1e-6)
    True
    """

    def standardized(self) -> Tensor:
        """The kernel that is applied."""
        centered, factor = _parts(self.weight)
        return (centered * factor).view_as(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """The convolution."""
        return functional.conv2d(
            x, self.standardized(), self.bias, self.stride, self.padding, self.dilation, self.groups
        )


@rule(StandardizedConv2d)
def standardized_convolution(module: StandardizedConv2d, inputs: Tensor, slopes: Tensor) -> dict[str, Form]:
    """A kernel s c, with c the centered parameter and s = 1 / |c|: a gradient g becomes s g - s^3 c (c'g), centered."""
    forms = convolution(module, inputs, slopes)
    centered, factor = _parts(module.weight.detach())
    written = forms["weight"].explicit().float().flatten(2)
    along = torch.linalg.vecdot(written, centered)[..., None]
    moved = factor * written - factor**3 * centered * along
    centered_again = moved - moved.mean(dim=2, keepdim=True)
    return {**forms, "weight": Explicit(centered_again.view(-1, *module.weight.shape))}


def _parts(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Each kernel less its mean, as a row, and what makes it one long."""
    flat = weight.flatten(1)
    centered = flat - flat.mean(dim=1, keepdim=True)
    return centered, (centered.square().sum(dim=1, keepdim=True) + LEAST).rsqrt()
