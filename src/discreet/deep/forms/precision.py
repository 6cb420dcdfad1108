"""How precise products and their sums are on a device."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import Tensor

HALVES = frozenset({torch.float16, torch.bfloat16})
HALF, BFLOAT = 2.0**-11, 2.0**-8  # what rounding to float16 and to bfloat16 may be off by
TF32 = 2.0**-10  # what the products of a device may cut off a number in float32
SPLIT = 2.0**-20  # and where it multiplies three parts of a number instead
FLOOR = 2.0**-100  # of a squared number: squares far below may be read as zero
KERNELS = find_spec("triton") is not None  # which comes with PyTorch for GPUs
LEAST = 1e-38


def on_processor(values: Tensor) -> bool:
    """Whether a processor computes with these numbers, as the proof has it, and not another device."""
    return values.device.type == "cpu"


def unit(values: Tensor) -> float:
    """What an addition in float32 may be off by, relative to its terms: matrix instructions cut off what others round.

    One that adds k products to what it had is off by (k + 2) units of the largest, 2^-23, if it spares no digit beyond:
    1.5 of them for each term where k is 4 at least (Fasi, Higham, Mikaitis and Pranesh 2021). Guards have twice this.
    """
    if on_processor(values):
        return 2.0**-24
    return 2.0**-23 if _has_long_instructions(values) else 2.0**-22


def cut_off(values: Tensor) -> float:
    """What products on this device may cut off each number of this kind, relative to it."""
    if on_processor(values) or values.dtype != torch.float32:
        return 0.0
    return TF32 if in_tf32(values.device) else SPLIT


def in_tf32(device: torch.device) -> bool:
    """Whether products of float32 may be in TF32 there."""
    fast = torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32
    return device.type == "cuda" and fast


def has_kernels(values: Tensor) -> bool:
    """Whether `gpu_norms` and `gpu_sums` serve such numbers."""
    return KERNELS and values.dtype != torch.float64 and _has_long_instructions(values)


def _has_long_instructions(values: Tensor) -> bool:
    return values.is_cuda and torch.version.hip is None and torch.cuda.get_device_capability(values.device)[0] >= 8


def power_of_two(values: Tensor) -> Tensor:
    """The greatest powers of two below positive numbers: a product with them rounds nothing."""
    return (values.float().clamp(min=LEAST).view(torch.int32) & 0x7F800000).view(torch.float32)


def held(values: Tensor) -> Tensor:
    """The same numbers, in float32 at least where a processor multiplies them: that rounds nothing."""
    return values if values.is_cuda else wide(values)


def wide(values: Tensor) -> Tensor:
    """The same numbers, in float32 at least."""
    return values if values.dtype == torch.float64 else values.float()


def product(one: Tensor, other: Tensor) -> Tensor:
    """Products of matrices, one for each sample, added up and given in float32 at least."""
    if one.dtype in HALVES and one.is_cuda:
        return torch.bmm(one, other, out_dtype=torch.float32)
    return held(one) @ held(other)
