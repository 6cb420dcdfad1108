"""Convolutions whose weights are standardised."""

from __future__ import annotations

import torch
from torch import nn

from discreet.deep.layers.standardized_convolution import StandardizedConv2d
from tests.deep.layers.trial import LayerTrial, agrees

TRIALS = {
    "StandardizedConv2d": LayerTrial(
        [lambda: (nn.Sequential(StandardizedConv2d(2, 4, 3, padding=1), nn.GroupNorm(2, 4)), torch.randn(5, 2, 4, 5))]
    )
}


def test_strides_and_no_bias() -> None:
    torch.manual_seed(0)
    agrees(nn.Sequential(StandardizedConv2d(2, 4, 3, stride=2, bias=False)), torch.randn(5, 2, 6, 5))
