"""Attention with several heads."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.core.errors import ParameterError
from discreet.deep.layers.composite import LayerParts, composite


@composite(nn.MultiheadAttention)
def attention(
    module: nn.MultiheadAttention,
    parts: LayerParts,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Linear maps of queries, keys and values, attention of each head, and a linear map of what they give."""
    if query.dim() != 3:
        obstacle = f"attention was called with {query.dim()} axes, and not with (samples, places, features)"
        raise ParameterError("train with privacy", obstacle, "Give samples along the first axis.")
    samples, places, width = query.shape
    asked, keys, values = _projected(module, parts, query, key, value)
    mask = _mask(module, samples, places, key, key_padding_mask, attn_mask)
    if module.bias_k is not None:
        keys = torch.cat([keys, parts.copies("bias_k", samples).reshape(samples, 1, width)], dim=1)
        values = torch.cat([values, parts.copies("bias_v", samples).reshape(samples, 1, width)], dim=1)
    if module.add_zero_attn:
        keys, values = functional.pad(keys, (0, 0, 0, 1)), functional.pad(values, (0, 0, 0, 1))
    if mask is not None:
        mask = functional.pad(mask, (0, keys.shape[1] - mask.shape[-1]))
    split = (samples, -1, module.num_heads, module.head_dim)
    asked, keys, values = (one.reshape(split).transpose(1, 2) for one in (asked, keys, values))
    dropped = module.dropout if module.training else 0.0
    if need_weights:
        scores = asked @ keys.mT / math.sqrt(module.head_dim)
        weights = functional.dropout(torch.softmax(scores if mask is None else scores + mask, dim=-1), dropped)
        found = weights @ values
    else:
        weights, found = None, functional.scaled_dot_product_attention(asked, keys, values, mask, dropped)
    bias = None if module.out_proj.bias is None else "out_proj.bias"
    out = parts.linear(found.transpose(1, 2).flatten(2), "out_proj.weight", bias)
    return out, weights.mean(dim=1) if weights is not None and average_attn_weights else weights


def _projected(
    module: nn.MultiheadAttention, parts: LayerParts, query: Tensor, key: Tensor, value: Tensor
) -> tuple[Tensor, ...]:
    """Queries, keys and values; of a matrix for all three, what is not taken has no slope."""
    width = module.embed_dim
    bias = None if module.in_proj_bias is None else "in_proj_bias"
    if module.in_proj_weight is None:
        names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        found = [parts.linear(one, name) for one, name in zip((query, key, value), names, strict=True)]
        if bias is None:
            return tuple(found)
        shifts = torch.split(parts.copies(bias, len(query))[:, None], width, dim=-1)
        return tuple(one + shift for one, shift in zip(found, shifts, strict=True))
    if query is key is value:
        return torch.split(parts.linear(query, "in_proj_weight", bias), width, dim=-1)
    asked = parts.linear(query, "in_proj_weight", bias)[..., :width]
    if key is value:
        return asked, *torch.split(parts.linear(key, "in_proj_weight", bias)[..., width:], width, dim=-1)
    keys, values = (parts.linear(one, "in_proj_weight", bias) for one in (key, value))
    return asked, keys[..., width : 2 * width], values[..., 2 * width :]


def _mask(
    module: nn.MultiheadAttention, samples: int, places: int, key: Tensor, padded: Tensor | None, hidden: Tensor | None
) -> Tensor | None:
    """What is added to the scores: shape (samples or 1, heads or 1, places, keys)."""
    found = None
    if padded is not None:
        found = _added(padded, key.dtype)[:, None, None, :].expand(-1, -1, places, -1)
    if hidden is not None:
        added = _added(hidden, key.dtype)
        added = added[None, None] if added.dim() == 2 else added.reshape(samples, module.num_heads, *added.shape[1:])
        found = added if found is None else found + added
    return found


def _added(mask: Tensor, kind: torch.dtype) -> Tensor:
    if mask.dtype != torch.bool:
        return mask.to(kind)
    return torch.zeros_like(mask, dtype=kind).masked_fill(mask, -torch.inf)
