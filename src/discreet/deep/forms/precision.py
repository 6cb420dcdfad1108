"""How precise products are on a device, and what is kept back for that."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import Tensor

MARGINS = {torch.float32: 2.0**-12, torch.float64: 2.0**-12, torch.float16: 2.0**-6, torch.bfloat16: 2.0**-5}
TF32 = 2.0**-9
"""How much shorter than asked gradients are made, by the precision of the products: what norms may be off by."""
GUARD = 2.0**-22
"""Of the product of all squared lengths: what rounding may hide where terms cancel."""
KERNELS = find_spec("triton") is not None  # which comes with PyTorch for GPUs


def in_tf32(device: torch.device) -> bool:
    """Whether products of float32 may be in TF32 there."""
    fast = torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32
    return device.type == "cuda" and fast


def margin(device: torch.device) -> float:
    """What is kept back of the length, for the precision of products on this device."""
    if torch.is_autocast_enabled(device.type):
        return MARGINS[torch.get_autocast_dtype(device.type)]
    return TF32 if in_tf32(device) else MARGINS[torch.float32]


def has_kernels(values: Tensor) -> bool:
    """Whether `gpu_norms` serves such numbers."""
    return KERNELS and values.is_cuda and values.dtype != torch.float64
