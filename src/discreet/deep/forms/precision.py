"""How precise sums of products are on a device, and what is kept back for that: the proof is in `rounding.md`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec

import torch
from torch import Tensor

MARGIN = 2.0**-6
"""Of the clip: what rounding inside blocks may add to it on a processor."""
SLACK = 2.0**-10
"""Of the clip: for what is rounded once or twice, as weights are, and for what is read as zero."""
SAMPLES, TERMS = 256, 128
"""How many samples of one place, and how many products of samples of several places, a processor adds in float32."""
SQUARE = 1024  # samples * terms of a block, about: so small that places may cancel to a sixtieth
CANCELLING = 32.0
"""By how much a device may let the products of a sample be longer than what is left of them."""
HALVES = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
TF32 = 2.0**-10  # what the products of a device may cut off a number in float32
SPLIT = 2.0**-20  # and where it multiplies three parts of a number instead
FLOOR = 2.0**-100  # of a squared number: squares far below may be read as zero
KERNELS = find_spec("triton") is not None  # which comes with PyTorch for GPUs


@dataclass(frozen=True)
class Rounding:
    """How gradients are added up, and what that may do to a sum.

    Parameters
    ----------
    samples, places : int
        Public. Of how many samples, and of how many places of each, float32 holds the sum; all of them where it is 0.
    cancelling : float
        Public. What a sample multiplies may be so many times longer than its gradient: beyond, it counts as longer.
    share : float
        Public. How much rounding may add to what a sample moves a sum by, in units of the clip.
    """

    samples: int
    places: int
    cancelling: float
    share: float


def rounding_of(values: Tensor, places: int) -> Rounding:
    """Of sums over samples with so many places each; in which kind of numbers, and where, these tell.

    Two blocks at most differ between neighbors, and each is off by at most terms * unit * samples * cancelling.
    """
    if values.device.type != "cpu":
        most = 1.0 if places == 1 else CANCELLING
        return Rounding(0, 0, most, most * (2 * cut_off(values) + HALVES.get(values.dtype, 0.0)))
    samples, at = SAMPLES, min(places, TERMS)
    if places > 1:
        samples = max(1, min(math.isqrt(SQUARE // places), TERMS // places))
    return Rounding(samples, at, MARGIN / (4 * unit(values) * samples * at * samples), MARGIN)


def unit(values: Tensor) -> float:
    """What an addition in float32 may be off by, relative to its terms: devices cut off where processors round."""
    return 2.0**-24 if values.device.type == "cpu" else 2.0**-22


def cut_off(values: Tensor) -> float:
    """What products on this device may cut off each number of this kind, relative to it."""
    if values.device.type == "cpu" or values.dtype != torch.float32:
        return 0.0
    return TF32 if in_tf32(values.device) else SPLIT


def in_tf32(device: torch.device) -> bool:
    """Whether products of float32 may be in TF32 there."""
    fast = torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32
    return device.type == "cuda" and fast


def has_kernels(values: Tensor) -> bool:
    """Whether `gpu_norms` serves such numbers."""
    return KERNELS and values.is_cuda and values.dtype != torch.float64


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
