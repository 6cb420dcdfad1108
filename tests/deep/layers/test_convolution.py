"""Convolutions: strides, padding, dilation and groups."""

from __future__ import annotations

import torch
from torch import nn

from tests.deep.layers.trial import LayerTrial, agrees

TRIALS = {
    "Conv1d": LayerTrial([lambda: (nn.Sequential(nn.Conv1d(2, 4, 3, stride=2, padding=1)), torch.randn(6, 2, 9))]),
    "Conv2d": LayerTrial(
        [
            lambda: (nn.Sequential(nn.Conv2d(2, 4, 3, padding=1, groups=2), nn.Tanh()), torch.randn(5, 2, 5, 6)),
            lambda: (nn.Sequential(nn.Conv2d(2, 3, 2, dilation=2, bias=False)), torch.randn(5, 2, 5, 6)),
        ]
    ),
    "Conv3d": LayerTrial([lambda: (nn.Sequential(nn.Conv3d(1, 2, 2)), torch.randn(4, 1, 3, 4, 3))]),
}


def test_padding_that_repeats_the_edges() -> None:
    torch.manual_seed(0)
    agrees(nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, padding_mode="replicate")), torch.randn(4, 1, 4, 4))
