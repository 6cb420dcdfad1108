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

from discreet.deep.forms.gpu_norms import reads_tiles, room_of, tiles_of
from discreet.deep.forms.rounding import ROWS, KernelBlocks, kernel_blocks

TILE, WIDE = 128, 256
PER_ROW, PER_NUMBER = 4e-13, 2e-12  # seconds: of a row on one processor for each number of a tile, of a result


@triton.jit  # type: ignore[untyped-decorator]
def _sum_tile(  # type: ignore[no-untyped-def]
    slopes, inputs, weights, out, rows, p, d, each, long: tl.constexpr, precision: tl.constexpr,
    whole: tl.constexpr, described: tl.constexpr,
    block_p: tl.constexpr, block_d: tl.constexpr, block: tl.constexpr, near: tl.constexpr,
):  # fmt: skip
    """Some rows and columns of the sum over one part; tiles that read the same are computed at about the same time."""
    down, across = tl.cdiv(p, block_p), tl.cdiv(d, block_d)
    tile, part = tl.program_id(0), tl.program_id(1)
    first = (tile // (near * across)) * near
    high = min(down - first, near)
    start_p = (first + (tile % (near * across)) % high) * block_p
    start_d = ((tile % (near * across)) // high) * block_d
    at_p, at_d, at_row = start_p + tl.arange(0, block_p), start_d + tl.arange(0, block_d), tl.arange(0, block)
    begin = part * each
    total = tl.zeros((block_p, block_d), dtype=tl.float32)
    for at in tl.range(begin, min(begin + each, rows), long, flatten=True):
        added = tl.zeros((block_p, block_d), dtype=tl.float32)
        for inner in tl.range(0, long, block):
            if described:
                g, a = slopes.load([at + inner, start_p]), inputs.load([at + inner, start_d])
            else:
                row = at + inner + at_row
                there, far = (row < rows)[:, None], row.to(tl.int64)[:, None]
                g = tl.load(slopes + far * p + at_p[None, :], mask=there & (at_p < p)[None, :], other=0.0)
                a = tl.load(inputs + far * d + at_d[None, :], mask=there & (at_d < d)[None, :], other=0.0)
            added = tl.dot(tl.trans(g), a, added, input_precision=precision)
        if whole:
            by = tl.load(weights + at // long)
            total += tl.where(by > 0, by * added, 0.0)
        else:
            total += added
    there = (at_p < p)[:, None] & (at_d < d)[None, :]
    tl.store(out + part.to(tl.int64) * p * d + at_p[:, None] * d + at_d[None, :], total, mask=there)


@torch.library.custom_op("discreet::outer_sums", mutates_args=())
def outer_sums(slopes: Tensor, inputs: Tensor, weights: Tensor | None, places: int, processors: int) -> Tensor:
    """Sums over rows of slopes times inputs', of shape (parts, p, d): parts are to be added up in float64.

    Parameters
    ----------
    slopes, inputs : Tensor of shape (rows, p or d)
        In float16 or bfloat16; or in float32: then products are of three parts.
    weights : Tensor of shape (rows / places,), optional
        Of each sample, if `kernel_blocks` has whole ones: their sums are multiplied with them.
    places : int
        Public. Rows of a sample.
    processors : int
        Public. Of the device.
    """
    slopes, inputs = slopes.contiguous(), inputs.contiguous()
    (rows, p), d = slopes.shape, inputs.shape[1]
    blocks, half = kernel_blocks(places, weights is not None), slopes.dtype != torch.float32
    sides, parts = _sides(p, d, blocks), _parts(rows, p, d, blocks, processors)
    out = torch.empty(parts, p, d, device=slopes.device)
    block = 2 * ROWS if blocks.whole and places % (2 * ROWS) == 0 else ROWS if half else ROWS // 2
    described = half and reads_tiles(slopes, inputs)
    read = [tiles_of(one, block, side) if described else one for one, side in zip((slopes, inputs), sides, strict=True)]
    stage = sum(sides) * block * slopes.element_size()
    _sum_tile[(_tiles(p, d, blocks), parts)](
        *read, weights, out, rows, p, d, blocks.long * math.ceil(rows / blocks.long / parts), blocks.long,
        "tf32" if half else "tf32x3", blocks.whole, described, *sides, block, 8,
        num_warps=8 if min(sides) >= TILE else 4, num_stages=max(2, min(4, room_of(slopes.device) // stage)),
    )  # fmt: skip
    return out


@cache
def _parts(rows: int, p: int, d: int, blocks: KernelBlocks, processors: int) -> int:
    """The fastest number of parts in which no sum of float32 is of too many."""
    count = math.ceil(rows / blocks.long)
    least = math.ceil(count / blocks.most)

    def seconds(parts: int) -> float:
        each = math.ceil(count / parts) * blocks.long * math.prod(_sides(p, d, blocks))
        return math.ceil(_tiles(p, d, blocks) * parts / processors) * each * PER_ROW + parts * p * d * PER_NUMBER

    found = min(range(least, max(least + 1, min(count, 65))), key=seconds)
    return math.ceil(count / math.ceil(count / found))


def _tiles(p: int, d: int, blocks: KernelBlocks) -> int:
    return math.prod(math.ceil(n / side) for n, side in zip((p, d), _sides(p, d, blocks), strict=True))


def _sides(p: int, d: int, blocks: KernelBlocks) -> tuple[int, int]:
    """Of a tile: wider, where that is no waste, and blocks are so long that their sums may be at hand only."""
    down, across = (max(16, min(TILE, 1 << (n - 1).bit_length())) for n in (p, d))
    return down, WIDE if down == TILE and d % WIDE == 0 and not blocks.whole else across


@outer_sums.register_fake
def _outer_sums(slopes: Tensor, inputs: Tensor, weights: Tensor | None, places: int, processors: int) -> Tensor:
    (rows, p), d = slopes.shape, inputs.shape[1]
    parts = _parts(rows, p, d, kernel_blocks(places, weights is not None), processors)
    return slopes.new_empty(parts, p, d, dtype=torch.float32)
