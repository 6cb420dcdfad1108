"""Tables of words."""

from __future__ import annotations

import torch
from torch import nn

from tests.deep.layers.trial import LayerTrial, agrees

TRIALS = {
    "Embedding": LayerTrial(
        [
            lambda: (nn.Sequential(nn.Embedding(7, 3), nn.Linear(3, 2)), torch.randint(0, 7, (6, 4))),
            lambda: (nn.Sequential(nn.Embedding(7, 3, padding_idx=0), nn.Linear(3, 1)), torch.randint(0, 3, (6, 9))),
        ]
    )
}


def test_a_word_that_comes_again_counts_twice() -> None:
    torch.manual_seed(0)
    agrees(nn.Sequential(nn.Embedding(3, 2), nn.Linear(2, 1)), torch.zeros(4, 5, dtype=torch.int64))
