"""Gradients of convolutions and their lengths, and lengths by pairs of places, in one kernel each.

Products are as precise as the caller allows for products of matrices: where these may be in TF32, numbers are scaled by
their root mean square and rounded to 11 digits, as TF32 has them; else each is split into three parts.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.deep.forms.precision import HALVES

try:
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError:  # an older Triton: kernels read by pointers
    TensorDescriptor = None


def reads_tiles(*factors: Tensor) -> bool:
    """Whether the device reads tiles of these by itself, with zeros outside."""
    aligned = all(one.shape[-1] * one.element_size() % 16 == 0 and one.data_ptr() % 16 == 0 for one in factors)
    return TensorDescriptor is not None and aligned and torch.cuda.get_device_capability(factors[0].device)[0] >= 9


def tiles_of(values: Tensor, *sides: int) -> Any:
    """What a kernel reads tiles of these sides from."""
    return TensorDescriptor(values, [*values.shape], [*values.stride()], [*sides])


@cache
def room_of(device: torch.device) -> int:
    """Bytes that a kernel may keep at hand."""
    return int(torch.cuda.get_device_properties(device).shared_memory_per_block_optin)  # type: ignore[attr-defined]


@triton.jit  # type: ignore[untyped-decorator]
def _patch_tile(  # type: ignore[no-untyped-def]
    inputs, slopes, scale_in, scale_out, scale, values, out, channels, outs, places, images, high, wide,
    taps_high, stride_high, pad_high, apart_high,
    width: tl.constexpr, stride: tl.constexpr, pad: tl.constexpr, apart: tl.constexpr, taps: tl.constexpr,
    row: tl.constexpr, half: tl.constexpr, precision: tl.constexpr,
    block_out: tl.constexpr, block_in: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """One tile of the gradient of one sample: some channels out and in, below one tap or a row of three."""
    across, down = tl.cdiv(channels, block_in), tl.cdiv(outs, block_out)
    tiles = across * down * taps_high * (taps // row)
    sample, tile = (tl.program_id(0) // tiles).to(tl.int64), tl.program_id(0) % tiles
    given = (tile % across) * block_in + tl.arange(0, block_in)
    tile = tile // across
    made = (tile % down) * block_out + tl.arange(0, block_out)
    tile = tile // down
    tap, tap_high = (tile % (taps // row)) * row, tile // (taps // row)
    inputs += sample * images * channels * high * wide
    slopes += sample * images * outs * places
    by_in, by_out = tl.load(scale_in + sample), tl.load(scale_out + sample)
    first = tl.zeros((block_out, block_in), dtype=tl.float32)
    second = tl.zeros((block_out, block_in), dtype=tl.float32)
    third = tl.zeros((block_out, block_in), dtype=tl.float32)
    for _ in range(images):
        for start in range(0, places, block):
            t = start + tl.arange(0, block)
            y = (t // width) * stride_high + tap_high * apart_high - pad_high
            x = (t % width) * stride + tap * apart - pad
            inside = (t < places) & (y >= 0) & (y < high)
            there = (t[:, None] < places) & (made[None, :] < outs)
            g = tl.load(slopes + t[:, None] * outs + made[None, :], mask=there, other=0.0)
            if half:
                g = (g * by_out).to(tl.float16)
            g = tl.trans(g)
            at = inputs + (y * wide + x)[:, None] * channels + given[None, :]
            below = (inside & (x >= 0) & (x < wide))[:, None] & (given[None, :] < channels)
            a = tl.load(at, mask=below, other=0.0)
            if half:
                a = (a * by_in).to(tl.float16)
            first = tl.dot(g, a, first, input_precision=precision)
            if row == 3:
                x += apart
                below = (inside & (x >= 0) & (x < wide))[:, None] & (given[None, :] < channels)
                a = tl.load(at + apart * channels, mask=below, other=0.0)
                if half:
                    a = (a * by_in).to(tl.float16)
                second = tl.dot(g, a, second, input_precision=precision)
                x += apart
                below = (inside & (x >= 0) & (x < wide))[:, None] & (given[None, :] < channels)
                a = tl.load(at + 2 * apart * channels, mask=below, other=0.0)
                if half:
                    a = (a * by_in).to(tl.float16)
                third = tl.dot(g, a, third, input_precision=precision)
        inputs += channels * high * wide
        slopes += outs * places
    by = tl.load(scale + sample)
    size = outs.to(tl.int64) * channels
    values += (sample * taps_high * taps + tap_high * taps + tap) * size + made[:, None] * channels + given[None, :]
    there = (made < outs)[:, None] & (given < channels)[None, :]
    kept = (first * by).to(values.dtype.element_ty)
    tl.store(values, kept, mask=there)
    found = tl.sum(kept.to(tl.float32) * kept.to(tl.float32))
    if row == 3:
        kept = (second * by).to(values.dtype.element_ty)
        tl.store(values + size, kept, mask=there)
        found += tl.sum(kept.to(tl.float32) * kept.to(tl.float32))
        kept = (third * by).to(values.dtype.element_ty)
        tl.store(values + 2 * size, kept, mask=there)
        found += tl.sum(kept.to(tl.float32) * kept.to(tl.float32))
    tl.atomic_add(out + sample, found)


@torch.library.custom_op("discreet::patch_gradients", mutates_args=())
def patch_gradients(
    inputs: Tensor,
    slopes: Tensor,
    means: list[Tensor],
    scales: Tensor,
    taps: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    fast: bool,
    images: int,
) -> tuple[Tensor, Tensor]:
    """Each sample's gradient of a convolution over two axes, in one group, and the squared length of what is given.

    Gradients are over a scale of each sample and have shape (samples, *taps, channels out, channels in).

    Parameters
    ----------
    inputs, slopes : Tensor of shape (samples * images, channels, height, width)
        What came in, and the derivatives of the loss by what went out.
    means : list of two Tensors of shape (samples,)
        The mean squares of both.
    scales : Tensor of shape (samples,)
        By which no entry is above the limits of float16.
    taps, stride, padding, dilation : list of int
        Public. Of each axis.
    fast : bool
        Public. Whether products of float32 may be in TF32.
    images : int
        Public. How many each sample has.
    """
    half = fast and inputs.dtype == torch.float32
    inputs, slopes = (one.contiguous(memory_format=torch.channels_last) for one in (inputs, slopes))
    samples, (channels, high, wide) = len(inputs) // images, inputs.shape[1:]
    outs, width = slopes.shape[1], slopes.shape[3]
    row = 3 if taps[1] == 3 else 1
    blocks = [max(16, min(most, triton.next_power_of_2(n))) for n, most in ((outs, 128), (channels, 64))]
    tiles = triton.cdiv(outs, blocks[0]) * triton.cdiv(channels, blocks[1]) * taps[0] * (taps[1] // row)
    out, values = torch.zeros(samples, device=inputs.device), _values(inputs, slopes, taps, fast, images)
    by = [one.rsqrt() for one in means]
    over = 1 / (scales * by[0] * by[1]) if half else 1 / scales
    _patch_tile[(samples * tiles,)](
        inputs, slopes, *by, over, values, out,
        channels, outs, slopes.shape[2] * width, images, high, wide, taps[0], stride[0], padding[0], dilation[0],
        width, stride[1], padding[1], dilation[1], taps[1],
        row, half, "tf32" if fast else "tf32x3", *blocks, 32, num_warps=4, num_stages=3,
    )  # fmt: skip
    return values, out


def _values(inputs: Tensor, slopes: Tensor, taps: list[int], fast: bool, images: int) -> Tensor:
    kind = torch.float16 if fast or inputs.dtype in HALVES else torch.float32
    return inputs.new_empty(len(inputs) // images, *taps, slopes.shape[1], inputs.shape[1], dtype=kind)


@triton.jit  # type: ignore[untyped-decorator]
def _met(  # type: ignore[no-untyped-def]
    values, sample, first, second, places, n, same: tl.constexpr, precision: tl.constexpr, described: tl.constexpr,
    block: tl.constexpr, inner: tl.constexpr,
):  # fmt: skip
    """Products of the n numbers at some places with those at some others; these are read once if they are the same."""
    s = (first * block + tl.arange(0, block))[:, None]
    t = (second * block + tl.arange(0, block))[:, None]
    at = tl.arange(0, inner)[None, :]
    met = tl.zeros((block, block), dtype=tl.float32)
    for start in range(0, n, inner):
        row, inside = sample.to(tl.int64) * places, start + at < n
        if described:
            one = values.load([sample, first * block, start]).reshape(block, inner)
        else:
            one = tl.load(values + (row + s) * n + start + at, mask=(s < places) & inside, other=0.0)
        if same:
            other = one
        elif described:
            other = values.load([sample, second * block, start]).reshape(block, inner)
        else:
            other = tl.load(values + (row + t) * n + start + at, mask=(t < places) & inside, other=0.0)
        met = tl.dot(one, tl.trans(other), met, input_precision=precision)
    return met


@triton.jit  # type: ignore[untyped-decorator]
def _pair_tile(  # type: ignore[no-untyped-def]
    inputs, slopes, out, places, d, p, precision: tl.constexpr, described: tl.constexpr,
    block: tl.constexpr, inner: tl.constexpr,
):  # fmt: skip
    """Products of some places with some others of one sample, in one triangle; and the lengths of both on its edge."""
    side = tl.cdiv(places, block)
    tiles = side * (side + 1) // 2
    sample, left = tl.program_id(0) // tiles, tl.program_id(0) % tiles
    first = 0
    while left >= side - first:
        left -= side - first
        first += 1
    second = first + left
    if first < second:
        met = _met(inputs, sample, first, second, places, d, False, precision, described, block, inner)
        made = _met(slopes, sample, first, second, places, p, False, precision, described, block, inner)
        tl.atomic_add(out + 3 * sample, 2 * tl.sum(met * made))
    else:
        met = _met(inputs, sample, first, first, places, d, True, precision, described, block, inner)
        made = _met(slopes, sample, first, first, places, p, True, precision, described, block, inner)
        edge = tl.arange(0, block)[:, None] == tl.arange(0, block)[None, :]
        tl.atomic_add(out + 3 * sample, tl.sum(met * made))
        tl.atomic_add(out + 3 * sample + 1, tl.sum(tl.where(edge, met, 0.0)))
        tl.atomic_add(out + 3 * sample + 2, tl.sum(tl.where(edge, made, 0.0)))


@torch.library.custom_op("discreet::pair_norms", mutates_args=())
def pair_norms(inputs: Tensor, slopes: Tensor, fast: bool) -> Tensor:
    """For each sample: the sum over pairs of places of (a_s'a_t)(g_s'g_t), and the sums of |a_t|^2 and |g_t|^2.

    Parameters
    ----------
    inputs, slopes : Tensor of shape (samples, places, d) and (samples, places, p)
        As in `OuterProducts`.
    fast : bool
        Public. Whether products of float32 may be in TF32.
    """
    inputs, slopes = inputs.contiguous(), slopes.contiguous()
    samples, places, d = inputs.shape
    block = max(16, min(128, triton.next_power_of_2(places)))
    side, p = triton.cdiv(places, block), slopes.shape[2]
    out = torch.zeros(samples, 3, device=inputs.device)
    described = {inputs.dtype, slopes.dtype} <= HALVES and reads_tiles(inputs, slopes)
    read = [tiles_of(one, 1, block, 64) if described else one for one in (inputs, slopes)]
    stages = max(2, min(6, room_of(inputs.device) // (4 * block * 64))) if described else 3 if fast else 2
    _pair_tile[(samples * side * (side + 1) // 2,)](
        *read, out, places, d, p, "tf32" if fast else "tf32x3", described, block, 64,
        num_warps=8 if block == 128 else 4, num_stages=stages,
    )  # fmt: skip
    return out


@patch_gradients.register_fake
def _patch_gradients(
    inputs: Tensor,
    slopes: Tensor,
    means: list[Tensor],
    scales: Tensor,
    taps: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    fast: bool,
    images: int,
) -> tuple[Tensor, Tensor]:
    found = inputs.new_empty(len(inputs) // images, dtype=torch.float32)
    return _values(inputs, slopes, taps, fast, images), found


@pair_norms.register_fake
def _pair_norms(inputs: Tensor, slopes: Tensor, fast: bool) -> Tensor:
    return inputs.new_empty(len(inputs), 3, dtype=torch.float32)
