"""Layers that normalise each sample by itself."""

from __future__ import annotations

import torch
from torch import nn

from tests.deep.layers.trial import LayerTrial, agrees

TRIALS = {
    "LayerNorm": LayerTrial([lambda: (nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4)), torch.randn(6, 5, 3))]),
    "RMSNorm": LayerTrial([lambda: (nn.Sequential(nn.Linear(3, 4), nn.RMSNorm(4)), torch.randn(6, 3))]),
    "GroupNorm": LayerTrial([lambda: (nn.Sequential(nn.Conv1d(2, 4, 3), nn.GroupNorm(2, 4)), torch.randn(6, 2, 7))]),
    "InstanceNorm1d": LayerTrial([lambda: (nn.Sequential(nn.InstanceNorm1d(2, affine=True)), torch.randn(6, 2, 7))]),
    "InstanceNorm2d": LayerTrial([lambda: (nn.Sequential(nn.InstanceNorm2d(2, affine=True)), torch.randn(6, 2, 3, 4))]),
    "InstanceNorm3d": LayerTrial(
        [lambda: (nn.Sequential(nn.InstanceNorm3d(2, affine=True)), torch.randn(4, 2, 2, 3, 2))]
    ),
}


def test_a_norm_without_a_shift() -> None:
    torch.manual_seed(0)
    agrees(nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4, bias=False)), torch.randn(6, 3))
