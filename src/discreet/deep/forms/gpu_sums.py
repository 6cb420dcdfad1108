"""Weighted sums of outer products on a GPU: blocks by matrix instructions, their sums in float32, parts in float64.

`rounding.md` has what this order of additions may be off by.
"""

from __future__ import annotations

import math
from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.deep.forms.rounding import BETWEEN, ROWS, kernel_blocks

TILE = 128
PER_ROW, PER_NUMBER = 6.2e-9, 2e-12  # seconds: of a tile's row on one processor, of a number of the result


@triton.jit  # type: ignore[untyped-decorator]
def _sum_tile(  # type: ignore[no-untyped-def]
    slopes, inputs, out, rows, p, d, each, long: tl.constexpr, precision: tl.constexpr,
    even_rows: tl.constexpr, even: tl.constexpr,
    block_p: tl.constexpr, block_d: tl.constexpr, block: tl.constexpr, near: tl.constexpr,
):  # fmt: skip
    """Some rows and columns of the sum over one part; tiles that read the same are computed at about the same time."""
    down, across = tl.cdiv(p, block_p), tl.cdiv(d, block_d)
    tile, part = tl.program_id(0), tl.program_id(1)
    first = (tile // (near * across)) * near
    high = min(down - first, near)
    at_p = (first + (tile % (near * across)) % high) * block_p + tl.arange(0, block_p)
    at_d = ((tile % (near * across)) // high) * block_d + tl.arange(0, block_d)
    row = (part * each).to(tl.int64) + tl.arange(0, block)
    of_slopes = slopes + row[:, None] * p + at_p[None, :]
    of_inputs = inputs + row[:, None] * d + at_d[None, :]
    total = tl.zeros((block_p, block_d), dtype=tl.float32)
    for at in tl.range(0, min(each, rows - part * each), long, flatten=True):
        added = tl.zeros((block_p, block_d), dtype=tl.float32)
        for inner in tl.range(0, long, block):
            if even and even_rows:
                g, a = tl.load(of_slopes), tl.load(of_inputs)
            else:
                there = (row + (at + inner) < rows)[:, None]
                g = tl.load(of_slopes, mask=there & (at_p < p)[None, :], other=0.0)
                a = tl.load(of_inputs, mask=there & (at_d < d)[None, :], other=0.0)
            added = tl.dot(tl.trans(g), a, added, input_precision=precision)
            of_slopes += block * p
            of_inputs += block * d
        total += added
    there = (at_p < p)[:, None] & (at_d < d)[None, :]
    tl.store(out + part.to(tl.int64) * p * d + at_p[:, None] * d + at_d[None, :], total, mask=there)


@torch.library.custom_op("discreet::outer_sums", mutates_args=())
def outer_sums(slopes: Tensor, inputs: Tensor, places: int, processors: int) -> Tensor:
    """Sums over rows of slopes times inputs', of shape (parts, p, d): parts are to be added up in float64.

    Parameters
    ----------
    slopes, inputs : Tensor of shape (rows, p or d)
        In float16, or in float32: then products are of three parts.
    places : int
        Public. Rows of a sample, as `kernel_blocks` has filled them up.
    processors : int
        Public. Of the device.
    """
    (rows, p), d = slopes.shape, inputs.shape[1]
    long, parts = _parts(rows, places, p, d, processors)
    each = long * math.ceil(rows / long / parts)
    out = torch.empty(parts, p, d, device=slopes.device)
    sizes = [_side(n) for n in (p, d)]
    block = ROWS if slopes.dtype == torch.float16 else ROWS // 2
    stage = sum(sizes) * block * slopes.element_size()
    _sum_tile[(_tiles(p, d), parts)](
        slopes, inputs, out, rows, p, d, each, long, "tf32" if slopes.dtype == torch.float16 else "tf32x3",
        rows % long == 0, p % sizes[0] == 0 and d % sizes[1] == 0, *sizes, block, 8,
        num_warps=8 if min(sizes) == TILE else 4, num_stages=max(2, min(4, _room(slopes.device) // stage)),
    )  # fmt: skip
    return out


@cache
def _room(device: torch.device) -> int:
    """Bytes that a kernel may keep at hand."""
    return int(torch.cuda.get_device_properties(device).shared_memory_per_block_optin)  # type: ignore[attr-defined]


@cache
def _parts(rows: int, places: int, p: int, d: int, processors: int) -> tuple[int, int]:
    """The length of blocks, and the fastest number of parts in which no sum of float32 is of too many."""
    blocks = kernel_blocks(places, rows // places)
    count = math.ceil(rows / blocks.long)
    most = math.isqrt(BETWEEN // blocks.samples)
    least = math.ceil(count / most)

    def seconds(parts: int) -> float:
        long = math.ceil(count / parts) * blocks.long
        return math.ceil(_tiles(p, d) * parts / processors) * long * PER_ROW + parts * p * d * PER_NUMBER

    found = min(range(least, max(least + 1, min(count, 65))), key=seconds)
    return blocks.long, math.ceil(count / math.ceil(count / found))


def _tiles(p: int, d: int) -> int:
    return math.prod(math.ceil(n / _side(n)) for n in (p, d))


def _side(n: int) -> int:
    return max(16, min(TILE, 1 << (n - 1).bit_length()))


@outer_sums.register_fake
def _outer_sums(slopes: Tensor, inputs: Tensor, places: int, processors: int) -> Tensor:
    (rows, p), d = slopes.shape, inputs.shape[1]
    return slopes.new_empty(_parts(rows, places, p, d, processors)[1], p, d, dtype=torch.float32)
