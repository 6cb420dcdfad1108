"""Linear layers: of vectors, and of sequences of them."""

from __future__ import annotations

import torch
from torch import nn

from tests.deep.clipping.test_clipped_sum import Residual
from tests.deep.layers.trial import LayerTrial, agrees

TRIALS = {
    "Linear": LayerTrial(
        [
            lambda: (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), torch.randn(6, 3)),
            lambda: (nn.Sequential(nn.Linear(3, 4, bias=False), nn.ReLU(), nn.Linear(4, 2)), torch.randn(6, 5, 3)),
        ]
    )
}


def test_a_layer_that_is_used_twice_adds_up_before_it_is_clipped() -> None:
    torch.manual_seed(0)
    agrees(Residual(nn.Linear(3, 3)), torch.randn(5, 3))
