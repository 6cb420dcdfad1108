"""Embeddings."""

from __future__ import annotations

from torch import Tensor, nn

from discreet.deep.forms.chosen_rows import ChosenRows
from discreet.deep.forms.form import Form
from discreet.deep.layers.rule import rule


@rule(nn.Embedding)
def embedding(module: nn.Embedding, inputs: Tensor, slopes: Tensor) -> dict[str, Form]:
    """A table; the row of the padding index has no gradient."""
    chosen, slopes = inputs.reshape(len(inputs), -1), slopes.reshape(len(slopes), -1, slopes.shape[-1])
    if module.padding_idx is not None:
        slopes = slopes * (chosen != module.padding_idx)[:, :, None]
    return {"weight": ChosenRows(chosen, slopes, module.num_embeddings)}
